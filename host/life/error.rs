//! Errors of the Game of Life.

use std::fmt;

/// Invalid rules, patterns or boards of the Game of Life.
///
/// Functions return it in [`Error::Life`](crate::Error::Life).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LifeError {
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
