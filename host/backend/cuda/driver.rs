//! The driver: finding it, its functions, and their return codes as errors.

use crate::{DriverError, Error, Result};
use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::OnceLock;

/// The driver's functions.
///
/// They are declared here, not taken from `cust::sys`, because that has their result as an enum: a code that the enum
/// lacks (46 for a device that another process has for itself, 226 and 721 for a lost one) would be undefined
/// behaviour, and `cust` makes "unknown" of others that matter (222, a driver too old for a module). Only what runs
/// before there is a context, and returns old codes alone, is left to `cust`. The crate `cuda_driver` defines the
/// symbols.
pub(super) mod api {
    use cust::sys::{CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUmodule, CUstream};
    use std::ffi::{c_char, c_int, c_uint, c_void};

    /// `CUDA_MEMCPY2D`. What it calls memory types are the kinds here: 1 is the host's, 2 the device's.
    #[repr(C)]
    pub(crate) struct Copy2d {
        pub(crate) source_x: usize,
        pub(crate) source_y: usize,
        pub(crate) source_kind: c_uint,
        pub(crate) source_host: *const c_void,
        pub(crate) source_device: CUdeviceptr,
        pub(crate) source_array: *const c_void,
        pub(crate) source_pitch: usize,
        pub(crate) target_x: usize,
        pub(crate) target_y: usize,
        pub(crate) target_kind: c_uint,
        pub(crate) target_host: *mut c_void,
        pub(crate) target_device: CUdeviceptr,
        pub(crate) target_array: *mut c_void,
        pub(crate) target_pitch: usize,
        pub(crate) width: usize,
        pub(crate) height: usize,
    }

    // SAFETY: the declarations are those of `cuda.h`, with the names that its macros make (`cuMemGetInfo_v2`); there
    // `CUresult` is an enum, and `int` has its representation.
    unsafe extern "C" {
        pub(crate) fn cuInit(flags: c_uint) -> c_int;
        pub(crate) fn cuDriverGetVersion(version: *mut c_int) -> c_int;
        pub(crate) fn cuGetErrorName(code: c_int, name: *mut *const c_char) -> c_int;
        pub(crate) fn cuGetErrorString(code: c_int, text: *mut *const c_char) -> c_int;
        pub(crate) fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: CUdevice) -> c_int;
        pub(crate) fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) -> c_int;
        pub(crate) fn cuDevicePrimaryCtxRelease_v2(device: CUdevice) -> c_int;
        pub(crate) fn cuCtxSetCurrent(context: CUcontext) -> c_int;
        pub(crate) fn cuStreamCreate(stream: *mut CUstream, flags: c_uint) -> c_int;
        pub(crate) fn cuStreamDestroy_v2(stream: CUstream) -> c_int;
        pub(crate) fn cuStreamSynchronize(stream: CUstream) -> c_int;
        pub(crate) fn cuEventCreate(event: *mut CUevent, flags: c_uint) -> c_int;
        pub(crate) fn cuEventRecord(event: CUevent, stream: CUstream) -> c_int;
        pub(crate) fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) -> c_int;
        pub(crate) fn cuEventDestroy_v2(event: CUevent) -> c_int;
        pub(crate) fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) -> c_int;
        pub(crate) fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) -> c_int;
        pub(crate) fn cuModuleUnload(module: CUmodule) -> c_int;
        pub(crate) fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_int;
        pub(crate) fn cuMemAllocAsync(address: *mut CUdeviceptr, bytes: usize, stream: CUstream) -> c_int;
        pub(crate) fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) -> c_int;
        pub(crate) fn cuMemsetD8Async(address: CUdeviceptr, byte: u8, bytes: usize, stream: CUstream) -> c_int;
        pub(crate) fn cuMemcpyHtoDAsync_v2(
            to: CUdeviceptr,
            from: *const c_void,
            bytes: usize,
            stream: CUstream,
        ) -> c_int;
        pub(crate) fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream)
        -> c_int;
        pub(crate) fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream)
        -> c_int;
        pub(crate) fn cuMemcpy2DAsync_v2(copy: *const Copy2d, stream: CUstream) -> c_int;
        pub(crate) fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: CUfunction) -> c_int;
        pub(crate) fn cuFuncSetAttribute(function: CUfunction, attribute: c_int, value: c_int) -> c_int;
        pub(crate) fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
            blocks: *mut c_int,
            function: CUfunction,
            threads: c_int,
            shared_bytes: usize,
        ) -> c_int;
        pub(crate) fn cuLaunchKernel(
            function: CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: CUstream,
            parameters: *mut *mut c_void,
            extra: *mut *mut c_void,
        ) -> c_int;
    }
}

const NO_DEVICE: i32 = 100;
const OUT_OF_MEMORY: i32 = 2;
const UNSUPPORTED_PTX_VERSION: i32 = 222;
const NOT_FOUND: i32 = 500;

/// Codes that leave the context unusable, by their descriptions in `cuda.h`: uncorrectable and contained memory
/// errors, illegal addresses and instructions, time-outs, asserts, failed launches.
const STICKY: [i32; 14] = [214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721];

/// Loads the driver and initialises it, once for the process.
pub(super) fn initialise() -> Result<()> {
    static RESULT: OnceLock<Result<()>> = OnceLock::new();
    let load = || {
        cuda_driver::load().map_err(|error| Error::NoDevice { tried: error.to_string() })?;
        // SAFETY: `load` has filled the table of functions; this one takes no pointers.
        match unsafe { api::cuInit(0) } {
            NO_DEVICE => Err(Error::NoDevice { tried: "the driver finds no GPU".to_owned() }),
            code => check("cuInit", code),
        }
    };
    RESULT.get_or_init(load).clone()
}

/// The version of CUDA that the driver supports.
pub(super) fn version() -> Result<(u32, u32)> {
    let mut version = 0;
    // SAFETY: writes one integer, which outlives the call.
    check("cuDriverGetVersion", unsafe { api::cuDriverGetVersion(&mut version) })?;
    let version = version.unsigned_abs();
    Ok((version / 1000, version % 1000 / 10))
}

/// What the return value of the function `call` stands for.
pub(super) fn check(call: &'static str, code: i32) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let source = describe(code);
    Err(if STICKY.contains(&code) { Error::DeviceLost { call, source } } else { Error::Driver { call, source } })
}

/// The same for what `cust` makes of it; `call` is the function that it called.
pub(super) fn from_cust<T>(call: &'static str, result: cust::error::CudaResult<T>) -> Result<T> {
    result.map_err(|error| check(call, error as i32).expect_err("an error of cust is a code other than zero"))
}

/// Whether the error says that there is not enough memory.
pub(super) fn is_out_of_memory(error: &Error) -> bool {
    has_code(error, OUT_OF_MEMORY)
}

/// Whether the error says that the driver is too old for a module.
pub(super) fn is_unsupported_ptx(error: &Error) -> bool {
    has_code(error, UNSUPPORTED_PTX_VERSION)
}

/// Whether the error says that a module has nothing of that name.
pub(super) fn is_not_found(error: &Error) -> bool {
    has_code(error, NOT_FOUND)
}

fn has_code(error: &Error, code: i32) -> bool {
    matches!(error, Error::Driver { source, .. } if source.code == code as u32)
}

fn describe(code: i32) -> DriverError {
    DriverError {
        code: code.unsigned_abs(),
        name: text(code, api::cuGetErrorName),
        description: text(code, api::cuGetErrorString),
    }
}

/// A text that the driver has for an error code.
fn text(code: i32, get: unsafe extern "C" fn(i32, *mut *const c_char) -> i32) -> String {
    let mut text = ptr::null();
    // SAFETY: writes one pointer, to a string or null; a code that the driver does not know is refused.
    let result = unsafe { get(code, &mut text) };
    if result != 0 || text.is_null() {
        return "unknown to the driver".to_owned();
    }
    // SAFETY: not null, and the driver's strings end in zero and live for ever.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_tell_lost_devices_from_failed_calls() {
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
