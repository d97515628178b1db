//! Sums of the weights of the samples in each bin.
//!
//! Weights are converted to whole numbers ([`Quantum`]), which are added exactly, modulo 2^64. So the sums do not depend on
//! the order, and are the same in every run. A block adds to its own sums in shared memory, and adds these to the result at
//! the end. If they do not fit into shared memory, the threads add to the result directly. Neighbouring threads process
//! neighbouring samples.
//!
//! Shared memory: one 64-bit sum per key and channel. No bank conflicts when the sums are cleared and added to the result:
//! consecutive addresses. While weights are added, conflicts depend on the data: a sum occupies two banks, and sums whose
//! indices differ by a multiple of 16 share their banks.

use super::walk::channel_of;
use super::{Args, Binning, Quantum};
use cuda_std::{Arena, GlobalIn, Ordering, arguments, thread};

arguments! {
    /// Arguments of the kernel that adds up weights.
    pub struct WeightedArgs<'l, B: Binning> {
        /// The samples, all in `tail`, without packs; the sums in `counts`; and in `range` the number of sums in shared
        /// memory: all, or 0 if they do not fit.
        pub args: Args<'l, B>,
        /// The weight of each sample.
        pub weights: GlobalIn<'l, f32>,
        /// The unit of the sums.
        pub quantum: Quantum,
    }
}

#[inline(always)]
pub(super) fn add<B: Binning>(arena: Arena, weighted: &WeightedArgs<B>) {
    let WeightedArgs { args, weights, quantum } = weighted;
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let (sums, _) = arena.split::<u64>(args.range);
    let mut i = t;
    while i < args.range {
        sums.set(i, 0);
        i += threads;
    }
    thread::sync_threads();

    let mut i = thread::block_idx_x() * threads + t;
    while i < args.tail {
        let channel = channel_of(args, i);
        if channel < args.counted {
            let key = args.binning.key(args.samples.get(i.into()));
            let multiple = quantum.multiple(weights.get(i.into())) as u64;
            match args.range {
                0 => args.counts.add(args.count_of(channel, key), multiple, Ordering::Relaxed),
                _ => sums.add(channel * args.keys + key, multiple, Ordering::Relaxed),
            }
        }
        i += thread::grid_dim_x() * threads;
    }
    thread::sync_threads();

    let mut i = t;
    while i < args.range {
        args.add_up(i, sums.get(i));
        i += threads;
    }
}
