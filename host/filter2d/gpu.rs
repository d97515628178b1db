//! Two-dimensional filters on CUDA and emulated GPUs: the choice of the kernels.

use super::rule::{Filter2d, Rule};
use super::sums::Sums;
use super::{boxes, correlation, streaming, two_passes};
use crate::info::SharedMemory;
use crate::{Device, Result};

/// Returns the filter on a device with this shared memory.
pub(super) fn prepare(device: &Device, shared: SharedMemory, sums: &Sums, rule: Rule) -> Result<Box<dyn Filter2d>> {
    if let Some(filter) = boxes::prepare(device, shared, sums, rule)? {
        return Ok(filter);
    }
    if let Some(filter) = streaming::prepare(device, shared, sums, rule)? {
        return Ok(filter);
    }
    if let Some(filter) = two_passes::prepare(device, shared, sums, rule)? {
        return Ok(filter);
    }
    correlation::prepare(device, shared, sums, rule)
}
