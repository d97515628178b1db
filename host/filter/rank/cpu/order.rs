//! The samples of a block in ascending order.

use super::columns::BINS;
use crate::Result;
use crate::cpu::allocation;

/// Samples that are examined at once.
const LANES: usize = 32;

/// The samples of a block in ascending order, and bins with equal numbers of them. The order among equal samples is that of their places.
pub(super) struct Order<K> {
    /// Keys, and their places: the row in the upper 16 bits, the column in the lower ones.
    entries: Vec<(K, u32)>,
    /// The rows and columns of the entries, with places outside behind them.
    rows: Vec<u16>,
    columns: Vec<u16>,
}

impl<K: Copy + Ord> Order<K> {
    /// Returns an order without samples that has room for `len`.
    pub(super) fn new(len: usize) -> Result<Self> {
        let places = || allocation::reserved(len + LANES);
        Ok(Order { entries: allocation::reserved(len)?, rows: places()?, columns: places()? })
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Adds a row of samples.
    pub(super) fn extend(&mut self, row: usize, keys: impl Iterator<Item = K>) {
        self.entries.extend(keys.enumerate().map(|(column, key)| (key, (row << 16 | column) as u32)));
    }

    /// Sorts the samples and sets their bins, in rows of `width`.
    pub(super) fn sort(&mut self, width: usize, bins: &mut [u8]) {
        self.entries.sort_unstable();
        let places = |shift: u32| self.entries.iter().map(move |&(_, place)| (place >> shift) as u16);
        let behind = || std::iter::repeat_n(u16::MAX, LANES);
        self.rows.clear();
        self.rows.extend(places(16).chain(behind()));
        self.columns.clear();
        self.columns.extend(places(0).chain(behind()));
        for bin in 0..BINS {
            for number in self.first(bin)..self.first(bin + 1) {
                bins[self.rows[number] as usize * width + self.columns[number] as usize] = bin as u8;
            }
        }
    }

    /// Returns the number of the first sample of a bin.
    #[inline(always)]
    fn first(&self, bin: usize) -> usize {
        bin * self.entries.len() / BINS
    }

    /// Returns the key with a rank among the samples of a bin that are in the window at a place. There are more than `rank`.
    #[inline(always)]
    pub(super) fn find(&self, bin: u8, mut rank: u32, place: [usize; 2], shape: [usize; 2]) -> K {
        let mut number = self.first(bin as usize);
        let (place, shape) = ([place[0] as u16, place[1] as u16], [shape[0] as u16, shape[1] as u16]);
        loop {
            let inside = self.inside(number, place, shape);
            let count = inside.iter().sum::<u8>();
            if u32::from(count) > rank {
                let in_order = inside.iter().enumerate().filter(|(_, inside)| **inside == 1);
                return self.entries[number + in_order.map(|(lane, _)| lane).nth(rank as usize).unwrap_or(0)].0;
            }
            rank -= u32::from(count);
            number += LANES;
        }
    }

    /// Returns 1 for each of the samples from `first` on that is in a window, otherwise 0.
    #[inline(always)]
    fn inside(&self, first: usize, place: [u16; 2], shape: [u16; 2]) -> [u8; LANES] {
        let (rows, columns) = (&self.rows[first..][..LANES], &self.columns[first..][..LANES]);
        let mut inside = [0; LANES];
        for i in 0..LANES {
            let is_inside =
                (rows[i].wrapping_sub(place[0]) < shape[0]) & (columns[i].wrapping_sub(place[1]) < shape[1]);
            inside[i] = u8::from(is_inside);
        }
        inside
    }
}
