//! Access of a GPU to the memory of another one.

use super::context::Context;
use super::properties;
use crate::Result;
use cuda_driver::api;
use std::ffi::{c_int, c_uint};
use std::ptr;

const NO_FLAGS: c_uint = 0;

// Errors of `cuCtxEnablePeerAccess`.
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
    context.note(peer.pool().share_with(context.ordinal()))
}
