//! The bound of each output by its own samples, and what underflow adds to it.

use super::cases::plain;
use super::missing::types;
use super::oracle::{Case, Weights};
use super::types::Types;
use super::{SUITE, check};
use crate::common::{Random, ensure, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::{Device, Extent, Filter2dAlgorithm};

pub(super) fn trials() -> Vec<Trial> {
    let of_type = |types: &'static Types| {
        let name = format!("accuracy::{}::samples_of_all_sizes", types.name);
        on_every_backend(SUITE, &name, |device| samples_of_all_sizes(device, types))
    };
    let all_sizes = ["f32_f32_f32", "f64_f32_f64", "f32_f64_f32"].map(types).into_iter().flat_map(of_type);
    all_sizes.chain(on_every_backend(SUITE, "accuracy::f32_f32_f32::underflow", underflow)).collect()
}

/// A number that `f32` has, of either sign and of a size between `2^-most` and `2^most`.
fn of_any_size(random: &mut Random, most: i32) -> f64 {
    let exponent = random.below(2 * most as usize + 1) as i32 - most;
    f64::from((2.0 * random.unit() - 1.0) as f32) * 2f64.powi(exponent)
}

/// Most outputs are much smaller than the largest sample times the weights, and some samples cancel each other.
fn samples_of_all_sizes(device: &Device, types: &Types) -> Result<(), Failed> {
    let random = &mut Random::new(51);
    for shape in [[3, 4], [7, 5]] {
        let mut case = Case { extent: Extent::Full, ..plain(types, 51, [11, 20], shape) };
        case.weights = Weights::Dense(shape, (0..shape[0] * shape[1]).map(|_| of_any_size(random, 10)).collect());
        case.samples.iter_mut().for_each(|sample| *sample = of_any_size(random, 30));
        (1..case.samples.len()).step_by(3).for_each(|i| case.samples[i] = -case.samples[i - 1]);
        check(device, types, &case)?;
        let weights = |random: &mut Random, count: usize| (0..count).map(|_| of_any_size(random, 3)).collect();
        let separable = Weights::Separable(weights(random, shape[0]), weights(random, shape[1]));
        check(device, types, &Case { weights: separable, ..case })?;
    }
    Ok(())
}

/// Samples of a few of the smallest numbers: every product is rounded to a multiple of the smallest one.
fn underflow(device: &Device) -> Result<(), Failed> {
    let (types, random) = (types("f32_f32_f32"), &mut Random::new(52));
    let mut case = plain(types, 52, [9, 20], [3, 5]);
    let smallest = f64::from(f32::from_bits(1));
    case.samples.iter_mut().for_each(|sample| *sample = (random.below(4096) as f64 - 2048.0) * smallest);
    check(device, types, &case)?;
    let outputs = types.runs.apply(device, &case, Filter2dAlgorithm::Auto, false)?;
    ensure(outputs.iter().any(|&output| output != 0.0), || "all outputs are zero".to_owned())
}
