//! Masks of the sorted samples of a tile: those in the rows, or columns, of each window.
//!
//! From one window to the next, a mask differs in the samples of two rows or columns. So each sample is first marked in the mask where it
//! comes in and in the one where it has gone out, and then each mask takes over the bits of the one before, except those that are marked.

use super::order::Order;
use super::{Sizes, THREADS, WARPS, thread};
use cuda_std::warp::{FULL, WARP};
use cuda_std::{Arena, Ordering, Shared, thread as block, warp};

/// The masks of one axis: words of 32 samples, in quads.
pub(super) struct Masks<'s> {
    words: Shared<'s, u32>,
    /// Number of masks.
    outputs: u32,
    /// Words from a quad of a mask to the next one.
    pitch: u32,
    /// Number of quads of a mask.
    quads: u32,
    /// Rows or columns of a window.
    taps: u32,
}

impl<'s> Masks<'s> {
    /// Returns the words from one quad to the next one, four more than a multiple of 32.
    #[inline(always)]
    pub(super) const fn pitch(outputs: u32) -> u32 {
        (4 * outputs).next_multiple_of(WARP) + 4
    }

    #[inline(always)]
    pub(super) fn new(arena: Arena<'s>, sizes: &Sizes, axis: usize) -> (Self, Arena<'s>) {
        let (outputs, quads) = (sizes.outputs[axis], sizes.quads());
        let pitch = Self::pitch(outputs);
        let (words, arena) = arena.split::<u32>(quads * pitch);
        (Masks { words, outputs, pitch, quads, taps: sizes.taps[axis] }, arena)
    }

    /// Clears the thread's words.
    #[inline(always)]
    #[track_caller]
    pub(super) fn clear(&self) {
        let [x, y] = thread();
        let mut quad = y * WARP + x;
        while quad < self.words.len() / 4 {
            self.words.set_pack(quad * 4, [0; 4]);
            quad += THREADS;
        }
    }

    /// Returns a quad of a mask.
    #[inline(always)]
    #[track_caller]
    pub(super) fn quad(&self, quad: u32, output: u32) -> [u32; 4] {
        self.words.get_pack(quad * self.pitch + output * 4)
    }

    /// Returns the place of a mask's word.
    #[inline(always)]
    fn place(&self, word: u32, output: u32) -> u32 {
        word / 4 * self.pitch + output * 4 + word % 4
    }

    /// Marks the samples of a word, of which the lane's sample is in this row or column.
    #[inline(always)]
    fn mark(&self, word: u32, sample: Option<u32>) {
        let [lane, _] = thread();
        let in_first = warp::ballot(FULL, sample.is_some_and(|sample| sample < self.taps));
        if lane == 0 {
            self.words.set(self.place(word, 0), in_first);
        }
        if let Some(sample) = sample {
            if sample >= self.taps {
                self.words.add(self.place(word, sample - self.taps + 1), 1 << lane, Ordering::Relaxed);
            }
            if sample + 1 < self.outputs {
                self.words.add(self.place(word, sample + 1), 1 << lane, Ordering::Relaxed);
            }
        }
    }

    /// Makes masks of the marks, with half of the block's warps, from number `warp` on.
    #[inline(always)]
    fn take_over(&self, warp: u32) {
        let mut word = warp * WARP + thread()[0];
        while word < self.quads * 4 {
            let (mut mask, mut output) = (0, 0);
            while output < self.outputs {
                let place = self.place(word, output);
                mask ^= self.words.get(place);
                self.words.set(place, mask);
                output += 1;
            }
            word += WARPS / 2 * WARP;
        }
    }
}

/// Fills the masks of rows and of columns, which are clear. All threads take part, and wait for each other at the end.
#[inline(always)]
pub(super) fn fill(rows: &Masks, columns: &Masks, order: Order, sizes: &Sizes) {
    let ([lane, warp], len) = (thread(), sizes.len());
    let mut word = warp;
    while word < len.div_ceil(WARP) {
        let i = word * WARP + lane;
        let place = if i < len { Some(sizes.row_and_column(order.get(i))) } else { None };
        rows.mark(word, place.map(|[row, _]| row));
        columns.mark(word, place.map(|[_, column]| column));
        word += WARPS;
    }
    block::sync_threads();
    if warp < WARPS / 2 {
        rows.take_over(warp)
    } else {
        columns.take_over(warp - WARPS / 2)
    }
    block::sync_threads();
}
