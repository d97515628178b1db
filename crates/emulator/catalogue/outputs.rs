//! Outputs that are not completely written. With `right`, the kernel writes all elements.
//!
//! The last cases work in place, on `zeros`. Its elements have been written before, but their launches must write all of them.

use crate::case::cases;
use crate::{Args, LEN};
use cuda_std::{Ordering, kernel, thread};

kernel! {
    /// A grid-stride loop whose number of iterations is rounded down.
    pub fn grid_stride_tail<'l>(_arena, args: Args<'l>) {
        let stride = thread::grid_dim_x() * thread::block_dim_x();
        let turns = if args.right != 0 { LEN.div_ceil(stride) } else { LEN / stride };
        for k in 0..turns {
            args.result.set_if(true, thread::global_x() + u64::from(k * stride), k);
        }
    }
}

kernel! {
    /// A grid-stride loop that begins at the second element.
    pub fn stride_from_one<'l>(_arena, args: Args<'l>) {
        let mut i = thread::global_x() + u64::from(args.right == 0);
        while i < args.result.len() {
            args.result.set(i, 1);
            i += u64::from(thread::grid_dim_x() * thread::block_dim_x());
        }
    }
}

kernel! {
    /// The condition of the masked store leaves the last element out.
    pub fn mask_off_by_one<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        args.result.set_if(i + u64::from(args.right == 0) < args.result.len(), i, 1); // planted
    }
}

kernel! {
    /// A condition on data. Elements for which it does not hold stay unwritten.
    pub fn condition_on_data<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        let number = args.input.get_or(i, 0);
        args.result.set_if(args.right != 0 || number % 7 != 3, i, number); // planted
    }
}

kernel! {
    /// Each thread stores four elements, in a part of the window that is too short.
    pub fn strided_in_a_short_part<'l>(_arena, args: Args<'l>) {
        let part = args.result.at(0).first(if args.right != 0 { LEN } else { 250 });
        part.set4_strided::<64>(thread::thread_idx_x(), [1, 2, 3, 4]); // planted
    }
}

kernel! {
    /// Stores pairs, but no thread stores the last one.
    pub fn last_pair<'l>(_arena, args: Args<'l>) {
        let i = 2 * thread::global_x();
        if i + 2 + u64::from(args.right == 0) <= args.result.len() {
            args.result.set_pack(i, [1, 2]);
        }
    }
}

kernel! {
    /// The last block should write the result, but the counter is off by one, so none does.
    pub fn nobody_is_last<'l>(_arena, args: Args<'l>) {
        let before = args.zeros.fetch_add(0, 1, Ordering::SeqCst);
        if before + u32::from(args.right != 0) == thread::grid_dim_x() {
            for i in 0..args.result.len() {
                args.result.set(i, 1);
            }
        }
    }
}

kernel! {
    /// A thread without an element to load returns before its store.
    pub fn return_before_the_store<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        if args.right == 0 && i + 1 >= args.input.len() {
            return;
        }
        args.result.set(i, args.input.get_or(i + 1, 0));
    }
}

kernel! {
    /// Work in place. The grid is too small, and there is no loop.
    pub fn grid_in_place_too_small<'l>(_arena, args: Args<'l>) {
        let mut i = thread::global_x();
        let end = if args.right != 0 { args.zeros.len() } else { i + 1 };
        while i < end {
            args.zeros.set(i, args.zeros.get(i) + 1);
            i += u64::from(thread::grid_dim_x() * thread::block_dim_x());
        }
    }
}

kernel! {
    /// Work in place. A masked store leaves out the numbers that do not change.
    pub fn unchanged_in_place<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        let number = args.zeros.get(i) + (i % 8) as u32;
        args.zeros.set_if(args.right != 0 || number != 0, i, number); // planted
    }
}

kernel! {
    /// Adds to counters, but to none beyond the first half.
    pub fn half_of_the_counters<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        args.zeros.fetch_add(if args.right != 0 { i } else { i / 2 }, 1, Ordering::Relaxed);
    }
}

kernel! {
    /// Work in place that swaps elements in pairs. An element without a partner is not written.
    pub fn pairs_in_place<'l>(_arena, args: Args<'l>) {
        let (n, i) = (args.zeros.len() - u64::from(args.right == 0), 2 * thread::global_x());
        if i + 1 < n {
            let [a, b] = args.zeros.get_pack::<2>(i);
            args.zeros.set_pack(i, [b, a]);
        }
    }
}

cases! {
    grid_stride_tail: 3 of 32, Unwritten, "64 of 256 elements of `result` have never been written, the first is element 192";
    stride_from_one: 3 of 32, Unwritten, "1 of 256 elements of `result` have never been written, the first is element 0";
    mask_off_by_one: 8 of 32, Unwritten, "the first is element 255, which the masked store at ";
    condition_on_data: 8 of 32, Unwritten, "37 of 256 elements of `result` have never been written, the first is element 3, ";
    strided_in_a_short_part: 1 of 64, Unwritten, "6 of 256 elements of `result` have never been written, the first is element 250, ";
    last_pair: 4 of 32, Unwritten, "2 of 256 elements of `result`";
    nobody_is_last: 5 of 1, Unwritten, "256 of 256 elements of `result` have never been written, the first is element 0";
    return_before_the_store: 8 of 32, Unwritten, "1 of 256 elements of `result`";
    grid_in_place_too_small: 7 of 32, NotWhole, "32 of 256 elements of `zeros` have not been written by this launch, the first is element 224";
    unchanged_in_place: 8 of 32, NotWhole, "32 of 256 elements of `zeros` have not been written by this launch, the first is element 0, which the masked store at ";
    half_of_the_counters: 8 of 32, NotWhole, "128 of 256 elements of `zeros` have not been written by this launch, the first is element 128";
    pairs_in_place: 4 of 32, NotWhole, "2 of 256 elements of `zeros` have not been written by this launch, the first is element 254";
}
