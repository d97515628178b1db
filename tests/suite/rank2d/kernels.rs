//! Which methods run, and that all agree for large windows and several blocks.

use super::oracle::{Case, Rank};
use super::{SUITE, boundaries, check, filter, sample};
use crate::common::numbers::Number;
use crate::common::{Random, ensure, equal, is_emulated, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::emulator::Profile;
use slm::{Device, Error, Extent, Rank2d, Rank2dAlgorithm, RankElement};

pub(super) fn trials() -> Vec<Trial> {
    let of_types = [
        on_every_backend(SUITE, "kernels::u8", several_blocks::<u8>),
        on_every_backend(SUITE, "kernels::u16", several_blocks::<u16>),
        on_every_backend(SUITE, "kernels::i16", several_blocks::<i16>),
        on_every_backend(SUITE, "kernels::i32", several_blocks::<i32>),
        on_every_backend(SUITE, "kernels::f32", several_blocks::<f32>),
        on_every_backend(SUITE, "kernels::f64", several_blocks::<f64>),
    ];
    let large = [
        on_every_backend(SUITE, "kernels::large_u8", large::<u8>),
        on_every_backend(SUITE, "kernels::large_i16", large::<i16>),
        on_every_backend(SUITE, "kernels::large_f32", large::<f32>),
    ];
    let others = vec![
        Trial::test("rank2d::cpu::kernels::methods", methods_of_the_cpu),
        Trial::test("rank2d::cpu::kernels::threads", threads),
        Trial::test("rank2d::emulated::kernels::choices", choices),
        Trial::test("rank2d::emulated::kernels::planned", what_runs_is_planned),
        Trial::test("rank2d::emulated::kernels::too_much_shared_memory", too_much_shared_memory),
    ];
    of_types.into_iter().chain(large).flatten().chain(others).collect()
}

/// A case of one plane without further steps.
fn plain<T: Number>(stream: u64, shape: [usize; 2], window: [usize; 2], rank: Rank) -> Case {
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
    // A block computes 64 x 64 medians, and 16 x 32 other outputs.
    let shape = if is_emulated(device) { [67, 70] } else { [100, 211] };
    for (number, (window, rank)) in [
        ([3, 3], Rank::Median),
        ([5, 5], Rank::Median),
        ([7, 7], Rank::Median),
        ([3, 4], Rank::Percentile(30.0)),
        ([6, 5], Rank::Minimum),
        ([5, 8], Rank::Maximum),
    ]
    .into_iter()
    .enumerate()
    {
        let case = plain::<T>(70 + number as u64, shape, window, rank);
        check::<T>(device, &case)?;
        if T::KIND.range().is_none() {
            // NaNs in some windows.
            let mut case = case;
            case.samples.iter_mut().step_by(41).for_each(|sample| *sample = f64::NAN);
            check::<T>(device, &case)?;
            if !is_emulated(device) {
                check::<T>(device, &Case { omit: true, ..case })?;
            }
        }
    }
    Ok(())
}

/// Windows that are larger than the picture, or nearly.
fn large<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let (shape, window) = if is_emulated(device) { ([5, 6], [9, 11]) } else { ([60, 75], [75, 61]) };
    for (number, rank) in [Rank::Median, Rank::Minimum, Rank::At(-3), Rank::Percentile(75.0)].into_iter().enumerate() {
        let case = plain::<T>(80, shape, window, rank);
        check::<T>(device, &Case { boundaries: [boundaries(3.0)[number + 1]; 2], ..case })?;
    }
    Ok(())
}

fn methods_of_the_cpu() -> Result<(), Failed> {
    fn reason<T: RankElement>(filter: &Rank2d<T>) -> Result<String, Failed> {
        Ok(filter.prepare(&Device::cpu())?.plan([100, 100])?.reason)
    }
    let begins = |reason: String, with: &str| ensure(reason.starts_with(with), || reason.clone());
    begins(reason(&Rank2d::<f32>::minimum(70))?, "extremes")?;
    begins(reason(&Rank2d::<u8>::rank([1, 3], 2))?, "extremes")?;
    begins(reason(&Rank2d::<f64>::median(7))?, "a network")?;
    begins(reason(&Rank2d::<u16>::median(9))?, "counts")?;
    begins(reason(&Rank2d::<i32>::median(9))?, "selection")
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
    equal(kernel(&Rank2d::median(9))?, "rank2d_tile_f32".to_owned())?;
    equal(kernel(&Rank2d::median(3).stride(1, 2))?, "rank2d_tile_f32".to_owned())?;
    equal(kernel(&Rank2d::median(3).stride(2, 1))?, "rank2d_tile_f32".to_owned())?;
    equal(kernel(&Rank2d::median(3).nan_policy(slm::RankNanPolicy::Omit))?, "rank2d_tile_f32".to_owned())?;
    equal(kernel(&Rank2d::maximum([9, 2]))?, "rank2d_extreme_f32".to_owned())?;
    equal(kernel(&Rank2d::maximum(slm::RankWindow::disc(2)))?, "rank2d_tile_f32".to_owned())?;
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
        (Rank2dAlgorithm::SharedTile, [3, 3], Rank::Median, 1),
        (Rank2dAlgorithm::SharedTile, [5, 5], Rank::Median, 1),
        (Rank2dAlgorithm::SharedTile, [7, 7], Rank::Median, 1),
        (Rank2dAlgorithm::SharedTile, [4, 5], Rank::Maximum, 2),
    ] {
        let device = Device::emulated(Profile::SM_80, 3);
        let case = Case { stride: [stride, 1], ..plain::<f64>(91, [19, 40], window, rank) };
        let filter = filter::<f64>(&case).algorithm(algorithm).prepare(&device)?;
        let plan = filter.plan([19, 40])?;
        let picture = slm::ndarray::Array2::from_shape_fn((19, 40), |(r, c)| case.samples[r * 40 + c]);
        filter.apply(&picture)?;
        let [report] = &device.emulation_reports()[..] else { return Err("not one kernel".into()) };
        let (launch, outputs) = (&plan.launches[0], 19usize.div_ceil(stride));
        equal((report.kernel, report.launch.grid.map(u64::from)), (&*plan.kernels().join(", "), launch.grid))?;
        equal(u64::from(report.launch.shared_bytes), launch.shared_bytes)?;
        equal((plan.outputs.clone(), launch.moved_bytes), (vec![outputs, 40], 8 * (19 + outputs as u64) * 40))?;
        ensure(report.bank_conflicts() == 0, || format!("{} conflicts", report.bank_conflicts()))?;
    }
    Ok(())
}

/// By hand, for a GPU with 64 KiB: 16 + 150 rows of 32 + 150 keys of 4 bytes.
fn too_much_shared_memory() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SMALL, 0);
    let median = Rank2d::<u8>::median(151).algorithm(Rank2dAlgorithm::SharedTile);
    let requested = (166 * 182 * 4u64).next_multiple_of(16);
    let error = Error::SharedMemoryExceeded { kernel: "rank2d_tile_u8".to_owned(), requested, available: 65_536 };
    equal(median.prepare(&device).map(|_| ()), Err(error))
}
