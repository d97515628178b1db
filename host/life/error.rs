//! Errors of the Game of Life.

use super::Topology;
use std::fmt;
use std::ops::Range;

/// Invalid rules, patterns or boards of the Game of Life.
///
/// Functions return it in [`Error::Life`](crate::Error::Life).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LifeError {
    /// A board of this topology cannot be divided among several devices.
    #[error("a board with the topology {topology:?} cannot be on several devices, because its ends are mirrored")]
    Distributed {
        /// The topology.
        topology: Topology,
    },
    /// A rule does not parse.
    #[error("the rule '{rule}' is invalid: expected {expected}, found {} at character {position}", Found(*found))]
    Rule {
        /// The text of the rule.
        rule: String,
        /// Number of the first invalid character, from 1.
        position: usize,
        /// This character; `None` for the end.
        found: Option<char>,
        /// What is valid there.
        expected: &'static str,
    },
    /// The text of a pattern does not parse.
    #[error("line {line}, column {column} of the pattern: expected {expected}, found {}", Found(*found))]
    Pattern {
        /// Number of the line, from 1.
        line: usize,
        /// Number of the first invalid character in this line, from 1.
        column: usize,
        /// This character; `None` for the end of the text.
        found: Option<char>,
        /// What is valid there.
        expected: &'static str,
    },
    /// A count or a size in the text of a pattern is too large.
    #[error("line {line}, column {column} of the pattern: the pattern would have more than {limit} {what}")]
    PatternSize {
        /// Number of the line, from 1.
        line: usize,
        /// Number of the first character in this line, from 1.
        column: usize,
        /// Rows or columns.
        what: &'static str,
        /// Maximum number of rows or columns.
        limit: usize,
    },
    /// A pattern is in a format that is not read.
    #[error("the pattern looks like {format}: {advice}")]
    PatternFormat {
        /// The format.
        format: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A pattern is made for a board that this crate does not have.
    #[error("line {line}, column {column} of the pattern: the grid '{grid}' is not supported: {reason}")]
    Grid {
        /// Number of the line, from 1.
        line: usize,
        /// Number of the first character of the grid in this line, from 1.
        column: usize,
        /// The grid, or the first characters of it.
        grid: String,
        /// The property that boards do not have.
        reason: &'static str,
    },
    /// No grid of Golly has this topology.
    #[error("patterns cannot have a grid of the topology {topology:?}: Golly has none")]
    NoGrid {
        /// The topology.
        topology: Topology,
    },
    /// A board does not fit into shared memory, which the algorithm `Resident` needs.
    #[error(
        "the bands of a board of {rows} x {columns} cells (rows x columns) do not fit into shared memory: choose another algorithm"
    )]
    NoBands {
        /// Rows of the board.
        rows: usize,
        /// Columns of the board.
        columns: usize,
    },
    /// A board has no cells.
    #[error("a board must have at least 1 row and 1 column, not {rows} x {columns} (rows x columns)")]
    NoCells {
        /// Rows of the board.
        rows: usize,
        /// Columns of the board.
        columns: usize,
    },
    /// A board has no such cell.
    #[error("there is no cell in row {row} and column {column} of a board of {} x {} (rows x columns)", board[0], board[1])]
    NoSuchCell {
        /// Row of the cell, from 0.
        row: usize,
        /// Column of the cell, from 0.
        column: usize,
        /// Rows and columns of the board.
        board: [usize; 2],
    },
    /// A board does not have these rows.
    #[error("there are no rows {} to {} of a board of {} x {} (rows x columns)", rows.start, rows.end, board[0], board[1])]
    NoSuchRows {
        /// Requested rows, from 0. The end is the row after the last one.
        rows: Range<usize>,
        /// Rows and columns of the board.
        board: [usize; 2],
    },
    /// A pattern is larger than the board, or a part of it is beyond a dead end.
    #[error(
        "a pattern of {} x {} (rows x columns) does not fit at row {} and column {} of a board of {} x {}: {}",
        pattern[0], pattern[1], position[0], position[1], board[0], board[1], placement_advice(*pattern, *board)
    )]
    Placement {
        /// Rows and columns of the pattern.
        pattern: [usize; 2],
        /// Requested row and column of its first cell.
        position: [isize; 2],
        /// Rows and columns of the board.
        board: [usize; 2],
    },
    /// The number of the generation would exceed 64 bits.
    #[error(
        "cannot compute {steps} generations from generation {generation}: the number of the last one would exceed {}",
        u64::MAX
    )]
    Generations {
        /// Number of the current generation.
        generation: u64,
        /// Requested number of generations.
        steps: u64,
    },
    /// Censuses would be 0 generations apart.
    #[error("censuses must be at least 1 generation apart, not 0")]
    NoInterval,
}

/// Returns what makes a pattern fit on a board.
fn placement_advice(pattern: [usize; 2], board: [usize; 2]) -> &'static str {
    match pattern[0] > board[0] || pattern[1] > board[1] {
        true => "use a larger board",
        false => "move it away from the dead end, or use a larger board",
    }
}

/// Displays a character, or the end of a text.
struct Found(Option<char>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(found) => write!(f, "{found:?}"),
            None => f.write_str("the end"),
        }
    }
}
