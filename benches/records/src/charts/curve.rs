//! Curves of a chart.

/// The points of a peer, from left to right.
#[derive(Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<[f64; 2]>,
}

/// Returns a curve for each name: those of the crate, then those of others, both in alphabetical order. Logarithmic axes have no
/// place for zeros, which are left out.
pub(super) fn curves<'a>(points: impl IntoIterator<Item = (&'a str, [f64; 2])>) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for (name, point) in points {
        if point.iter().any(|&number| number <= 0.0) {
            continue;
        }
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name: name.to_owned(), points: vec![point] }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|[a, _], [b, _]| a.total_cmp(b));
    }
    curves.sort_by_key(|curve| (!is_own(&curve.name), curve.name.clone()));
    curves
}

/// Returns whether a peer is the crate itself.
pub(super) fn is_own(peer: &str) -> bool {
    peer.starts_with("slm ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_their_points_in_order() {
        let points = [
            ("CUB", [2.0, 1.0]),
            ("slm b", [8.0, 1.0]),
            ("slm a", [1.0, 0.0]),
            ("slm b", [4.0, 3.0]),
            ("A", [1.0, 1.0]),
        ];
        let curve = |name: &str, points: &[[f64; 2]]| Curve { name: name.to_owned(), points: points.to_vec() };
        let expected =
            [curve("slm b", &[[4.0, 3.0], [8.0, 1.0]]), curve("A", &[[1.0, 1.0]]), curve("CUB", &[[2.0, 1.0]])];
        assert_eq!(curves(points), expected);
    }
}
