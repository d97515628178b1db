//! Tiles in shared memory, and their accesses by warps.

use super::{AccessKind, BankError, Layout, Width};
use crate::{Error, Result};

/// Maximum number of bytes of a tile. No block has that much shared memory.
const MOST_BYTES: u64 = 1 << 18;

/// Maximum number of requests of an access: enough to access the largest tile byte by byte.
const MOST_REQUESTS: u64 = MOST_BYTES / 32;

/// A matrix in shared memory, and the accesses that warps make to it. [`BankModel::search`](super::BankModel::search) finds a
/// layout for it.
///
/// ```
/// use slm::banks::{AccessKind, Tile, Width};
///
/// // A transposition stores rows, four elements at a time, and loads columns.
/// let tile = Tile::new(64, 64, Width::B4)?
///     .row_by_row(AccessKind::Store, Width::B16)?
///     .column_by_column(AccessKind::Load, Width::B4)?;
/// assert_eq!((tile.rows(), tile.columns(), tile.bytes()), (64, 64, 16384));
/// # Ok::<(), slm::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    rows: u32,
    columns: u32,
    width: Width,
    accesses: Vec<TileAccess>,
}

/// Accesses of all warps at one source line of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TileAccess {
    pub(super) kind: AccessKind,
    pub(super) width: Width,
    /// For each request of a warp: row and column of each lane's first element.
    pub(super) requests: Vec<[Option<[u32; 2]>; 32]>,
}

impl Tile {
    /// Returns a tile of elements of `width`, without accesses.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] beyond 256 KiB.
    pub fn new(rows: u32, columns: u32, width: Width) -> Result<Self> {
        let factors = [u64::from(rows) * u64::from(columns), u64::from(width.bytes())];
        if factors[0] > MOST_BYTES / factors[1] {
            return Err(Error::TooLarge { what: "a tile of shared memory in bytes", factors, limit: MOST_BYTES });
        }
        Ok(Tile { rows, columns, width, accesses: Vec::new() })
    }

    /// Adds an access to the whole tile along its rows: the lanes of a warp access neighbouring elements of a row, and continue
    /// in the next row at its end. Each lane accesses `width` bytes. Returns the tile.
    ///
    /// # Errors
    ///
    /// The errors of [`access`](Self::access). The number of columns must be a multiple of the elements per lane.
    pub fn row_by_row(self, kind: AccessKind, width: Width) -> Result<Self> {
        let across = self.columns.div_ceil(self.elements(width)?);
        self.all(kind, width, |item| [item / across, item % across])
    }

    /// Adds an access to the whole tile along its columns: the lanes of a warp access elements below each other, and
    /// continue in the next column at its end. If `width` is several elements, each lane accesses neighbouring elements of
    /// its row. Returns the tile.
    ///
    /// # Errors
    ///
    /// The errors of [`access`](Self::access). The number of columns must be a multiple of the elements per lane.
    pub fn column_by_column(self, kind: AccessKind, width: Width) -> Result<Self> {
        let rows = self.rows;
        self.all(kind, width, |item| [item % rows, item / rows])
    }

    /// Adds an access to every element, lane by lane: item `i` is in row `place(i)[0]`, and in column `place(i)[1]` counted in
    /// units of `width`.
    fn all(self, kind: AccessKind, width: Width, place: impl Fn(u32) -> [u32; 2]) -> Result<Self> {
        let each = self.elements(width)?;
        // No overflow: the product is at most the number of bytes.
        let items = self.rows * self.columns.div_ceil(each);
        self.access(kind, width, items.div_ceil(32), |request, lane| {
            let item = 32 * request + lane;
            // `place` cannot be called for an empty tile.
            (item < items).then(|| place(item)).map(|[row, group]| [row, group * each])
        })
    }

    /// Adds any access, and returns the tile. In request `r` of a warp, from 0 to `requests - 1`, lane `k` accesses `width`
    /// bytes from row and column `place(r, k)` on, or nothing. If `width` is several elements, they are neighbours in the
    /// row.
    ///
    /// # Errors
    ///
    /// * [`BankError::NarrowAccess`] if `width` is less than an element.
    /// * [`BankError::TileAlignment`] if a column is not a multiple of the elements per lane.
    /// * [`BankError::OutsideTile`] if an element is outside of the tile.
    /// * [`Error::TooLarge`] for more than 8192 requests.
    ///
    /// ```
    /// use slm::banks::{AccessKind, Tile, Width};
    ///
    /// // A warp reads the diagonal.
    /// let diagonal = Tile::new(32, 32, Width::B4)?
    ///     .access(AccessKind::Load, Width::B4, 1, |_, lane| Some([lane, lane]))?;
    /// # Ok::<(), slm::Error>(())
    /// ```
    pub fn access(
        mut self,
        kind: AccessKind,
        width: Width,
        requests: u32,
        mut place: impl FnMut(u32, u32) -> Option<[u32; 2]>,
    ) -> Result<Self> {
        let each = self.elements(width)?;
        if u64::from(requests) > MOST_REQUESTS {
            let factors = [requests.into(), 1];
            return Err(Error::TooLarge { what: "the number of a tile's requests", factors, limit: MOST_REQUESTS });
        }
        let mut access = TileAccess { kind, width, requests: Vec::new() };
        for request in 0..requests {
            let mut places = [None; 32];
            for (lane, at) in (0..32).zip(&mut places) {
                *at = place(request, lane);
                if let Some(at) = *at {
                    self.check(at, each)?;
                }
            }
            access.requests.push(places);
        }
        self.accesses.push(access);
        Ok(self)
    }

    /// Returns the number of elements in an access of `width`.
    fn elements(&self, width: Width) -> Result<u32> {
        let [bytes, element_bytes] = [width.bytes(), self.width.bytes()];
        match bytes / element_bytes {
            0 => Err(BankError::NarrowAccess { bytes, element_bytes }.into()),
            elements => Ok(elements),
        }
    }

    /// Returns an error if an access to `elements` elements cannot begin at this row and column.
    fn check(&self, [row, column]: [u32; 2], elements: u32) -> Result<()> {
        let (rows, columns) = (self.rows, self.columns);
        if !column.is_multiple_of(elements) {
            return Err(BankError::TileAlignment { column, elements }.into());
        }
        let inside = row < rows && column < columns && columns - column >= elements;
        if inside { Ok(()) } else { Err(BankError::OutsideTile { row, column, elements, rows, columns }.into()) }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Returns the width of an element.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width
    }

    /// Returns the number of bytes of all elements.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes_of(u64::from(self.rows) * u64::from(self.columns))
    }

    pub(super) fn bytes_of(&self, elements: u64) -> u64 {
        elements * u64::from(self.width.bytes())
    }

    pub(super) fn accesses(&self) -> &[TileAccess] {
        &self.accesses
    }

    /// Returns an error if the rows do not fit into the layout, or if it separates elements that are accessed together.
    pub(super) fn check_layout(&self, layout: &Layout) -> Result<()> {
        let (columns, stride) = (self.columns, layout.stride());
        if stride < columns {
            return Err(Error::Pitch { columns: columns as usize, pitch: stride as usize });
        }
        // An empty tile is never accessed.
        let widths = self.accesses.iter().filter(|_| self.bytes() > 0).map(|access| access.width);
        let elements = widths.max().map_or(1, |widest| widest.bytes() / self.width.bytes());
        match layout.keeps(elements) {
            true => Ok(()),
            false => Err(BankError::LayoutAlignment { layout: layout.to_string(), elements }.into()),
        }
    }
}
