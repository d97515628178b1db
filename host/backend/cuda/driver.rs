//! Loads the driver, and converts its return codes to errors.

use crate::error::NO_GPU;
use crate::{DriverError, Error, Result};
use cuda_driver::api::{self, CUresult};
use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::OnceLock;

const NO_DEVICE: CUresult = 100;
const OUT_OF_MEMORY: CUresult = 2;
const UNSUPPORTED_PTX_VERSION: CUresult = 222;
const NOT_FOUND: CUresult = 500;

/// Codes that leave the context unusable, according to `cuda.h`: uncorrectable and contained memory errors, illegal
/// addresses and instructions, time-outs, asserts, failed launches.
const STICKY: [CUresult; 14] = [214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721];

/// Loads the driver and initialises it, once for the process.
pub(super) fn initialise() -> Result<()> {
    static RESULT: OnceLock<Result<()>> = OnceLock::new();
    let load = || {
        cuda_driver::load().map_err(|error| Error::NoDevice { tried: error.to_string() })?;
        // SAFETY: `load` has filled the table of functions; `cuInit` takes no pointers.
        match unsafe { api::cuInit(0) } {
            NO_DEVICE => Err(Error::NoDevice { tried: NO_GPU.to_owned() }),
            code => check("cuInit", code),
        }
    };
    RESULT.get_or_init(load).clone()
}

/// Returns the version of CUDA that the driver supports.
pub(super) fn version() -> Result<(u32, u32)> {
    let mut version = 0;
    // SAFETY: writes one integer, which outlives the call.
    check("cuDriverGetVersion", unsafe { api::cuDriverGetVersion(&mut version) })?;
    let version = version.unsigned_abs();
    Ok((version / 1000, version % 1000 / 10))
}

/// Converts the return code of the driver's function `call`.
pub(super) fn check(call: &'static str, code: CUresult) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let source = describe(code);
    Err(if STICKY.contains(&code) { Error::DeviceLost { call, source } } else { Error::Driver { call, source } })
}

/// Returns whether the error means a lack of memory.
pub(super) fn is_out_of_memory(error: &Error) -> bool {
    has_code(error, OUT_OF_MEMORY)
}

/// Returns whether the error means that the driver is too old for a module.
pub(super) fn is_unsupported_ptx(error: &Error) -> bool {
    has_code(error, UNSUPPORTED_PTX_VERSION)
}

/// Returns whether the error means that a module has no such name.
pub(super) fn is_not_found(error: &Error) -> bool {
    has_code(error, NOT_FOUND)
}

fn has_code(error: &Error, code: CUresult) -> bool {
    matches!(error, Error::Driver { source, .. } if source.code == code as u32)
}

fn describe(code: CUresult) -> DriverError {
    DriverError {
        code: code.unsigned_abs(),
        name: text(code, api::cuGetErrorName),
        description: text(code, api::cuGetErrorString),
    }
}

/// Returns the driver's name or description of an error code.
fn text(code: CUresult, get: unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult) -> String {
    let mut text = ptr::null();
    // SAFETY: writes one pointer, to a string or null; the driver returns an error for unknown codes.
    let result = unsafe { get(code, &mut text) };
    if result != 0 || text.is_null() {
        return "unknown to the driver".to_owned();
    }
    // SAFETY: not null, and the driver's strings end in zero and live forever.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_distinguish_lost_devices_from_failed_calls() {
        assert_eq!(check("cuCall", 0), Ok(()));
        for code in STICKY {
            let lost = matches!(check("cuCall", code), Err(Error::DeviceLost { call: "cuCall", source }) if source.code == code as u32);
            assert!(lost, "{code}");
        }
        for code in [1, 2, 46, 100, 222, 701, 999] {
            let failed = matches!(check("cuCall", code), Err(Error::Driver { call: "cuCall", source }) if source.code == code as u32);
            assert!(failed, "{code}");
        }
    }
}
