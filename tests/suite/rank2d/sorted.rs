//! Ranks of sorted tiles: several blocks, pieces of lines, equal samples, and digits that all samples have.

use super::kernels::plain;
use super::oracle::{Case, Rank};
use super::{SUITE, boundaries, check_with, filter};
use crate::common::numbers::Number;
use crate::common::{Random, ensure, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::emulator::Profile;
use slm::{Device, Error, Extent, Rank2d, Rank2dAlgorithm, RankElement, RankWindow};

const ALGORITHM: &[Rank2dAlgorithm] = &[Rank2dAlgorithm::SortedTile];

pub(super) fn trials() -> Vec<Trial> {
    let of_types = [
        on_every_backend(SUITE, "sorted::u8", windows::<u8>),
        on_every_backend(SUITE, "sorted::u16", windows::<u16>),
        on_every_backend(SUITE, "sorted::i16", windows::<i16>),
        on_every_backend(SUITE, "sorted::i32", windows::<i32>),
        on_every_backend(SUITE, "sorted::f32", windows::<f32>),
        on_every_backend(SUITE, "sorted::f64", windows::<f64>),
        on_every_backend(SUITE, "sorted::digits_u16", digits::<u16>),
        on_every_backend(SUITE, "sorted::digits_f32", digits::<f32>),
        on_every_backend(SUITE, "sorted::digits_f64", digits::<f64>),
    ];
    let others = vec![
        Trial::test("rank2d::emulated::sorted::choices", choices),
        Trial::test("rank2d::emulated::sorted::planned", what_runs_is_planned),
        Trial::test("rank2d::emulated::sorted::too_much_shared_memory", too_much_shared_memory),
    ];
    of_types.into_iter().flatten().chain(others).collect()
}

/// Windows of one row or column and of several, in several blocks, and in pieces of single lines; with channels, planes and NaNs.
fn windows<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let cases: &[([usize; 2], [usize; 2])] = match is_slow(device) {
        true => &[([35, 37], [9, 7]), ([1, 560], [1, 20]), ([34, 3], [18, 1]), ([9, 33], [4, 70])],
        false => &[
            ([70, 101], [15, 15]),
            ([1, 1500], [1, 101]),
            ([1, 5], [3, 9]),
            ([300, 2], [33, 1]),
            ([50, 70], [2, 8]),
            ([40, 70], [25, 25]),
            ([40, 70], [31, 45]),
            ([9, 40], [2, 500]),
        ],
    };
    let ranks = [Rank::Median, Rank::At(1), Rank::Percentile(85.0), Rank::Minimum, Rank::At(-2), Rank::Maximum];
    for (number, &(shape, window)) in cases.iter().enumerate() {
        let extent = [Extent::Same, Extent::Valid, Extent::Full][number % 3];
        let extent = if shape[0] < window[0] || shape[1] < window[1] { Extent::Full } else { extent };
        let case = plain::<T>(160 + number as u64, shape, window, ranks[number % 6]);
        let case = Case { boundaries: [boundaries(3.0)[number % 6]; 2], extent, ..case };
        check_with::<T>(device, &case, ALGORITHM)?;
        let mut several = Case { channels: Some(2), planes: 2, rank: ranks[(number + 3) % 6], ..case };
        several.samples = plain::<T>(170, [several.sample_count(), 1], window, Rank::Median).samples;
        check_with::<T>(device, &several, ALGORITHM)?;
        if T::KIND.range().is_none() {
            // Slow devices take a few NaNs or many in turn.
            let takes = |many: usize| !is_slow(device) || number % 2 == many;
            several.samples.iter_mut().step_by(37).for_each(|sample| *sample = f64::NAN);
            if takes(0) {
                check_with::<T>(device, &several, ALGORITHM)?;
            }
            several.samples.iter_mut().step_by(2).for_each(|sample| *sample = f64::NAN);
            if takes(1) {
                check_with::<T>(device, &Case { omit: true, ..several }, ALGORITHM)?;
            }
        }
    }
    Ok(())
}

/// Pictures of one sample, of samples that differ in one digit or another, and of nothing but NaNs.
fn digits<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let random = &mut Random::new(180);
    let mut case = Case { extent: Extent::Valid, ..plain::<T>(180, [20, 45], [9, 8], Rank::At(30)) };
    for steps in [[1.0, 0.0], [1.0, 1.0], [256.0, 0.0], [255.0, 256.0]] {
        let scale = if T::KIND.range().is_some() { 1.0 } else { 0.37 };
        case.samples.iter_mut().for_each(|sample| *sample = scale * steps[random.below(2)] * random.below(3) as f64);
        case.samples.iter_mut().for_each(|sample| *sample = T::KIND.stored(*sample));
        check_with::<T>(device, &case, ALGORITHM)?;
    }
    let all: &[f64] = if T::KIND.range().is_some() { &[7.0] } else { &[7.0, -0.0, f64::INFINITY, f64::NAN] };
    for (omit, &sample) in [false, true].into_iter().flat_map(|omit| all.iter().map(move |sample| (omit, sample))) {
        case.samples.fill(sample);
        check_with::<T>(device, &Case { omit, ..case.clone() }, ALGORITHM)?;
    }
    Ok(())
}

fn choices() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_90, 0);
    let kernel = |filter: &Rank2d<u8>| -> Result<String, Failed> {
        Ok(filter.prepare(&device)?.plan([100, 100])?.kernels().join(", "))
    };
    equal(kernel(&Rank2d::median(9))?, "rank2d_sorted_u8".to_owned())?;
    equal(kernel(&Rank2d::median(75))?, "rank2d_sorted_u8".to_owned())?;
    equal(kernel(&Rank2d::median([3, 5]))?, "rank2d_network_u8".to_owned())?;
    equal(kernel(&Rank2d::median([2, 13]))?, "rank2d_sorted_u8".to_owned())?;
    equal(kernel(&Rank2d::median(9).stride(1, 2))?, "rank2d_tile_u8".to_owned())?;
    equal(kernel(&Rank2d::median(RankWindow::disc(9)))?, "rank2d_tile_u8".to_owned())?;
    let sorted = |filter: Rank2d<u8>| kernel(&filter.algorithm(Rank2dAlgorithm::SortedTile));
    equal(sorted(Rank2d::minimum([1, 2]))?, "rank2d_sorted_u8".to_owned())?;
    equal(kernel(&Rank2d::median([1, 2001]))?, "rank2d_sorted_u8".to_owned())?;
    // 8 x 32 outputs do not fit, but 16 x 32 that are bisected do.
    let small = Rank2d::<u8>::median(71).prepare(&Device::emulated(Profile::SMALL, 0))?.plan([100, 100])?;
    equal(small.kernels().join(", "), "rank2d_tile_u8".to_owned())?;
    for refused in [Rank2d::<u8>::median(20).stride(2, 1), Rank2d::median(RankWindow::disc(9))] {
        let refused = refused.algorithm(Rank2dAlgorithm::SortedTile).prepare(&device).map(|_| ());
        equal(refused, Err(slm::rank2d::RankError::NotSortable.into()))?;
    }
    Ok(())
}

fn what_runs_is_planned() -> Result<(), Failed> {
    for (profile, shape, window, blocks) in [
        (Profile::SM_90, [40, 50], [9, 12], 4),
        // A smaller tile, because of the shared memory.
        (Profile::SMALL, [40, 50], [41, 31], 6),
        (Profile::SM_80, [1, 600], [1, 31], 2),
        // Long windows of one row have pieces of rows, others tiles.
        (Profile::SM_80, [3, 600], [1, 96], 6),
        (Profile::SM_80, [3, 600], [1, 95], 19),
    ] {
        let device = Device::emulated(profile, 3);
        let case = plain::<i32>(181, shape, window, Rank::Median);
        let filter = filter::<i32>(&case).algorithm(Rank2dAlgorithm::SortedTile).prepare(&device)?;
        let plan = filter.plan(shape)?;
        let picture = slm::ndarray::Array2::from_shape_fn(shape, |(r, c)| case.samples[r * shape[1] + c] as i32);
        let outputs: Vec<f64> = filter.apply(&picture)?.iter().map(|&output| output.into()).collect();
        equal(outputs, case.outputs())?;
        let [report] = &device.emulation_reports()[..] else { return Err("not one kernel".into()) };
        let launch = &plan.launches[0];
        equal((report.kernel, report.launch.grid.map(u64::from)), ("rank2d_sorted_i32", launch.grid))?;
        equal((&*plan.kernels().join(", "), launch.grid), ("rank2d_sorted_i32", [blocks, 1, 1]))?;
        equal(u64::from(report.launch.shared_bytes), launch.shared_bytes)?;
        ensure(report.is_clean(), || report.to_string())?;
    }
    Ok(())
}

/// By hand, for a GPU with 64 KiB: 8 + 150 rows of 32 + 150 samples, with a key of 4 bytes, two positions and a number of 2, and two
/// masks.
fn too_much_shared_memory() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SMALL, 0);
    let median = Rank2d::<u8>::median(151).algorithm(Rank2dAlgorithm::SortedTile);
    let (samples, quads) = (158 * 182u64, (158 * 182u64).div_ceil(256) * 2);
    let aligned = |bytes: u64| bytes.next_multiple_of(16);
    let masks = quads * (4 * 8 + 4 + 4 * 32 + 4) * 4;
    let requested =
        aligned(4 * samples) + aligned(4 * samples) + aligned(2 * samples) + 2 * 16 * 256 + 4 * 2 * 16 + masks;
    let error = Error::SharedMemoryExceeded { kernel: "rank2d_sorted_u8".to_owned(), requested, available: 65_536 };
    equal(median.prepare(&device).map(|_| ()), Err(error))
}
