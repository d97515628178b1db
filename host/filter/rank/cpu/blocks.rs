//! Ranks of large rectangles, by counts of columns: blocks of neighbouring outputs, whose counts are in the processor's cache.
//!
//! Keys of 8 bits are bins. Other keys of a block are sorted, and a bin has every 256th part of them. Then the samples of a rank's bin
//! are searched in ascending order for those in the window.

use super::columns::{BINS, Columns, Moving};
use super::order::Order;
use super::{Band, Sortable};
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::vector::vectorised;
use slm_kernels::rank2d::{Key, NO_RANK};

/// Minimum number of outputs of a block's row.
const STRIP: usize = 256;

/// Memory for blocks of a band.
struct Block<K> {
    /// Samples of a row.
    width: usize,
    /// The bins of all samples, row after row.
    bins: Vec<u8>,
    columns: Columns,
    /// `None` if bins are keys.
    order: Option<Order<K>>,
    /// The number of NaNs in each column, if there are NaNs in the band.
    nans: Option<Vec<u32>>,
    /// For each output of a row, its rank.
    ranks: Vec<u32>,
}

impl<T: Sortable> Band<'_, T> {
    /// Computes the outputs by counts of columns. The window is a rectangle, and strides are 1.
    pub(super) fn blocks(&self, outputs: &mut [T]) -> Result<()> {
        let axis = self.problem.columns;
        let (strip, has_nans) = (STRIP.max(axis.taps).min(axis.outputs), self.has_nans());
        for first in (0..axis.outputs).step_by(strip) {
            let mut block = self.new_block(strip.min(axis.outputs - first), has_nans)?;
            for channel in 0..self.problem.channels {
                self.block(&mut block, [first, channel], outputs);
            }
        }
        Ok(())
    }

    fn new_block(&self, outputs: usize, has_nans: bool) -> Result<Block<T::Narrow>> {
        let width = outputs + self.problem.columns.taps - 1;
        let len = self.padded.positions().saturating_mul(width);
        Ok(Block {
            width,
            bins: allocation::filled(0, len)?,
            columns: Columns::new(width)?,
            order: if T::BINS == Some(BINS) { None } else { Some(Order::new(len)?) },
            nans: if has_nans { Some(allocation::filled(0, width)?) } else { None },
            ranks: allocation::filled(self.rule.rank(), outputs)?,
        })
    }

    /// Computes the outputs of a channel from pixel `first` on.
    fn block(&self, block: &mut Block<T::Narrow>, [first, channel]: [usize; 2], outputs: &mut [T]) {
        let (rows, channels) = (self.problem.rows.taps, self.problem.channels);
        let place = first * channels + channel;
        self.set_bins(block, place);
        block.columns.clear();
        if let Some(nans) = &mut block.nans {
            nans.fill(0);
        }
        (0..rows - 1).for_each(|position| vectorised!(self.add(block, position, place)));
        for row in 0..self.rows {
            vectorised!(self.add(block, row + rows - 1, place));
            self.set_ranks(block);
            let outputs = &mut outputs[row * self.problem.output_pitch + place..];
            vectorised!(self.row(block, row, outputs));
            vectorised!(self.remove(block, row, place));
        }
    }

    /// Returns the keys of a block at a row position.
    #[inline(always)]
    fn keys_of_block(&self, position: usize, place: usize, width: usize) -> impl Iterator<Item = T::Narrow> {
        self.padded.line(position)[place..].iter().step_by(self.problem.channels).take(width).copied()
    }

    fn set_bins(&self, block: &mut Block<T::Narrow>, place: usize) {
        let width = block.width;
        if let Some(order) = &mut block.order {
            order.clear();
            for position in 0..self.padded.positions() {
                order.extend(position, self.keys_of_block(position, place, width));
            }
            order.sort(width, &mut block.bins);
            return;
        }
        for (position, bins) in block.bins.chunks_exact_mut(width).enumerate() {
            for (bin, key) in bins.iter_mut().zip(self.keys_of_block(position, place, width)) {
                *bin = T::bin(key) as u8;
            }
        }
    }

    /// Adds a row of samples.
    #[inline(always)]
    fn add(&self, block: &mut Block<T::Narrow>, position: usize, place: usize) {
        block.columns.add(&block.bins[position * block.width..][..block.width]);
        for (nans, key) in block.nans.iter_mut().flatten().zip(self.keys_of_block(position, place, block.width)) {
            *nans += u32::from(T::widen(key) == T::Key::MAX);
        }
    }

    /// Removes a row of samples.
    #[inline(always)]
    fn remove(&self, block: &mut Block<T::Narrow>, position: usize, place: usize) {
        block.columns.remove(&block.bins[position * block.width..][..block.width]);
        for (nans, key) in block.nans.iter_mut().flatten().zip(self.keys_of_block(position, place, block.width)) {
            *nans -= u32::from(T::widen(key) == T::Key::MAX);
        }
    }

    /// Sets the ranks of a row, which depend on the NaNs in the windows.
    fn set_ranks(&self, block: &mut Block<T::Narrow>) {
        let (rule, taps) = (self.rule, self.problem.columns.taps);
        let Some(nans) = &block.nans else {
            return;
        };
        let mut count = nans[..taps - 1].iter().sum::<u32>();
        for (first, rank) in block.ranks.iter_mut().enumerate() {
            count += nans[first + taps - 1];
            *rank = match rule.omit || count == 0 {
                true => rule.ranks[(rule.runs.count - count) as usize],
                false => NO_RANK,
            };
            count -= nans[first];
        }
    }

    /// Computes the outputs of a row.
    #[inline(always)]
    fn row(&self, block: &Block<T::Narrow>, row: usize, outputs: &mut [T]) {
        let shape = [self.problem.rows.taps, self.problem.columns.taps];
        let mut moving = Moving::new(&block.columns, shape[1]);
        let outputs = outputs.iter_mut().step_by(self.problem.channels);
        for (first, (output, &rank)) in outputs.zip(&block.ranks).enumerate() {
            if first > 0 {
                moving.advance();
            }
            if rank == NO_RANK {
                *output = T::NONE;
                continue;
            }
            let (bin, rank) = moving.find(rank);
            let key = match &block.order {
                None => T::of_bin(bin as usize),
                Some(order) => order.find(bin, rank, [row, first], shape),
            };
            *output = T::of_key(T::widen(key));
        }
    }
}
