//! How long accesses to shared memory take, by the clock of the multiprocessor.
//!
//! All warps of one block make the same access over and over, each lane to the element that the host has chosen for it.
//! There are enough of them, and each thread has several on the way at once, so that what they wait for is shared memory
//! and not the latency of a single access. The elements are zero. What a lane has loaded is added to the number of its
//! element, so that its next load depends on this one, and the element stays the same.
//!
//! Beside each access there is little else, and the same whatever the elements are: an addition or two, and the rest of
//! the loop once for every round. Stores and atomic operations have that addition too, of a zero from the launch's
//! arguments: to one and the same place, only the last of many stores would be compiled.

use super::access::Access;
use super::{ACCESSES, NOBODY, ProbeArgs};
use cuda_std::{Arena, Shared, Value, thread, warp};

/// The most ways of a thread.
const MOST_WAYS: usize = 4;

/// One block. In each warp the first lane that takes part tells when the warp begins and ends, each thread where its
/// elements are then.
#[inline(always)]
pub(super) fn measure<A: Access>(arena: Arena, args: &ProbeArgs) {
    let (t, lane) = (thread::thread_idx_x(), warp::lane());
    let (tile, _) = arena.split::<A::Part>(args.elements * A::PARTS);
    if A::READS {
        clear(&tile);
    }
    let place = args.places.get(lane.into());
    // This also waits for the place: if it came later, that would be measured too.
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
    // Loads that nobody asks about could be left out.
    args.places_after.set(t.into(), ways[..A::WAYS].iter().fold(0, |sum: u32, place| sum.wrapping_add(*place)));
}

/// The accesses of a round.
#[inline(always)]
fn access<A: Access>(tile: &Shared<A::Part>, ways: &mut [u32; MOST_WAYS], zero: u32) {
    for k in 0..ACCESSES as usize {
        let place = &mut ways[k % A::WAYS];
        *place = place.wrapping_add(A::access(tile, *place, zero));
    }
}

/// All threads fill the tile with zeros, without conflicts.
#[inline(always)]
fn clear<T: Value>(tile: &Shared<T>) {
    let mut i = thread::thread_idx_x();
    while i < tile.len() {
        tile.set(i, T::default());
        i += thread::block_dim_x();
    }
}
