//! Boundaries, extents and origins of filters from an input.

use crate::Reader;
use slm::{Boundary, Extent};
use slm_test_support::numbers::Number;

/// Returns a boundary with this constant, if it has one.
pub fn boundary(reader: &mut Reader<'_>, outside: f64) -> Boundary<f64> {
    reader.pick(&[
        Boundary::Zero,
        Boundary::Constant(outside),
        Boundary::Nearest,
        Boundary::Reflect,
        Boundary::Mirror,
        Boundary::Wrap,
    ])
}

/// Returns the boundary for samples of a type.
#[must_use]
pub fn typed<S: Number>(boundary: Boundary<f64>) -> Boundary<S> {
    match boundary {
        Boundary::Zero => Boundary::Zero,
        Boundary::Constant(outside) => Boundary::Constant(S::of(outside)),
        Boundary::Nearest => Boundary::Nearest,
        Boundary::Reflect => Boundary::Reflect,
        Boundary::Mirror => Boundary::Mirror,
        Boundary::Wrap => Boundary::Wrap,
    }
}

/// Returns the boundary of the columns for that of the rows: the same one, or another one with the same constant.
pub fn compatible(reader: &mut Reader<'_>, rows: Boundary<f64>) -> Boundary<f64> {
    reader.pick(&[rows, rows, Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap])
}

/// Returns an extent.
pub fn extent(reader: &mut Reader<'_>) -> Extent {
    reader.pick(&[Extent::Same, Extent::Valid, Extent::Full])
}

/// Returns an origin within this number of weights: the centre in one of two cases.
pub fn origin(reader: &mut Reader<'_>, weights: usize) -> isize {
    if reader.flag() { 0 } else { reader.below(weights) as isize - (weights / 2) as isize }
}
