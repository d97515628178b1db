//! The formats Life 1.05, which has blocks of cells, and Life 1.06, which has the coordinates of living cells.

use super::cursor::Cursor;
use super::{MAX_SIDE, Pattern, Run, Runs, suffix};
use crate::Result;
use crate::cpu::allocation;
use crate::life::{Grid, Rule};

/// What the text begins with.
pub(super) const START: &str = "#Life";

pub(super) fn read(text: &str) -> Result<Pattern> {
    let (mut cursor, mut reader) = (Cursor::new(text), Reader::default());
    cursor.skip_while(char::is_whitespace);
    if !cursor.starts_with(START) {
        return Err(cursor.unexpected("#Life 1.05 or #Life 1.06"));
    }
    cursor.take_line();
    loop {
        cursor.skip_while(char::is_whitespace);
        match cursor.next() {
            None => return reader.pattern(),
            Some('#') => reader.comment(&mut cursor)?,
            Some('.' | '*') => reader.row(&mut cursor)?,
            Some('0'..='9' | '-' | '+') => reader.cell(&mut cursor)?,
            Some(_) => return Err(cursor.unexpected("., *, # or a number")),
        }
    }
}

/// What has been read. Coordinates may be negative.
#[derive(Default)]
struct Reader {
    /// The row of the next block's or line's cells, and the column of their first one.
    row: i64,
    column: i64,
    rows: Extent,
    columns: Extent,
    /// Row and column of the first living cell, and number of them.
    runs: Vec<(i64, i64, usize)>,
    rule: Option<(Rule, Option<Grid>)>,
    /// A pattern with the comments.
    header: Pattern,
}

/// The least and the greatest coordinate; `None` without cells.
#[derive(Clone, Copy, Default)]
struct Extent(Option<[i64; 2]>);

impl Extent {
    /// Adds coordinates. Returns whether their number is not too large.
    fn include(&mut self, first: i64, last: i64) -> bool {
        let [least, greatest] =
            self.0.map_or([first, last], |[least, greatest]| [least.min(first), greatest.max(last)]);
        self.0 = Some([least, greatest]);
        greatest.abs_diff(least) < MAX_SIDE as u64
    }

    fn least(self) -> i64 {
        self.0.map_or(0, |[least, _]| least)
    }

    fn len(self) -> usize {
        self.0.map_or(0, |[least, greatest]| greatest.abs_diff(least) as usize + 1)
    }
}

impl Reader {
    /// Reads a line that begins with `#`.
    fn comment(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.advance();
        let kind = cursor.next().filter(|c| *c != '\n');
        if kind.is_some() {
            cursor.advance();
        }
        match kind {
            Some('P') => {
                [self.column, self.row] = point(cursor)?;
                end_of_line(cursor)?;
            }
            Some('N') => self.rule = Some((Rule::CONWAY, None)),
            Some('R') => self.rule = Some(suffix::of_line(cursor)?),
            Some('D' | 'C') => {
                let header = std::mem::take(&mut self.header);
                self.header = header.with_comment(cursor.rest_of_line());
            }
            _ => {}
        }
        cursor.take_line();
        Ok(())
    }

    /// Reads a row of a block.
    fn row(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let (start, mut len) = (cursor.clone(), 0);
        while let Some(cell @ ('.' | '*')) = cursor.next() {
            if cell == '*' {
                allocation::append(&mut self.runs, &[(self.row, self.column + len, 1)])?;
            }
            len += 1;
            cursor.advance();
        }
        self.include(&start, len)?;
        self.row += 1;
        end_of_line(cursor)
    }

    /// Reads the coordinates of a living cell.
    fn cell(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let start = cursor.clone();
        [self.column, self.row] = point(cursor)?;
        allocation::append(&mut self.runs, &[(self.row, self.column, 1)])?;
        self.include(&start, 1)?;
        end_of_line(cursor)
    }

    /// Adds the next `len` cells of the row to the rectangle. Returns an error if it becomes too large.
    fn include(&mut self, start: &Cursor<'_>, len: i64) -> Result<()> {
        if !self.rows.include(self.row, self.row) {
            return Err(start.too_large("rows"));
        }
        if !self.columns.include(self.column, self.column + len - 1) {
            return Err(start.too_large("columns"));
        }
        Ok(())
    }

    fn pattern(self) -> Result<Pattern> {
        let (top, left) = (self.rows.least(), self.columns.least());
        let run = |(row, column, len): (i64, i64, usize)| {
            // `include` has checked the differences.
            Run { row: row.abs_diff(top) as usize, column: column.abs_diff(left) as usize, len }
        };
        let runs = Runs::of(allocation::collected(self.runs.into_iter().map(run))?)?;
        let (rule, grid) = self.rule.map_or((None, None), |(rule, grid)| (Some(rule), grid));
        let comments = self.header.comments;
        Ok(Pattern { rule, grid, comments, ..Pattern::new([self.rows.len(), self.columns.len()], runs) })
    }
}

/// Returns an error unless only spaces follow in the line.
fn end_of_line(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.skip_spaces();
    match cursor.next() {
        None | Some('\n') => Ok(()),
        Some(_) => Err(cursor.unexpected("the end of the line")),
    }
}

/// Reads two coordinates: the column and the row.
fn point(cursor: &mut Cursor<'_>) -> Result<[i64; 2]> {
    Ok([coordinate(cursor, "columns")?, coordinate(cursor, "rows")?])
}

fn coordinate(cursor: &mut Cursor<'_>, what: &'static str) -> Result<i64> {
    cursor.skip_spaces();
    let is_negative = cursor.skip_if('-');
    if !is_negative {
        cursor.skip_if('+');
    }
    if !cursor.next().is_some_and(|c| c.is_ascii_digit()) {
        return Err(cursor.unexpected("a number"));
    }
    let number = cursor.number(what)? as i64;
    Ok(if is_negative { -number } else { number })
}
