//! What loading a module costs where the driver has to compile it.

use super::{Failed, Trial, alone, ensure};
use crate::common::{Random, Sample};
use slm::{Device, Filter1d};
use std::env;
use std::time::{Duration, Instant};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("modules_of_f32_load_quickly", load::<f32>),
        trial("modules_of_f64_load_quickly", load::<f64>),
        trial("modules_of_i32_load_quickly", load::<i32>),
    ]
}

/// Ignored, with the reason, where the driver may remember what it has compiled before.
fn trial(name: &str, test: super::Test) -> Trial {
    let trial = alone(name, test);
    if env::var_os("CUDA_CACHE_DISABLE").is_some_and(|value| value == "1") {
        return trial;
    }
    trial.with_ignored_flag(true).with_kind("needs CUDA_CACHE_DISABLE=1")
}

/// Medians of three handles: a new one has no modules yet.
fn load<T: Sample>(_device: &Device) -> Result<(), Failed> {
    const LIMIT: Duration = Duration::from_millis(150);
    let taps: Vec<T> = Random::new(1).values(5);
    let (mut rows, mut columns) = ([Duration::ZERO; 3], [Duration::ZERO; 3]);
    for (rows, columns) in rows.iter_mut().zip(&mut columns) {
        let device = Device::cuda(0)?;
        let start = Instant::now();
        let filter = Filter1d::correlate(&taps).prepare(&device)?;
        *rows = start.elapsed();
        // The module for lines along columns is loaded on first use, and a plan is one.
        let start = Instant::now();
        let plan = filter.plan_axis([64, 64], 0)?;
        *columns = start.elapsed();
        ensure(plan.launches.first().and_then(|launch| launch.residency).is_some_and(|it| it.registers > 0), || {
            plan.to_string()
        })?;
    }
    for (module, mut times) in [("rows", rows), ("columns", columns)] {
        times.sort();
        println!("loading the module for {module} of {}: {times:?}", T::NAME);
        ensure(times[1] <= LIMIT, || format!("{module}: {times:?}"))?;
    }
    Ok(())
}
