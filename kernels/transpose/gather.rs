//! The kernel that copies a panel of columns from other memory back to the matrix, and permutes its rows.
//!
//! Row `i` receives row `(i · factor - i / divisor) mod rows`. Some neighbouring threads copy a row, and each thread copies its units of
//! `AT_ONCE` rows. Units may be packs of 16 bytes here, because rows stay whole. No shared memory.

use super::{Panel, THREADS};
use cuda_std::thread;

/// Number of rows, and of loads that a thread has in flight.
const AT_ONCE: u32 = 4;

/// Returns the number of rows of a block.
#[inline(always)]
pub(super) const fn rows(lanes_log2: u32) -> u32 {
    (THREADS >> lanes_log2) * AT_ONCE
}

/// The row that another row receives, as a sum: so further rows need no division.
#[derive(Clone, Copy)]
struct Source {
    /// `i · factor mod rows`.
    product: u64,
    /// `i / divisor`.
    quotient: u64,
    /// `i mod divisor`.
    rest: u64,
}

impl Source {
    #[inline(always)]
    fn new(panel: &Panel, i: u64) -> Self {
        // Never 0; see `Permutation::new`.
        let (rows, divisor) = (panel.rows.max(1), panel.divisor.max(1));
        // No overflow: the factor is less than the number of columns.
        Source { product: i * panel.factor % rows, quotient: i / divisor, rest: i % divisor }
    }

    /// Returns the source of row `i + k` from those of rows `i` and `k`.
    #[inline(always)]
    fn plus(self, other: Source, panel: &Panel) -> Self {
        let (product, rest) = (self.product + other.product, self.rest + other.rest);
        let carry = rest >= panel.divisor;
        Source {
            product: if product >= panel.rows { product - panel.rows } else { product },
            quotient: self.quotient + other.quotient + carry as u64,
            rest: if carry { rest - panel.divisor } else { rest },
        }
    }

    /// Returns the row. The quotient is less than the number of rows.
    #[inline(always)]
    fn row(self, rows: u64) -> u64 {
        if self.product >= self.quotient { self.product - self.quotient } else { self.product + rows - self.quotient }
    }
}

/// Copies the panel, with `get` and `set` for units of the other memory and of the matrices.
#[inline(always)]
pub(super) fn gather<V: Copy + Default>(panel: &Panel, get: impl Fn(u64) -> V, set: impl Fn(u64, V)) {
    let t = thread::thread_idx_x();
    let (lanes, rows_at_once) = (1 << panel.lanes_log2, THREADS >> panel.lanes_log2);
    let first_row = thread::block_idx_x() as u64 * rows(panel.lanes_log2) as u64 + (t >> panel.lanes_log2) as u64;
    let (mut source, step) = (Source::new(panel, first_row), Source::new(panel, rows_at_once as u64));
    // Indices, because with iterators the arrays would be in local memory instead of registers.
    let mut sources = [0; AT_ONCE as usize];
    let row = |k: u32| first_row + k as u64 * rows_at_once as u64;
    for k in 0..AT_ONCE {
        if row(k) < panel.rows {
            sources[k as usize] = source.row(panel.rows) * panel.width;
        }
        source = source.plus(step, panel);
    }
    let mut x = (t % lanes) as u64;
    while x < panel.width {
        let mut values = [V::default(); AT_ONCE as usize];
        for k in 0..AT_ONCE {
            if row(k) < panel.rows {
                values[k as usize] = get(sources[k as usize] + x);
            }
        }
        for k in 0..AT_ONCE {
            if row(k) < panel.rows {
                set(panel.first + row(k) * panel.pitch + panel.first_unit + x, values[k as usize]);
            }
        }
        x += lanes as u64;
    }
}
