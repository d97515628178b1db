//! Access of a GPU to the memory of another one.

use super::context::Context;
use super::properties;
use crate::Result;
use cuda_driver::api::{self, CUmemAccessDesc, CUmemoryPool};
use std::ffi::{c_int, c_uint};
use std::ptr;

const DEVICE: c_uint = 1;
const READ_AND_WRITE: c_uint = 3;
const NO_FLAGS: c_uint = 0;

/// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`.
const ALREADY_ENABLED: c_int = 704;

/// Lets the device of `context` access the memory of `peer`, if it can. Returns whether it can. Memory of one device is always
/// accessible.
pub(super) fn enable(context: &Context, peer: &Context) -> Result<bool> {
    if ptr::eq(context, peer) {
        return Ok(true);
    }
    let [device, of_peer] = [properties::device(context.ordinal())?, properties::device(peer.ordinal())?];
    let mut can = 0;
    context.enter()?;
    // SAFETY: writes one integer, which outlives the call; both devices exist.
    context.check("cuDeviceCanAccessPeer", unsafe { api::cuDeviceCanAccessPeer(&mut can, device, of_peer) })?;
    if can == 0 {
        return Ok(false);
    }
    // For memory that is not of a pool.
    // SAFETY: the peer's context is alive.
    let code = unsafe { api::cuCtxEnablePeerAccess(peer.raw(), NO_FLAGS) };
    if code != ALREADY_ENABLED {
        context.check("cuCtxEnablePeerAccess", code)?;
    }
    let mut pool: CUmemoryPool = ptr::null_mut();
    // SAFETY: writes one handle, which outlives the call.
    context.check("cuDeviceGetDefaultMemPool", unsafe { api::cuDeviceGetDefaultMemPool(&mut pool, of_peer) })?;
    // The cast is exact: it is the number of a device.
    let access =
        CUmemAccessDesc { location_type: DEVICE, location_id: context.ordinal() as c_int, flags: READ_AND_WRITE };
    // SAFETY: reads one description, which outlives the call; the pool exists as long as its device.
    context.check("cuMemPoolSetAccess", unsafe { api::cuMemPoolSetAccess(pool, &access, 1) })?;
    Ok(true)
}
