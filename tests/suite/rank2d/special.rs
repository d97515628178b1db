//! NaNs of every kind, and zeros of both signs outside.

use super::oracle::{Case, Rank};
use super::{SUITE, algorithms, filter, is_refused, pick, sample};
use crate::common::numbers::{Number, converted};
use crate::common::{Random, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use slm::ndarray::Array2;
use slm::{Boundary, Device, Extent, RankElement};

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend(SUITE, "special::nans_f32", |device| nans(device, &NANS_F32.map(f32::from_bits), bits_f32)),
        on_every_backend(SUITE, "special::nans_f64", |device| {
            nans(device, &NANS_F64.map(f64::from_bits), f64::to_bits)
        }),
        on_every_backend(SUITE, "special::zeros_f32", |device| zeros::<f32>(device, bits_f32)),
        on_every_backend(SUITE, "special::zeros_f64", |device| zeros::<f64>(device, f64::to_bits)),
    ];
    trials.into_iter().flatten().collect()
}

/// Quiet and signalling, of both signs, with the least and the greatest payloads.
const NANS_F32: [u32; 6] = [0x7f80_0001, 0xffc0_0000, 0xff80_0001, 0x7fff_ffff, 0xffff_ffff, 0x7fc0_0000];

const NANS_F64: [u64; 6] = [
    0x7ff0_0000_0000_0001,
    0xfff8_0000_0000_0000,
    0xfff0_0000_0000_0001,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
    0x7ff8_0000_0000_0000,
];

fn bits_f32(number: f32) -> u64 {
    number.to_bits().into()
}

/// A filter with this window, on samples without NaNs.
fn plain<T: Number>(random: &mut Random, rank: Rank, window: [usize; 2], shape: [usize; 2]) -> Case {
    Case {
        window,
        mask: None,
        rank,
        origin: [0, 0],
        boundaries: [Boundary::Reflect; 2],
        extent: Extent::Same,
        stride: [1, 1],
        channels: None,
        omit: false,
        planes: 1,
        shape,
        samples: (0..shape[0] * shape[1]).map(|_| sample(random, T::KIND)).collect(),
    }
}

/// All NaNs count as one, and the outputs that are NaN have the bits of `NAN`.
fn nans<T: RankElement + Number>(device: &Device, nans: &[T], bits: fn(T) -> u64) -> Result<(), Failed> {
    let shape = if is_slow(device) { [4, 6] } else { [37, 70] };
    for (number, side) in [3, 9, 20].into_iter().enumerate() {
        for rank in [Rank::Median, Rank::Minimum, Rank::Maximum, Rank::At(-2)] {
            for omit in [false, true] {
                let random = &mut Random::new(700 + number as u64);
                let case = Case { omit, ..plain::<T>(random, rank, [side; 2], shape) };
                nans_in(device, random, case, nans, bits)?;
            }
        }
    }
    Ok(())
}

/// Some samples are NaNs, few enough for windows without any, and so is the constant outside the rows.
fn nans_in<T: RankElement + Number>(
    device: &Device,
    random: &mut Random,
    mut case: Case,
    nans: &[T],
    bits: fn(T) -> u64,
) -> Result<(), Failed> {
    let outside = pick(random, nans);
    let mut samples = converted::<T>(&case.samples);
    for (at, (sample, expected)) in samples.iter_mut().zip(&mut case.samples).enumerate() {
        if random.below(case.window[0] * case.window[1]) == 0 || at == 7 {
            (*sample, *expected) = (pick(random, nans), f64::NAN);
        }
    }
    case.boundaries = [Boundary::Constant(f64::NAN), Boundary::Nearest];
    compare(device, &case, samples, [Boundary::Constant(outside), Boundary::Nearest], bits)
}

/// Zeros of different signs outside: those of the columns count as those of the rows.
fn zeros<T: RankElement + Number>(device: &Device, bits: fn(T) -> u64) -> Result<(), Failed> {
    let disc = [false, true, false, true, true, true, false, true, false];
    let shape = if is_slow(device) { [5, 7] } else { [21, 40] };
    for outside in [[0.0, -0.0], [-0.0, 0.0]] {
        for (rank, window, mask) in [
            (Rank::Median, [3, 3], None),
            (Rank::Minimum, [3, 3], None),
            (Rank::Maximum, [17, 4], None),
            (Rank::Minimum, [4, 18], None),
            (Rank::Median, [3, 3], Some(disc.to_vec())),
            (Rank::Maximum, [3, 3], Some(disc.to_vec())),
        ] {
            let case = plain::<T>(&mut Random::new(720), rank, window, shape);
            // Of one sign, so that the zeros outside are outputs.
            let sign = if rank == Rank::Minimum { 1.0 } else { -1.0 };
            let samples = case.samples.iter().map(|sample| sign * sample.abs()).collect();
            let boundaries = [Boundary::Constant(outside[0]); 2];
            let case = Case { boundaries, mask, samples, extent: Extent::Full, ..case };
            let boundaries = outside.map(|zero| Boundary::Constant(T::of(zero)));
            compare(device, &case, converted(&case.samples), boundaries, bits)?;
        }
    }
    Ok(())
}

/// Compares the bits of all algorithms' outputs for these samples and boundaries with those of a case.
fn compare<T: RankElement + Number>(
    device: &Device,
    case: &Case,
    samples: Vec<T>,
    [above, before]: [Boundary<T>; 2],
    bits: fn(T) -> u64,
) -> Result<(), Failed> {
    let stored = |output: &f64| bits(T::of(if output.is_nan() { f64::NAN } else { *output }));
    let expected: Vec<u64> = case.outputs().iter().map(stored).collect();
    let samples = Array2::from_shape_vec(case.shape, samples)?;
    algorithms(device).iter().try_for_each(|&algorithm| {
        let filter = filter::<T>(case).boundaries(above, before).algorithm(algorithm);
        if is_refused(case, algorithm, filter.prepare(device)) {
            return Ok(());
        }
        let outputs = filter.prepare(device)?.apply(&samples)?;
        let actual: Vec<u64> = outputs.iter().map(|&output| bits(output)).collect();
        same(&actual, &expected).map_err(|error| {
            let case = Case { samples: Vec::new(), ..case.clone() };
            format!("{algorithm:?}: {}\n{case:?}", error.message().unwrap_or("they differ")).into()
        })
    })
}
