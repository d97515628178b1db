//! Tests without a CUDA driver, where every public path returns an error or the CPU and never crashes, and tests with fake
//! drivers.
//!
//! Tests that depend on the environment, or on being the first call, run in a child process: this program, with [`TASK`]
//! set.

#[cfg(cuda)]
mod contexts;
#[cfg(cuda)]
mod dlpack;
#[cfg(cuda)]
mod fake;
#[cfg(cuda)]
mod faults;
#[cfg(cust)]
mod interop;
#[cfg(cuda)]
mod memory;

use crate::common::equal;
use libtest_mimic::{Failed, Trial};
use slm::{Backend, Device, Error, Extent, Filter1d};
use std::ffi::OsStr;
use std::process::Command;
use std::sync::Barrier;
use std::{env, thread};

/// The environment variable with the task of a child process.
const TASK: &str = "SLM_DRIVERLESS_TASK";

/// Runs the task if this is a child process. Returns whether it is.
pub(super) fn has_task() -> bool {
    match env::var(TASK).as_deref() {
        Ok("open") => open(),
        Ok("display") => println!("{}", Device::open().expect("auto is always a device")),
        Ok("all") => println!("{:?}", backends()),
        Ok("race") => race(),
        #[cfg(cuda)]
        Ok(task) if contexts::runs(task) => {}
        #[cfg(cuda)]
        Ok(task) if dlpack::runs(task) => {}
        #[cfg(cuda)]
        Ok(task) if faults::runs(task) => {}
        #[cfg(cuda)]
        Ok(task) if memory::runs(task) => {}
        #[cfg(cust)]
        Ok(task) if interop::runs(task) => {}
        Ok(task) => panic!("{TASK} is '{task}'"),
        Err(_) => return false,
    }
    true
}

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let everywhere: [(&str, Test); 4] = [
        ("the_variable_is_checked", the_variable_is_checked),
        ("an_emulated_device_can_be_named", an_emulated_device_can_be_named),
        ("the_cpu_can_be_named", the_cpu_can_be_named),
        ("threads_that_open_at_once_get_the_same_result", threads_that_open_at_once_get_the_same_result),
    ];
    let driverless: [(&str, Test); 6] = [
        ("auto_is_the_cpu_and_says_why", auto_is_the_cpu_and_says_why),
        ("cuda_is_an_error", cuda_is_an_error),
        ("the_error_lists_the_names_tried", the_error_lists_the_names_tried),
        ("all_returns_only_the_cpu", all_returns_only_the_cpu),
        ("the_error_stays_the_same", the_error_stays_the_same),
        ("the_rest_works", the_rest_works),
    ];
    let reason = driver();
    if let Some(reason) = &reason {
        eprintln!("tests of a machine without a driver are ignored: {reason}");
    }
    let ignore = |trial: Trial| match &reason {
        Some(_) => trial.with_ignored_flag(true).with_kind("there is a CUDA driver"),
        None => trial,
    };
    let everywhere = everywhere.map(|(name, test)| Trial::test(format!("driverless::{name}"), test));
    let driverless = driverless.map(|(name, test)| ignore(Trial::test(format!("driverless::{name}"), test)));
    let mut trials: Vec<_> = everywhere.into_iter().chain(driverless).collect();
    #[cfg(cuda)]
    {
        trials.extend(contexts::trials());
        trials.extend(dlpack::trials());
        trials.extend(fake::trials());
        trials.extend(faults::trials());
        trials.extend(memory::trials());
        #[cfg(cust)]
        trials.extend(interop::trials());
        trials.extend(fake::driverless().into_iter().map(ignore));
    }
    trials
}

/// Returns a description if there is a driver.
fn driver() -> Option<String> {
    match Device::cuda(0) {
        Ok(device) => Some(format!("the driver has {device}")),
        Err(Error::NoDevice { tried }) if tried != "the driver finds no GPU" => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Opens the device that the environment selects, works with it, and prints the result.
fn open() {
    match Device::open() {
        Ok(device) => {
            let filter = Filter1d::correlate(&[1, 2, 3]).prepare(&device).expect("the filter is a good one");
            assert_eq!(filter.apply(&[1, 1, 1]), Ok(vec![5, 6, 3]));
            println!("{:?}: {}", device.info().backend, device.info().selection);
        }
        Err(error) => println!("{error:?}"),
    }
}

/// Opens a CUDA device in many threads at once, as the first call.
fn race() {
    const THREADS: usize = 32;
    let barrier = Barrier::new(THREADS);
    let open = || {
        barrier.wait();
        Device::cuda(0).map(|device| device.info().clone())
    };
    let found = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect::<Vec<_>>()
    });
    assert_eq!(found.len(), THREADS);
    assert!(found.iter().all(|result| *result == found[0]), "{found:?}");
    println!("{:?}", found[0].as_ref().map(|info| info.backend));
}

/// Runs a task in a child process with the given variables, without an inherited `SLM_DEVICE`. Returns its output.
fn child<'a>(task: &str, variables: impl IntoIterator<Item = (&'a str, &'a OsStr)>) -> Result<String, Failed> {
    let mut command = Command::new(env::current_exe()?);
    command.env(TASK, task).env_remove("SLM_DEVICE").envs(variables);
    let output = command.output()?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}: {stderr}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

fn opened(value: &str) -> Result<String, Failed> {
    child("open", [("SLM_DEVICE", value.as_ref())])
}

fn the_variable_is_checked() -> Result<(), Failed> {
    for value in ["nonsense", "cuda:x", "cuda:", "CUDA:X", "cpu,cuda", "emulated:", "emulated:sm_90:"] {
        equal(opened(value)?, format!("{:?}", Error::UnknownDevice { value: value.to_owned() }))?;
    }
    invalid_unicode()
}

#[cfg(unix)]
fn invalid_unicode() -> Result<(), Failed> {
    use std::os::unix::ffi::OsStrExt;
    let value = OsStr::from_bytes(b"cuda\xff");
    let error = Error::UnknownDevice { value: "cuda\u{fffd}".to_owned() };
    equal(child("open", [("SLM_DEVICE", value)])?, format!("{error:?}"))
}

#[cfg(not(unix))]
fn invalid_unicode() -> Result<(), Failed> {
    Ok(())
}

fn the_cpu_can_be_named() -> Result<(), Failed> {
    equal(&*opened("cpu")?, "Cpu: named")?;
    equal(&*opened("CPU")?, "Cpu: named")
}

fn an_emulated_device_can_be_named() -> Result<(), Failed> {
    equal(&*opened("emulated")?, "Emulated: emulated:sm_90:0")?;
    equal(&*opened("emulated:sm_75")?, "Emulated: emulated:sm_75:0")?;
    equal(&*opened("emulated:small:7")?, "Emulated: emulated:small:7")?;
    equal(&*opened("Emulated:SM_90")?, "Emulated: emulated:sm_90:0")
}

fn threads_that_open_at_once_get_the_same_result() -> Result<(), Failed> {
    // The result depends on the machine, and must equal this process's.
    let expected = Device::cuda(0).map(|device| device.info().backend);
    for _ in 0..5 {
        equal(child("race", [])?, format!("{:?}", expected.as_ref()))?;
    }
    Ok(())
}

/// Returns the error that every search for a CUDA device must return.
fn missing() -> Result<Error, Failed> {
    match Device::cuda(0) {
        Err(error @ Error::NoDevice { .. }) => Ok(error),
        other => Err(format!("{other:?}").into()),
    }
}

fn auto_is_the_cpu_and_says_why() -> Result<(), Failed> {
    let expected = format!("Cpu: {}", missing()?);
    equal(child("open", [])?, expected.clone())?;
    equal(opened("")?, expected.clone())?;
    equal(opened("auto")?, expected.clone())?;
    equal(opened("Auto")?, expected)?;
    let device = Device::named("auto")?;
    let reason = missing()?.to_string();
    equal(&device.info().selection, &reason)?;
    // For these, no GPU was searched.
    let [named, cpu] = [Device::named("cpu")?, Device::cpu()].map(|device| device.to_string());
    equal((cpu.starts_with("CPU, "), cpu.contains('(')), (true, false))?;
    equal(&named, &cpu)?;
    equal(device.to_string(), format!("{cpu} (no CUDA driver)"))
}

fn cuda_is_an_error() -> Result<(), Failed> {
    let expected = format!("{:?}", missing()?);
    for value in ["cuda", "cuda:0", "Cuda:0", "CUDA", "cuda:3", "cuda:18446744073709551615"] {
        equal(opened(value)?, expected.clone())?;
    }
    Ok(())
}

fn the_error_lists_the_names_tried() -> Result<(), Failed> {
    let text = missing()?.to_string();
    if !cfg!(cuda) {
        let target = format!("and this program was built for {} on {}", env::consts::OS, env::consts::ARCH);
        let supported = "CUDA devices are supported on Linux on x86-64 and aarch64 only";
        return equal(text, format!("no CUDA device: {supported}, {target}"));
    }
    let names = ["no CUDA driver found", "libcuda.so.1 (", "libcuda.so (", "/usr/lib/wsl/lib/libcuda.so.1 ("];
    if let Some(name) = names.into_iter().find(|name| !text.contains(name)) {
        return Err(format!("'{name}' is not in: {text}").into());
    }
    // Each name once: `libcuda.so.1` is a part of another one.
    equal(["libcuda.so.1", "libcuda.so (", "/wsl/"].map(|name| text.matches(name).count()), [2, 1, 1])
}

fn backends() -> Vec<Backend> {
    Device::all().iter().map(|device| device.info().backend).collect()
}

fn all_returns_only_the_cpu() -> Result<(), Failed> {
    equal(backends(), vec![Backend::Cpu])
}

fn the_error_stays_the_same() -> Result<(), Failed> {
    let first = missing()?;
    for ordinal in [0, 1, 7, usize::MAX] {
        equal(Device::cuda(ordinal).err(), Some(first.clone()))?;
    }
    Ok(())
}

/// Operations work after the search has failed. Some of them query the device.
fn the_rest_works() -> Result<(), Failed> {
    let device = Device::named("auto")?;
    let info = device.info();
    equal((info.compute_capability, info.memory, info.shared_memory), (None, None, None))?;
    let filter = Filter1d::convolve(&[1.0f64, -1.0]).extent(Extent::Full).prepare(&device)?;
    let (x, mut y) = (device.upload(&[1.0, 3.0])?, device.zeroed(3)?);
    let ((), _) = device.time(|| filter.apply_into(&x, &mut y))?;
    device.synchronize()?;
    equal(y.download()?, vec![1.0, 2.0, -3.0])?;
    let plan = filter.plan([2])?;
    equal(plan.launches, Vec::new())?;
    #[cfg(cuda)]
    equal(format!("{:?}", slm::ptx_origin()).is_empty(), false)?;
    Ok(())
}
