//! Adding up weights instead of counting.
//!
//! Weights become whole numbers ([`Quantum`]), which are added exactly, modulo 2^64, in any order: the sums are the same in
//! every run. A block has one set of sums in shared memory if they fit, and adds it to the result in the end; otherwise
//! every thread adds to the result itself. Neighbouring threads take neighbouring samples.
//!
//! No bank conflicts when the sums are cleared and added up: consecutive addresses. While weights are added there are as
//! many as the data bring about: a sum of 64 bits is in two banks, so that those whose numbers differ by a multiple of 16
//! share theirs, and there is one copy only.

use super::walk::channel_of;
use super::{Args, Binning, Quantum};
use cuda_std::{Arena, GlobalIn, Ordering, arguments, thread};

arguments! {
    /// What the kernels that add up weights are launched with.
    pub struct WeightedArgs<B: Binning> {
        /// The samples, and the sums in the place of counts. No packs: all samples are tail. No ranges: all counters, or
        /// 0 if they do not fit into shared memory.
        pub args: Args<B>,
        /// A weight for each sample.
        pub weights: GlobalIn<f32>,
        /// What they are multiples of.
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
