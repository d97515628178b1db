//! A tile of shared memory, and how warps access it.

use super::{AccessKind, BankError, Layout, Width};
use crate::{Error, Result};

/// The most bytes of a tile; no block has so much shared memory.
const MOST_BYTES: u64 = 1 << 18;

/// The most requests of an access: enough to access the largest tile byte by byte.
const MOST_REQUESTS: u64 = MOST_BYTES / 32;

/// A matrix in shared memory and what warps do with it, for which [`BankModel::search`](super::BankModel::search) looks
/// for a layout.
///
/// ```
/// use slm::banks::{AccessKind, Tile, Width};
///
/// // What a transpose does: rows come in, four elements at a time, and columns go out.
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

/// What all warps together do at one place of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TileAccess {
    pub(super) kind: AccessKind,
    pub(super) width: Width,
    /// For each request of a warp the row and column where each lane begins.
    pub(super) requests: Vec<[Option<[u32; 2]>; 32]>,
}

impl Tile {
    /// A tile of elements of `width`, which nobody accesses yet.
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

    /// Warps go through the whole tile along its rows: the lanes of a warp take neighbours in a row, and at its end go
    /// on in the next one. Each takes as many elements as `width` has bytes for.
    ///
    /// # Errors
    ///
    /// As [`access`](Self::access): the columns must be a multiple of the elements that a lane takes.
    pub fn row_by_row(self, kind: AccessKind, width: Width) -> Result<Self> {
        let across = self.columns.div_ceil(self.elements(width)?);
        self.all(kind, width, |item| [item / across, item % across])
    }

    /// Warps go through the whole tile along its columns: the lanes of a warp take elements below each other, and at
    /// the end of a column go on in the next one. With a `width` of several elements, each takes neighbours in its row.
    ///
    /// # Errors
    ///
    /// As [`access`](Self::access): the columns must be a multiple of the elements that a lane takes.
    pub fn column_by_column(self, kind: AccessKind, width: Width) -> Result<Self> {
        let rows = self.rows;
        self.all(kind, width, |item| [item % rows, item / rows])
    }

    /// An access to every element, one lane after another: to the one in row `place(item)[0]`, and in column
    /// `place(item)[1]` counted in `width`.
    fn all(self, kind: AccessKind, width: Width, place: impl Fn(u32) -> [u32; 2]) -> Result<Self> {
        let each = self.elements(width)?;
        // No more than bytes.
        let items = self.rows * self.columns.div_ceil(each);
        self.access(kind, width, items.div_ceil(32), |request, lane| {
            let item = 32 * request + lane;
            // An empty tile has no items, and no place for them.
            (item < items).then(|| place(item)).map(|[row, group]| [row, group * each])
        })
    }

    /// Any access: in request `r` of a warp, 0 to `requests - 1`, lane `k` accesses what begins at the row and column
    /// `place(r, k)`, or nothing. With a `width` of several elements, those are neighbours in the row.
    ///
    /// # Errors
    ///
    /// * [`BankError::NarrowAccess`] if `width` is less than an element.
    /// * [`BankError::TileAlignment`] if a column is not a multiple of the elements that a lane accesses.
    /// * [`BankError::OutsideTile`] if an element is not in the tile.
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

    /// How many elements an access of `width` has.
    fn elements(&self, width: Width) -> Result<u32> {
        let [bytes, element_bytes] = [width.bytes(), self.width.bytes()];
        match bytes / element_bytes {
            0 => Err(BankError::NarrowAccess { bytes, element_bytes }.into()),
            elements => Ok(elements),
        }
    }

    /// Whether an access can begin here.
    fn check(&self, [row, column]: [u32; 2], elements: u32) -> Result<()> {
        let (rows, columns) = (self.rows, self.columns);
        if !column.is_multiple_of(elements) {
            return Err(BankError::TileAlignment { column, elements }.into());
        }
        let inside = row < rows && column < columns && columns - column >= elements;
        if inside { Ok(()) } else { Err(BankError::OutsideTile { row, column, elements, rows, columns }.into()) }
    }

    /// Its rows.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Its columns.
    #[must_use]
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// The bytes of an element.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width
    }

    /// The bytes of its elements.
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

    /// Whether the layout has room for the rows, and leaves together what is accessed together.
    pub(super) fn check_layout(&self, layout: &Layout) -> Result<()> {
        let (columns, stride) = (self.columns, layout.stride());
        if stride < columns {
            return Err(Error::Pitch { columns: columns as usize, pitch: stride as usize });
        }
        // An empty tile is not accessed, whatever its accesses could take.
        let widths = self.accesses.iter().filter(|_| self.bytes() > 0).map(|access| access.width);
        let elements = widths.max().map_or(1, |widest| widest.bytes() / self.width.bytes());
        match layout.keeps(elements) {
            true => Ok(()),
            false => Err(BankError::LayoutAlignment { layout: layout.to_string(), elements }.into()),
        }
    }
}
