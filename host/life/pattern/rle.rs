//! The run-length encoding of Golly.

use super::cursor::Cursor;
use super::{MAX_SIDE, Pattern, Run, Runs, suffix};
use crate::Result;
use crate::life::{Grid, Rule};

/// Maximum number of characters of a line.
const LINE: usize = 70;

/// What may follow in the data.
const DATA: &str = "a count, b, o, $ or !";

pub(super) fn read(text: &str) -> Result<Pattern> {
    let mut cursor = Cursor::new(text);
    let mut header = Header::default();
    loop {
        cursor.skip_while(char::is_whitespace);
        match cursor.next() {
            Some('#') => header.comment(&mut cursor)?,
            Some('x' | 'X' | 'y' | 'Y' | 'r' | 'R') if !header.is_read => header.read(&mut cursor)?,
            _ => break,
        }
    }
    let cells = Cells::read(&mut cursor, &mut header)?;
    let [rows, columns] = [header.rows.unwrap_or(0).max(cells.rows), header.columns.unwrap_or(0).max(cells.columns)];
    let Pattern { name, comments, .. } = header.pattern;
    let rule = header.rule.map_or_else(|| header.rule_of_comment.transpose(), |rule| Ok(Some(rule)))?;
    let (rule, grid) = rule.map_or((None, None), |(rule, grid)| (Some(rule), grid));
    Ok(Pattern { name, comments, rule, grid, ..Pattern::new([rows, columns], cells.runs) })
}

/// What precedes the data.
#[derive(Default)]
struct Header {
    is_read: bool,
    rows: Option<usize>,
    columns: Option<usize>,
    rule: Option<(Rule, Option<Grid>)>,
    /// The rule of a line `#r`. An error matters only if the header has no rule.
    rule_of_comment: Option<Result<(Rule, Option<Grid>)>>,
    /// A pattern with the name and the comments.
    pattern: Pattern,
}

impl Header {
    /// Reads a line that begins with `#`.
    fn comment(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.advance();
        let kind = cursor.next();
        if kind == Some('\n') || cursor.starts_with("CXRLE") {
            cursor.take_line();
            return Ok(());
        }
        cursor.advance();
        if kind == Some('r') {
            self.rule_of_comment = Some(suffix::of_line(cursor));
        }
        let pattern = std::mem::take(&mut self.pattern);
        let text = cursor.take_line();
        self.pattern = match kind {
            Some('N') => pattern.with_name(text),
            Some('C' | 'c') => pattern.with_comment(text),
            Some('O') => pattern.with_comment(&format!("Author: {}", text.trim())),
            _ => pattern,
        };
        Ok(())
    }

    /// Reads a line such as `x = 3, y = 3, rule = B3/S23:T30,20`.
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.is_read = true;
        loop {
            let key = self.key(cursor)?;
            cursor.skip_spaces();
            if !cursor.skip_if('=') {
                return Err(cursor.unexpected("="));
            }
            cursor.skip_spaces();
            match key {
                Key::X => self.columns = Some(size(cursor, "columns")?),
                Key::Y => self.rows = Some(size(cursor, "rows")?),
                Key::Rule => {
                    self.rule = Some(suffix::of_line(cursor)?);
                    cursor.take_line();
                    return Ok(());
                }
            }
            match cursor.next() {
                Some(',') => cursor.advance(),
                Some('\n') | None => return Ok(()),
                Some(_) => return Err(cursor.unexpected("a digit, a comma or the end of the line")),
            }
            cursor.skip_spaces();
            if matches!(cursor.next(), Some('\n') | None) {
                return Ok(());
            }
        }
    }

    /// Reads a key that the header does not have yet.
    fn key(&self, cursor: &mut Cursor<'_>) -> Result<Key> {
        let start = cursor.clone();
        cursor.skip_while(|c| c.is_ascii_alphabetic());
        let name = start.text_to(cursor);
        let keys =
            [("x", Key::X, self.columns.is_none()), ("y", Key::Y, self.rows.is_none()), ("rule", Key::Rule, true)];
        let key = keys.into_iter().find(|(key, _, is_missing)| *is_missing && key.eq_ignore_ascii_case(name));
        let expected = match (self.columns, self.rows) {
            (None, None) => "x, y or rule",
            (Some(_), None) => "y or rule",
            (None, Some(_)) => "x or rule",
            (Some(_), Some(_)) => "rule",
        };
        key.map(|(_, key, _)| key).ok_or_else(|| start.unexpected(expected))
    }
}

/// A key of the header. Each comes once at most: `rule` has the rest of the line.
#[derive(Clone, Copy)]
enum Key {
    X,
    Y,
    Rule,
}

/// Reads the value of `x` or `y`.
fn size(cursor: &mut Cursor<'_>, what: &'static str) -> Result<usize> {
    if !cursor.next().is_some_and(|c| c.is_ascii_digit()) {
        return Err(cursor.unexpected("a digit"));
    }
    let size = cursor.number(what)?;
    cursor.skip_spaces();
    Ok(size)
}

/// The cells of the data.
#[derive(Default)]
struct Cells {
    /// Rows and columns that have cells, dead ones included.
    rows: usize,
    columns: usize,
    runs: Runs,
    /// The position of the next cell.
    row: usize,
    column: usize,
    tags: Tags,
}

/// Tags that mean one thing in patterns of two states, and another one in patterns of more.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Tags {
    /// `b` and `o`, which mean the same in both.
    #[default]
    Common,
    /// `B`, `O`, `x`, `y` and `z`, in patterns of two states.
    OfTwoStates,
    /// `.` and `A`, the first of many states, with others named `B`, `O` or `xA`.
    OfManyStates,
}

impl Tags {
    /// Returns the state of the cells with this tag, and what kind of tag it is.
    fn state_of(tag: char) -> Option<(bool, Self)> {
        match tag {
            'b' => Some((false, Tags::Common)),
            'o' => Some((true, Tags::Common)),
            'B' => Some((false, Tags::OfTwoStates)),
            'O' | 'x' | 'y' | 'z' => Some((true, Tags::OfTwoStates)),
            '.' => Some((false, Tags::OfManyStates)),
            'A' => Some((true, Tags::OfManyStates)),
            _ => None,
        }
    }

    /// Returns the tags of a pattern that has these and others. `None` if no pattern has both.
    fn with(self, other: Tags) -> Option<Tags> {
        match (self, other) {
            (Tags::Common, tags) | (tags, Tags::Common) => Some(tags),
            (tags, other) => Some(tags).filter(|tags| *tags == other),
        }
    }
}

impl Cells {
    fn read(cursor: &mut Cursor<'_>, header: &mut Header) -> Result<Self> {
        let mut cells = Cells::default();
        loop {
            let start = cursor.clone();
            match cursor.next() {
                Some('!') => return Ok(cells),
                Some('#') if cursor.is_at_start_of_line() => header.comment(cursor)?,
                Some(c) if c.is_whitespace() => cursor.advance(),
                Some(c) if c.is_ascii_digit() => {
                    let count = cursor.number("rows or columns")?;
                    cursor.skip_while(char::is_whitespace);
                    cells.tag(cursor, &start, count, "b, o or $")?;
                }
                _ => cells.tag(cursor, &start, 1, DATA)?,
            }
        }
    }

    /// Reads a tag whose count begins at `start`.
    fn tag(&mut self, cursor: &mut Cursor<'_>, start: &Cursor<'_>, count: usize, expected: &'static str) -> Result<()> {
        if cursor.next() == Some('$') {
            cursor.advance();
            self.row = sum(self.row, count).ok_or_else(|| start.too_large("rows"))?;
            self.column = if count == 0 { self.column } else { 0 };
            return Ok(());
        }
        let (is_alive, kind) = cursor.next().and_then(Tags::state_of).ok_or_else(|| cursor.unexpected(expected))?;
        self.tags = self.tags.with(kind).ok_or_else(|| cursor.unexpected(expected))?;
        cursor.advance();
        if count > 0 {
            self.cells(is_alive, count, start)?;
        }
        Ok(())
    }

    /// Adds cells.
    fn cells(&mut self, is_alive: bool, len: usize, start: &Cursor<'_>) -> Result<()> {
        let (row, column) = (self.row, self.column);
        self.column = sum(column, len).ok_or_else(|| start.too_large("columns"))?;
        self.columns = self.columns.max(self.column);
        self.rows = sum(row, 1).ok_or_else(|| start.too_large("rows"))?;
        if is_alive {
            self.runs.push(Run { row, column, len })?;
        }
        Ok(())
    }
}

/// Returns the sum of two sizes, unless it is too large.
fn sum(a: usize, b: usize) -> Option<usize> {
    a.checked_add(b).filter(|&sum| sum <= MAX_SIDE)
}

pub(super) fn write(pattern: &Pattern) -> String {
    let mut text = String::new();
    let lines = pattern.name.iter().map(|name| ("#N", name));
    for (kind, line) in lines.chain(pattern.comments.iter().map(|comment| ("#C", comment))) {
        text += format!("{kind} {line}").trim_end();
        text.push('\n');
    }
    text += &format!("x = {}, y = {}", pattern.columns, pattern.rows);
    if let Some(rule) = pattern.rule {
        text += &format!(", rule = {rule}");
    }
    if let Some(grid) = pattern.grid {
        text += &grid.to_string();
    }
    text.push('\n');
    let mut data = Data { text, column: 0 };
    let (mut row, mut column) = (0, 0);
    for run in pattern.runs.iter() {
        if run.row > row {
            data.tag(run.row - row, '$');
            (row, column) = (run.row, 0);
        }
        data.tag(run.column - column, 'b');
        data.tag(run.len, 'o');
        column = run.end();
    }
    data.tag(1, '!');
    data.text + "\n"
}

/// Data in lines of limited length.
struct Data {
    text: String,
    /// Number of characters of the current line.
    column: usize,
}

impl Data {
    /// Writes a tag with its count, unless that is 0.
    fn tag(&mut self, count: usize, tag: char) {
        let mut item = String::new();
        match count {
            0 => return,
            1 => {}
            _ => item += &count.to_string(),
        }
        item.push(tag);
        if self.column + item.len() > LINE {
            self.text.push('\n');
            self.column = 0;
        }
        self.column += item.len();
        self.text.push_str(&item);
    }
}
