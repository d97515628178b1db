//! The format `.cells`: a line for each row, a character for each cell.

use super::cursor::Cursor;
use super::{Pattern, Run, Runs};
use crate::cpu::allocation;
use crate::device::buffer2::extent;
use crate::{Error, Result};

/// What the line with the name begins with.
const NAME: &str = "Name:";

pub(super) fn read(text: &str) -> Result<Pattern> {
    let (mut cursor, mut reader) = (Cursor::new(text), Reader::default());
    while cursor.next().is_some() {
        if cursor.next() == Some('!') {
            cursor.advance();
            reader.comment(cursor.take_line());
        } else {
            reader.row(&mut cursor)?;
        }
    }
    let cells = Pattern::new([reader.rows, reader.columns], reader.runs);
    Ok(Pattern { name: reader.header.name, comments: reader.header.comments, ..cells })
}

/// What has been read.
#[derive(Default)]
struct Reader {
    rows: usize,
    columns: usize,
    runs: Runs,
    /// A pattern with the name and the comments.
    header: Pattern,
    /// Whether there was a line with a name, which may be empty.
    has_name: bool,
}

impl Reader {
    fn comment(&mut self, text: &str) {
        let header = std::mem::take(&mut self.header);
        let name = text.trim().strip_prefix(NAME).filter(|_| !self.has_name);
        self.header = match name {
            Some(name) => header.with_name(name),
            None => header.with_comment(text),
        };
        self.has_name |= name.is_some();
    }

    fn row(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let mut column = 0;
        loop {
            match cursor.next() {
                Some('.') => column += 1,
                Some('O' | '*') => {
                    self.runs.push(Run { row: self.rows, column, len: 1 })?;
                    column += 1;
                }
                Some('\n') | None => break,
                Some(_) => return Err(cursor.unexpected("., O, * or the end of a row")),
            }
            cursor.advance();
        }
        cursor.advance();
        (self.rows, self.columns) = (self.rows + 1, self.columns.max(column));
        Ok(())
    }
}

pub(super) fn write(pattern: &Pattern) -> Result<String> {
    let mut text = String::new();
    // An empty name, so that a comment does not become the name.
    if pattern.name.is_some() || pattern.comments.iter().any(|comment| comment.starts_with(NAME)) {
        text += &format!("!{NAME} {}\n", pattern.name().unwrap_or_default());
    }
    for comment in &pattern.comments {
        text += &format!("!{comment}\n");
    }
    let (rows, width) = (pattern.rows, pattern.columns + 1);
    let len = extent(rows, width, width)?;
    let requested = text.len().saturating_add(len);
    let too_large = Error::OutOfHostMemory { requested: requested as u64 };
    text.try_reserve_exact(len).map_err(|_| too_large)?;
    text.push_str(&rows_of(pattern, len)?);
    Ok(text)
}

/// Returns the rows, `len` characters.
fn rows_of(pattern: &Pattern, len: usize) -> Result<String> {
    let mut cells = allocation::filled(b'.', len)?;
    let width = pattern.columns + 1;
    for row in cells.chunks_exact_mut(width) {
        row[width - 1] = b'\n';
    }
    for run in pattern.runs.iter() {
        cells[run.row * width + run.column..][..run.len].fill(b'O');
    }
    Ok(String::from_utf8(cells).expect("these characters are ASCII"))
}
