//! Kernels whose accessor calls `benches/accesses.rs` of the emulator measures. They are in this library because kernels in
//! a benchmark could reach `std`, and would run on OS threads, which is slow.

use cuda_std::{GlobalIn, GlobalInOut, Ordering, arguments, kernel, thread};

/// Threads of a block.
pub const BLOCK: u32 = 256;

/// Blocks of a grid.
pub const GRID: u32 = 8;

/// Iterations of a thread's loop.
pub const TURNS: u32 = 64;

arguments! {
    /// Arguments of all kernels.
    pub struct Numbers<'l> {
        /// Numbers that are read.
        pub input: GlobalIn<'l, u32>,
        /// Numbers that are written.
        pub output: GlobalInOut<'l, u32>,
    }
}

kernel! {
    /// Each thread reads and writes its own elements in global memory.
    pub fn stream<'l>(_arena, args: Numbers<'l>) {
        let mut i = thread::global_x();
        for _ in 0..TURNS {
            args.output.set(i, args.input.get(i) + 1);
            i += u64::from(GRID * BLOCK);
        }
    }
}

kernel! {
    /// Each thread adds up `TURNS` numbers of a tile in shared memory, which other threads have written.
    pub fn tile<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(BLOCK);
        let (t, i) = (thread::thread_idx_x(), thread::global_x());
        tile.set(t, args.input.get(i));
        thread::sync_threads();
        let mut sum = 0;
        for k in 0..TURNS {
            sum += tile.get((t + k) % BLOCK);
        }
        args.output.set(i, sum);
    }
}

kernel! {
    /// All threads read the same numbers of a tile in shared memory, four at a time.
    pub fn broadcast<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(BLOCK);
        let (t, i) = (thread::thread_idx_x(), thread::global_x());
        tile.set(t, args.input.get(i));
        thread::sync_threads();
        let mut sum = 0;
        for k in 0..TURNS {
            sum += tile.get_pack::<4>(k * 4).into_iter().sum::<u32>();
        }
        args.output.set(i, sum);
    }
}

kernel! {
    /// Threads alternately write and read a tile in shared memory, with barriers in between.
    pub fn exchange<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(BLOCK);
        let (t, i) = (thread::thread_idx_x(), thread::global_x());
        let mut number = args.input.get(i);
        for _ in 0..TURNS {
            tile.set(t, number);
            thread::sync_threads();
            number = tile.get(BLOCK - 1 - t) + 1;
            thread::sync_threads();
        }
        args.output.set(i, number);
    }
}

kernel! {
    /// A histogram in shared memory.
    pub fn histogram<'l>(arena, args: Numbers<'l>) {
        let (bins, _) = arena.split::<u32>(BLOCK);
        let (t, i) = (thread::thread_idx_x(), thread::global_x());
        bins.set(t, 0);
        thread::sync_threads();
        for k in 0..TURNS {
            bins.fetch_add((t * 7 + k * 13) % BLOCK, 1, Ordering::Relaxed);
        }
        thread::sync_threads();
        args.output.set(i, bins.get(t));
    }
}
