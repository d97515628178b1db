//! Dilation: `y[i]` is the largest of the samples `x[i - r]` to `x[i + r]` that exist.
//!
//! A NaN counts as -∞, so it is never the largest; of equal samples (the two zeros are equal) the first one is.
//!
//! A block of [`BLOCK`] threads computes as many neighbouring elements, thread `t` the one at `t`. Its tile is these samples
//! with a halo of `r` on either side. All threads bring it to shared memory together, each every [`BLOCK`]th sample,
//! -∞ where there is none, and wait; then each sample is read `2 r + 1` times from there and not from global memory.
//!
//! Shared memory: sample `s` of the tile at `s`. No bank conflicts: in every access the lanes of a warp have consecutive
//! addresses. The same holds for their accesses to global memory.

use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, shared, thread};

/// Threads of a block.
pub const BLOCK: u32 = 256;

shared! {
    /// What a block keeps in shared memory; the host asks it for the bytes of a launch.
    pub struct Tile(radius: u64) {
        /// The block's samples, and `radius` on either side.
        pub samples: [f32; BLOCK as u64 + 2 * radius],
    }
}

arguments! {
    /// What `dilate` works on.
    pub struct Dilation<'l> {
        /// The samples.
        pub input: GlobalIn<'l, f32>,
        /// Receives as many maxima.
        pub output: GlobalOut<'l, f32>,
        /// The samples on either side that count, such that a block has shared memory for `BLOCK + 2 * radius`.
        pub radius: u32,
    }
}

kernel! {
    /// Thread `t` of block `b` computes element `b * BLOCK + t`.
    pub fn dilate<'l>(arena, args: Dilation<'l>) in "dilate" {
        let (t, radius) = (thread::thread_idx_x(), args.radius);
        let (Tile { samples: tile }, _) = Tile::split(arena, radius.into());
        let len = tile.len();
        let first = u64::from(thread::block_idx_x()) * u64::from(BLOCK);
        let mut s = t;
        while s < len {
            // Before the first sample this wraps to where there is none either.
            let i = (first + u64::from(s)).wrapping_sub(u64::from(radius));
            tile.set(s, args.input.get_or(i, f32::NEG_INFINITY));
            s += BLOCK;
        }
        thread::sync_threads();

        let mut max = f32::NEG_INFINITY;
        for s in t..t + 2 * radius + 1 {
            let x = tile.get(s);
            max = if x > max { x } else { max };
        }
        let i = first + u64::from(t);
        args.output.set_if(i < args.output.len(), i, max);
    }
}
