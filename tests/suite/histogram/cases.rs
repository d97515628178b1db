//! The histograms that every algorithm counts.

use super::oracle::{Bins, Case, Number};
use slm::Histogram;

pub(super) fn bytes() -> Vec<Case<u8>> {
    vec![Case::new(Histogram::bytes(), Bins::Numbers(256))]
}

pub(super) fn low_bits() -> Vec<Case<u16>> {
    [1, 4, 10, 15, 16].map(|bits| Case::new(Histogram::low_bits(bits), Bins::Remainders(1 << bits))).into()
}

/// Some ranges, and more bins than they have numbers.
pub(super) fn few_values<T: Number>(most: T) -> Vec<Case<T>> {
    let n = T::nearest;
    let large = T::nearest(most.into() - 100.0);
    vec![
        Case::even(1, n(3.0)..n(4.0)),
        Case::even(7, n(10.0)..n(100.0)),
        Case::even(90, n(10.0)..n(100.0)),
        Case::even(256, n(10.0)..n(100.0)),
        Case::even(5000, n(0.0)..n(3.0)),
        Case::even(70_001, large..most),
    ]
}

/// Ranges that are wider than the difference of two samples can be, or just not.
pub(super) fn whole_range<T: Number>(least: T, most: T) -> Vec<Case<T>> {
    [1, 2, 10, 256, 1000, 65_536].map(|bins| Case::even(bins, least..most)).into()
}

pub(super) fn integer_edges<T: Number>(most: T) -> Vec<Case<T>> {
    let squares: Vec<T> = (0..16).map(|k| T::nearest(f64::from(k * k))).collect();
    let most_and_some = [squares.as_slice(), &[most]].concat();
    vec![Case::edges(&squares[..2]), Case::edges(&squares[1..4]), Case::edges(&squares), Case::edges(&most_and_some)]
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

/// A range that no signed number of the samples' size measures.
pub(super) fn wider_than_the_type() -> Vec<Case<i32>> {
    vec![Case::even(100, -1_500_000_000..1_500_000_000)]
}

/// More bins than there are floats between the ends, or than the range has digits.
pub(super) fn beyond_precision() -> Vec<Case<f32>> {
    vec![
        Case::even(1 << 24, 0.0..1.0),
        Case::even(1 << 24, 16_777_216.0..16_777_300.0),
        Case::even(1000, 1.0..1.000_001),
        Case::even(77_777, 1e30..1.000_1e30),
    ]
}

/// A range of numbers of one byte, on both sides of zero.
pub(super) fn negative_edges() -> Vec<Case<i32>> {
    vec![Case::edges(&[-60, -29, 2, 33, 64])]
}

/// The same in bins of equal width.
pub(super) fn negative_bins() -> Vec<Case<i32>> {
    vec![Case::even(4, -60..64)]
}

pub(super) fn float_edges<T: Number>(infinite: [T; 2]) -> Vec<Case<T>> {
    let n = T::nearest;
    let [below, above] = infinite;
    let decades: Vec<T> = (-20..20).map(|k| n(10f64.powi(k))).collect();
    vec![
        Case::edges(&[n(0.0), n(1.0)]),
        Case::edges(&[n(-0.0), n(1e-30), n(0.1), n(0.5), n(7.0)]),
        Case::edges(&[below, n(-1.0), n(0.0), n(1.0), above]),
        Case::edges(&decades),
    ]
}

/// More edges than leave room for a second block on a multiprocessor.
pub(super) fn many_edges<T: Number>(most: f64) -> Vec<Case<T>> {
    const EDGES: u32 = 40_000;
    let edges: Vec<T> = (0..EDGES).map(|k| T::nearest(most / f64::from(EDGES) * f64::from(k))).collect();
    vec![Case::edges(&edges)]
}
