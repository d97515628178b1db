//! Sums of weights of very different magnitudes: each bin's sum is as accurate as its own weights allow.

use super::SUITE;
use super::oracle::{Case, Number, Weight, flat};
use super::weights::same;
use crate::common::{Random, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::histogram::HistogramWeight;
use slm::{Device, Histogram};

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend(SUITE, "f64::sums::a_small_weight_beside_a_large_one", small_beside_large),
        on_every_backend(SUITE, "f32::sums::weights_that_fall_off_from_bin_to_bin", falling_weights),
        on_every_backend(SUITE, "u16::sums::one_weight_per_bin", one_weight_per_bin),
        on_every_backend(SUITE, "i32::sums::all_exponents_in_one_bin", all_exponents),
        on_every_backend(SUITE, "u32::sums::around_the_limits_of_one_pass", around_the_limits_of_one_pass),
        on_every_backend(SUITE, "f32::sums::signs_and_carries", signs_and_carries),
        on_every_backend(SUITE, "u8::sums::cancellation_and_overflow", cancellation_and_overflow),
        on_every_backend(SUITE, "f64::sums::more_than_fit_into_a_block", in_global_memory),
        on_every_backend(SUITE, "u8::sums::several_values_per_bin", several_values_per_bin),
    ];
    trials.into_iter().flatten().collect()
}

/// Compares sums, of slices and of buffers, with the documented ones, bit for bit.
fn check<T: Number, W: HistogramWeight + Weight>(
    device: &Device,
    case: &Case<T>,
    samples: &[T],
    weights: &[W],
) -> Result<(), Failed> {
    let expected = case.counted(samples).sums(weights);
    let histogram = case.described().prepare(device)?;
    let of_slices = histogram.apply_weighted(samples, weights)?;
    let of_buffers = histogram.apply_weighted(&device.upload(samples)?, &device.upload(weights)?)?;
    same(&flat(&of_slices.sums), &expected)?;
    Ok(same(&flat(&of_buffers.sums), &expected)?)
}

/// Each of two bins has one weight, which is its sum.
fn small_beside_large(device: &Device) -> Result<(), Failed> {
    let halves = Histogram::even(2, 0.0..2.0).prepare(device)?;
    for weights in [[1e20, 1.0], [1.0, 1e-16], [1e-300, -1e300], [5e-324, f64::MAX]] {
        let sums = halves.apply_weighted(&[0.5, 1.5], &weights)?.sums;
        if sums.bins()? != weights {
            return Err(format!("{:?} instead of {weights:?}", sums.bins()?).into());
        }
    }
    let weights = [1e20f32, 1.0];
    let sums = halves.apply_weighted(&[0.5, 1.5], &weights)?.sums;
    if sums.bins()? == weights.map(f64::from) { Ok(()) } else { Err(format!("{:?}", sums.bins()?).into()) }
}

/// The weights of each bin are smaller than those of the previous one, by a factor of up to 10^131 in all.
fn falling_weights(device: &Device) -> Result<(), Failed> {
    let count = if is_slow(device) { 2048 } else { 65_536 };
    let case = Case::even(100, 0.0f32..count as f32);
    let samples: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let exponent = |i: usize| -((i * 655 / count) as f64) / 5.0;
    let weights: Vec<f64> = (0..count).map(|i| 10f64.powf(exponent(i)) * (1.0 + i as f64 / count as f64)).collect();
    check(device, &case, &samples, &weights)?;
    let weights: Vec<f32> = (0..count).map(|i| 10f64.powf(exponent(i) / 3.0) as f32).collect();
    check(device, &case, &samples, &weights)?;
    // The same weights in all samples of a bin.
    let bins = (0..count).map(|i| i % 100);
    let weights: Vec<f32> = bins.clone().map(|bin| 10f64.powf(bin as f64 / -5.0) as f32).collect();
    check(device, &Case::even(100, 0.0f32..100.0), &bins.map(|bin| bin as f32).collect::<Vec<_>>(), &weights)
}

/// A bin with one weight returns that weight. All exponents and their neighbours, of both types of weights.
fn one_weight_per_bin(device: &Device) -> Result<(), Failed> {
    let next = |fields: u64, digits: u32| {
        let fields = (0..fields).map(move |field| field << digits);
        fields.flat_map(move |bits| [bits, bits + 1, (bits + (1 << digits)) - 1])
    };
    let step = if is_slow(device) { 37 } else { 1 };
    let singles: Vec<f32> = next(255, 23).step_by(step).map(|bits| f32::from_bits(bits as u32)).collect();
    let doubles: Vec<f64> = next(2047, 52).step_by(step).map(f64::from_bits).collect();
    single_weights(device, &singles, |weight| -weight)?;
    single_weights(device, &doubles, |weight| -weight)
}

fn single_weights<W: HistogramWeight + Into<f64>>(
    device: &Device,
    weights: &[W],
    negative: fn(W) -> W,
) -> Result<(), Failed> {
    let samples: Vec<u16> = (0..weights.len()).map(|i| i as u16).collect();
    let histogram = Histogram::even(weights.len(), 0..weights.len() as i64).prepare(device)?;
    for weights in [weights.to_vec(), weights.iter().copied().map(negative).collect()] {
        let sums = histogram.apply_weighted(&samples, &weights)?.sums;
        let differs = |(sum, weight): (&f64, &W)| *sum != (*weight).into();
        if let Some(k) = sums.bins()?.iter().zip(&weights).position(differs) {
            return Err(format!("sum {k} is {:e} instead of {:e}", sums.bins()?[k], weights[k].into()).into());
        }
    }
    Ok(())
}

/// Weights of all exponents, of both signs, in the same few bins.
fn all_exponents(device: &Device) -> Result<(), Failed> {
    let count = if is_slow(device) { 900 } else { 30_000 };
    let mut random = Random::new(42);
    // Channels that are not counted have weights too.
    let case = Case { channels: 3, counted: 2, ..Case::even(4, -5..5) };
    for (least, most) in [(0, 2046), (0, 3), (0, 60), (1000, 1110), (1900, 2046)] {
        let samples = case.samples(count, &mut random);
        let weights: Vec<f64> = (0..count)
            .map(|_| {
                let (bits, field) = (random.bits(), (least + random.below(most - least + 1)) as u64);
                f64::from_bits((bits & !(0x7ff << 52)) | field << 52)
            })
            .collect();
        check(device, &case, &samples, &weights)?;
        let weights: Vec<f32> = (0..count).map(|_| f32::from_bits(random.bits() as u32 & !(1 << 30))).collect();
        check(device, &case, &samples, &weights)?;
    }
    Ok(())
}

/// All weights but one are equal. That one is larger or smaller by a power of two: some are near enough for one pass on a GPU, and some
/// are not. The equal weights reach both ends of their type.
fn around_the_limits_of_one_pass(device: &Device) -> Result<(), Failed> {
    let count = if is_slow(device) { 700 } else { 20_000 };
    let case = Case::even(3, 0..900_000u32);
    let samples = case.samples(count, &mut Random::new(3));
    let last = |scale: f64, difference: i32| {
        let weight =
            move |i: usize| scale * if i == count / 3 { 2f64.powi(difference) } else { 1.0 } * (1.0 + 2f64.powi(-20));
        (0..count).map(weight)
    };
    for difference in [-45, -40, -39, -38, -37, -36, -35, -20, 3, 4, 5, 6, 30] {
        for scale in [1.0, -1e25, 1e-30, 2f64.powi(-126), 2f64.powi(-149), 2f64.powi(95)] {
            let weights: Vec<f32> = last(scale, difference).map(|weight| weight as f32).collect();
            check(device, &case, &samples, &weights)?;
        }
        for scale in [1.0, -1e-290, 2f64.powi(-1022), 2f64.powi(-1060), 2f64.powi(990)] {
            check(device, &case, &samples, &last(scale, difference).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// Sums that become negative and positive again, and that carry into and borrow from each word: in few bins, in many, and in more than a block has room for.
/// All samples of a warp are in one bin, or they are in different ones.
fn signs_and_carries(device: &Device) -> Result<(), Failed> {
    let count = if is_slow(device) { 2000 } else { 200_000 };
    let mut random = Random::new(11);
    for bins in [2, 300, 3000, 40_000] {
        let case = Case::even(bins, 0.0f32..bins as f32);
        for run in [1, 7, 64] {
            let samples: Vec<f32> = (0..count).map(|i| (i / run * 37 % bins) as f32 + 0.5).collect();
            let weights: Vec<f64> = (0..count)
                .map(|i| {
                    let sign = if i / 160 % 2 == 0 { 1.0 } else { -1.0 };
                    sign * (1.0 - random.unit() * 1e-6) * 2f64.powi(-(random.below(30) as i32))
                })
                .collect();
            check(device, &case, &samples, &weights)?;
            check(device, &case, &samples, &weights.iter().map(|weight| *weight as f32).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

fn cancellation_and_overflow(device: &Device) -> Result<(), Failed> {
    let one = Histogram::<u8>::even(1, 0..1).prepare(device)?;
    let (large, most) = ((1u64 << 60) as f64, f64::MAX);
    for (weights, expected) in [
        // The intermediate sums exceed the largest `f64`, or the precision of one.
        (vec![large, 1.0, -large], 1.0),
        (vec![1.0, large, 0.25, -large, -0.125], 1.125),
        (vec![most, most, -most], most),
        // Far below the quantum of the bin.
        (vec![-most, most, 3.0, -most, most], 0.0),
        (vec![5e-324, 5e-324, -1e-323], 0.0),
        (vec![most, most], f64::INFINITY),
        (vec![-most, -most, most / 2.0], f64::NEG_INFINITY),
        (vec![-0.0, -0.0], 0.0),
        (vec![0.0; 40], 0.0),
        (Vec::new(), 0.0),
        // Sums that just fit, and that are rounded beyond the largest `f64`.
        (vec![most, most / 2f64.powi(55)], most),
        (vec![most, most / 2f64.powi(53)], f64::INFINITY),
    ] {
        let sum = one.apply_weighted(&vec![0; weights.len()], &weights)?.sums.bins()?[0];
        if sum != expected {
            return Err(format!("{weights:?} add up to {sum:e}, expected {expected:e}").into());
        }
    }
    Ok(())
}

/// More bins than a block has room for, with weights that carry from the low to the high word of a sum and borrow from it.
fn in_global_memory(device: &Device) -> Result<(), Failed> {
    let count = if is_slow(device) { 3000 } else { 100_000 };
    let case = Case::even(30_000, 0.0f64..30_000.0);
    let mut random = Random::new(7);
    // Neighbouring samples of a thread are in the same bin and in different ones.
    let samples: Vec<f64> = (0..count).map(|_| random.below(3) as f64 + 0.5).collect();
    let weights: Vec<f64> =
        (0..count).map(|_| (random.unit() - 0.5) * 2f64.powi(random.below(90) as i32 - 45)).collect();
    check(device, &case, &samples, &weights)?;
    let weights: Vec<f32> = weights.into_iter().map(|weight| weight as f32).collect();
    check(device, &case, &samples, &weights)
}

/// GPUs add the weights of bytes by value. The values in a bin have weights of different magnitudes.
fn several_values_per_bin(device: &Device) -> Result<(), Failed> {
    let case = Case { channels: 2, counted: 2, ..Case::even(3, 10..200u8) };
    let samples: Vec<u8> = (0..=255).cycle().take(1024).collect();
    let weights: Vec<f64> = (0..1024).map(|i| 2f64.powi(i % 77 * 5 - 200) * (1.0 + f64::from(i) / 3.0)).collect();
    check(device, &case, &samples, &weights)
}
