//! Sums of the weights of the samples in each bin.
//!
//! Weights are converted to whole numbers, which are multiples of the quantum of their cell ([`Quantum`]), and added exactly,
//! modulo 2^128. So the sums do not depend on the order, and are the same in every run. A block adds to its own sums in shared
//! memory, and adds these to the result at the end. If they do not fit into shared memory, the threads add to the result
//! directly. Neighbouring threads process neighbouring samples.
//!
//! GPUs add words, not numbers of 128 bits. An addition to a word returns its old value. If the word has overflowed, the thread
//! adds a carry to the next word. Carries may arrive in any order: at the end, when all have arrived, the words are those of
//! the sum. Words that are zero are not added. A positive weight has at most three other words of 32 bits, or two of 64, and fewer
//! if it has few bits or is near the largest one of its cell. A negative one has ones in all words above.
//!
//! Shared memory: four words per key and channel. Word `k` of all sums comes before word `k + 1`:
//!
//! ```text
//!  range = 5   | word 0 of sums: 0 1 2 3 4 | word 1 of sums: 0 1 2 3 4 | word 2 … | word 3 … |
//! ```
//!
//! No bank conflicts when the sums are cleared and added to the result: consecutive addresses. While weights are added,
//! conflicts depend on the data: if all lanes add to the same word, sums whose indices differ by a multiple of 32 share a bank.

use super::walk::channel_of;
use super::{Args, Binning, Quantum};
use cuda_std::{Arena, GlobalIn, Ordering, Shared, arguments, thread};

/// Words per sum in shared memory.
pub(super) const WORDS: u32 = i128::BITS / u32::BITS;

arguments! {
    /// Samples and their weights.
    pub struct WeightedArgs<'l, B: Binning> {
        /// The samples, all in `tail`, without packs; the sums in `counts`, two words for each cell, the low one first; and in
        /// `range` the number of keys of all channels, or 0 if their words do not fit into shared memory.
        pub args: Args<'l, B>,
        /// The weight of each sample. Empty if weights are `f64`.
        pub singles: GlobalIn<'l, f32>,
        /// The weight of each sample. Empty if weights are `f32`.
        pub doubles: GlobalIn<'l, f64>,
    }
}

arguments! {
    /// Arguments of the kernel that adds up weights.
    pub struct WeighArgs<'l, B: Binning> {
        /// The samples, the weights, and the sums.
        pub weighted: WeightedArgs<'l, B>,
        /// The largest [`magnitude`](super::magnitude) of the weights in each cell.
        pub peaks: GlobalIn<'l, u32>,
        /// Binary logarithm of the number of weights, rounded up ([`count_log2`](super::count_log2)).
        pub count_log2: u32,
    }
}

impl<B: Binning> WeightedArgs<'_, B> {
    /// Returns sample `i` and its weight in its own type. Its conversion would wait for it.
    #[inline(always)]
    fn load(&self, i: u32) -> (B::Sample, f32, f64) {
        let sample = self.args.samples.get(i.into());
        match self.doubles.len() {
            0 => (sample, self.singles.get(i.into()), 0.0),
            _ => (sample, 0.0, self.doubles.get(i.into())),
        }
    }

    /// Calls `each` with the channels of this thread's samples, the samples and their weights. Thread `i` of a grid of `n` threads
    /// visits samples `i`, `i + n`, … The next one is loaded while another one is processed.
    #[inline(always)]
    pub(super) fn for_each(&self, mut each: impl FnMut(u32, B::Sample, f64)) {
        let (threads, end) = (thread::block_dim_x(), self.args.tail);
        let mut i = thread::block_idx_x() * threads + thread::thread_idx_x();
        if i >= end {
            return;
        }
        let mut next = self.load(i);
        while i < end {
            let (sample, single, double) = next;
            let following = i + thread::grid_dim_x() * threads;
            next = self.load(following.min(end - 1));
            let weight = if self.doubles.len() == 0 { single.into() } else { double };
            each(channel_of(&self.args, i), sample, weight);
            i = following;
        }
    }
}

/// Sets all words to zero.
#[inline(always)]
pub(super) fn clear(words: &Shared<u32>) {
    let mut i = thread::thread_idx_x();
    while i < words.len() {
        words.set(i, 0);
        i += thread::block_dim_x();
    }
}

#[inline(always)]
pub(super) fn add<B: Binning>(arena: Arena, args: &WeighArgs<B>) {
    let WeighArgs { weighted, peaks, count_log2 } = args;
    let args = &weighted.args;
    let (sums, _) = arena.split::<u32>(WORDS * args.range);
    clear(&sums);
    thread::sync_threads();

    weighted.for_each(|channel, sample, weight| {
        if channel < args.counted {
            let key = args.binning.key(sample);
            let cell = args.count_of(channel, key);
            let multiple = Quantum::new(peaks.get(cell), *count_log2).multiple(weight);
            match args.range {
                0 => add_to_result(args, cell, multiple),
                _ => add_in_block(&sums, args.range, channel * args.keys + key, multiple),
            }
        }
    });
    thread::sync_threads();

    let mut i = thread::thread_idx_x();
    while i < args.range {
        let (channel, key) = args.channel_and_key(i);
        let word = |k: u32| sums.get(k * args.range + i) as u64;
        let (low, high) = (word(0) | word(1) << 32, word(2) | word(3) << 32);
        if low | high != 0 {
            add_to_result(args, args.count_of(channel, key), ((high as u128) << 64 | low as u128) as i128);
        }
        i += thread::block_dim_x();
    }
}

/// Adds to sum `i` of a block, which has `range` sums.
#[inline(always)]
fn add_in_block(sums: &Shared<u32>, range: u32, i: u32, number: i128) {
    let (mut carry, mut k) = (false, 0);
    while k < WORDS {
        let word = (number >> (k * u32::BITS)) as u32;
        let (word, mut overflows) = word.overflowing_add(carry as u32);
        if word != 0 {
            overflows = sums.fetch_add(k * range + i, word, Ordering::Relaxed) > !word;
        }
        carry = overflows;
        k += 1;
    }
}

/// Adds to the sum of a cell.
#[inline(always)]
pub(super) fn add_to_result<B: Binning>(args: &Args<B>, cell: u64, number: i128) {
    let (low, mut high) = (number as u64, (number >> 64) as u64);
    if low != 0 {
        let overflows = args.counts.fetch_add(2 * cell, low, Ordering::Relaxed) > !low;
        high = high.wrapping_add(overflows as u64);
    }
    if high != 0 {
        args.counts.add(2 * cell + 1, high, Ordering::Relaxed);
    }
}
