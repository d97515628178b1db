//! Information about devices, and plans.

use super::{Failed, Trial, ensure, equal, same, shared_trial};
use crate::common::Random;
use crate::histogram;
use slm::filter1d::{Filtering, HaloLoad};
use slm::{
    Backend, Buffer, Device, Error, Filter1d, Filter1dAlgorithm, Histogram, HistogramAlgorithm, LaunchPlan, Plan,
};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("plans", plans),
        shared_trial("plans_of_nothing", plans_of_nothing),
        shared_trial("plans_of_histograms", plans_of_histograms),
        shared_trial("every_device_works", every_device_works),
        shared_trial("every_device_counts", every_device_counts),
        shared_trial("info", info),
        shared_trial("time_returns_the_result_of_the_work", time_returns_the_result_of_the_work),
    ]
}

/// The kernels of every algorithm, along rows and columns.
const KERNELS: [(Filter1dAlgorithm, [&str; 2]); 5] = [
    (Filter1dAlgorithm::Auto, ["filter1d_register_rows_f32", "filter1d_register_columns_f32"]),
    (Filter1dAlgorithm::RegisterTiled, ["filter1d_register_rows_f32", "filter1d_register_columns_f32"]),
    (Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative), ["filter1d_tile_f32"; 2]),
    (Filter1dAlgorithm::SharedTile(HaloLoad::EdgeThread), ["filter1d_tile_f32"; 2]),
    (Filter1dAlgorithm::GlobalMemory, ["filter1d_global_f32"; 2]),
];

fn plans(device: &Device) -> Result<(), Failed> {
    let limit = device.info().shared_memory.ok_or("a GPU has shared memory")?.max_per_block;
    for (algorithm, [along_rows, along_columns]) in KERNELS {
        let filter = Filter1d::correlate(&[1.0f32; 33]).algorithm(algorithm).prepare(device)?;
        let check = |plan: Plan<Filter1dAlgorithm, Filtering>, kernel, outputs: &[usize]| -> Result<(), Failed> {
            equal((&*plan.kernels().join(", "), &*plan.outputs, plan.algorithm), (kernel, outputs, algorithm))?;
            equal(&plan.device, &device.to_string())?;
            check_launch(&plan, limit)
        };
        check(filter.plan([1_000_003])?, along_rows, &[1_000_003])?;
        check(filter.plan([1])?, along_rows, &[1])?;
        check(filter.along(1).plan([300, 500])?, along_rows, &[300, 500])?;
        check(filter.along(0).plan([300, 500])?, along_columns, &[300, 500])?;
    }
    Ok(())
}

fn check_launch(plan: &Plan<Filter1dAlgorithm, Filtering>, limit: u64) -> Result<(), Failed> {
    let launch = only(&plan.launches)?;
    let threads = launch.block.map(u64::from).iter().product::<u64>();
    // No thread computes more than 64 outputs.
    let enough = launch.grid.iter().product::<u64>() * threads * 64 >= plan.outputs.iter().map(|n| *n as u64).product();
    ensure(enough, || format!("work: {launch:?}"))?;
    let parts = [
        plan.device.clone(),
        plan.kernels().join(", "),
        plan.reason.clone(),
        plan.outputs.iter().map(usize::to_string).collect::<Vec<_>>().join(" x "),
    ];
    check_text(&plan.to_string(), &parts)?;
    equal(launch.kernel, &*plan.kernels().join(", "))?;
    check_facts(launch, &plan.to_string(), plan.kernels().join(", ").contains("global"), limit)
}

/// Returns the only launch of a plan.
fn only(launches: &[LaunchPlan]) -> Result<&LaunchPlan, Failed> {
    let [launch] = launches else { return Err(format!("{launches:?}").into()) };
    Ok(launch)
}

fn check_text(text: &str, parts: &[String]) -> Result<(), Failed> {
    parts.iter().try_for_each(|part| ensure(text.contains(part), || format!("'{part}' is not in\n{text}")))
}

/// Checks facts of every launch, and that the plan's text has them. `global` is true if the kernel uses no shared memory.
fn check_facts(launch: &LaunchPlan, text: &str, global: bool, limit: u64) -> Result<(), Failed> {
    let residency = launch.residency.ok_or("the driver says nothing")?;
    let ([x, y, z], [threads_x, threads_y, threads_z]) = (launch.grid, launch.block);
    let threads = launch.block.map(u64::from).iter().product::<u64>();
    let facts = [
        ("grid", x > 0 && x <= i32::MAX as u64 && (1..=65_535).contains(&y) && (1..=65_535).contains(&z)),
        ("block", threads.is_multiple_of(32) && (32..=1024).contains(&threads)),
        ("shared", (launch.shared_bytes == 0) == global && launch.shared_bytes <= limit),
        ("available", launch.shared_available == limit),
        ("registers", residency.registers > 0 && residency.registers <= 255),
        ("resident", residency.blocks_per_multiprocessor > 0),
        ("occupancy", residency.occupancy > 0.0 && residency.occupancy <= 1.0),
    ];
    for (fact, holds) in facts {
        ensure(holds, || format!("{fact}: {launch:?}"))?;
    }
    let parts = [
        format!("{x} x {y} x {z}  "),
        format!("{threads_x} x {threads_y} x {threads_z}  "),
        format!("{} of {limit}  ", launch.shared_bytes),
        format!(" {}  ", launch.moved_bytes),
        format!(" {}  ", residency.registers),
        format!("{} ({:.0} %)  {}", residency.blocks_per_multiprocessor, 100.0 * residency.occupancy, launch.kernel),
    ];
    check_text(text, &parts)
}

/// Plans of every algorithm, for no samples, and for more samples than memory can hold.
fn plans_of_histograms(device: &Device) -> Result<(), Failed> {
    const SAMPLES: usize = 1_000_003;
    let limit = device.info().shared_memory.ok_or("a GPU has shared memory")?.max_per_block;
    for algorithm in histogram::ALGORITHMS {
        let histogram = Histogram::even(100, 0.0f32..1.0).algorithm(algorithm).prepare(device)?;
        let plan = histogram.plan([SAMPLES])?;
        equal((plan.details.samples, &*plan.outputs, plan.algorithm), (SAMPLES, &[1, 100][..], algorithm))?;
        equal(&plan.device, &device.to_string())?;
        let parts = [plan.device.clone(), plan.kernels().join(", "), plan.reason.clone(), format!("{SAMPLES} samples")];
        check_text(&plan.to_string(), &parts)?;
        let global = matches!(algorithm, HistogramAlgorithm::Critical | HistogramAlgorithm::GlobalAtomic(_));
        let launch = only(&plan.launches)?;
        check_facts(launch, &plan.to_string(), global, limit)?;

        let nothing = histogram.plan([0])?;
        equal(nothing.launches, Vec::new())?;
        // A launch counts 2 GiB of samples.
        let all = histogram.plan([usize::MAX])?;
        equal(only(&all.launches)?.times, (usize::MAX as u64).div_ceil(1 << 29))?;
    }
    Ok(())
}

/// Plans for no samples, and for more samples than memory can hold.
fn plans_of_nothing(device: &Device) -> Result<(), Failed> {
    let filter = Filter1d::correlate(&[1.0f32; 33]).prepare(device)?;
    let plan = filter.plan([0])?;
    equal((plan.launches, plan.outputs), (Vec::new(), vec![0]))?;
    equal(filter.along(1).plan([0, 5])?.launches, Vec::new())?;
    let huge = filter.plan([usize::MAX])?;
    ensure(only(&huge.launches)?.grid[0] > i32::MAX as u64, || huge.to_string())?;
    let huge = filter.along(0).plan([usize::MAX, usize::MAX])?;
    ensure(huge.to_string().contains(&usize::MAX.to_string()), || huge.to_string())
}

fn every_device_works(device: &Device) -> Result<(), Failed> {
    let devices = Device::all();
    equal(devices[0].info().backend, Backend::Cpu)?;
    ensure(devices.len() > 1, || "there is a CUDA device, but not among all".to_owned())?;
    equal(&devices[1].info().name, &device.info().name)?;
    let (taps, x) = (Random::new(1).values::<i32>(100), Random::new(2).values(10_000));
    let description = Filter1d::convolve(&taps);
    let expected = description.prepare(&devices[0])?.apply(&x)?;
    for (ordinal, device) in devices[1..].iter().enumerate() {
        equal(&device.info().selection, &format!("CUDA device {ordinal}"))?;
        same(&description.prepare(device)?.apply(&x)?, &expected)?;
        // Switches between devices, so that each call must select its own device again.
        let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
        let others: Vec<Buffer<i32>> = devices.iter().map(|d| d.upload(&x)).collect::<slm::Result<_>>()?;
        description.prepare(device)?.apply_into(&input, &mut output)?;
        drop(others);
        same(&output.download()?, &expected)?;
    }
    Ok(())
}

fn every_device_counts(_device: &Device) -> Result<(), Failed> {
    let x = Random::new(2).values::<i32>(10_000);
    let description = Histogram::even(100, i32::MIN / 2..i32::MAX / 2);
    let expected = description.prepare(&Device::cpu())?.apply(&x)?;
    let devices = Device::all();
    // Switches between devices, so that each call must select its own device again.
    let histograms = devices.iter().map(|device| description.prepare(device)).collect::<slm::Result<Vec<_>>>()?;
    let samples = devices.iter().map(|device| device.upload(&x)).collect::<slm::Result<Vec<_>>>()?;
    let mut counts: Vec<Buffer<u64>> =
        histograms.iter().map(|h| h.device().zeroed(h.counts_len())).collect::<slm::Result<_>>()?;
    for ((histogram, samples), counts) in histograms.iter().zip(&samples).zip(&mut counts) {
        histogram.apply_into(samples, counts)?;
    }
    for (histogram, counts) in histograms.iter().zip(&counts) {
        equal(histogram.counts(counts)?, expected.clone())?;
    }
    Ok(())
}

fn info(device: &Device) -> Result<(), Failed> {
    let info = device.info();
    equal((info.backend, &*info.selection), (Backend::Cuda, "CUDA device 0"))?;
    let shared = info.shared_memory.ok_or("a GPU has shared memory")?;
    let facts = [
        ("name", !info.name.is_empty()),
        ("capability", info.compute_capability.is_some_and(|c| ((7, 5)..(100, 0)).contains(&c))),
        ("processors", (1..10_000).contains(&info.processors)),
        ("memory", info.memory.is_some_and(|m| m > 1 << 30)),
        ("L2 cache", info.l2_cache.is_some_and(|bytes| (1 << 20..1 << 32).contains(&bytes))),
        ("default", shared.default_per_block == 48 << 10),
        ("most", shared.max_per_block >= shared.default_per_block),
        ("together", shared.per_multiprocessor >= shared.max_per_block + shared.reserved_per_block),
        ("banks", (shared.banks, shared.bank_bytes) == (32, 4)),
    ];
    for (fact, holds) in facts {
        ensure(holds, || format!("{fact}: {info:?}"))?;
    }
    equal(device.to_string(), format!("CUDA device 0, {}", info.name))?;
    equal(Device::named("cuda")?.info(), info)?;
    equal(Device::named("cuda:0")?.info(), info)?;
    equal(Device::named("auto")?.info(), info)
}

/// `time` returns the result of the work, or its error. The benchmarks examine the times.
fn time_returns_the_result_of_the_work(device: &Device) -> Result<(), Failed> {
    let filter = Filter1d::correlate(&[1, 2, 3]).prepare(device)?;
    let (x, mut y) = (device.upload(&[1, 1, 1])?, device.zeroed(3)?);
    let ((), _) = device.time(|| filter.apply_into(&x, &mut y))?;
    equal(y.download()?, vec![5, 6, 3])?;
    equal(device.time(|| Ok(7))?.0, 7)?;
    let error = Error::OutOfHostMemory { requested: 7 };
    equal(device.time(|| Err::<(), _>(error.clone())).err(), Some(error.clone()))
}
