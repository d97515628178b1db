//! Search for a layout without conflicts.

use super::tile::TileAccess;
use super::{BankModel, Cost, Layout, Swizzle, Tile, Width, pattern};
use crate::Result;
use std::fmt;

/// A layout for a tile, with the costs of the tile's accesses: the result of [`BankModel::search`] and
/// [`BankModel::evaluate`].
///
/// `Display` prints it as a few lines of text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// The layout.
    pub layout: Layout,
    /// Bytes of shared memory that the layout needs.
    pub bytes: u64,
    /// Number of these bytes that hold no element.
    pub extra_bytes: u64,
    /// Cost of each access of the tile, in the order in which the accesses were added.
    pub costs: Vec<Cost>,
}

impl Proposal {
    /// Returns whether no access has a conflict.
    #[must_use]
    pub fn is_conflict_free(&self) -> bool {
        self.costs.iter().all(Cost::is_conflict_free)
    }

    /// Returns the number of passes of all accesses together.
    #[must_use]
    pub fn passes(&self) -> u64 {
        self.costs.iter().map(|cost| cost.passes).sum()
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "layout    {}", self.layout)?;
        write!(f, "memory    {} bytes, {} of them unused", self.bytes, self.extra_bytes)?;
        for (k, Cost { requests, phases, passes, degree, .. }) in self.costs.iter().enumerate() {
            write!(f, "\naccess {k}  requests {requests}, passes {passes}")?;
            match passes == phases {
                true => f.write_str(": no conflicts")?,
                false => write!(f, ", without conflicts {phases}: degree {degree}")?,
            }
        }
        Ok(())
    }
}

impl BankModel {
    /// Returns the costs of a tile's accesses with a given layout.
    ///
    /// # Errors
    ///
    /// * [`Error::Pitch`](crate::Error::Pitch) if the rows of the layout are shorter than those of the tile.
    /// * [`BankError::LayoutAlignment`] if the layout separates elements that a lane accesses together.
    ///
    /// ```
    /// use slm::banks::{AccessKind, BankModel, Layout, Tile, Width};
    ///
    /// let tile = Tile::new(32, 32, Width::B4)?.column_by_column(AccessKind::Load, Width::B4)?;
    /// let plain = BankModel::NVIDIA.evaluate(&tile, Layout::padded(32))?;
    /// assert_eq!((plain.costs[0].requests, plain.costs[0].wavefronts, plain.costs[0].degree), (32, 1024, 32));
    /// let padded = BankModel::NVIDIA.evaluate(&tile, Layout::padded(33))?;
    /// assert!(padded.is_conflict_free());
    /// # Ok::<(), slm::Error>(())
    /// ```
    pub fn evaluate(&self, tile: &Tile, layout: Layout) -> Result<Proposal> {
        tile.check_layout(&layout)?;
        let costs = tile.accesses().iter().map(|access| self.cost_of(access, &layout, tile.width())).collect();
        let bytes = tile.bytes_of(layout.elements(tile.rows(), tile.columns()));
        Ok(Proposal { layout, bytes, extra_bytes: bytes - tile.bytes(), costs })
    }

    /// Returns the conflict-free layout that needs the least shared memory. Among equals it prefers padding to a swizzle, and
    /// swizzles of fewer bits. If no candidate is free of conflicts, it returns the one with the fewest passes, and among those
    /// the smallest; [`Proposal::is_conflict_free`] returns `false` then.
    ///
    /// The candidates are
    ///
    /// * all paddings of a row that are shorter than one word of each bank;
    /// * all swizzles that move groups of up to 16 bytes within one word of each bank and change after up to 32 rows, with no
    ///   more padding than the swizzle requires.
    ///
    /// Each candidate is evaluated for every request of every access, so the result is exact. This takes milliseconds for most
    /// tiles, and seconds for the largest ones if no layout is free of conflicts.
    ///
    /// ```
    /// use slm::banks::{AccessKind, BankModel, Tile, Width};
    ///
    /// let tile = Tile::new(32, 32, Width::B4)?
    ///     .row_by_row(AccessKind::Store, Width::B4)?
    ///     .column_by_column(AccessKind::Load, Width::B4)?;
    /// assert_eq!(
    ///     BankModel::NVIDIA.search(&tile).to_string(),
    ///     "\
    /// layout    row * 32 + (column ^ (row & 31))
    /// memory    4096 bytes, 0 of them unused
    /// access 0  requests 32, passes 32: no conflicts
    /// access 1  requests 32, passes 32: no conflicts"
    /// );
    /// # Ok::<(), slm::Error>(())
    /// ```
    #[must_use]
    pub fn search(&self, tile: &Tile) -> Proposal {
        let mut best: Option<Proposal> = None;
        for layout in self.layouts(tile) {
            // A layout that separates elements of one access is not a candidate.
            let Ok(proposal) = self.evaluate(tile, layout) else { continue };
            if proposal.is_conflict_free() {
                return proposal;
            }
            if best.as_ref().is_none_or(|best| proposal.passes() < best.passes()) {
                best = Some(proposal);
            }
        }
        best.expect("some padding makes rows a multiple of 16 bytes")
    }

    /// Returns the candidates, smallest first.
    fn layouts(&self, tile: &Tile) -> Vec<Layout> {
        let mut layouts: Vec<Layout> = self.paddings(tile).chain(self.swizzles(tile)).collect();
        layouts.sort_by_key(|layout| layout.elements(tile.rows(), tile.columns()));
        layouts
    }

    fn paddings(&self, tile: &Tile) -> impl Iterator<Item = Layout> {
        let columns = tile.columns();
        (0..self.elements_of_a_row(tile.width())).map(move |padding| Layout::padded(columns.saturating_add(padding)))
    }

    fn swizzles(&self, tile: &Tile) -> impl Iterator<Item = Layout> {
        let (most, columns) = (self.elements_of_a_row(tile.width()).ilog2(), tile.columns());
        let together = (Width::B16.bytes() / tile.width().bytes()).ilog2();
        let swizzles = (1..=most).flat_map(move |bits| {
            let bases = 0..=together.min(most - bits);
            bases.flat_map(move |base| (0..=5).map(move |shift| Swizzle { bits, base, shift }))
        });
        swizzles.filter_map(move |swizzle| {
            let stride = columns.checked_next_multiple_of(1 << (swizzle.bits + swizzle.base))?;
            Layout::swizzled(stride, swizzle).ok()
        })
    }

    /// Returns the number of elements in one word of each bank.
    fn elements_of_a_row(&self, width: Width) -> u32 {
        self.banks() * self.bank_bytes() / width.bytes()
    }

    fn cost_of(&self, access: &TileAccess, layout: &Layout, element: Width) -> Cost {
        let mut sum = Cost::default();
        for places in &access.requests {
            let (mut lanes, mut addresses) = (0, [0; 32]);
            for (lane, place) in places.iter().enumerate() {
                if let Some([row, column]) = place {
                    lanes |= 1 << lane;
                    addresses[lane] = layout.index(*row, *column) * u64::from(element.bytes());
                }
            }
            let access_of_warp = pattern::warp_access(access.kind, access.width, lanes, &addresses);
            sum += Cost::of(&access_of_warp, access.kind, self.rule());
        }
        sum
    }
}

#[cfg(doc)]
use super::BankError;
