//! Accesses that are out of range, misaligned or to unwritten memory, and code that panics. With `right`, the kernel is
//! correct.

use crate::Args;
use crate::case::cases;
use cuda_std::{Ordering, kernel, thread};

kernel! {
    /// A tile with a halo of one element on each side. The right halo is not written.
    pub fn forgotten_halo<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(66);
        let t = thread::thread_idx_x();
        tile.set(t + 1, t);
        if t == 0 {
            tile.set(0, 0);
        }
        if args.right != 0 && t == 63 {
            tile.set(65, 0);
        }
        thread::sync_threads();
        args.output.set(t.into(), tile.get(t).wrapping_add(tile.get(t + 2))); // planted
    }
}

kernel! {
    /// Adds to sums that have not been set to zero.
    pub fn unset_sums<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let sums = if args.right != 0 { args.zeros } else { args.output };
        sums.fetch_add(u64::from(t % 4), t, Ordering::Relaxed); // planted
    }
}

kernel! {
    /// Continues with sums that have not been written.
    pub fn resumed_too_early<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        let sum = if args.right != 0 { 0 } else { args.output.get(i) }; // planted
        args.output.set(i, sum.wrapping_add(args.input.get(i)));
    }
}

kernel! {
    /// Relies on shared memory that another block has written.
    pub fn left_by_a_block<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(32);
        let t = thread::thread_idx_x();
        if args.right != 0 || args.zeros.fetch_add(t.into(), 1, Ordering::Relaxed) == 0 {
            tile.set(t, t);
        }
        args.output.set(thread::global_x(), tile.get(t)); // planted
    }
}

kernel! {
    /// Only half of a pair is written.
    pub fn half_a_pair<'l>(arena, args: Args<'l>) {
        let (pairs, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        pairs.set(2 * t, t);
        if args.right != 0 {
            pairs.set(2 * t + 1, t);
        }
        let [a, b] = pairs.get_pack::<2>(2 * t); // planted
        args.output.set(t.into(), a.wrapping_add(b));
    }
}

kernel! {
    /// The tile is one element too short for the halo.
    pub fn off_by_one<'l>(arena, args: Args<'l>) {
        let (tile, rest) = arena.split::<u32>(64 + u32::from(args.right != 0));
        let (other, _) = rest.split::<u32>(64);
        let t = thread::thread_idx_x();
        other.set(t, 0);
        tile.set(t + 1, t); // planted
        thread::sync_threads();
        args.output.set(t.into(), tile.get(t + 1) + other.get(t)); // planted
    }
}

kernel! {
    /// Threads beyond the last element store too.
    pub fn unguarded_store<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        if args.right != 0 {
            args.output.set_if(true, i, 1);
        } else {
            args.output.set(i, 1); // planted
        }
    }
}

kernel! {
    /// A load beyond the border without a mask.
    pub fn unguarded_load<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        let next = if args.right != 0 { args.input.get_or(i + 1, 0) } else { args.input.get(i + 1) }; // planted
        args.output.set(i, next);
    }
}

kernel! {
    /// An atomic operation beyond the last bin.
    pub fn bin_out_of_range<'l>(arena, args: Args<'l>) {
        let (bins, _) = arena.split::<u32>(4);
        let t = thread::thread_idx_x();
        if t < 4 {
            bins.set(t, 0);
        }
        thread::sync_threads();
        let bin = args.input.get(t.into()) / 15;
        bins.fetch_add(if args.right != 0 { bin.min(3) } else { bin }, 1, Ordering::Relaxed); // planted
    }
}

kernel! {
    /// Loads four elements at the end of a window, but only two are left.
    pub fn tail_of_four<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let part = args.input.at(0).first(if args.right != 0 { 128 } else { 126 });
        let [a, b, c, d] = part.get_pack::<4>(4 * t); // planted
        args.output.set(t.into(), a + b + c + d);
    }
}

kernel! {
    /// Loads four elements from an address that is not aligned.
    pub fn misaligned_four<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(128);
        let t = thread::thread_idx_x();
        for k in 0..4 {
            tile.set(4 * t + k, k);
        }
        thread::sync_threads();
        let [a, b, c, d] = tile.get_pack::<4>(if args.right != 0 { 4 * t } else { t / 2 * 8 + t % 2 }); // planted
        args.output.set(t.into(), a + b + c + d);
    }
}

kernel! {
    /// Stores pairs to a part of a window that begins at an odd element.
    pub fn misaligned_part<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let part = args.output.at(if args.right != 0 { 2 } else { 1 });
        part.set_pack(2 * t, [t, t]); // planted
    }
}

kernel! {
    /// Splits more shared memory than the launch has.
    pub fn shared_overflow<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<f64>(if args.right != 0 { 512 } else { 513 }); // planted
        tile.set(thread::thread_idx_x(), 0.0);
    }
}

kernel! {
    /// Rows of three words, at distances of four. Each row is loaded with its padding, which is not used.
    pub fn padding_is_read<'l>(arena, args: Args<'l>) {
        let (rows, _) = arena.split::<u32>(32);
        let t = thread::thread_idx_x();
        if args.right != 0 || t % 4 != 3 {
            rows.set(t, t);
        }
        thread::sync_threads();
        if t < 8 {
            let [a, b, c, _] = rows.get_pack::<4>(4 * t); // planted
            args.output.set(t.into(), a + b + c);
        }
    }
}

kernel! {
    /// A Rust array is indexed out of range.
    pub fn rusts_index<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x() as usize;
        let table = [1, 2, 3, 4];
        args.output.set(t as u64, table[if args.right != 0 { t % 4 } else { t / 8 }]); // planted
    }
}

cases! {
    forgotten_halo: 1 of 64, Uninitialised, "uninitialised: load of element 65 of a window of 66 on shared memory";
    unset_sums: 1 of 32, Uninitialised, "uninitialised: atomic of element";
    resumed_too_early: 2 of 32, Uninitialised, "uninitialised: load of element";
    left_by_a_block: 2 of 32, Uninitialised, "32 times";
    half_a_pair: 1 of 32, Uninitialised, "uninitialised: load";
    padding_is_read: 1 of 32, Uninitialised, "uninitialised: load of element";
    off_by_one: 1 of 64, OutOfRange, "out of range: store of 1 from element 64 of a window of 64 on shared memory";
    unguarded_store: 9 of 32, OutOfRange, "of a window of 256 on global memory", bypassed;
    unguarded_load: 8 of 32, OutOfRange, "element 256 of a window of 256 on global memory (byte 1024)", bypassed;
    bin_out_of_range: 1 of 64, OutOfRange, "out of range: atomic of 1 from element 4 of a window of 4";
    tail_of_four: 1 of 32, OutOfRange, "load of 4 from element 124 of a window of 126", bypassed;
    misaligned_four: 1 of 32, Misaligned, "misaligned: load of 16 bytes at element";
    misaligned_part: 1 of 32, Misaligned, "misaligned: store of 8 bytes at element", bypassed;
    shared_overflow: 1 of 32, Panic, "a window of 4112 bytes does not fit into the 4096 bytes";
    rusts_index: 1 of 40, Panic, "panic: index out of bounds: the len is 4 but the index is 4";
}
