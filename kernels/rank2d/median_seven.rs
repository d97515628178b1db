//! Medians of 7 x 7 samples, which share more than those of smaller windows (`median.rs`).
//!
//! Tile and threads are the same. A thread goes down four rows of words at a time. It keeps apart the six columns that both of its windows
//! have, and the ends of rows, which one of them has:
//!
//! ```text
//! windows of     first row or last row     common rows, in pairs
//! r, r + 1       r         or r + 7        r + 1, r + 2 | r + 3, r + 4 | r + 5, r + 6
//! r + 2, r + 3   r + 2     or r + 9                       r + 3, r + 4 | r + 5, r + 6 | r + 7, r + 8
//! ```
//!
//! * The six columns of a pair of rows are merged once, and those of `r + 3` to `r + 6` once for four rows of outputs.
//! * Of the 36 samples in six columns of the common rows, 14 can be the median: a window has 13 samples more.
//! * These are merged with the six ends of the common rows, which leaves 8 samples, as a window has one row more.
//!
//! So an output takes about 125 minima and maxima, where the scheme of smaller windows would take 155.

use super::Args;
use super::median::{Pair, Strip, sorted};
use super::network::{Network, Places, joined, median_of_lists};
use super::packing::Packing;
use cuda_std::Arena;

/// Two neighbouring rows: the keys in six columns, and those in the other column of each window, sorted.
type Rows<P> = ([<P as Packing>::Word; 12], Pair<P, 2>);

/// A sorted row: the keys in six columns, the one in the other column of each window, and those of each window.
struct Row<P: Packing> {
    common: [P::Word; 6],
    ends: [P::Word; 2],
    windows: Pair<P, 7>,
}

/// Medians of 7 x 7 samples.
#[inline(always)]
pub(super) fn median7<P: Packing>(arena: Arena, args: &Args<P::Sample>) {
    let Some(strip) = Strip::load(Strip::<P, 7>::tile(arena, args)) else { return };
    let [mut row, end] = strip.rows;
    let rows_from = |row: u32| pair::<P>(&strip.row(row), &strip.row(row + 1));
    let (mut first, mut second, mut third) = (rows_from(row + 1), rows_from(row + 3), rows_from(row + 5));
    loop {
        let middle = merged::<P, 12, 12, 24>(&second.0, &third.0);
        let ends = [0, 1].map(|i| merged::<P, 2, 2, 4>(&second.1[i], &third.1[i]));
        let below = strip.row(row + 7);
        strip.store_sevens(row, &common_rows::<P>(&middle, &ends, &first), &below);
        row += 2;
        if row >= end {
            return;
        }
        let fourth = pair::<P>(&below, &strip.row(row + 6));
        let below = strip.row(row + 7);
        strip.store_sevens(row, &common_rows::<P>(&middle, &ends, &fourth), &below);
        row += 2;
        if row >= end {
            return;
        }
        (first, second) = (third, fourth);
        third = pair::<P>(&below, &strip.row(row + 6));
    }
}

/// Returns the keys of all common rows of two windows that can be their medians.
#[inline(always)]
fn common_rows<P: Packing>(middle: &[P::Word; 24], ends: &Pair<P, 4>, rows: &Rows<P>) -> Pair<P, 8> {
    const COMMON: Network = Network::merging(Places::from(0, 24), Places::from(24, 12));
    const ALL: Network = Network::merging(Places::from(0, 14), Places::from(14, 6));
    let common: [P::Word; 14] = COMMON.middle(&COMMON.run::<P, 36>(joined(middle, &rows.0)), 11);
    [0, 1].map(|i| {
        let ends = merged::<P, 4, 2, 6>(&ends[i], &rows.1[i]);
        ALL.middle(&ALL.run::<P, 20>(joined(&common, &ends)), 6)
    })
}

/// Merges two lists.
#[inline(always)]
fn merged<P: Packing, const N: usize, const M: usize, const L: usize>(
    a: &[P::Word; N],
    b: &[P::Word; M],
) -> [P::Word; L] {
    let network = const { Network::merging(Places::from(0, N), Places::from(N, M)) };
    network.middle(&network.run::<P, L>(joined(a, b)), 0)
}

/// Merges two rows.
#[inline(always)]
fn pair<P: Packing>(a: &Row<P>, b: &Row<P>) -> Rows<P> {
    let ends = [0, 1].map(|i| merged::<P, 1, 1, 2>(&[a.ends[i]], &[b.ends[i]]));
    (merged::<P, 6, 6, 12>(&a.common, &b.common), ends)
}

impl<P: Packing> Strip<'_, '_, '_, P, 7> {
    /// Returns a sorted row.
    #[inline(always)]
    fn row(&self, row: u32) -> Row<P> {
        let words: [P::Word; 8] = self.words(row);
        let (common, windows) = sorted::<P, 7, 8, 6>(words);
        Row { common, ends: [words[0], words[7]], windows }
    }

    /// Stores the medians of two rows, of which the keys of common rows and the last row are known.
    #[inline(always)]
    fn store_sevens(&self, row: u32, common: &Pair<P, 8>, below: &Row<P>) {
        // To sort it again takes less time than to keep it: registers are scarce.
        let above = self.row(row);
        let medians = |row: &Row<P>| [0, 1].map(|i| median_of_lists::<P, 8, 7>(&common[i], &row.windows[i]));
        self.store(row, [medians(&above), medians(below)]);
    }
}
