//! Pinned host memory, which the GPU reads and writes directly.

use super::driver::is_out_of_memory;
use super::queue::Queue;
use crate::{Element, Error, Result};
use cuda_driver::api;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`.
const MEMORY_TYPE: c_int = 2;

/// `CU_MEMORYTYPE_HOST`.
const HOST: u32 = 1;

/// Host memory for elements, freed when dropped. No copy uses it then, because each has ended when the call that began it returns.
pub(crate) struct PinnedMemory<T> {
    /// Dangling if there are no elements.
    address: NonNull<T>,
    len: usize,
    queue: Arc<Queue>,
    marker: PhantomData<T>,
}

// SAFETY: owns its elements, as a vector does.
unsafe impl<T: Send> Send for PinnedMemory<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for PinnedMemory<T> {}

impl<T: Element> PinnedMemory<T> {
    /// Returns memory of zeros. `len` elements are at most `isize::MAX` bytes.
    pub(super) fn zeroed(queue: &Arc<Queue>, len: usize) -> Result<Self> {
        let (bytes, mut address) = (len * size_of::<T>(), ptr::null_mut());
        if bytes > 0 {
            queue.enter()?;
            // SAFETY: writes one address, which outlives the call.
            let code = unsafe { api::cuMemAllocHost_v2(&mut address, bytes) };
            queue.check("cuMemAllocHost", code).map_err(|error| match is_out_of_memory(&error) {
                true => Error::OutOfHostMemory { requested: bytes as u64 },
                false => error,
            })?;
            // SAFETY: the driver has allocated this number of bytes.
            unsafe { ptr::write_bytes(address.cast::<u8>(), 0, bytes) };
        }
        let address = NonNull::new(address.cast()).unwrap_or(NonNull::dangling());
        Ok(PinnedMemory { address, len, queue: queue.clone(), marker: PhantomData })
    }
}

/// Returns whether the driver knows elements as pinned host memory.
pub(super) fn is_pinned<T>(queue: &Queue, elements: &[T]) -> bool {
    let bytes = elements.as_ptr_range();
    let of_host = |address: u64| {
        let mut kind = 0u32;
        // SAFETY: writes one integer, which outlives the call; the driver refuses an address that it does not know.
        let code = unsafe { api::cuPointerGetAttribute((&raw mut kind).cast(), MEMORY_TYPE, address) };
        code == 0 && kind == HOST
    };
    elements.is_empty()
        || queue.enter().is_ok() && of_host(bytes.start.addr() as u64) && of_host(bytes.end.addr() as u64 - 1)
}

impl<T: Element> AsRef<[T]> for PinnedMemory<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: `zeroed` has allocated the elements, aligned to a page, and zeros are a valid value of every element type.
        unsafe { slice::from_raw_parts(self.address.as_ptr(), self.len) }
    }
}

impl<T: Element> AsMut<[T]> for PinnedMemory<T> {
    fn as_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `as_ref`, and borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }
}

impl<T> Drop for PinnedMemory<T> {
    fn drop(&mut self) {
        if self.len * size_of::<T>() == 0 {
            return;
        }
        // Also if the device is lost. A failure cannot be reported any more.
        let _ = self.queue.make_current();
        // SAFETY: allocated by `zeroed` and freed once; no copy uses it any more.
        unsafe { api::cuMemFreeHost(self.address.as_ptr().cast()) };
    }
}
