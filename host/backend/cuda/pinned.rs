//! Pinned host memory, which the GPU reads and writes directly.

use super::driver::is_out_of_memory;
use super::handle::HostMemory;
use super::queue::Queue;
use crate::{Element, Error, Result};
use cuda_driver::api;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::sync::Arc;

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`.
const MEMORY_TYPE: c_int = 2;

/// `CU_MEMORYTYPE_HOST`.
const HOST: u32 = 1;

/// Host memory for elements.
pub(crate) struct PinnedMemory<T> {
    // Dropped in this order, with the context current (`Drop`).
    /// None if there are no elements.
    memory: Option<HostMemory>,
    queue: Arc<Queue>,
    len: usize,
    marker: PhantomData<T>,
}

impl<T: Element> PinnedMemory<T> {
    /// Returns memory of zeros. `len` elements are at most `isize::MAX` bytes.
    pub(super) fn zeroed(queue: &Arc<Queue>, len: usize) -> Result<Self> {
        let memory = if len == 0 { None } else { Some(allocate_zeros(queue, len * size_of::<T>())?) };
        Ok(PinnedMemory { memory, queue: queue.clone(), len, marker: PhantomData })
    }

    fn address(&self) -> *mut T {
        self.memory.as_ref().map_or(ptr::dangling_mut(), |memory| memory.address().cast())
    }
}

fn allocate_zeros(queue: &Queue, bytes: usize) -> Result<HostMemory> {
    queue.enter()?;
    let memory = queue.note(HostMemory::allocate(bytes)).map_err(|error| match is_out_of_memory(&error) {
        true => Error::OutOfHostMemory { requested: bytes as u64 },
        false => error,
    })?;
    // SAFETY: the driver has allocated this number of bytes.
    unsafe { ptr::write_bytes(memory.address().cast::<u8>(), 0, bytes) };
    Ok(memory)
}

/// Returns whether the driver knows elements as pinned host memory. A context must be current.
pub(super) fn is_pinned<T>(elements: &[T]) -> bool {
    let bytes = elements.as_ptr_range();
    let of_host = |address: u64| {
        let (mut attribute, mut kind) = (MEMORY_TYPE, 0u32);
        let mut value = (&raw mut kind).cast();
        // `cuPointerGetAttribute` returns an error for other host memory, which compute-sanitizer reports.
        // SAFETY: reads one attribute and writes one integer, which outlive the call.
        let code = unsafe { api::cuPointerGetAttributes(1, &mut attribute, &mut value, address) };
        code == 0 && kind == HOST
    };
    elements.is_empty() || (of_host(bytes.start.addr() as u64) && of_host(bytes.end.addr() as u64 - 1))
}

impl<T: Element> AsRef<[T]> for PinnedMemory<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: `zeroed` has allocated the elements, aligned to a page, and zeros are a valid value of every element type.
        unsafe { slice::from_raw_parts(self.address(), self.len) }
    }
}

impl<T: Element> AsMut<[T]> for PinnedMemory<T> {
    fn as_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `as_ref`, and borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.address(), self.len) }
    }
}

impl<T> Drop for PinnedMemory<T> {
    fn drop(&mut self) {
        // The fields are dropped next, and freeing memory needs the context, also if the device is lost. A failure cannot be reported
        // any more.
        if self.memory.is_some() {
            let _ = self.queue.make_current();
        }
    }
}
