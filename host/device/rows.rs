//! Copies of rows with a pitch on either side.

use std::ops::Range;

/// Rows to copy. Positions, lengths and pitches are in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Number of rows.
    pub(crate) count: usize,
    /// Number of elements per row.
    pub(crate) len: usize,
    /// Position of the source.
    pub(crate) source: Place,
    /// Position of the target.
    pub(crate) target: Place,
}

/// Position of rows in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Position of the first row.
    pub(crate) first: usize,
    /// Row pitch, at least the length of a row.
    pub(crate) pitch: usize,
}

impl Place {
    /// Returns the position of rows with this pitch at the start of memory.
    pub(crate) fn at_start(pitch: usize) -> Self {
        Place { first: 0, pitch }
    }

    /// Returns the end of `count` rows of `len` elements, or `None` on overflow.
    fn end(&self, count: usize, len: usize) -> Option<usize> {
        let before_last = count.checked_sub(1)?.checked_mul(self.pitch)?;
        self.first.checked_add(before_last)?.checked_add(len)
    }
}

impl Rows {
    /// Returns one row: all elements of memory of this length.
    pub(crate) fn whole(len: usize) -> Self {
        Rows { count: 1, len, source: Place::at_start(len), target: Place::at_start(len) }
    }

    /// Returns the number of elements.
    pub(crate) fn number(&self) -> usize {
        self.count * self.len
    }

    /// Returns whether there is nothing to copy.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0 || self.len == 0
    }

    /// Returns whether all rows are inside memory of these lengths and do not overlap in the target.
    pub(crate) fn fit(&self, source: usize, target: usize) -> bool {
        let inside = |place: &Place, memory| place.end(self.count, self.len).is_some_and(|end| end <= memory);
        let apart = self.count == 1 || (self.source.pitch >= self.len && self.target.pitch >= self.len);
        self.is_empty() || (apart && inside(&self.source, source) && inside(&self.target, target))
    }

    /// Returns the same copy as a single row if neither side has gaps.
    pub(crate) fn joined(self) -> Self {
        if self.count != 1 && (self.source.pitch, self.target.pitch) == (self.len, self.len) {
            return Rows { count: 1, len: self.count * self.len, ..self };
        }
        self
    }

    /// Returns the source and target position of each row.
    pub(crate) fn each(self) -> impl Iterator<Item = [Range<usize>; 2]> {
        (0..if self.is_empty() { 0 } else { self.count }).map(move |row| {
            [self.source, self.target].map(|place| {
                let first = place.first + row * place.pitch;
                first..first + self.len
            })
        })
    }

    /// Copies the rows in host memory.
    pub(crate) fn copy<T: Copy>(self, source: &[T], target: &mut [T]) {
        debug_assert!(self.fit(source.len(), target.len()), "{self:?}");
        for [from, to] in self.joined().each() {
            target[to].copy_from_slice(&source[from]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize, len: usize, source: [usize; 2], target: [usize; 2]) -> Rows {
        let [source, target] = [source, target].map(|[first, pitch]| Place { first, pitch });
        Rows { count, len, source, target }
    }

    #[test]
    fn rows_are_copied_and_gaps_are_not() {
        let mut target = [9; 8];
        rows(2, 2, [1, 3], [2, 4]).copy(&[0, 1, 2, 3, 4, 5], &mut target);
        assert_eq!(target, [9, 9, 1, 2, 9, 9, 4, 5]);
        rows(2, 2, [0, 2], [0, 2]).copy(&[5, 6, 7, 8], &mut target);
        assert_eq!(target, [5, 6, 7, 8, 9, 9, 4, 5]);
        rows(0, 2, [0, 2], [0, 2]).copy::<i32>(&[], &mut []);
        rows(3, 0, [0, 2], [0, 0]).copy::<i32>(&[], &mut []);
    }

    #[test]
    fn rows_beyond_the_memory_do_not_fit() {
        assert!(rows(2, 2, [1, 3], [2, 4]).fit(6, 8));
        assert!(!rows(2, 2, [1, 3], [2, 4]).fit(5, 8));
        assert!(!rows(2, 2, [1, 3], [2, 4]).fit(6, 7));
        assert!(!rows(2, 2, [0, 1], [0, 2]).fit(9, 9));
        assert!(!rows(3, 1, [0, usize::MAX], [0, 1]).fit(usize::MAX, 3));
        assert!(rows(1, 2, [0, 0], [0, usize::MAX]).fit(2, 2));
        assert!(rows(0, 2, [7, 0], [7, 0]).fit(0, 0) && rows(2, 0, [7, 0], [7, 0]).fit(0, 0));
    }
}
