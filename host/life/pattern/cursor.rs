//! A position in the text of a pattern.

use super::MAX_SIDE;
use crate::life::LifeError;
use crate::{Error, Result};
use std::str::Chars;

/// What editors write at the start of a text. It is not a part of the pattern.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A position in a text, with its line and column.
///
/// Lines end with `\n`, `\r\n` or `\r`. Each of these is one character here: `\n`.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    rest: Chars<'a>,
    line: usize,
    column: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        Cursor { rest: text.chars(), line: 1, column: 1 }
    }

    /// Returns the next character; `None` at the end.
    pub(super) fn next(&self) -> Option<char> {
        self.rest.clone().next().map(|c| if c == '\r' { '\n' } else { c })
    }

    pub(super) fn is_at_start_of_line(&self) -> bool {
        self.column == 1
    }

    /// Returns the numbers of the line and of the next character, from 1.
    pub(super) fn position(&self) -> [usize; 2] {
        [self.line, self.column]
    }

    pub(super) fn advance(&mut self) {
        let next = self.rest.next();
        if next == Some('\r') && self.rest.as_str().starts_with('\n') {
            self.rest.next();
        }
        match next {
            Some('\n' | '\r') => (self.line, self.column) = (self.line + 1, 1),
            Some(_) => self.column += 1,
            None => {}
        }
    }

    /// Advances to the first character for which `condition` does not hold.
    pub(super) fn skip_while(&mut self, condition: impl Fn(char) -> bool) {
        while self.next().is_some_and(&condition) {
            self.advance();
        }
    }

    /// Skips spaces in a line.
    pub(super) fn skip_spaces(&mut self) {
        self.skip_while(|c| c.is_whitespace() && c != '\n');
    }

    /// Advances if the next character is `c`. Returns whether it is.
    pub(super) fn skip_if(&mut self, c: char) -> bool {
        let is_next = self.next() == Some(c);
        if is_next {
            self.advance();
        }
        is_next
    }

    /// Returns whether the rest of the line begins with `text`, which is within a line.
    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest.as_str().starts_with(text)
    }

    /// Returns the text from here to `end`, which is not before.
    pub(super) fn text_to(&self, end: &Cursor<'a>) -> &'a str {
        let text = self.rest.as_str();
        &text[..text.len() - end.rest.as_str().len()]
    }

    /// Returns the rest of the line, and advances to the next one.
    pub(super) fn take_line(&mut self) -> &'a str {
        let start = self.clone();
        self.skip_while(|c| c != '\n');
        let line = start.text_to(self);
        self.advance();
        line
    }

    /// Returns the rest of the line.
    pub(super) fn rest_of_line(&self) -> &'a str {
        self.rest.as_str().split(['\n', '\r']).next().unwrap_or_default()
    }

    /// Returns the number from here on, which is at most the size of a pattern. `what` it counts is part of the error.
    pub(super) fn number(&mut self, what: &'static str) -> Result<usize> {
        let start = self.clone();
        let mut number = 0usize;
        while let Some(digit) = self.next().and_then(|next| next.to_digit(10)) {
            let longer = number.checked_mul(10).and_then(|number| number.checked_add(digit as usize));
            number = longer.filter(|&number| number <= MAX_SIDE).ok_or_else(|| start.too_large(what))?;
            self.advance();
        }
        Ok(number)
    }

    /// Returns the error for the next character.
    pub(super) fn unexpected(&self, expected: &'static str) -> Error {
        self.unexpected_at(0, self.next(), expected)
    }

    /// Returns the error for the character `found`, `offset` characters further in this line.
    pub(super) fn unexpected_at(&self, offset: usize, found: Option<char>, expected: &'static str) -> Error {
        LifeError::Pattern { line: self.line, column: self.column + offset, found, expected }.into()
    }

    /// Returns the error for a size or count that begins here.
    pub(super) fn too_large(&self, what: &'static str) -> Error {
        LifeError::PatternSize { line: self.line, column: self.column, what, limit: MAX_SIDE }.into()
    }
}
