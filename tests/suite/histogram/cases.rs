//! The histograms that are tested with every algorithm.

use super::oracle::{Bins, Case, Number};
use slm::Histogram;

pub(super) fn bytes() -> Vec<Case<u8>> {
    vec![Case::new(Histogram::bytes(), Bins::Numbers(256))]
}

pub(super) fn low_bits() -> Vec<Case<u16>> {
    [1, 4, 10, 15, 16].map(|bits| Case::new(Histogram::low_bits(bits), Bins::Remainders(1 << bits))).into()
}

/// Returns narrow ranges, some with more bins than numbers.
pub(super) fn few_values<T: Number>(maximum: T) -> Vec<Case<T>> {
    let n = T::nearest;
    let large = T::nearest(maximum.into() - 100.0);
    vec![
        Case::even(1, n(3.0)..n(4.0)),
        Case::even(7, n(10.0)..n(100.0)),
        Case::even(90, n(10.0)..n(100.0)),
        Case::even(256, n(10.0)..n(100.0)),
        Case::even(5000, n(0.0)..n(3.0)),
        Case::even(70_001, large..maximum),
    ]
}

/// Returns the range from the type's minimum to its maximum, with various numbers of bins.
pub(super) fn whole_range<T: Number>(minimum: T, maximum: T) -> Vec<Case<T>> {
    [1, 2, 10, 256, 1000, 65_536].map(|bins| Case::even(bins, minimum..maximum)).into()
}

pub(super) fn integer_edges<T: Number>(maximum: T) -> Vec<Case<T>> {
    let squares: Vec<T> = (0..16).map(|k| T::nearest(f64::from(k * k))).collect();
    let squares_and_maximum = [squares.as_slice(), &[maximum]].concat();
    vec![
        Case::edges(&squares[..2]),
        Case::edges(&squares[1..4]),
        Case::edges(&squares),
        Case::edges(&squares_and_maximum),
    ]
}

pub(super) fn floats<T: Number>() -> Vec<Case<T>> {
    let n = T::nearest;
    vec![
        Case::even(1, n(0.0)..n(1.0)),
        Case::even(3, n(0.0)..n(1.0)),
        Case::even(10, n(-0.1)..n(0.7)),
        Case::even(256, n(0.0)..n(1.0)),
        Case::even(1000, n(-1e-3)..n(1e6)),
        Case::even(4096, n(-1.0)..n(0.0)),
        Case::even(65_537, n(1.0)..n(3.0)),
    ]
}

/// Returns a range whose width exceeds the type's maximum.
pub(super) fn wider_than_the_type() -> Vec<Case<i32>> {
    vec![Case::even(100, -1_500_000_000..1_500_000_000)]
}

/// Returns ranges with more bins than floats between the ends, or more than the ends' precision resolves.
pub(super) fn beyond_precision() -> Vec<Case<f32>> {
    vec![
        Case::even(1 << 24, 0.0..1.0),
        Case::even(1 << 20, 16_777_216.0..16_777_300.0),
        Case::even(1000, 1.0..1.000_001),
        Case::even(77_777, 1e30..1.000_1e30),
    ]
}

/// Returns edges on both sides of zero, within the range of one byte.
pub(super) fn negative_edges() -> Vec<Case<i32>> {
    vec![Case::edges(&[-60, -29, 2, 33, 64])]
}

/// Returns the same range with bins of equal width.
pub(super) fn negative_bins() -> Vec<Case<i32>> {
    vec![Case::even(4, -60..64)]
}

pub(super) fn float_edges<T: Number>() -> Vec<Case<T>> {
    let n = T::nearest;
    let decades: Vec<T> = (-20..20).map(|k| n(10f64.powi(k))).collect();
    vec![
        Case::edges(&[n(0.0), n(1.0)]),
        Case::edges(&[n(-0.0), n(1e-30), n(0.1), n(0.5), n(7.0)]),
        Case::edges(&decades),
    ]
}

/// Returns edges of which the first and the last one are infinite.
pub(super) fn infinite_edges<T: Number>([below, above]: [T; 2]) -> Vec<Case<T>> {
    let n = T::nearest;
    vec![Case::edges(&[below, n(-1.0), n(0.0), n(1.0), above])]
}

/// Returns so many edges that a multiprocessor has no room for a second block.
pub(super) fn many_edges<T: Number>(maximum: f64) -> Vec<Case<T>> {
    const EDGES: u32 = 40_000;
    let edges: Vec<T> = (0..EDGES).map(|k| T::nearest(maximum / f64::from(EDGES) * f64::from(k))).collect();
    vec![Case::edges(&edges)]
}
