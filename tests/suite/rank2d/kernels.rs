//! Which methods run, and that all agree for large windows and several blocks.

use super::oracle::{Case, Rank};
use super::{EXTENTS, SUITE, boundaries, check, check_with, filter, pick, sample};
use crate::common::numbers::Number;
use crate::common::{Random, ensure, equal, is_slow, on_every_backend};
use crate::morphology2d::with_heights;
use libtest_mimic::{Failed, Trial};
use slm::banks::{AccessKind, BankModel, Layout, Tile, Width};
use slm::emulator::Profile;
use slm::{Boundary, Device, Error, Extent, Rank2d, Rank2dAlgorithm, RankElement, RankWindow};
use slm_kernels::rank2d::RankPass;

pub(super) fn trials() -> Vec<Trial> {
    let of_types = [
        on_every_backend(SUITE, "kernels::u8", several_blocks::<u8>),
        on_every_backend(SUITE, "kernels::u16", several_blocks::<u16>),
        on_every_backend(SUITE, "kernels::i16", several_blocks::<i16>),
        on_every_backend(SUITE, "kernels::i32", several_blocks::<i32>),
        on_every_backend(SUITE, "kernels::f32", several_blocks::<f32>),
        on_every_backend(SUITE, "kernels::f64", several_blocks::<f64>),
    ];
    let whole = [
        on_every_backend(SUITE, "kernels::whole_u8", whole_tiles::<u8>),
        on_every_backend(SUITE, "kernels::whole_u16", whole_tiles::<u16>),
        on_every_backend(SUITE, "kernels::whole_i16", whole_tiles::<i16>),
        on_every_backend(SUITE, "kernels::whole_f32", whole_tiles::<f32>),
    ];
    let large = [
        on_every_backend(SUITE, "kernels::large_u8", large::<u8>),
        on_every_backend(SUITE, "kernels::large_u16", large::<u16>),
        on_every_backend(SUITE, "kernels::large_i16", large::<i16>),
        on_every_backend(SUITE, "kernels::large_i32", large::<i32>),
        on_every_backend(SUITE, "kernels::large_f32", large::<f32>),
    ];
    let extremes = [
        on_every_backend(SUITE, "kernels::extremes_u8", extremes::<u8>),
        on_every_backend(SUITE, "kernels::extremes_u16", extremes::<u16>),
        on_every_backend(SUITE, "kernels::extremes_i16", extremes::<i16>),
        on_every_backend(SUITE, "kernels::extremes_i32", extremes::<i32>),
        on_every_backend(SUITE, "kernels::extremes_f32", extremes::<f32>),
        on_every_backend(SUITE, "kernels::extremes_f64", extremes::<f64>),
    ];
    let few = [
        on_every_backend(SUITE, "kernels::few_u8", few_samples::<u8>),
        on_every_backend(SUITE, "kernels::few_u16", few_samples::<u16>),
        on_every_backend(SUITE, "kernels::few_i16", few_samples::<i16>),
        on_every_backend(SUITE, "kernels::few_i32", few_samples::<i32>),
        on_every_backend(SUITE, "kernels::few_f32", few_samples::<f32>),
        on_every_backend(SUITE, "kernels::few_f64", few_samples::<f64>),
    ];
    let any_extremes = [
        on_every_backend(SUITE, "kernels::any_extremes_u8", any_extremes::<u8>),
        on_every_backend(SUITE, "kernels::any_extremes_u16", any_extremes::<u16>),
        on_every_backend(SUITE, "kernels::any_extremes_i16", any_extremes::<i16>),
        on_every_backend(SUITE, "kernels::any_extremes_i32", any_extremes::<i32>),
        on_every_backend(SUITE, "kernels::any_extremes_f32", any_extremes::<f32>),
        on_every_backend(SUITE, "kernels::any_extremes_f64", any_extremes::<f64>),
    ];
    let floats = [
        on_every_backend(SUITE, "kernels::special_f32", special_floats::<f32>),
        on_every_backend(SUITE, "kernels::special_f64", special_floats::<f64>),
    ];
    let others = vec![
        Trial::test("rank2d::cpu::kernels::methods", methods_of_the_cpu),
        Trial::test("rank2d::cpu::kernels::squares_u8", squares_on_the_cpu::<u8>),
        Trial::test("rank2d::cpu::kernels::squares_i16", squares_on_the_cpu::<i16>),
        Trial::test("rank2d::cpu::kernels::squares_f32", squares_on_the_cpu::<f32>),
        Trial::test("rank2d::cpu::kernels::parts_u8", parts_on_the_cpu::<u8>),
        Trial::test("rank2d::cpu::kernels::parts_i32", parts_on_the_cpu::<i32>),
        Trial::test("rank2d::cpu::kernels::parts_f32", parts_on_the_cpu::<f32>),
        Trial::test("rank2d::cpu::kernels::threads", threads),
        Trial::test("rank2d::emulated::kernels::layouts", layouts),
        Trial::test("rank2d::emulated::kernels::choices", choices),
        Trial::test("rank2d::emulated::kernels::planned", what_runs_is_planned),
        Trial::test("rank2d::emulated::kernels::too_much_shared_memory", too_much_shared_memory),
    ];
    let of_kernels =
        of_types.into_iter().chain(whole).chain(large).chain(extremes).chain(few).chain(any_extremes).chain(floats);
    of_kernels.flatten().chain(others).collect()
}

const SHARED: &[Rank2dAlgorithm] = &[Rank2dAlgorithm::SharedTile];

/// A case of one plane without further steps.
pub(super) fn plain<T: Number>(stream: u64, shape: [usize; 2], window: [usize; 2], rank: Rank) -> Case {
    let random = &mut Random::new(stream);
    Case {
        window,
        mask: None,
        rank,
        origin: [0, 0],
        boundaries: [boundaries(0.0)[3]; 2],
        extent: Extent::Same,
        stride: [1, 1],
        channels: None,
        omit: false,
        planes: 1,
        shape,
        samples: (0..shape[0] * shape[1]).map(|_| sample(random, T::KIND)).collect(),
    }
}

/// Every kernel, in several blocks along both axes.
fn several_blocks<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    // A block computes 64 x 64 medians, up to 64 x 64 extremes, and 16 x 32, 32 x 64 or 8 x 256 other outputs.
    let shape = if is_slow(device) { [67, 70] } else { [100, 211] };
    for (number, (window, rank)) in [
        ([3, 3], Rank::Median),
        ([5, 5], Rank::Median),
        ([7, 7], Rank::Median),
        ([3, 9], Rank::Percentile(30.0)),
        ([6, 5], Rank::Minimum),
        ([5, 8], Rank::Maximum),
    ]
    .into_iter()
    .enumerate()
    {
        let case = plain::<T>(70 + number as u64, shape, window, rank);
        check::<T>(device, &case)?;
        if window == [3, 3] || number > 3 {
            // Blocks whose samples are all within the picture.
            let mut inside = Case { extent: Extent::Valid, channels: Some(2), ..case.clone() };
            inside.samples = plain::<T>(76, [inside.sample_count(), 1], window, rank).samples;
            check::<T>(device, &inside)?;
        }
        if T::KIND.range().is_none() && (!is_slow(device) || number % 2 == 0) {
            // NaNs in some windows; on slow devices, in every other case.
            let mut case = case;
            case.samples.iter_mut().step_by(41).for_each(|sample| *sample = f64::NAN);
            check::<T>(device, &case)?;
            if !is_slow(device) {
                check::<T>(device, &Case { omit: true, ..case })?;
            }
        }
    }
    Ok(())
}

/// Tiles that lie within the picture, whose rows begin at multiples of four samples: of all samples after such a multiple, and with the
/// least and the greatest samples, or with NaNs.
fn whole_tiles<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    for (number, (extent, shape, window, rank)) in [
        (Extent::Same, [136, 136], [3, 3], Rank::Median),
        (Extent::Same, [136, 140], [5, 5], Rank::Median),
        (Extent::Same, [140, 136], [7, 7], Rank::Median),
        (Extent::Valid, [71, 72], [3, 3], Rank::Median),
        (Extent::Valid, [131, 132], [3, 3], Rank::Minimum),
        (Extent::Valid, [142, 136], [6, 5], Rank::Maximum),
        (Extent::Valid, [140, 68], [16, 14], Rank::Minimum),
    ]
    .into_iter()
    .enumerate()
    {
        let mut case = Case { extent, ..plain::<T>(130 + number as u64, shape, window, rank) };
        if let Some([least, greatest]) = T::KIND.range() {
            case.samples.iter_mut().step_by(3).for_each(|sample| *sample = greatest);
            case.samples.iter_mut().step_by(5).for_each(|sample| *sample = least);
        }
        check_with::<T>(device, &case, SHARED)?;
        if T::KIND.range().is_none() {
            case.samples.iter_mut().step_by(997).for_each(|sample| *sample = f64::NAN);
            check_with::<T>(device, &case, SHARED)?;
        }
    }
    Ok(())
}

/// Medians of floats that comparisons put in order, then with a -0 among zeros, inside or outside, and with a NaN.
fn special_floats<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let shape = if is_slow(device) { [9, 21] } else { [40, 300] };
    for (number, side) in [3, 5, 7].into_iter().enumerate() {
        let mut case = plain::<T>(140 + number as u64, shape, [side; 2], Rank::Median);
        // Adding 0 makes 0 of -0.
        case.samples.iter_mut().for_each(|sample| *sample += 0.0);
        check::<T>(device, &case)?;
        check::<T>(device, &Case { channels: Some(3), shape: [shape[0], shape[1] / 3], ..case.clone() })?;
        check::<T>(device, &Case { boundaries: [Boundary::Constant(-0.0); 2], ..case.clone() })?;
        let middle = case.samples.len() / 2 + shape[1] / 2;
        for special in [-0.0, f64::NAN] {
            let mut case = case.clone();
            case.samples[middle] = special;
            check::<T>(device, &case)?;
        }
        // Every other sample.
        case.samples.iter_mut().step_by(2).for_each(|sample| *sample = -0.0);
        check::<T>(device, &case)?;
    }
    Ok(())
}

/// Windows that are larger than the picture, or nearly.
fn large<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let (shape, window) = if is_slow(device) { ([5, 6], [9, 11]) } else { ([60, 75], [75, 61]) };
    for (number, rank) in [Rank::Median, Rank::Minimum, Rank::At(-3), Rank::Percentile(75.0)].into_iter().enumerate() {
        let case = plain::<T>(80, shape, window, rank);
        check::<T>(device, &Case { boundaries: [boundaries(3.0)[number + 1]; 2], ..case })?;
    }
    if is_slow(device) { Ok(()) } else { blocks::<T>(device) }
}

/// Several blocks of the CPU, of 64 x 256 outputs, with equal samples, channels, planes and NaNs.
fn blocks<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    for (number, rank) in [Rank::Median, Rank::At(1), Rank::Percentile(99.0)].into_iter().enumerate() {
        let case = Case { planes: 2, channels: Some(2), ..plain::<T>(0, [70, 300], [8, 9], rank) };
        let mut samples = plain::<T>(84 + number as u64, [case.sample_count(), 1], [8, 9], rank).samples;
        check::<T>(device, &Case { samples: samples.clone(), ..case.clone() })?;
        if T::KIND.range().is_none() {
            samples.iter_mut().step_by(137).for_each(|sample| *sample = f64::NAN);
            check::<T>(device, &Case { omit: number != 1, samples, ..case })?;
        }
    }
    Ok(())
}

/// Extremes of rectangles in two passes: windows of one run and of many, strips of several lines and of one, planes and channels.
fn extremes<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let cases: &[([usize; 2], [usize; 2])] = match is_slow(device) {
        // Two have whole strips down columns, of bytes in words of memory, too.
        true => &[
            ([5, 40], [1, 10]),
            ([40, 5], [18, 1]),
            ([21, 30], [19, 28]),
            ([3, 4], [3, 60]),
            ([9, 2], [70, 3]),
            ([24, 72], [12, 1]),
            ([150, 136], [12, 3]),
            // Several samples of a thread are loaded together.
            ([2, 600], [1, 10]),
        ],
        false => &[
            ([90, 80], [31, 17]),
            ([12, 20], [33, 40]),
            ([40, 700], [16, 2]),
            ([600, 6], [2, 300]),
            ([3, 2600], [2, 21]),
            ([700, 40], [30, 1]),
            // So many rows that a block has several of them.
            ([16_390, 3], [1, 10]),
        ],
    };
    for (number, &(shape, window)) in cases.iter().enumerate() {
        let case = plain::<T>(100 + number as u64, shape, window, [Rank::Minimum, Rank::Maximum][number % 2]);
        let extent = [Extent::Same, Extent::Full, Extent::Valid][number % 3];
        let case = Case { boundaries: [boundaries(3.0)[number % 6]; 2], extent, ..case };
        check_with::<T>(device, &case, &[Rank2dAlgorithm::VanHerk])?;
        let mut several = Case { channels: Some(3), planes: 2, omit: number % 2 == 0, ..case };
        several.samples = plain::<T>(110, [several.sample_count(), 1], window, Rank::Minimum).samples;
        if T::KIND.range().is_none() {
            several.samples.iter_mut().step_by(37).for_each(|sample| *sample = f64::NAN);
        }
        check_with::<T>(device, &several, &[Rank2dAlgorithm::VanHerk])?;
    }
    // Small windows of a line and of few rows.
    for (number, (shape, window)) in [([1, 2100], [1, 9]), ([14, 70], [3, 5])].into_iter().enumerate() {
        let case = plain::<T>(112 + number as u64, shape, window, [Rank::Maximum, Rank::Minimum][number]);
        check::<T>(device, &case)?;
        let mut pixels = Case { channels: Some(2), extent: Extent::Full, ..case };
        pixels.samples = plain::<T>(114, [pixels.sample_count(), 1], window, Rank::Minimum).samples;
        check::<T>(device, &pixels)?;
    }
    Ok(())
}

/// Every rank of windows of few samples: lines of several blocks, channels, strides, masks and NaNs.
fn few_samples<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let shape = if is_slow(device) { [5, 9] } else { [70, 150] };
    // Those of each network, with its least and its greatest number of samples.
    let windows = [[1usize, 2], [3, 1], [2, 2], [5, 1], [2, 3], [3, 3], [2, 5], [4, 4], [17, 1], [5, 5]];
    let large = [[2, 13], [6, 6], [37, 1], [7, 7]];
    for (number, window) in windows.into_iter().chain(large).enumerate() {
        let count = window[0] * window[1];
        // All of the smallest ones, of larger ones some.
        for rank in (1..count).step_by(count.div_ceil(if count > 25 { 3 } else { 8 })) {
            let boundaries = [boundaries(3.0)[(number + rank) % 6]; 2];
            let case = plain::<T>(120 + rank as u64, shape, window, Rank::At(rank as isize));
            let case = Case { boundaries, extent: Extent::Full, stride: [1, 1 + rank % 2], ..case };
            check_with::<T>(device, &case, SHARED)?;
            let mask = (0..count).map(|place| place % 4 != 1).collect();
            let mut masked = Case { channels: Some(2), mask: Some(mask), rank: Rank::Percentile(60.0), ..case };
            masked.samples = plain::<T>(121, [masked.sample_count(), 1], window, Rank::Median).samples;
            if T::KIND.range().is_none() {
                masked.samples.iter_mut().step_by(5).for_each(|sample| *sample = f64::NAN);
            }
            check_with::<T>(device, &Case { omit: rank % 2 == 0, ..masked }, SHARED)?;
        }
    }
    // Windows of one row have wide tiles of few rows.
    let shape = if is_slow(device) { [9, 261] } else { [50, 1_000] };
    for (number, extent) in EXTENTS.into_iter().enumerate() {
        let case = plain::<T>(124 + number as u64, shape, [1, 6], Rank::At(2));
        check_with::<T>(device, &Case { boundaries: [boundaries(3.0)[number]; 2], extent, ..case }, SHARED)?;
    }
    let samples = if is_slow(device) { 2_100 } else { 100_000 };
    let line = plain::<T>(123, [1, samples], [1, 9], Rank::Median);
    check_with::<T>(device, &line, SHARED)?;
    check_with::<T>(device, &Case { channels: Some(4), shape: [1, samples / 4], rank: Rank::At(2), ..line }, SHARED)
}

/// Extremes of windows that are no rectangles, of every form of tiles, and with heights, which morphology has.
fn any_extremes<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    // The runs of a window have the lengths of its mask between every `gap` samples.
    for (number, (shape, window, gap)) in
        [([33, 66], [3, 4], 5), ([9, 260], [1, 11], 4), ([18, 40], [2, 18], 19), ([1, 2_100], [1, 9], 6)]
            .into_iter()
            .enumerate()
    {
        let rank = [Rank::Minimum, Rank::Maximum][number % 2];
        let mask = Some((0..window[0] * window[1]).map(|place| place % gap != 1).collect());
        let boundaries = [boundaries(3.0)[number]; 2];
        let mut case = Case { mask, boundaries, ..plain::<T>(120 + number as u64, shape, window, rank) };
        check::<T>(device, &case)?;
        if T::KIND.range().is_none() {
            case.samples.iter_mut().step_by(23).for_each(|sample| *sample = f64::NAN);
            check_with::<T>(device, &Case { omit: number % 2 == 0, ..case.clone() }, SHARED)?;
        }
        check_with::<T>(device, &Case { extent: Extent::Full, stride: [1, 2], ..case.clone() }, SHARED)?;
        let mut pixels =
            Case { channels: Some(2), shape: [shape[0].min(20), window[1] + 14], extent: Extent::Valid, ..case };
        pixels.samples = plain::<T>(126, [pixels.sample_count(), 1], window, rank).samples;
        check_with::<T>(device, &pixels, SHARED)?;
    }
    with_heights::<T>(device)
}

fn methods_of_the_cpu() -> Result<(), Failed> {
    fn reason<T: RankElement>(filter: &Rank2d<T>) -> Result<String, Failed> {
        Ok(filter.prepare(&Device::cpu())?.plan([100, 100])?.reason)
    }
    let begins = |reason: String, with: &str| ensure(reason.starts_with(with), || reason.clone());
    begins(reason(&Rank2d::<f32>::minimum(70))?, "extremes")?;
    begins(reason(&Rank2d::<u8>::rank([1, 3], 2))?, "extremes")?;
    begins(reason(&Rank2d::<f64>::median(7))?, "a network")?;
    begins(reason(&Rank2d::<u8>::median(9))?, "counts of the samples in each column")?;
    begins(reason(&Rank2d::<i32>::median(9))?, "counts of the samples in each column")?;
    let disc = RankWindow::disc(5);
    begins(reason(&Rank2d::<u8>::minimum(disc.clone()))?, "neighbours in a row")?;
    begins(reason(&Rank2d::<u8>::minimum(disc.clone()).stride(2, 1))?, "neighbours in a row")?;
    begins(reason(&Rank2d::<u8>::minimum(disc.clone()).stride(1, 2))?, "a comparison per sample")?;
    begins(reason(&Rank2d::<u16>::median(disc.clone()))?, "counts of the samples in the window")?;
    begins(reason(&Rank2d::<u8>::median(9).stride(1, 2))?, "counts of the samples in the window")?;
    begins(reason(&Rank2d::<i32>::median(disc))?, "selection")
}

/// Medians of rows that have a middle, which the CPU reads without a copy, and of rows that hardly have one.
fn squares_on_the_cpu<T: RankElement + Number>() -> Result<(), Failed> {
    for number in 0..96 {
        let random = &mut Random::new(150 + number);
        let (side, columns) = (pick(random, &[3, 5, 7]), pick(random, &[70, 73, 131, 300]));
        let mut case = plain::<T>(number, [0, 0], [side; 2], Rank::Median);
        case.origin = [0; 2].map(|_| random.below(side) as isize - (side / 2) as isize);
        let all = boundaries(sample(random, T::KIND));
        let above = pick(random, &all);
        case.boundaries = [above, pick(random, &[above, Boundary::Wrap, Boundary::Mirror])];
        case.extent = pick(random, &EXTENTS);
        case.stride = [1 + random.below(9), 1];
        case.channels = pick(random, &[None, Some(2), Some(3)]);
        case.planes = 1 + random.below(2);
        case.shape = [side + random.below(90), columns];
        // Adding 0 makes 0 of -0: of every other picture of floats, all samples but the last one are in the order of comparisons.
        case.samples = (0..case.sample_count()).map(|_| sample(random, T::KIND) + 0.0).collect();
        if T::KIND.range().is_none()
            && number % 2 == 1
            && let Some(last) = case.samples.last_mut()
        {
            *last = -0.0;
        }
        check::<T>(&Device::cpu(), &case)?;
    }
    Ok(())
}

/// Parts of long rows by every method for windows of one row, with planes, channels, strides and NaNs.
fn parts_on_the_cpu<T: RankElement + Number>() -> Result<(), Failed> {
    for (number, (shape, window, rank, stride)) in [
        ([2, 17_000], 65, Rank::Median, 1),
        ([1, 34_000], 60, Rank::Percentile(30.0), 2),
        ([3, 17_000], 20, Rank::Maximum, 1),
        ([1, 33_000], 7, Rank::Median, 2),
        ([1, 20_500], 2_500, Rank::At(17), 1),
    ]
    .into_iter()
    .enumerate()
    {
        let mut case = plain::<T>(0, shape, [1, window], rank);
        case = Case { stride: [1, stride], boundaries: [boundaries(3.0)[number]; 2], ..case };
        if number % 2 == 0 && window < 100 {
            case = Case { planes: 2, channels: Some(2), ..case };
        }
        case.samples = plain::<T>(190 + number as u64, [case.sample_count(), 1], [1, 1], rank).samples;
        check::<T>(&Device::cpu(), &case)?;
        if T::KIND.range().is_none() && window < 100 {
            case.samples.iter_mut().step_by(1_370).for_each(|sample| *sample = f64::NAN);
            check::<T>(&Device::cpu(), &Case { omit: number % 2 == 1, ..case })?;
        }
    }
    Ok(())
}

/// One thread has the same outputs as several.
fn threads() -> Result<(), Failed> {
    let case = plain::<u8>(90, [300, 257], [11, 9], Rank::Median);
    let outputs = || -> slm::Result<_> {
        let picture = slm::ndarray::Array2::from_shape_fn((300, 257), |(r, c)| case.samples[r * 257 + c] as u8);
        filter::<u8>(&case).prepare(&Device::cpu())?.apply(&picture)
    };
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let several = rayon::ThreadPoolBuilder::new().num_threads(7).build()?;
    equal(alone.install(outputs)?, several.install(outputs)?)
}

fn plan<T: RankElement>(filter: &Rank2d<T>) -> slm::Result<slm::Plan<Rank2dAlgorithm>> {
    filter.prepare(&Device::emulated(Profile::SM_90, 0))?.plan([20, 70])
}

fn choices() -> Result<(), Failed> {
    let kernel = |filter: &Rank2d<f32>| -> Result<String, Failed> { Ok(plan(filter)?.kernels().join(", ")) };
    equal(kernel(&Rank2d::median(3))?, "rank2d_median3_f32".to_owned())?;
    equal(kernel(&Rank2d::rank(5, 12))?, "rank2d_median5_f32".to_owned())?;
    equal(kernel(&Rank2d::percentile(7, 50.0))?, "rank2d_median7_f32".to_owned())?;
    equal(kernel(&Rank2d::median(9))?, "rank2d_sorted_f32".to_owned())?;
    equal(kernel(&Rank2d::median(3).stride(1, 2))?, "rank2d_network_f32".to_owned())?;
    equal(kernel(&Rank2d::rank(3, 1))?, "rank2d_network_f32".to_owned())?;
    equal(kernel(&Rank2d::median(5).nan_policy(slm::RankNanPolicy::Omit))?, "rank2d_network_f32".to_owned())?;
    equal(kernel(&Rank2d::median([2, 13]).stride(2, 1))?, "rank2d_large_network_f32".to_owned())?;
    equal(kernel(&Rank2d::median(RankWindow::disc(4)))?, "rank2d_large_network_f32".to_owned())?;
    equal(kernel(&Rank2d::median([5, 10]).stride(2, 1))?, "rank2d_tile_f32".to_owned())?;
    equal(kernel(&Rank2d::median([1, 25]))?, "rank2d_network_f32".to_owned())?;
    equal(kernel(&Rank2d::median([26, 1]))?, "rank2d_large_network_f32".to_owned())?;
    equal(kernel(&Rank2d::median([50, 1]))?, "rank2d_sorted_f32".to_owned())?;
    // Bytes have one digit.
    equal(plan(&Rank2d::<u8>::median([26, 1]))?.kernels(), vec!["rank2d_sorted_u8"])?;
    equal(plan(&Rank2d::<u8>::median([1, 26]))?.kernels(), vec!["rank2d_large_network_u8"])?;
    // 16 + 4 rows of 32 + 4 pixels with 70 channels of 8 bytes do not fit, a tile with one of them does.
    let many_channels = plan(&Rank2d::<f64>::rank(5, 3).channels(70))?;
    equal(many_channels.kernels(), vec!["rank2d_sorted_f64"])?;
    equal(kernel(&Rank2d::maximum([9, 2]))?, "rank2d_small_extreme_f32".to_owned())?;
    equal(kernel(&Rank2d::maximum([16, 16]))?, "rank2d_small_extreme_f32".to_owned())?;
    equal(kernel(&Rank2d::maximum([9, 2]).stride(2, 1))?, "rank2d_extreme_f32".to_owned())?;
    equal(kernel(&Rank2d::maximum(RankWindow::disc(2)))?, "rank2d_run_extreme_f32".to_owned())?;
    equal(kernel(&Rank2d::maximum(RankWindow::disc(2)).stride(2, 1))?, "rank2d_any_extreme_f32".to_owned())?;
    // Seven levels of a tile do not fit.
    equal(kernel(&Rank2d::maximum(RankWindow::disc(60)))?, "rank2d_any_extreme_f32".to_owned())?;
    equal(kernel(&Rank2d::maximum([16, 20]))?, "rank2d_along_f32, rank2d_down_f32".to_owned())?;
    equal(kernel(&Rank2d::maximum([17, 2]))?, "rank2d_small_extreme_f32, rank2d_down_f32".to_owned())?;
    let of_axes = kernel(&Rank2d::maximum([1, 2]).algorithm(Rank2dAlgorithm::VanHerk))?;
    equal(of_axes, "rank2d_small_extreme_f32".to_owned())?;
    equal(kernel(&Rank2d::minimum([20, 1]))?, "rank2d_down_f32".to_owned())?;
    equal(kernel(&Rank2d::minimum([1, 20]))?, "rank2d_along_f32".to_owned())?;
    equal(kernel(&Rank2d::minimum([16, 20]).stride(1, 2))?, "rank2d_extreme_f32".to_owned())?;
    let of_rows = |rows: usize| -> Result<String, Failed> {
        let filter = Rank2d::<f32>::minimum([1, 9]).prepare(&Device::emulated(Profile::SM_90, 0))?;
        Ok(filter.plan([rows, 70])?.kernels().join(", "))
    };
    equal([of_rows(1)?, of_rows(16)?], ["rank2d_extreme_f32"; 2].map(str::to_owned))?;
    equal(of_rows(17)?, "rank2d_small_extreme_f32".to_owned())?;
    let disc = RankWindow::disc(9);
    for refused in [Rank2d::<f32>::median(20), Rank2d::minimum(20).stride(2, 1), Rank2d::minimum(disc)] {
        let refused = plan(&refused.algorithm(Rank2dAlgorithm::VanHerk)).map(|_| ());
        equal(refused, Err(slm::rank2d::RankError::NotSeparable.into()))?;
    }
    let large = plan(&Rank2d::<f32>::median(400))?;
    equal(
        (&*large.kernels().join(", "), &*large.reason),
        ("rank2d_global_f32", "a tile does not fit into shared memory"),
    )
}

fn what_runs_is_planned() -> Result<(), Failed> {
    for (algorithm, window, rank, stride) in [
        (Rank2dAlgorithm::GlobalMemory, [3, 2], Rank::Median, 2),
        (Rank2dAlgorithm::SharedTile, [3, 2], Rank::Median, 2),
        (Rank2dAlgorithm::SharedTile, [3, 5], Rank::Median, 1),
        (Rank2dAlgorithm::SharedTile, [3, 9], Rank::Median, 2),
        (Rank2dAlgorithm::SharedTile, [3, 3], Rank::Median, 1),
        (Rank2dAlgorithm::SharedTile, [5, 5], Rank::Median, 1),
        (Rank2dAlgorithm::SharedTile, [7, 7], Rank::Median, 1),
        (Rank2dAlgorithm::SharedTile, [4, 5], Rank::Maximum, 2),
        (Rank2dAlgorithm::SharedTile, [4, 5], Rank::Maximum, 1),
        (Rank2dAlgorithm::VanHerk, [1, 20], Rank::Maximum, 1),
        (Rank2dAlgorithm::VanHerk, [17, 31], Rank::Minimum, 1),
        (Rank2dAlgorithm::VanHerk, [40, 3], Rank::Minimum, 1),
    ] {
        let case = Case { stride: [stride, 1], ..plain::<f64>(91, [19, 40], window, rank) };
        is_planned::<u8>(&case, algorithm)?;
        is_planned::<f64>(&case, algorithm)?;
    }
    // Whole strips, of bytes in fours, of two keys a word, and of one.
    let case = plain::<u8>(92, [150, 136], [12, 3], Rank::Maximum);
    is_planned::<u8>(&case, Rank2dAlgorithm::VanHerk)?;
    is_planned::<u16>(&case, Rank2dAlgorithm::VanHerk)?;
    is_planned::<f32>(&case, Rank2dAlgorithm::VanHerk)
}

/// Each launch of the plan runs, and none other, without bank conflicts.
fn is_planned<T: RankElement + Number>(case: &Case, algorithm: Rank2dAlgorithm) -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_80, 3);
    let filter = filter::<T>(case).algorithm(algorithm).prepare(&device)?;
    let [rows, columns] = case.shape;
    let plan = filter.plan([rows, columns])?;
    let picture = slm::ndarray::Array2::from_shape_fn((rows, columns), |(r, c)| T::of(case.samples[r * columns + c]));
    filter.apply(&picture)?;
    let outputs = rows.div_ceil(case.stride[0]);
    equal(plan.outputs.clone(), vec![outputs, columns])?;
    let reports = device.emulation_reports();
    equal(reports.iter().map(|report| report.kernel).collect::<Vec<_>>(), plan.kernels())?;
    for (report, launch) in reports.iter().zip(&plan.launches) {
        equal(report.launch.grid.map(u64::from), launch.grid)?;
        equal(u64::from(report.launch.shared_bytes), launch.shared_bytes)?;
        equal(launch.moved_bytes, (size_of::<T>() * (rows + outputs) * columns) as u64)?;
        ensure(report.bank_conflicts() == 0, || format!("{}: {} conflicts", report.kernel, report.bank_conflicts()))?;
    }
    Ok(())
}

/// The search for layouts finds those of the kernels: no runs need padding, and rows only what makes them multiples of four words.
fn layouts() -> Result<(), Failed> {
    let is_found = |tile: &Tile| {
        let found = BankModel::NVIDIA.search(tile);
        equal(found.layout, Layout::padded(tile.columns()))?;
        ensure(found.is_conflict_free(), || found.to_string())
    };
    for width in [Width::B4, Width::B8] {
        // Neighbouring words are stored, and each lane loads those of its run, one after the other.
        let runs = Tile::new(64, RankPass::LEAST_TAPS - 1, width)?.row_by_row(AccessKind::Store, width)?;
        is_found(&runs.column_by_column(AccessKind::Load, width)?)?;
    }
    for side in [3, 5, 7] {
        // Medians of 64 columns: four neighbouring words are stored, and each lane loads those of its two columns, in pairs.
        let columns = (64 + side - 1u32).next_multiple_of(4);
        let tile = Tile::new(38, columns, Width::B4)?.row_by_row(AccessKind::Store, Width::B16)?;
        let pairs = |pair: u32| move |row, lane| Some([row, 2 * (lane + pair)]);
        let loaded = (0..side.div_ceil(2))
            .try_fold(tile, |tile, pair| tile.access(AccessKind::Load, Width::B8, 38, pairs(pair)));
        is_found(&loaded?)?;
    }
    Ok(())
}

/// By hand, for a GPU with 64 KiB: 16 + 150 rows of 32 + 150 keys of 4 bytes.
fn too_much_shared_memory() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SMALL, 0);
    let median = Rank2d::<u8>::median(151).algorithm(Rank2dAlgorithm::SharedTile);
    let requested = (166 * 182 * 4u64).next_multiple_of(16);
    let error = Error::SharedMemoryExceeded { kernel: "rank2d_tile_u8".to_owned(), requested, available: 65_536 };
    equal(median.prepare(&device).map(|_| ()), Err(error))?;
    // 4,104 words of four lines, and 455 least words of runs, twice.
    let minimum = Rank2d::<u8>::minimum([4096, 1]);
    let requested = (4_104 + 2 * 455) * 16;
    let error = Error::SharedMemoryExceeded { kernel: "rank2d_down_u8".to_owned(), requested, available: 65_536 };
    let of_axes = minimum.clone().algorithm(Rank2dAlgorithm::VanHerk).prepare(&device);
    equal(of_axes.map(|_| ()), Err(error))?;
    equal(minimum.prepare(&device)?.plan([5000, 8])?.kernels(), vec!["rank2d_any_extreme_global_u8"])
}
