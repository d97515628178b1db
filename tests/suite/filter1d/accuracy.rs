//! The documented accuracy of floats: the error bound of each output by its own samples, the error of underflow, and the
//! outputs that an infinity or a NaN affects.

use super::oracle::{Case, Direction, Sample, Sum};
use super::{SUITE, check_line, filter};
use crate::common::{Random, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::{Boundary, Device, Extent};

/// Numbers of samples and taps. Emulated devices use `FEW_SIZES`.
const SIZES: [(usize, usize); 5] = [(300, 1), (300, 2), (1000, 5), (3000, 33), (3000, 257)];
const FEW_SIZES: [(usize, usize); 3] = [(70, 1), (300, 5), (200, 33)];

type Test = fn(&Device) -> Result<(), Failed>;

/// Properties of floats for these tests.
trait Float: Sample + Into<f64> {
    /// The unit roundoff.
    const UNIT: f64;
    /// The exponent of the smallest positive number.
    const MIN_EXPONENT: i32;
    /// Returns `number · 2^exponent`, rounded.
    fn scaled(number: f64, exponent: i32) -> Self;
    /// Returns the number as a multiple of the smallest positive number, exactly.
    fn in_smallest(self) -> f64;
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Float for $t {
            const UNIT: f64 = $t::EPSILON as f64 / 2.0;
            const MIN_EXPONENT: i32 = $t::MIN_EXP - $t::MANTISSA_DIGITS as i32;
            fn scaled(number: f64, exponent: i32) -> Self {
                (number * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)) as Self
            }
            fn in_smallest(self) -> f64 {
                f64::from(self) * 2f64.powi(-Self::MIN_EXPONENT / 2) * 2f64.powi(-Self::MIN_EXPONENT + Self::MIN_EXPONENT / 2)
            }
        }
    )*};
}
floats!(f32 f64);

pub(super) fn trials() -> Vec<Trial> {
    [of_type::<f32>(), of_type::<f64>()].into_iter().flatten().collect()
}

fn of_type<T: Float>() -> Vec<Trial> {
    let tests: [(&str, Test); 3] = [
        ("samples_of_all_sizes", samples_of_all_sizes::<T>),
        ("underflow", underflow::<T>),
        ("infinities", infinities::<T>),
    ];
    let trial = |(name, test)| on_every_backend(SUITE, &format!("accuracy::{}::{name}", T::NAME), test);
    tests.into_iter().flat_map(trial).collect()
}

fn sizes(device: &Device) -> &'static [(usize, usize)] {
    if is_slow(device) { &FEW_SIZES } else { &SIZES }
}

/// Returns a number of either sign, scaled by a power of two between `2^-maximum` and `2^maximum`.
fn of_any_size<T: Float>(random: &mut Random, maximum: i32) -> T {
    let exponent = random.below(2 * maximum as usize + 1) as i32 - maximum;
    T::scaled(2.0 * random.unit() - 1.0, exponent)
}

fn case<'a, T: Float>(x: &'a [T], taps: &'a [T], boundary: Boundary<T>) -> Case<'a, T> {
    Case { x, taps, direction: Direction::Correlate, boundary, extent: Extent::Full }
}

/// With samples of very different sizes, maximum outputs are much smaller than the largest sample times the taps.
fn samples_of_all_sizes<T: Float>(device: &Device) -> Result<(), Failed> {
    let random = &mut Random::new(11);
    for &(samples, taps) in sizes(device) {
        let mut x: Vec<T> = (0..samples).map(|_| of_any_size(random, 30)).collect();
        let taps: Vec<T> = (0..taps).map(|_| of_any_size(random, 10)).collect();
        // Some samples cancel each other.
        (1..samples).step_by(3).for_each(|i| x[i] = T::scaled(-x[i - 1].into(), 0));
        check_line(device, &case(&x, &taps, Boundary::Mirror))?;
    }
    Ok(())
}

/// Samples are small multiples of the smallest positive number, so every product is rounded to such a multiple. The oracle
/// computes with the multiples.
fn underflow<T: Float>(device: &Device) -> Result<(), Failed> {
    let random = &mut Random::new(12);
    for &(samples, taps) in sizes(device) {
        let multiples: Vec<T> = (0..samples).map(|_| T::scaled(random.below(1 << 12) as f64 - 2048.0, 0)).collect();
        let x: Vec<T> = multiples.iter().map(|&multiple| T::scaled(multiple.into(), T::MIN_EXPONENT)).collect();
        let taps: Vec<T> = (0..taps).map(|_| T::scaled(2.0 * random.unit() - 1.0, 0)).collect();
        let outputs = filter(&case(&x, &taps, Boundary::Zero)).prepare(device)?.apply(&x)?;
        let oracle = case(&multiples, &taps, Boundary::Zero);
        for (o, (actual, exact)) in outputs.iter().zip(oracle.outputs(0..oracle.output_count())).enumerate() {
            let Sum::Real(exact) = exact else { unreachable!("sums of floats are real") };
            if !exact.agrees(actual.in_smallest(), taps.len(), T::UNIT, 1.0) {
                return Err(format!("{} taps: output {o} is {actual}, expected {exact:?} smallest", taps.len()).into());
            }
        }
        if taps.len() > 1 && outputs.iter().all(|output| output.in_smallest() == 0.0) {
            return Err("all outputs are zero".into());
        }
    }
    Ok(())
}

/// One sample is infinite or NaN, some taps are zero, with every boundary. The oracle's sums are infinite or NaN exactly
/// where they must be.
fn infinities<T: Float>(device: &Device) -> Result<(), Failed> {
    let random = &mut Random::new(13);
    let mut taps: Vec<T> = (0..7).map(|_| of_any_size(random, 3)).collect();
    (taps[1], taps[5]) = (T::scaled(0.0, 0), T::scaled(-0.0, 0));
    let boundaries = [Boundary::Zero, Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap];
    for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        for (place, boundary) in [0, 3, 150, 299].into_iter().flat_map(|place| boundaries.map(|b| (place, b))) {
            let mut x: Vec<T> = (0..300).map(|_| of_any_size(random, 3)).collect();
            x[place] = T::scaled(bad, 0);
            let case = case(&x, &taps, boundary);
            check_line(device, &case).map_err(|error| format!("sample {place} is {bad}, {boundary:?}: {error}"))?;
            if let Boundary::Zero = boundary {
                reaches_its_taps_alone(device, &case, place)?;
            }
        }
    }
    Ok(())
}

/// Checks, without the oracle, that the sample affects exactly one output per tap.
fn reaches_its_taps_alone<T: Float>(device: &Device, case: &Case<'_, T>, place: usize) -> Result<(), Failed> {
    let outputs = filter(case).prepare(device)?.apply(case.x)?;
    let reached: Vec<usize> = (0..outputs.len()).filter(|&o| !outputs[o].into().is_finite()).collect();
    let expected: Vec<usize> = (place..place + case.taps.len()).collect();
    if reached == expected { Ok(()) } else { Err(format!("{reached:?}, expected {expected:?}").into()) }
}
