//! Durations of accesses to shared memory, by the clock of the multiprocessor.
//!
//! All warps of one block repeat the same access, each lane to the element that the host chose for it. With many warps,
//! and several chains of accesses per thread, the throughput of shared memory limits the speed, not the latency of an
//! access. The elements are zero. A lane adds each loaded value to its element's index: so its next load depends on this
//! one, and the index does not change.
//!
//! The overhead per access is small and does not depend on the indices: one or two additions, and the loop control once
//! per round. Stores and atomic operations also add a zero to the index, an argument of the launch. Otherwise the compiler
//! would remove all but the last of the stores to one element.
//!
//! Shared memory: `elements` elements. Bank conflicts of the measured access are intended; clearing has none.

use super::access::Access;
use super::{ACCESSES, NOBODY, ProbeArgs};
use cuda_std::{Arena, Shared, Value, thread, warp};

/// Maximum of [`Access::WAYS`].
const MOST_WAYS: usize = 4;

/// Measures the accesses of one block. In each warp, the first lane that makes accesses records the clock before and after
/// them. Each thread writes the sum of its chains' final element indices.
#[inline(always)]
pub(super) fn measure<A: Access>(arena: Arena, args: &ProbeArgs) {
    let (t, lane) = (thread::thread_idx_x(), warp::lane());
    let (tile, _) = arena.split::<A::Part>(args.elements * A::PARTS);
    if A::READS {
        clear(&tile);
    }
    let place = args.places.get(lane.into());
    // This also waits for the load of `place`, whose latency would be measured otherwise.
    let first = warp::ballot(warp::FULL, place != NOBODY).trailing_zeros();
    let mut ways = [place; MOST_WAYS];
    thread::sync_threads();
    let begin = thread::clock();
    if place != NOBODY {
        let mut round = 0;
        while round < args.rounds {
            access::<A>(&tile, &mut ways, args.zero);
            round += 1;
        }
    }
    thread::sync_threads();
    let end = thread::clock();
    if lane == first {
        let warp = (t / warp::WARP).into();
        args.begins.set(warp, begin);
        args.ends.set(warp, end);
    }
    // Without this store, the compiler could remove the loads.
    args.places_after.set(t.into(), ways[..A::WAYS].iter().fold(0, |sum: u32, place| sum.wrapping_add(*place)));
}

/// Makes the accesses of one round, alternating between the chains.
#[inline(always)]
fn access<A: Access>(tile: &Shared<A::Part>, ways: &mut [u32; MOST_WAYS], zero: u32) {
    for k in 0..ACCESSES as usize {
        let place = &mut ways[k % A::WAYS];
        *place = place.wrapping_add(A::access(tile, *place, zero));
    }
}

/// Fills the tile with zeros. The lanes of a warp store to consecutive elements, without bank conflicts.
#[inline(always)]
fn clear<T: Value>(tile: &Shared<T>) {
    let mut i = thread::thread_idx_x();
    while i < tile.len() {
        tile.set(i, T::default());
        i += thread::block_dim_x();
    }
}
