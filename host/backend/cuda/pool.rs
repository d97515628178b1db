//! The pool of a GPU's memory.

use super::driver::check;
use crate::Result;
use cuda_driver::api::{self, CUdevice, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool};
use std::ffi::{c_int, c_uint};
use std::ptr;

/// `CU_MEM_ALLOCATION_TYPE_PINNED`.
const PINNED: c_uint = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const DEVICE: c_uint = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_AND_WRITE: c_uint = 3;
/// `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED`.
const PEER_ACCESS_UNSUPPORTED: c_int = 217;

/// Values of `CUmemPool_attribute`.
mod attribute {
    use std::ffi::c_uint;

    pub(super) const RELEASE_THRESHOLD: c_uint = 4;
    pub(super) const RESERVED: c_uint = 5;
    pub(super) const USED: c_uint = 7;
}

/// The memory of one device that its buffers, and operations during their calls, take and return in the order of a queue.
///
/// The driver's default pool gives unused memory back at each wait. Then an allocation has to map memory, which takes 140 µs on an H200, and
/// 3 ms for 1 GiB; one from this pool takes 10 µs. It keeps memory until [`trim`](Self::trim), or until it is dropped. If another allocation
/// of the process would fail otherwise, the driver takes unused memory from the pool, as seen on an H200 with CUDA 13.0: for plain memory,
/// and for other pools.
pub(super) struct Pool(CUmemoryPool);

// SAFETY: a handle, which any thread may use.
unsafe impl Send for Pool {}
// SAFETY: as above; several threads may allocate from a pool at once.
unsafe impl Sync for Pool {}

impl Pool {
    /// Returns an empty pool of device `ordinal`.
    pub(super) fn new(ordinal: usize) -> Result<Self> {
        let properties =
            CUmemPoolProps { allocation_type: PINNED, location: location(ordinal), ..CUmemPoolProps::default() };
        let mut pool = ptr::null_mut();
        // SAFETY: reads one description and writes one handle, which outlive the call.
        check("cuMemPoolCreate", unsafe { api::cuMemPoolCreate(&mut pool, &properties) })?;
        let pool = Pool(pool);
        let mut kept = u64::MAX;
        // SAFETY: the pool is alive; reads one integer, which outlives the call.
        let code = unsafe { api::cuMemPoolSetAttribute(pool.0, attribute::RELEASE_THRESHOLD, (&raw mut kept).cast()) };
        check("cuMemPoolSetAttribute", code)?;
        Ok(pool)
    }

    pub(super) fn raw(&self) -> CUmemoryPool {
        self.0
    }

    /// Lets device `ordinal`, which has access to the memory of the pool's device, read and write memory of the pool. Returns whether it
    /// can.
    pub(super) fn share_with(&self, ordinal: usize) -> Result<bool> {
        let access = CUmemAccessDesc { location: location(ordinal), flags: READ_AND_WRITE };
        // SAFETY: the pool is alive; reads one description, which outlives the call.
        match unsafe { api::cuMemPoolSetAccess(self.0, &access, 1) } {
            PEER_ACCESS_UNSUPPORTED => Ok(false),
            code => check("cuMemPoolSetAccess", code).map(|()| true),
        }
    }

    /// Gives unused memory back to the driver. Memory is unused when a wait has seen the end of the work before it was freed.
    pub(super) fn trim(&self) -> Result<()> {
        // SAFETY: the pool is alive.
        check("cuMemPoolTrimTo", unsafe { api::cuMemPoolTrimTo(self.0, 0) })
    }

    /// Returns the number of bytes that the pool keeps for later allocations.
    pub(super) fn unused(&self) -> Result<u64> {
        let [reserved, used] = [self.bytes(attribute::RESERVED)?, self.bytes(attribute::USED)?];
        // Another thread may have allocated in between.
        Ok(reserved.saturating_sub(used))
    }

    fn bytes(&self, attribute: c_uint) -> Result<u64> {
        let mut bytes = 0u64;
        // SAFETY: the pool is alive; writes one integer, which outlives the call.
        let code = unsafe { api::cuMemPoolGetAttribute(self.0, attribute, (&raw mut bytes).cast()) };
        check("cuMemPoolGetAttribute", code)?;
        Ok(bytes)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: created by `new` and destroyed once. Nothing allocates from it any more: queues and buffers hold the context that has
        // it. The driver keeps memory that work still uses.
        unsafe { api::cuMemPoolDestroy(self.0) };
    }
}

fn location(ordinal: usize) -> CUmemLocation {
    // The cast is exact: the driver counts devices in an `int`.
    CUmemLocation { kind: DEVICE, id: ordinal as CUdevice }
}
