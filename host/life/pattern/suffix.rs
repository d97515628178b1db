//! The rule of a pattern and the grid after it, as in `B3/S23:T30,20`.

use super::cursor::Cursor;
use crate::Result;
use crate::life::{Grid, LifeError, Rule, Topology, rule};

/// Maximum number of characters of a grid in an error.
const SHOWN: usize = 40;

// Reasons why boards cannot have a grid.
const SPHERE: &str = "a board cannot be a sphere";
const CROSS_SURFACE: &str = "a board cannot be a cross-surface, whose edges are all mirrored";
const SHIFT: &str = "edges cannot be joined with a shift";
const OTHER_TWIST: &str = "of a Klein bottle only the upper and lower edges can be mirrored, as in ':K30*,20'";
const UNBOUNDED: &str = "a board cannot be unbounded";

/// Returns the rule and the grid in the rest of the line, which may end with a comma.
pub(super) fn of_line(cursor: &Cursor<'_>) -> Result<(Rule, Option<Grid>)> {
    let (text, has_grid) = match cursor.rest_of_line().split_once(':') {
        Some((rule, _)) => (rule, true),
        None => (cursor.rest_of_line(), false),
    };
    let text = text.trim_end();
    let text = if has_grid { text } else { text.strip_suffix(',').unwrap_or(text) };
    let rule = rule::parse(text)
        .map_err(|invalid| cursor.unexpected_at(invalid.position - 1, invalid.found, invalid.expected))?;
    Ok((rule, if has_grid { Some(grid(cursor)?) } else { None }))
}

/// Returns the grid after the next colon.
fn grid(line: &Cursor<'_>) -> Result<Grid> {
    let mut cursor = line.clone();
    cursor.skip_while(|c| c != ':');
    let unsupported = unsupported(&cursor);
    cursor.advance();
    let topology = match cursor.next().map(|letter| letter.to_ascii_uppercase()) {
        Some('P') => Topology::Plane,
        Some('T') => Topology::Torus,
        Some('K') => Topology::KleinBottle,
        Some('C') => return Err(unsupported(CROSS_SURFACE).into()),
        Some('S') => return Err(unsupported(SPHERE).into()),
        _ => return Err(cursor.unexpected("T, P or K, the letter of a grid")),
    };
    cursor.advance();
    let mut side = |what| Side::read(&mut cursor, topology, what);
    let columns = side("columns")?;
    let rows = if columns.is_followed { side("rows")? } else { Side { is_mirrored: false, ..columns } };
    cursor.skip_spaces();
    cursor.skip_if(',');
    cursor.skip_spaces();
    if columns.is_shifted || rows.is_shifted {
        return Err(unsupported(SHIFT).into());
    }
    if !matches!(cursor.next(), None | Some('\n')) {
        return Err(cursor.unexpected("the end of the grid"));
    }
    if columns.len == 0 || rows.len == 0 {
        return Err(unsupported(UNBOUNDED).into());
    }
    // Without a star, Golly mirrors the left and right edges.
    if topology == Topology::KleinBottle && (!columns.is_mirrored || rows.is_mirrored) {
        return Err(unsupported(OTHER_TWIST).into());
    }
    Grid::new(rows.len, columns.len, topology)
}

/// Returns the error for the grid that begins at the cursor and a reason.
fn unsupported(start: &Cursor<'_>) -> impl Fn(&'static str) -> LifeError + use<> {
    let [line, column] = start.position();
    let grid: String = start.rest_of_line().trim_end_matches([',', ' ', '\t']).chars().take(SHOWN).collect();
    move |reason| LifeError::Grid { line, column, grid: grid.clone(), reason }
}

/// A side of a grid.
#[derive(Clone, Copy)]
struct Side {
    len: usize,
    /// Whether a star follows.
    is_mirrored: bool,
    is_shifted: bool,
    /// Whether a comma and a digit follow.
    is_followed: bool,
}

impl Side {
    fn read(cursor: &mut Cursor<'_>, topology: Topology, what: &'static str) -> Result<Self> {
        if !cursor.next().is_some_and(|c| c.is_ascii_digit()) {
            return Err(cursor.unexpected("a digit"));
        }
        let len = cursor.number(what)?;
        let is_mirrored = topology == Topology::KleinBottle && cursor.skip_if('*');
        let is_shifted = cursor.skip_if('+') || cursor.skip_if('-');
        if is_shifted {
            cursor.skip_while(|c| c.is_ascii_digit());
        }
        let mut after = cursor.clone();
        let is_followed = after.skip_if(',') && after.next().is_some_and(|c| c.is_ascii_digit());
        if is_followed {
            *cursor = after;
        }
        Ok(Side { len, is_mirrored, is_shifted, is_followed })
    }
}
