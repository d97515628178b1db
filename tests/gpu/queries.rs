//! What devices and plans say of themselves.

use super::{Failed, Trial, alone, ensure, equal, same, together};
use crate::common::Random;
use slm::filter1d::{Algorithm, HaloLoad, Plan};
use slm::{Backend, Buffer, Device, Filter1d};
use std::time::Duration;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        together("plans", plans),
        together("plans_of_nothing", plans_of_nothing),
        together("every_device_works", every_device_works),
        together("info", info),
        alone("time_grows_with_the_work", time_grows_with_the_work),
    ]
}

/// The kernels of every algorithm, along rows and columns.
const KERNELS: [(Algorithm, [&str; 2]); 5] = [
    (Algorithm::Auto, ["filter1d_register_rows_f32", "filter1d_register_columns_f32"]),
    (Algorithm::RegisterTiled, ["filter1d_register_rows_f32", "filter1d_register_columns_f32"]),
    (Algorithm::SharedTile(HaloLoad::Cooperative), ["filter1d_tile_f32"; 2]),
    (Algorithm::SharedTile(HaloLoad::EdgeThread), ["filter1d_tile_f32"; 2]),
    (Algorithm::GlobalMemory, ["filter1d_global_f32"; 2]),
];

fn plans(device: &Device) -> Result<(), Failed> {
    let limit = device.info().shared_memory.ok_or("a GPU has shared memory")?.max_per_block;
    for (algorithm, [along_rows, along_columns]) in KERNELS {
        let filter = Filter1d::correlate(&[1.0f32; 33]).algorithm(algorithm).prepare(device)?;
        let check = |plan: Plan, kernel, outputs| -> Result<(), Failed> {
            equal((&*plan.kernel, plan.outputs, plan.algorithm), (kernel, outputs, algorithm))?;
            equal(&plan.device, &device.to_string())?;
            check_launch(&plan, limit)
        };
        check(filter.plan(1_000_003), along_rows, [1, 1_000_003])?;
        check(filter.plan(1), along_rows, [1, 1])?;
        check(filter.plan_axis([300, 500], 1)?, along_rows, [300, 500])?;
        check(filter.plan_axis([300, 500], 0)?, along_columns, [500, 300])?;
    }
    Ok(())
}

fn check_launch(plan: &Plan, limit: u64) -> Result<(), Failed> {
    let launch = plan.launch.ok_or("nothing is launched")?;
    let residency = launch.residency.ok_or("the driver says nothing")?;
    let text = plan.to_string();
    let [x, y] = launch.block;
    let threads = u64::from(x) * u64::from(y);
    let global = plan.kernel.contains("global");
    let facts = [
        ("grid", launch.grid > 0 && launch.grid <= i32::MAX as u64),
        ("block", threads.is_multiple_of(32) && (32..=1024).contains(&threads)),
        // No thread computes more than some dozens of outputs.
        ("work", launch.grid * threads * 64 >= plan.outputs.map(|n| n as u64).iter().product()),
        ("shared", (launch.shared_bytes == 0) == global && launch.shared_bytes <= limit),
        ("available", launch.shared_available == limit),
        ("registers", residency.registers > 0 && residency.registers <= 255),
        ("resident", residency.blocks_per_multiprocessor > 0),
        ("occupancy", residency.occupancy > 0.0 && residency.occupancy <= 1.0),
    ];
    for (fact, holds) in facts {
        ensure(holds, || format!("{fact}: {launch:?}"))?;
    }
    for part in [
        plan.device.clone(),
        plan.kernel.clone(),
        plan.reason.clone(),
        format!("{} x {}", plan.outputs[0], plan.outputs[1]),
        format!("{} blocks of {x} x {y} threads", launch.grid),
        format!("{} of {limit} bytes per block", launch.shared_bytes),
        format!("{} per thread", residency.registers),
        format!("{} blocks per multiprocessor", residency.blocks_per_multiprocessor),
        format!("{:.0} %", 100.0 * residency.occupancy),
    ] {
        ensure(text.contains(&part), || format!("'{part}' is not in\n{text}"))?;
    }
    Ok(())
}

/// Nothing to do, and more than there can be.
fn plans_of_nothing(device: &Device) -> Result<(), Failed> {
    let filter = Filter1d::correlate(&[1.0f32; 33]).prepare(device)?;
    let plan = filter.plan(0);
    equal((&*plan.kernel, plan.launch, plan.outputs), ("none", None, [1, 0]))?;
    equal(filter.plan_axis([0, 5], 1)?.launch, None)?;
    let huge = filter.plan(usize::MAX);
    ensure(huge.launch.is_some_and(|launch| launch.grid > i32::MAX as u64), || huge.to_string())?;
    let huge = filter.plan_axis([usize::MAX, usize::MAX], 0)?;
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
        // Taking turns, so that each call has to find its own device again.
        let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
        let others: Vec<Buffer<i32>> = devices.iter().map(|d| d.upload(&x)).collect::<slm::Result<_>>()?;
        description.prepare(device)?.apply_into(&input, &mut output)?;
        drop(others);
        same(&output.download()?, &expected)?;
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
        ("default", shared.default_per_block == 48 << 10),
        ("most", shared.max_per_block >= shared.default_per_block),
        ("together", shared.per_multiprocessor >= shared.max_per_block),
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

fn time_grows_with_the_work(device: &Device) -> Result<(), Failed> {
    let filter = Filter1d::correlate(&[1.0f32; 257]).prepare(device)?;
    let x = device.upload(&Random::new(1).values::<f32>(1 << 22))?;
    let mut y = device.zeroed(x.len())?;
    let mut time = |times: usize| -> slm::Result<Duration> {
        let mut shortest = Duration::MAX;
        for _ in 0..5 {
            let ((), time) = device.time(|| (0..times).try_for_each(|_| filter.apply_into(&x, &mut y)))?;
            shortest = shortest.min(time);
        }
        Ok(shortest)
    };
    let (nothing, once, often) = (time(0)?, time(1)?, time(20)?);
    println!("0, 1 and 20 times: {nothing:?}, {once:?}, {often:?}");
    ensure(once > Duration::ZERO && once > nothing, || format!("{nothing:?}, {once:?}"))?;
    ensure(often > 10 * once && often < 40 * once, || format!("{once:?}, {often:?}"))?;
    // What the work returns comes along, and so does its error.
    equal(device.time(|| Ok(7))?.0, 7)?;
    equal(device.time(|| Err::<(), _>(slm::Error::NoTaps)).err(), Some(slm::Error::NoTaps))
}
