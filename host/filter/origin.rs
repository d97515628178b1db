//! The origin of a filter: which of its weights meets an output's own sample.

/// Returns the number of weights before the one that meets an output's own sample, in the order in which they meet the samples, or
/// `None` if the origin is not in [`range`]. A convolution has its weights flipped.
pub(crate) fn left(taps: usize, origin: isize, is_flipped: bool) -> Option<usize> {
    let own = (taps / 2).checked_add_signed(origin).filter(|&own| own < taps)?;
    Some(if is_flipped { taps - 1 - own } else { own })
}

/// Returns the least and the greatest origin of this number of weights. There is at least one.
pub(crate) fn range(taps: usize) -> [isize; 2] {
    // Memory has less than `isize::MAX` weights, and an error may name any number.
    let [before, behind] = [taps / 2, taps.saturating_sub(1 + taps / 2)].map(|count| count as isize);
    [-before, behind]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_within_the_weights() {
        for taps in 1..6 {
            let [least, greatest] = range(taps);
            for is_flipped in [false, true] {
                let lefts: Option<Vec<usize>> =
                    (least..=greatest).map(|origin| left(taps, origin, is_flipped)).collect();
                let mut lefts = lefts.expect("these are within the weights");
                if is_flipped {
                    lefts.reverse();
                }
                assert!(lefts.into_iter().eq(0..taps));
                for origin in [least - 1, greatest + 1, isize::MIN, isize::MAX] {
                    assert_eq!(left(taps, origin, is_flipped), None, "{taps}, {origin}");
                }
            }
        }
        // The later one of two in the middle meets the sample: the first one of these in the order of the samples is flipped.
        assert_eq!([left(4, 0, false), left(4, 0, true), left(4, 1, false), left(4, 1, true)], [2, 1, 3, 0].map(Some));
    }
}
