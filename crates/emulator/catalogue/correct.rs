//! Correct kernels that a less precise checker would report. They are in this library because kernels in a test could reach
//! `std`, and would run on OS threads, which is slow.

use crate::Args;
use cuda_std::{Ordering, fence, kernel, thread, warp};

kernel! {
    /// Computes prefix sums over the blocks. Each block waits for the block with the previous ticket.
    pub fn look_back<'l>(arena, args: Args<'l>) {
        let (shared, _) = arena.split::<u32>(34);
        let t = thread::thread_idx_x();
        if t == 0 {
            shared.set(32, args.zeros.fetch_add(0, 1, Ordering::Relaxed));
        }
        thread::sync_threads();
        let ticket = u64::from(shared.get(32));
        shared.set(t, args.input.get(ticket * 8 + u64::from(t % 8)));
        thread::sync_threads();
        if t == 0 {
            let own: u32 = (0..8).map(|k| shared.get(k)).sum();
            let mut before = 0;
            if ticket > 0 {
                while args.zeros.fetch_add(ticket, 0, Ordering::Relaxed) == 0 {}
                fence::fence_device();
                before = args.output.get(ticket - 1);
            }
            args.output.set(ticket, before + own);
            fence::fence_device();
            args.zeros.exchange(ticket + 1, 1, Ordering::Relaxed);
        }
    }
}

kernel! {
    /// Passes a number from block to block. Each block has its own flag.
    pub fn relay<'l>(_arena, args: Args<'l>) {
        let ticket = u64::from(args.zeros.fetch_add(0, 1, Ordering::SeqCst));
        if ticket > 0 {
            while args.zeros.fetch_add(ticket, 0, Ordering::SeqCst) == 0 {}
        }
        let sum = if ticket > 0 { args.output.get(0) } else { 0 };
        args.output.set(0, sum + 1);
        args.zeros.exchange(ticket + 1, 1, Ordering::SeqCst);
    }
}

kernel! {
    /// All threads of all blocks add to one number under a lock.
    pub fn locked_sum<'l>(_arena, args: Args<'l>) {
        let mut done = false;
        while !done {
            if args.zeros.compare_exchange(0, 0, 1, Ordering::Relaxed) == 0 {
                fence::fence_device();
                args.zeros.set(1, args.zeros.get(1) + 1);
                args.output.set(0, args.zeros.get(1));
                fence::fence_device();
                args.zeros.exchange(0, 0, Ordering::Relaxed);
                done = true;
            }
        }
    }
}

kernel! {
    /// Computes the sum of all numbers. The last block to end adds up the sums of all blocks.
    pub fn last_block_sum<'l>(arena, args: Args<'l>) {
        let (sums, rest) = arena.split::<u32>(64);
        let (is_last, _) = rest.split::<u32>(1);
        let t = thread::thread_idx_x();
        sums.set(t, args.input.get(thread::global_x()));
        let mut distance = 32;
        while distance > 0 {
            thread::sync_threads();
            if t < distance {
                sums.set(t, sums.get(t) + sums.get(t + distance));
            }
            distance /= 2;
        }
        if t == 0 {
            args.output.set(u64::from(thread::block_idx_x()) + 1, sums.get(0));
            fence::fence_device();
            let before = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
            fence::fence_device();
            is_last.set(0, u32::from(before + 1 == thread::grid_dim_x()));
        }
        thread::sync_threads();
        // The barrier orders these loads in all threads after the fence of thread 0.
        if is_last.get(0) != 0 && t == 33 {
            let sum = (1..=u64::from(thread::grid_dim_x())).map(|block| args.output.get(block)).sum();
            args.output.set(0, sum);
        }
    }
}

kernel! {
    /// Reuses the same bytes as words, pairs of words and bytes. At the end, some threads split them into pairs and others
    /// into words, without accesses.
    pub fn reused_as_others<'l>(arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let (words, _) = arena.split::<u32>(64);
        words.set(t, t);
        thread::sync_threads();
        let number = words.get(63 - t);
        let (pairs, _) = words.reuse().split::<u64>(32);
        if t < 32 {
            pairs.set(t, 0);
        }
        thread::sync_threads();
        pairs.fetch_add(t % 32, number.into(), Ordering::Relaxed);
        thread::sync_threads();
        let sum = pairs.get(t % 32) as u32;
        let (bytes, _) = pairs.reuse().split::<u8>(256);
        bytes.set(t, sum as u8);
        thread::sync_threads();
        args.output.set(thread::global_x(), bytes.get(63 - t).into());
        let rest = bytes.reuse();
        match t < 32 {
            true => drop(rest.split::<u64>(32)),
            false => drop(rest.split::<u32>(64)),
        }
    }
}

kernel! {
    /// A stack in shared memory. Each thread pushes its index, then pops one.
    pub fn stack_of_a_block<'l>(arena, args: Args<'l>) {
        let (top, rest) = arena.split::<u32>(1);
        let (items, _) = rest.split::<u32>(64);
        let t = thread::thread_idx_x();
        if t == 0 {
            top.set(0, 0);
        }
        thread::sync_threads();
        let mut place = top.fetch_add(0, 0, Ordering::Relaxed);
        loop {
            let found = top.compare_exchange(0, place, place + 1, Ordering::Relaxed);
            if found == place {
                break;
            }
            place = found;
        }
        items.set(place, t);
        thread::sync_threads();
        let mut count = top.fetch_add(0, 0, Ordering::Relaxed);
        loop {
            let found = top.compare_exchange(0, count, count - 1, Ordering::Relaxed);
            if found == count {
                break;
            }
            count = found;
        }
        args.output.set(items.get(count - 1).into(), 1);
    }
}

kernel! {
    /// Several threads store the same value in shared memory, and in global memory.
    pub fn all_say_the_same<'l>(arena, args: Args<'l>) {
        let (found, _) = arena.split::<u32>(1);
        let t = thread::thread_idx_x();
        found.set(0, 0);
        thread::sync_threads();
        if args.input.get(t.into()) % 3 == 1 {
            found.set(0, 1);
        }
        thread::sync_threads();
        args.output.set(0, found.get(0));
    }
}

kernel! {
    /// Each quarter of a warp computes its own sums, in a loop with its own number of iterations.
    pub fn quarters<'l>(arena, args: Args<'l>) {
        let (sums, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        let (quarter, lane) = (warp::lane() / 8, warp::lane() % 8);
        let mask = 0xff << (8 * quarter);
        for iteration in 0..=quarter {
            sums.set(t, t + iteration);
            warp::sync_warp(mask);
            let mut distance = 4;
            while distance > 0 {
                if lane < distance {
                    sums.set(t, sums.get(t) + sums.get(t + distance));
                }
                warp::sync_warp(mask);
                distance /= 2;
            }
            if lane == 7 {
                args.output.set(u64::from(t / 8), sums.get(t - 7));
            }
            warp::sync_warp(mask);
        }
    }
}

kernel! {
    /// Alternates between two tiles, with one barrier per iteration. A thread that is one iteration ahead writes the other
    /// tile.
    pub fn two_tiles<'l>(arena, args: Args<'l>) {
        let (tiles, _) = arena.split::<u32>(128);
        let t = thread::thread_idx_x();
        let mut number = t;
        for iteration in 0..6 {
            let tile = 64 * (iteration % 2);
            tiles.set(tile + t, number);
            thread::sync_threads();
            number = tiles.get(tile + (t + 1) % 64);
        }
        args.output.set(thread::global_x(), number);
    }
}

kernel! {
    /// Masked stores that together write all elements of the result.
    pub fn result_in_parts<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        let odd = i % 2 == 1;
        args.result.set_if(odd, i, 1);
        args.result.set_if(!odd, i, 2);
        args.output.set(i, 0);
    }
}
