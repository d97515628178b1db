//! Unusable drivers.

use super::{Failed, Trial, child};
use crate::common::driver::{Driver, with_driver};
use crate::common::{ensure, equal};
use slm::{Device, DriverError, Error};
use std::ffi::OsStr;

/// A driver with three devices in exclusive use by another process. Environment variables select other errors.
const DRIVER: &str = r#"
#include <stdlib.h>

static int setting(const char *name) { const char *value = getenv(name); return value ? atoi(value) : 0; }

int cuInit(unsigned flags) { return setting("FAKE_CODE"); }
int cuDriverGetVersion(int *version) { *version = setting("FAKE_VERSION"); return setting("FAKE_CODE"); }
int cuDeviceGetCount(int *count) { *count = 3; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) { *name = 0; return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 1; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { *value = 9; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return 46; }
"#;

/// Returns the trials for all machines.
pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("a_broken_driver_is_an_error", a_broken_driver_is_an_error),
        trial("an_old_driver_is_an_error", an_old_driver_is_an_error),
        trial("the_cpu_is_displayed_with_the_reason", the_cpu_is_displayed_with_the_reason),
        trial("a_function_that_the_driver_lacks_is_an_error", a_function_that_the_driver_lacks_is_an_error),
        trial("devices_in_use_are_left_out", devices_in_use_are_left_out),
    ]
}

/// Returns the trials for machines without a driver: a real one would be found after the fake one.
pub(super) fn driverless() -> Vec<Trial> {
    vec![trial("a_stub_is_no_driver", a_stub_is_no_driver)]
}

pub(super) fn trial(name: &str, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    with_driver(format!("driverless::{name}"), test)
}

impl Driver {
    /// Runs a task in a child process, with `SLM_DEVICE` set to `device`. The driver has the given version, and its
    /// initialisation returns `code`. Returns the output.
    fn child(&self, task: &str, device: &str, code: u32, version: u32) -> Result<String, Failed> {
        let (path, code, version) = (self.0.path(""), code.to_string(), version.to_string());
        let variables: [(&str, &OsStr); 4] = [
            ("SLM_DEVICE", device.as_ref()),
            ("LD_LIBRARY_PATH", path.as_ref()),
            ("FAKE_CODE", code.as_ref()),
            ("FAKE_VERSION", version.as_ref()),
        ];
        child(task, variables)
    }
}

fn failed(call: &'static str, code: u32) -> Error {
    let unknown = || "unknown to the driver".to_owned();
    let source = DriverError { code, name: unknown(), description: unknown() };
    match code {
        // A destroyed context, and a failed launch.
        709 | 719 => Error::DeviceLost { call, source },
        _ => Error::Driver { call, source },
    }
}

fn a_broken_driver_is_an_error() -> Result<(), Failed> {
    let init = r#"int cuInit(unsigned flags) { return setting("FAKE_CODE"); }"#;
    let initialised = DRIVER.replace(init, "int cuInit(unsigned flags) { return 0; }");
    for (source, call) in [(DRIVER, "cuInit"), (&initialised, "cuDriverGetVersion")] {
        let driver = Driver::compile(source)?;
        // The last code has no name.
        for code in [2, 701, 709, 719, 802, 999, 0x7000_0000] {
            let error = failed(call, code);
            equal(driver.child("open", "cuda", code, 12_000)?, format!("{error:?}"))?;
            equal(driver.child("open", "auto", code, 12_000)?, format!("Cpu: {error}"))?;
            equal(&*driver.child("all", "", code, 12_000)?, "[Cpu]")?;
        }
    }
    Ok(())
}

fn a_function_that_the_driver_lacks_is_an_error() -> Result<(), Failed> {
    const NOT_FOUND: u32 = 500;
    for name in ["cuDeviceGetCount", "cuDeviceGetName", "cuDeviceTotalMem_v2"] {
        let driver = Driver::compile(&DRIVER.replace(name, "cuOther"))?;
        let error = failed(name.trim_end_matches("_v2"), NOT_FOUND);
        equal(driver.child("open", "cuda", 0, 12_000)?, format!("{error:?}"))?;
        equal(&*driver.child("all", "", 0, 12_000)?, "[Cpu]")?;
    }
    Ok(())
}

fn an_old_driver_is_an_error() -> Result<(), Failed> {
    let driver = Driver::compile(DRIVER)?;
    let needed_for = "stream-ordered allocation".to_owned();
    let error = Error::DriverTooOld { required: (11, 2), actual: (11, 1), needed_for };
    equal(driver.child("open", "cuda", 0, 11_010)?, format!("{error:?}"))?;
    equal(driver.child("open", "auto", 0, 11_010)?, format!("Cpu: {error}"))?;
    equal(&*driver.child("all", "", 0, 11_010)?, "[Cpu]")
}

fn the_cpu_is_displayed_with_the_reason() -> Result<(), Failed> {
    let (driver, cpu) = (Driver::compile(DRIVER)?, Device::cpu());
    equal(driver.child("display", "auto", 100, 12_000)?, format!("{cpu} (no GPU)"))?;
    equal(driver.child("display", "auto", 999, 12_000)?, format!("{cpu} ({})", failed("cuInit", 999)))?;
    equal(driver.child("display", "cpu", 999, 12_000)?, cpu.to_string())
}

fn devices_in_use_are_left_out() -> Result<(), Failed> {
    let driver = Driver::compile(DRIVER)?;
    let error = failed("cuDevicePrimaryCtxRetain", 46);
    equal(driver.child("open", "cuda:2", 0, 11_020)?, format!("{error:?}"))?;
    let error = Error::DeviceOrdinal { ordinal: 3, available: 3 };
    equal(driver.child("open", "cuda:3", 0, 11_020)?, format!("{error:?}"))?;
    equal(&*driver.child("all", "", 0, 11_020)?, "[Cpu]")
}

fn a_stub_is_no_driver() -> Result<(), Failed> {
    const STUB_LIBRARY: u32 = 34;
    let driver = Driver::compile(DRIVER)?;
    let said = driver.child("open", "cuda", STUB_LIBRARY, 0)?;
    let parts = ["NoDevice", "libcuda.so.1 (loaded, but it is a toolkit's stub for linking)", "libcuda.so ("];
    ensure(parts.iter().all(|part| said.contains(part)), || format!("not all of {parts:?} are in: {said}"))?;
    equal(&*driver.child("all", "", STUB_LIBRARY, 0)?, "[Cpu]")
}
