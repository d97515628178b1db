//! Literal counts by every algorithm: the cases that CUB was reported to miscount silently, and similar ones.

use super::oracle::{Case, Number};
use super::{SUITE, by_every_algorithm};
use crate::common::{is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::Device;

pub(super) fn trials() -> Vec<Trial> {
    let both_signs = [-60, -1, 10, 63];
    let of_both_signs = [(0, 1), (1, 1), (2, 1), (3, 1)];
    let trials = [
        // The range is wider than the type's maximum (NVIDIA/cccl 10975).
        trial(
            "i32::wider_than_the_type",
            Case::even(100, -1_500_000_000..1_500_000_000),
            &[i32::MIN, -1_500_000_000, -1_470_000_001, -1_470_000_000, -1, 0, 1_499_999_999, 1_500_000_000],
            &[(0, 2), (1, 1), (49, 1), (50, 1), (99, 1), (100, 1), (101, 1)],
        ),
        // The samples are on both sides of zero (NVIDIA/cccl 10977).
        trial("i32::both_signs_in_bins", Case::even(4, -60..64), &both_signs, &of_both_signs),
        trial("i32::both_signs_between_edges", Case::edges(&[-60, -29, 2, 33, 64]), &both_signs, &of_both_signs),
        // There are at least as many bins as numbers, so that no bin has two of them (NVIDIA/cccl 10976).
        on_every_backend(SUITE, "u8::a_bin_for_each_number", |device| numbers(device, 256, u8::MAX, |x| x)),
        on_every_backend(SUITE, "u8::more_bins_than_numbers", |device| {
            numbers(device, 300, u8::MAX, |x| if x == 255 { 299 } else { x * 300 / 255 })
        }),
        on_every_backend(SUITE, "u16::a_bin_for_each_number", |device| numbers(device, 65_536, u16::MAX, |x| x)),
        on_every_backend(SUITE, "u16::more_bins_than_numbers", |device| {
            numbers(device, 70_001, u16::MAX, |x| if x == 65_535 { 70_000 } else { x * 70_001 / 65_535 })
        }),
    ];
    trials.into_iter().flatten().collect()
}

/// Returns the trials of a case. `expected` has the counters that are not 0 and their counts; below, above and NaN follow
/// the bins.
fn trial<T: Number>(name: &str, case: Case<T>, samples: &[T], expected: &[(usize, u64)]) -> [Trial; 3] {
    let (samples, mut counts) = (samples.to_vec(), vec![0; case.bin_count() + 3]);
    expected.iter().for_each(|&(counter, count)| counts[counter] = count);
    on_every_backend(SUITE, name, move |device| Ok(by_every_algorithm(device, &case, &samples, &counts)?))
}

/// Counts each number of a type once, in bins from 0 to the type's maximum, which is in the last bin. On emulated devices it
/// counts some of the numbers, including the largest ones.
fn numbers<T: Number>(device: &Device, bins: usize, maximum: T, bin: fn(usize) -> usize) -> Result<(), Failed> {
    let case = Case { closed: true, ..Case::even(bins, T::nearest(0.0)..maximum) };
    let (last, step) = (maximum.into() as usize, if is_slow(device) { 41 } else { 1 });
    let numbers = (0..=last).filter(|number| number % step == 0 || number + 5 > last);
    let (mut samples, mut expected) = (Vec::new(), vec![0; bins + 3]);
    for number in numbers {
        samples.push(T::nearest(number as f64));
        expected[bin(number)] += 1;
    }
    if expected.iter().any(|&count| count > 1) {
        return Err("the test expects more than one number in a bin".into());
    }
    Ok(by_every_algorithm(device, &case, &samples, &expected)?)
}
