//! Declarations of driver functions, from the reference of the CUDA driver API.
//!
//! These are the functions that this workspace calls; [`FUNCTIONS`](crate::FUNCTIONS) has more, for programs with
//! declarations of their own. A name is the one that the linker sees: `cuda.h` maps `cuMemAlloc` to `cuMemAlloc_v2`.
//!
//! Return codes are integers, not an enum: a newer driver may return codes that an enum lacks, and such a value of an enum
//! is undefined behaviour. Attributes are integers for the same reason.
//!
//! Until [`load`](crate::load) has found a driver, each function returns `CUDA_ERROR_NOT_INITIALIZED` (3) and writes to no
//! memory.
//!
//! # Safety
//!
//! Each function has the preconditions that the reference gives: pointers to memory that the driver may read or write
//! for the duration of the call, and handles that have not been released.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

/// Return code of every function: 0 (`CUDA_SUCCESS`), or the number of an error.
pub type CUresult = c_int;
/// Handle of a device.
pub type CUdevice = c_int;
/// Address in device memory.
pub type CUdeviceptr = u64;

macro_rules! handles {
    ($($what:literal $name:ident $pointee:ident;)*) => {$(
        #[doc = concat!("Handle of ", $what, ".")]
        pub type $name = *mut $pointee;
        #[doc = concat!("What a [`", stringify!($name), "`] points to. Only the driver accesses it.")]
        #[derive(Debug)]
        pub enum $pointee {}
    )*};
}

handles! {
    "a context" CUcontext OpaqueContext;
    "a stream" CUstream OpaqueStream;
    "an event" CUevent OpaqueEvent;
    "a module" CUmodule OpaqueModule;
    "a kernel" CUfunction OpaqueFunction;
}

/// `CUDA_MEMCPY2D`: a copy of rows. A memory type is 1 for the host's memory and 2 for the device's. The address of the
/// other type and the array are not used.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the reference documents the fields")]
pub struct CUDA_MEMCPY2D {
    pub source_x: usize,
    pub source_y: usize,
    pub source_type: c_uint,
    pub source_host: *const c_void,
    pub source_device: CUdeviceptr,
    pub source_array: *const c_void,
    pub source_pitch: usize,
    pub target_x: usize,
    pub target_y: usize,
    pub target_type: c_uint,
    pub target_host: *mut c_void,
    pub target_device: CUdeviceptr,
    pub target_array: *mut c_void,
    pub target_pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// A pool of device memory.
pub type CUmemoryPool = *mut c_void;

/// Where memory is.
#[repr(C)]
#[derive(Debug, Default)]
pub struct CUmemLocation {
    /// `CUmemLocationType`: 1 for a device.
    pub kind: c_uint,
    /// Number of the device.
    pub id: c_int,
}

/// Which device may access a pool, and how.
#[repr(C)]
#[derive(Debug)]
pub struct CUmemAccessDesc {
    /// The device.
    pub location: CUmemLocation,
    /// `CUmemAccess_flags`: 3 for reading and writing.
    pub flags: c_uint,
}

/// Properties of a pool. `reserved` stands for fields that are zero here: attributes of Windows, and in later versions of `cuda.h` the maximum
/// size and the usage.
#[repr(C)]
#[derive(Debug, Default)]
pub struct CUmemPoolProps {
    /// `CUmemAllocationType`: 1 for memory that does not migrate.
    pub allocation_type: c_uint,
    /// `CUmemAllocationHandleType`: 0 for memory that other processes cannot open.
    pub handle_types: c_uint,
    /// Where the memory is.
    pub location: CUmemLocation,
    /// Zeros.
    pub reserved: [u64; 9],
}

// The sizes in `cuda.h`.
const _: () = assert!(size_of::<CUmemPoolProps>() == 88 && size_of::<CUmemAccessDesc>() == 12);

/// Declares functions that return a [`CUresult`].
macro_rules! functions {
    ($(fn $name:ident($($parameter:ident: $type:ty),* $(,)?);)*) => {
        // SAFETY: the declarations match `cuda.h`, under the names that its macros produce. There, results and attributes
        // are enums, which have the representation of `int`.
        unsafe extern "C" {$(
            #[doc = concat!("`", stringify!($name), "` of the CUDA driver API.")]
            pub fn $name($($parameter: $type),*) -> CUresult;
        )*}

        #[cfg(test)]
        const DECLARED: &[&str] = &[$(stringify!($name)),*];
    };
}

functions! {
    fn cuInit(flags: c_uint);
    fn cuDriverGetVersion(version: *mut c_int);
    fn cuGetErrorName(code: CUresult, name: *mut *const c_char);
    fn cuGetErrorString(code: CUresult, text: *mut *const c_char);

    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    fn cuDeviceGetName(name: *mut c_char, bytes: c_int, device: CUdevice);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: CUdevice);
    fn cuDeviceCanAccessPeer(can: *mut c_int, device: CUdevice, peer: CUdevice);

    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    fn cuCtxSetCurrent(context: CUcontext);
    fn cuCtxGetCurrent(context: *mut CUcontext);
    fn cuCtxGetDevice(device: *mut CUdevice);
    fn cuCtxSynchronize();
    fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);

    fn cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    fn cuStreamGetCtx(stream: CUstream, context: *mut CUcontext);
    fn cuStreamSynchronize(stream: CUstream);
    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    fn cuStreamDestroy_v2(stream: CUstream);

    fn cuEventCreate(event: *mut CUevent, flags: c_uint);
    fn cuEventRecord(event: CUevent, stream: CUstream);
    fn cuEventSynchronize(event: CUevent);
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
    fn cuEventDestroy_v2(event: CUevent);

    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    fn cuModuleUnload(module: CUmodule);

    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemAllocHost_v2(address: *mut *mut c_void, bytes: usize);
    fn cuMemFreeHost(address: *mut c_void);
    fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize);
    fn cuMemFree_v2(address: CUdeviceptr);
    fn cuMemAllocFromPoolAsync(address: *mut CUdeviceptr, bytes: usize, pool: CUmemoryPool, stream: CUstream);
    fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
    fn cuMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps);
    fn cuMemPoolDestroy(pool: CUmemoryPool);
    fn cuMemPoolTrimTo(pool: CUmemoryPool, kept: usize);
    fn cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: c_uint, value: *mut c_void);
    fn cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: c_uint, value: *mut c_void);
    fn cuMemPoolSetAccess(pool: CUmemoryPool, accesses: *const CUmemAccessDesc, count: usize);
    fn cuMemsetD8Async(address: CUdeviceptr, byte: c_uchar, bytes: usize, stream: CUstream);
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream);
    fn cuPointerGetAttribute(value: *mut c_void, attribute: c_int, address: CUdeviceptr);
    fn cuPointerGetAttributes(count: c_uint, attributes: *mut c_int, values: *mut *mut c_void, address: CUdeviceptr);

    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: CUfunction);
    fn cuFuncSetAttribute(function: CUfunction, attribute: c_int, value: c_int);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: CUfunction,
        threads: c_int,
        shared_bytes: usize,
    );
    fn cuLaunchKernel(
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
    );
}

#[cfg(test)]
mod tests {
    use super::DECLARED;
    use crate::FUNCTIONS;

    /// Any other function would have to come from a library that the program is linked with.
    #[test]
    fn this_crate_defines_what_is_declared() {
        for name in DECLARED {
            assert!(FUNCTIONS.contains(name), "{name}");
        }
    }
}
