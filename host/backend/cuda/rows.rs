//! Copies of rows with gaps between them.

use super::queue::Queue;
use crate::Result;
use crate::device::rows::Rows;
use cuda_driver::api::{self, CUDA_MEMCPY2D, CUdeviceptr};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Maximum row pitch of a two-dimensional copy that all GPUs support, in bytes (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
const MOST_PITCH: usize = i32::MAX as usize;

/// Addresses of a copy's source and target.
#[derive(Clone, Copy)]
pub(super) enum Addresses {
    /// From the host to the device.
    Upload(*const c_void, CUdeviceptr),
    /// From the device to the host.
    Download(CUdeviceptr, *mut c_void),
    /// On the device.
    Device(CUdeviceptr, CUdeviceptr),
}

impl Addresses {
    /// Returns the addresses plus these offsets in bytes.
    fn beyond(self, [source, target]: [usize; 2]) -> Self {
        let device = |address: CUdeviceptr, offset: usize| address.wrapping_add(offset as u64);
        match self {
            Self::Upload(from, to) => Self::Upload(from.wrapping_byte_add(source), device(to, target)),
            Self::Download(from, to) => Self::Download(device(from, source), to.wrapping_byte_add(target)),
            Self::Device(from, to) => Self::Device(device(from, source), device(to, target)),
        }
    }
}

/// Enqueues a copy of `rows` of elements of `element` bytes.
///
/// # Safety
///
/// The rows must be inside the memory of both sides, and every bit pattern must be a valid element. The host memory must not
/// be accessed before the queue's work is done, and the device memory must be freed in stream order.
pub(super) unsafe fn enqueue(queue: &Queue, rows: Rows, element: usize, addresses: Addresses) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let rows = rows.joined();
    let pitches = [rows.source.pitch, rows.target.pitch].map(|pitch| pitch.saturating_mul(element));
    if rows.count > 1 && pitches.iter().all(|pitch| *pitch <= MOST_PITCH) {
        let first = addresses.beyond([rows.source.first * element, rows.target.first * element]);
        // SAFETY: the caller's promise.
        return unsafe { copy_rows(queue, [rows.count, rows.len * element], pitches, first) };
    }
    // Longer pitches mean few rows, which are copied one by one. A single row may have any pitch and any length.
    rows.each().try_for_each(|[from, to]| {
        let row = addresses.beyond([from.start * element, to.start * element]);
        // SAFETY: the caller's promise, for one of the rows.
        unsafe { copy_row(queue, rows.len * element, row) }
    })
}

/// Enqueues a copy of one row.
///
/// # Safety
///
/// As [`enqueue`].
unsafe fn copy_row(queue: &Queue, bytes: usize, addresses: Addresses) -> Result<()> {
    let stream = queue.stream();
    match addresses {
        Addresses::Upload(from, to) => {
            // SAFETY: the caller's promise.
            queue.check("cuMemcpyHtoDAsync", unsafe { api::cuMemcpyHtoDAsync_v2(to, from, bytes, stream) })
        }
        Addresses::Download(from, to) => {
            // SAFETY: the caller's promise.
            queue.check("cuMemcpyDtoHAsync", unsafe { api::cuMemcpyDtoHAsync_v2(to, from, bytes, stream) })
        }
        Addresses::Device(from, to) => {
            // SAFETY: the caller's promise.
            queue.check("cuMemcpyDtoDAsync", unsafe { api::cuMemcpyDtoDAsync_v2(to, from, bytes, stream) })
        }
    }
}

/// Enqueues a copy of several rows, with pitches in bytes that the driver supports.
///
/// # Safety
///
/// As [`enqueue`].
unsafe fn copy_rows(
    queue: &Queue,
    [height, width]: [usize; 2],
    [source_pitch, target_pitch]: [usize; 2],
    addresses: Addresses,
) -> Result<()> {
    const HOST: u32 = 1;
    const DEVICE: u32 = 2;
    let (source_type, source_host, source_device, target_type, target_host, target_device) = match addresses {
        Addresses::Upload(from, to) => (HOST, from, 0, DEVICE, null_mut(), to),
        Addresses::Download(from, to) => (DEVICE, null(), from, HOST, to, 0),
        Addresses::Device(from, to) => (DEVICE, null(), from, DEVICE, null_mut(), to),
    };
    let copy = CUDA_MEMCPY2D {
        source_x: 0,
        source_y: 0,
        source_type,
        source_host,
        source_device,
        source_array: null(),
        source_pitch,
        target_x: 0,
        target_y: 0,
        target_type,
        target_host,
        target_device,
        target_array: null_mut(),
        target_pitch,
        width,
        height,
    };
    // SAFETY: the description outlives the call, and the caller's promise covers the memory that it describes.
    queue.check("cuMemcpy2DAsync", unsafe { api::cuMemcpy2DAsync_v2(&copy, queue.stream()) })
}
