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

/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`: bytes that a pool keeps when a stream is waited for. To map memory for other devices again takes
/// longer than most operations.
const RELEASE_THRESHOLD: c_uint = 4;

// Errors of `cuCtxEnablePeerAccess` and `cuMemPoolSetAccess`.
const PEER_ACCESS_UNSUPPORTED: c_int = 217;
const ALREADY_ENABLED: c_int = 704;
const TOO_MANY_PEERS: c_int = 711;

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
    match code {
        ALREADY_ENABLED => {}
        PEER_ACCESS_UNSUPPORTED | TOO_MANY_PEERS => return Ok(false),
        code => context.check("cuCtxEnablePeerAccess", code)?,
    }
    let mut pool: CUmemoryPool = ptr::null_mut();
    // SAFETY: writes one handle, which outlives the call.
    context.check("cuDeviceGetDefaultMemPool", unsafe { api::cuDeviceGetDefaultMemPool(&mut pool, of_peer) })?;
    // The cast is exact: it is the number of a device.
    let access =
        CUmemAccessDesc { location_type: DEVICE, location_id: context.ordinal() as c_int, flags: READ_AND_WRITE };
    // SAFETY: reads one description, which outlives the call; the pool exists as long as its device.
    match unsafe { api::cuMemPoolSetAccess(pool, &access, 1) } {
        PEER_ACCESS_UNSUPPORTED => return Ok(false),
        code => context.check("cuMemPoolSetAccess", code)?,
    }
    let mut kept = u64::MAX;
    // SAFETY: reads one integer, which outlives the call.
    let code = unsafe { api::cuMemPoolSetAttribute(pool, RELEASE_THRESHOLD, (&raw mut kept).cast()) };
    context.check("cuMemPoolSetAttribute", code)?;
    Ok(true)
}
