//! The kernels that permute chunks of matrices in place, along the cycles of the permutation.
//!
//! A table lists the chunks, cycle by cycle: each one receives the contents of the next one, and the last one of a cycle those of the
//! first. The list is cut into equal segments:
//!
//! ```text
//!  cycles:    (4 1 7 2 5 0) (3 6) (9 8)
//!  segments:  4 1 7 | 2 5 0 | 3 6 9 | 8      the first segment needs the former contents of 2, the second one those of 4,
//!                                            the last one those of 9
//! ```
//!
//! So a launch saves two chunks for each segment: its own first one, and the first one of the same cycle. The next launch moves the
//! chunks. Some neighbouring threads move all chunks of a segment one after another, each thread always the same pack of 16 bytes. It
//! loads some chunks ahead, which is right because each chunk is written after it has been loaded. The y axis of the grid runs over
//! further packs of the chunks. No shared memory.

use super::{CyclesArgs, THREADS};
use cuda_std::thread;

/// Number of loads that a thread has in flight.
const AT_ONCE: u32 = 6;

/// Words per pack.
const PACK: u32 = 4;

/// In the table, marks the last chunk of a cycle.
pub const LAST: u32 = 1 << 31;

/// Returns the segment of a thread, and its first word in a chunk.
#[inline(always)]
fn place(args: &CyclesArgs) -> [u32; 2] {
    let (t, lanes_log2) = (thread::thread_idx_x(), args.cycles.lanes_log2);
    let segment = thread::block_idx_x() * (THREADS >> lanes_log2) + (t >> lanes_log2);
    [segment, ((thread::block_idx_y() << lanes_log2) + t % (1 << lanes_log2)) * PACK]
}

/// Returns the position of a chunk's word.
#[inline(always)]
fn word(args: &CyclesArgs, chunk: u32, word: u32) -> u64 {
    chunk as u64 * args.cycles.chunk as u64 + word as u64
}

#[inline(always)]
pub(super) fn save(args: &CyclesArgs) {
    let ([segment, at], cycles) = (place(args), &args.cycles);
    if segment < cycles.segments && at < cycles.chunk {
        let own = args.chunks.at(0).get(segment * cycles.per_segment) & !LAST;
        for (half, chunk) in [own, args.first_chunks.at(0).get(segment)].into_iter().enumerate() {
            let pack = args.matrix.get_pack::<{ PACK as usize }>(word(args, chunk, at));
            args.saved.set_pack(word(args, 2 * segment + half as u32, at), pack);
        }
    }
}

#[inline(always)]
pub(super) fn rotate(args: &CyclesArgs) {
    let ([segment, at], cycles) = (place(args), &args.cycles);
    if segment >= cycles.segments || at >= cycles.chunk {
        return;
    }
    let first = segment * cycles.per_segment;
    let list = args.chunks.at(first as u64);
    let count = cycles.per_segment.min(cycles.chunks - first);
    // Former contents of the first chunk of the cycle.
    let mut held = args.saved.get_pack::<{ PACK as usize }>(word(args, 2 * segment + 1, at));
    let mut k = 0;
    while k < count {
        // Indices, because with iterators the arrays would be in local memory instead of registers.
        let mut chunks = [0; AT_ONCE as usize + 1];
        for i in 0..AT_ONCE + 1 {
            chunks[i as usize] = list.get_if(k + i < count, k + i, 0);
        }
        let mut values = [[0; PACK as usize]; AT_ONCE as usize];
        for i in 0..AT_ONCE {
            let next = k + i + 1;
            if next < count {
                values[i as usize] = args.matrix.get_pack(word(args, chunks[i as usize + 1] & !LAST, at));
            } else if next == count && segment + 1 < cycles.segments {
                values[i as usize] = args.saved.get_pack(word(args, 2 * segment + 2, at));
            }
        }
        for i in 0..AT_ONCE {
            if k + i < count {
                let is_last = chunks[i as usize] & LAST != 0;
                args.matrix.set_pack(
                    word(args, chunks[i as usize] & !LAST, at),
                    if is_last { held } else { values[i as usize] },
                );
                held = if is_last { values[i as usize] } else { held };
            }
        }
        k += AT_ONCE;
    }
}
