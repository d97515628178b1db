//! Patterns, and the files that contain them.
//!
//! | file | contents |
//! |---|---|
//! | `runs.rs` | neighbouring living cells of a row |
//! | `comments.rs` | names and comments, in lines of limited length |
//! | `cursor.rs` | a position in a text |
//! | `text.rs` | the text of a file, and formats that are not read |
//! | `rle.rs` | the run-length encoding of Golly |
//! | `suffix.rs` | a rule with a grid |
//! | `plain_text.rs` | the format `.cells` |
//! | `life.rs` | the formats Life 1.05 and 1.06 |

mod comments;
mod cursor;
mod life;
mod plain_text;
mod rle;
mod runs;
mod suffix;
mod text;

use super::{Grid, LifeError, Rule};
use crate::cpu::allocation;
use crate::device::buffer2::extent;
use crate::{Error, Result};
use cursor::BYTE_ORDER_MARK;
use ndarray::{Array2, ArrayView2};
pub(super) use runs::{Run, Runs};
use std::borrow::Cow;
use std::str::FromStr;

/// Maximum number of rows and of columns of a pattern: 2^49, so that a header always fits into a line.
pub(super) const MAX_SIDE: usize = if usize::BITS < 64 { isize::MAX as usize } else { usize::MAX >> 15 };

/// Cells to place on boards: a rectangle, with a rule, a grid and comments if they are known.
///
/// Patterns are read from and written to the run-length encoding of Golly ([`from_rle`](Self::from_rle)) and plain text
/// ([`from_cells`](Self::from_cells)), and read from Life 1.05 and 1.06 ([`from_life`](Self::from_life)). `parse` recognises
/// these formats, and [`from_bytes`](Self::from_bytes) does so for the bytes of a file.
///
/// ```
/// use slm::life::{Pattern, Rule};
///
/// # fn main() -> slm::Result<()> {
/// let glider: Pattern = "x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!".parse()?;
/// assert_eq!((glider.rows(), glider.columns(), glider.population()), (3, 3, 5));
/// assert_eq!(glider.rule(), Some(Rule::CONWAY));
/// assert_eq!(glider.to_cells()?, ".O.\n..O\nOOO\n");
/// # Ok(())
/// # }
/// ```
///
/// A pattern keeps the living cells as runs of neighbours, so a large pattern needs little memory if it is sparse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    rows: usize,
    columns: usize,
    runs: Runs,
    rule: Option<Rule>,
    grid: Option<Grid>,
    name: Option<String>,
    comments: Vec<String>,
}

/// Cells.
impl Pattern {
    /// Returns the pattern of these cells, without rule, grid, name and comments.
    ///
    /// ```
    /// use slm::life::Pattern;
    /// use slm::ndarray::array;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let blinker = Pattern::from_array(array![[true, true, true]].view())?;
    /// assert_eq!(blinker.to_rle(), "x = 3, y = 1\n3o!\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`].
    pub fn from_array(cells: ArrayView2<'_, bool>) -> Result<Self> {
        let (rows, columns) = cells.dim();
        let mut runs = Runs::default();
        for ((row, column), _) in cells.indexed_iter().filter(|(_, is_alive)| **is_alive) {
            runs.push(Run { row, column, len: 1 })?;
        }
        Ok(Pattern::new([rows, columns], runs))
    }

    /// Returns a pattern of these runs, which are inside of the rectangle.
    pub(super) fn new([rows, columns]: [usize; 2], runs: Runs) -> Self {
        let [rows, columns] = if rows == 0 || columns == 0 { [0; 2] } else { [rows, columns] };
        Pattern { rows, columns, runs, ..Pattern::default() }
    }

    /// Returns the cells as an array.
    ///
    /// # Errors
    ///
    /// * [`Error::TooLarge`] if no array can have this shape.
    /// * [`Error::OutOfHostMemory`].
    pub fn to_array(&self) -> Result<Array2<bool>> {
        let len = extent(self.rows, self.columns, self.columns)?;
        let mut cells = allocation::reserved(len)?;
        cells.resize(len, false);
        for run in self.runs.iter() {
            cells[run.row * self.columns + run.column..][..run.len].fill(true);
        }
        Ok(Array2::from_shape_vec((self.rows, self.columns), cells).expect("`extent` has checked the shape"))
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of living cells; `u64::MAX` if there are more.
    #[must_use]
    pub fn population(&self) -> u64 {
        self.runs.iter().fold(0, |sum: u64, run| sum.saturating_add(run.len as u64))
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter()
    }
}

/// Rule, grid, name and comments.
impl Pattern {
    /// Returns the rule that the pattern was made for.
    #[must_use]
    pub fn rule(&self) -> Option<Rule> {
        self.rule
    }

    /// Returns the pattern with this rule.
    #[must_use]
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Returns the board that the pattern was made for. Without it, that is usually an unbounded plane.
    #[must_use]
    pub fn grid(&self) -> Option<Grid> {
        self.grid
    }

    /// Returns the pattern with this grid. In files a grid follows a rule, so the pattern gets Conway's rule if it has none.
    ///
    /// ```
    /// use slm::life::{Grid, Pattern, Topology};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let blinker: Pattern = "3o!".parse()?;
    /// let blinker = blinker.with_grid(Grid::new(20, 30, Topology::KleinBottle)?);
    /// assert_eq!(blinker.to_rle(), "x = 3, y = 1, rule = B3/S23:K30*,20\n3o!\n");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_grid(mut self, grid: Grid) -> Self {
        self.rule = self.rule.or(Some(Rule::CONWAY));
        self.grid = Some(grid);
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the pattern with this name, which is one line. If it has more than 67 characters or there is a name already, it
    /// becomes a comment.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        let mut lines = comments::lines(name);
        let is_name = self.name.is_none() && lines.len() == 1;
        match lines.pop_if(|name| is_name && !name.is_empty()) {
            Some(name) => self.name = Some(name),
            None => self.comments.extend(lines.into_iter().filter(|line| !line.is_empty())),
        }
        self
    }

    /// Returns the comments, one for each line.
    #[must_use]
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    /// Returns the pattern with a comment after the others. It is divided into lines of at most 67 characters.
    ///
    /// ```
    /// use slm::life::Pattern;
    ///
    /// let empty = Pattern::default().with_name("Nothing").with_comment("It stays\nas it is.");
    /// assert_eq!(empty.to_rle(), "#N Nothing\n#C It stays\n#C as it is.\nx = 0, y = 0\n!\n");
    /// ```
    #[must_use]
    pub fn with_comment(mut self, comment: &str) -> Self {
        self.comments.extend(comments::lines(comment));
        self
    }
}

/// Files.
impl Pattern {
    /// Reads a pattern in the run-length encoding of Golly.
    ///
    /// ```text
    /// #N Gosper glider gun
    /// #C A comment.
    /// x = 36, y = 9, rule = B3/S23
    /// 24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4b
    /// obo$10bo5bo7bo$11bo3bo$12b2o!
    /// ```
    ///
    /// | tag | meaning |
    /// |---|---|
    /// | `b`, `B`, `.` | dead cells |
    /// | `o`, `O`, `A` | living cells |
    /// | `x`, `y`, `z` | living cells that their author has marked |
    /// | `$` | end of a row |
    /// | `!` | end of the pattern; the rest of the text is ignored |
    ///
    /// A number is the count of the tag after it. `.` and `A` belong to the notation of patterns with many states, in which `B`,
    /// `O`, `x`, `y` and `z` mean something else. A pattern with tags of both notations is malformed.
    ///
    /// A [`Grid`] may follow the rule, as in `B3/S23:T30,20`.
    ///
    /// Lines may end anywhere, with `\n`, `\r\n` or `\r`. Cells that are left out at the end of a row or of the pattern are dead. The
    /// header may be missing, be without a rule, or end with a comma. If the cells exceed its size, the pattern is larger. A byte
    /// order mark is ignored.
    ///
    /// `#N` is the name, `#C` and `#c` are comments, and `#O` is the author, who becomes a comment. `#r` is a rule. It is ignored if
    /// the header has one. Other lines with `#` are ignored.
    ///
    /// # Errors
    ///
    /// * [`LifeError::Pattern`], with line and column, if the text is malformed or ends without `!`.
    /// * [`LifeError::PatternSize`] for more than 2^49 rows or columns.
    /// * [`LifeError::Grid`] for a grid of Golly that no [`Topology`](super::Topology) is.
    /// * [`LifeError::PatternFormat`] for a text in another format.
    /// * [`Error::OutOfHostMemory`] for the cells.
    pub fn from_rle(text: &str) -> Result<Self> {
        Self::check_format(text)?;
        rle::read(text)
    }

    /// Returns the pattern in the run-length encoding of Golly. Lines have at most 70 characters, or more if a large grid follows
    /// the rule.
    #[must_use]
    pub fn to_rle(&self) -> String {
        rle::write(self)
    }

    /// Reads a pattern in plain text, the format of files `.cells`: a line for each row, with `.` for dead cells and `O` or `*` for
    /// living ones. Lines end with `\n`, `\r\n` or `\r`. Cells that are left out at the end of a row are dead. A first line `!Name:`
    /// has the name; other lines with `!` are comments. The format has no rule. A byte order mark is ignored.
    ///
    /// # Errors
    ///
    /// * [`LifeError::Pattern`], with line and column, for any other character.
    /// * [`LifeError::PatternFormat`] for a text in another format.
    /// * [`Error::OutOfHostMemory`] for the cells.
    pub fn from_cells(text: &str) -> Result<Self> {
        Self::check_format(text)?;
        plain_text::read(text)
    }

    /// Reads a pattern in the formats Life 1.05 and Life 1.06.
    ///
    /// ```
    /// use slm::life::{Pattern, Rule};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let blocks = "#Life 1.05\n#D A glider, and a blinker.\n#N\n#P -1 -1\n.*.\n..*\n***\n#P 4 0\n***";
    /// let pattern = Pattern::from_life(blocks)?;
    /// assert_eq!(pattern.to_cells()?, "!A glider, and a blinker.\n.O......\n..O..OOO\nOOO.....\n");
    /// assert_eq!(pattern.rule(), Some(Rule::CONWAY));
    /// let cells = "#Life 1.06\n0 -1\n1 0\n-1 1\n0 1\n1 1\n";
    /// assert_eq!(Pattern::from_life(cells)?.to_cells()?, ".O.\n..O\nOOO\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// After the first line, a line is a row of a block, with `.` for dead cells and `*` for living ones, or the column and the row
    /// of a living cell. `#P` is the column and the row of the first cell of a block. The pattern is the rectangle around all of
    /// them, so only differences of coordinates matter. Cells that several blocks have are alive if one of them says so.
    ///
    /// `#N` is Conway's rule, `#R` is another one, such as `23/3`, and `#D` and `#C` are comments. Other lines with `#` are ignored,
    /// and so are blank lines.
    ///
    /// # Errors
    ///
    /// * [`LifeError::Pattern`], with line and column, if the text is malformed.
    /// * [`LifeError::PatternSize`] for more than 2^49 rows or columns, and for coordinates beyond ±2^49.
    /// * [`LifeError::Grid`], as for [`from_rle`](Self::from_rle).
    /// * [`LifeError::PatternFormat`] for a text in another format.
    /// * [`Error::OutOfHostMemory`] for the cells.
    pub fn from_life(text: &str) -> Result<Self> {
        text::check(text.as_bytes())?;
        life::read(text)
    }

    /// Reads a pattern from the bytes of a file, in one of the formats that `parse` recognises.
    ///
    /// ```
    /// use slm::life::Pattern;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let blinker = Pattern::from_bytes(b"#C by J\xf6rg\nx = 3, y = 1\n3o!")?;
    /// assert_eq!((blinker.population(), blinker.comments()), (3, &["by Jörg".to_owned()][..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`text`](Self::text), [`from_rle`](Self::from_rle), [`from_cells`](Self::from_cells) and
    /// [`from_life`](Self::from_life).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::text(bytes)?.parse()
    }

    /// Returns the text of a file. Lines that are not UTF-8 are read as Latin-1, as in old files.
    ///
    /// # Errors
    ///
    /// * [`LifeError::PatternFormat`] if the file is in a format that no function of this type reads, such as a macrocell file, or
    ///   compressed.
    /// * [`Error::OutOfHostMemory`].
    pub fn text(bytes: &[u8]) -> Result<Cow<'_, str>> {
        text::of(bytes)
    }

    /// Returns an error if a text begins as those of Life 1.05 and 1.06, or as those of a format that is not read.
    fn check_format(text: &str) -> Result<()> {
        if start(text).starts_with(life::START) {
            let (format, advice) = ("a pattern in the format Life 1.05 or 1.06", "read it with `Pattern::from_life`");
            return Err(LifeError::PatternFormat { format, advice }.into());
        }
        text::check(text.as_bytes())
    }

    /// Returns the pattern in plain text.
    ///
    /// # Errors
    ///
    /// * [`Error::TooLarge`] if no text can have as many characters.
    /// * [`Error::OutOfHostMemory`].
    pub fn to_cells(&self) -> Result<String> {
        plain_text::write(self)
    }
}

impl FromStr for Pattern {
    type Err = Error;

    /// Reads a pattern in Life 1.05 or 1.06 if the text begins with `#Life`, in plain text if the first character other than a
    /// space is `!`, `.`, `*` or `O`, and otherwise in the run-length encoding of Golly.
    ///
    /// # Errors
    ///
    /// The errors of [`from_life`](Self::from_life), [`from_cells`](Self::from_cells) and [`from_rle`](Self::from_rle).
    fn from_str(text: &str) -> Result<Self> {
        let start = start(text);
        match start.chars().next() {
            Some('#') if start.starts_with(life::START) => Self::from_life(text),
            Some('!' | '.' | '*' | 'O') => Self::from_cells(text),
            _ => Self::from_rle(text),
        }
    }
}

/// Returns the text from the first character on that is not a space.
fn start(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == BYTE_ORDER_MARK)
}
