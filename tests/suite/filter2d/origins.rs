//! Origins with the kernels that are for some weights only. Those for any weights meet origins in the conformance tests.

use super::cases::{boundaries, plain};
use super::missing::types;
use super::oracle::{Case, Direction, Weights};
use super::types::Types;
use super::{SUITE, check};
use crate::common::{Random, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, array};
use slm::{Boundary, Device, Extent, Filter1d, Filter2d};

pub(super) fn trials() -> Vec<Trial> {
    type Test = fn(&Device) -> Result<(), Failed>;
    let tests: [(&str, Test); 4] =
        [("streaming", streaming), ("products", products), ("boxes", boxes), ("other_extents", other_extents)];
    tests.into_iter().flat_map(|(name, test)| on_every_backend(SUITE, &format!("origins::{name}"), test)).collect()
}

/// The ends of the range, and a place between them.
fn origins(taps: usize) -> [isize; 3] {
    [-((taps / 2) as isize), (taps - 1 - taps / 2) as isize, (taps as isize - 1 - (taps / 2) as isize) / 2]
}

/// Checks a case with origins of both axes.
fn check_origins(device: &Device, types: &Types, case: &Case) -> Result<(), Failed> {
    let [rows, columns] = case.weights.shape().map(origins);
    for (number, (row, column)) in rows.into_iter().zip([columns[1], columns[0], columns[2]]).enumerate() {
        let boundary = boundaries(3.0)[(number + case.weights.shape()[0]) % 6];
        check(device, types, &Case { origin: [row, column], boundary, ..case.clone() })?;
    }
    Ok(())
}

fn streaming(device: &Device) -> Result<(), Failed> {
    for taps in [3, 5, 7, 9] {
        let case = plain(types("f32_f32_f32"), 700 + taps as u64, [20, 45], [taps; 2]);
        check_origins(device, types("f32_f32_f32"), &case)?;
        check_origins(device, types("f32_f32_f32"), &Case { direction: Direction::Convolve, ..case })?;
    }
    let bytes = types("u8_f32_u8");
    let case = Case { channels: Some(4), ..plain(bytes, 710, [7, 12], [5, 5]) };
    let samples = (0..case.sample_count()).map(|i| (i * 37 % 256) as f64).collect();
    check_origins(device, bytes, &Case { samples, ..case })
}

fn products(device: &Device) -> Result<(), Failed> {
    let sizes: &[[usize; 2]] = if is_slow(device) { &[[4, 7], [11, 2]] } else { &[[4, 7], [11, 2], [64, 70], [1, 33]] };
    for name in ["f32_f32_f32", "u8_f32_u8", "f64_f64_f64", "u8_i32_i16"] {
        let types = types(name);
        for &[rows, columns] in sizes {
            let random = &mut Random::new(720 + rows as u64);
            let weights = Weights::Separable(types.weights(random, rows), types.weights(random, columns));
            check_origins(device, types, &Case { weights, ..plain(types, 721, [23, 40], [1, 1]) })?;
        }
    }
    Ok(())
}

fn boxes(device: &Device) -> Result<(), Failed> {
    for (name, size) in [("f32_f32_f32", [5, 12]), ("u8_i32_i16", [8, 3]), ("u8_f32_u8", [4, 9])] {
        let types = types(name);
        let weights = Weights::Dense(size, vec![1.0; size[0] * size[1]]);
        check_origins(device, types, &Case { weights, ..plain(types, 730, [40, 30], [1, 1]) })?;
    }
    Ok(())
}

/// The outputs of other extents than `Same` do not depend on the origin.
fn other_extents(device: &Device) -> Result<(), Failed> {
    let picture = Array2::from_shape_fn((6, 7), |(r, c)| (r * 31 + c * 17) as i32 % 101);
    let weights = array![[1, -2, 3, 5], [0, 7, -1, 2], [4, 4, -3, 6]];
    let line: Vec<i32> = picture.iter().copied().collect();
    for extent in [Extent::Valid, Extent::Full] {
        let filter = Filter2d::<i32, i32>::convolve(weights.view()).extent(extent).boundary(Boundary::Mirror);
        let expected = filter.prepare(device)?.apply(picture.view())?;
        for origin in [[-1, 1], [1, -2]] {
            let moved = filter.clone().origin(origin[0], origin[1]).prepare(device)?;
            equal(moved.apply(picture.view())?, expected.clone())?;
        }
        let filter = Filter1d::correlate(&[1, 2, 3, 4]).extent(extent).boundary(Boundary::Mirror);
        let expected = filter.prepare(device)?.apply(&line)?;
        for origin in [-2, 1] {
            equal(filter.clone().origin(origin).prepare(device)?.apply(&line)?, expected.clone())?;
        }
    }
    Ok(())
}
