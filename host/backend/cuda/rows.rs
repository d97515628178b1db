//! Copies of rows with gaps between them.

use super::queue::Queue;
use crate::Result;
use crate::rows::Rows;
use cuda_driver::api::{self, CUDA_MEMCPY2D};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Maximum row pitch of a two-dimensional copy that all GPUs support, in bytes (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
const MOST_PITCH: usize = i32::MAX as usize;

/// Source or target of a copy of rows.
#[derive(Clone, Copy)]
pub(super) enum Side {
    /// Host memory at this address.
    Host(*mut c_void),
    /// Device memory at this address.
    Device(u64),
}

impl Side {
    /// Returns the memory type, and the address of the host's and the device's memory.
    fn of(self) -> (u32, *mut c_void, u64) {
        match self {
            Side::Host(address) => (1, address, 0),
            Side::Device(address) => (2, null_mut(), address),
        }
    }
}

/// Enqueues a copy of `rows` of elements of `element` bytes.
///
/// # Safety
///
/// The rows are inside the memory of both sides, and every bit pattern is a valid element. The host memory is not accessed
/// before the queue has done its work, and the device memory is freed in stream order.
pub(super) unsafe fn enqueue(queue: &Queue, rows: Rows, element: usize, source: Side, target: Side) -> Result<()> {
    let rows = rows.joined();
    if rows.source.pitch.max(rows.target.pitch).saturating_mul(element) <= MOST_PITCH {
        // SAFETY: what the caller promises.
        return unsafe { copy(queue, rows, element, source, target) };
    }
    // With such a pitch, there are few rows. For a single row the pitch has no meaning.
    rows.each().try_for_each(|[from, to]| {
        let [mut source_row, mut target_row] = [rows.source, rows.target];
        (source_row.first, source_row.pitch) = (from.start, 0);
        (target_row.first, target_row.pitch) = (to.start, 0);
        let row = Rows { count: 1, source: source_row, target: target_row, ..rows };
        // SAFETY: what the caller promises, for one of the rows.
        unsafe { copy(queue, row, element, source, target) }
    })
}

/// As [`enqueue`], for pitches that the driver supports.
///
/// # Safety
///
/// As [`enqueue`].
unsafe fn copy(queue: &Queue, rows: Rows, element: usize, source: Side, target: Side) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let (width, source_pitch, target_pitch) =
        (rows.len * element, rows.source.pitch * element, rows.target.pitch * element);
    let (source_type, source_host, source_device) = source.of();
    let (target_type, target_host, target_device) = target.of();
    let [source_first, target_first] = [rows.source.first, rows.target.first].map(|first| first * element);
    let copy = CUDA_MEMCPY2D {
        source_x: 0,
        source_y: 0,
        source_type,
        source_host: source_host.cast_const().wrapping_byte_add(source_first),
        source_device: source_device.wrapping_add(source_first as u64),
        source_array: null(),
        // A single row may have any pitch, but the driver refuses pitches below the width.
        source_pitch: if rows.count == 1 { width } else { source_pitch },
        target_x: 0,
        target_y: 0,
        target_type,
        target_host: target_host.wrapping_byte_add(target_first),
        target_device: target_device.wrapping_add(target_first as u64),
        target_array: null_mut(),
        target_pitch: if rows.count == 1 { width } else { target_pitch },
        width,
        height: rows.count,
    };
    // SAFETY: the description outlives the call; what it describes is what the caller promises.
    queue.check("cuMemcpy2DAsync", unsafe { api::cuMemcpy2DAsync_v2(&copy, queue.stream()) })
}
