//! Source locations of instructions: LLVM's metadata about lines, functions and inlined calls.

use std::collections::HashMap;
use std::{fmt, iter};

/// A source location in a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    pub(crate) function: String,
    /// The function's linkage name, which distinguishes functions of the same name.
    symbol: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Frame { function, file, line, column, .. } = self;
        write!(f, "{function} ({file}:{line}:{column})")
    }
}

/// The metadata nodes, by number.
#[derive(Debug, Default)]
pub(super) struct Metadata<'a>(HashMap<&'a str, &'a str>);

impl<'a> Metadata<'a> {
    /// Adds the line `!number = contents`.
    pub(super) fn add(&mut self, line: &'a str) {
        if let Some((number, contents)) = line.strip_prefix('!').and_then(|line| line.split_once(" = ")) {
            self.0.insert(number, contents);
        }
    }

    /// Returns the source location of an instruction of `function`, followed by the locations of the inlined calls that lead
    /// to it, innermost first. Without a location, the only frame names the function.
    pub(super) fn frames(&self, location: Option<&str>, function: &str) -> Vec<Frame> {
        let first = location.and_then(|number| self.get(number));
        let locations = self.chain(first, |location| self.referred(location, "inlinedAt: "));
        let mut frames: Vec<_> = locations.map(|location| self.frame(location)).collect();
        if frames.is_empty() {
            let [function, file] = [function, "?"].map(str::to_owned);
            frames.push(Frame { symbol: function.clone(), function, file, line: 0, column: 0 });
        }
        frames
    }

    fn get(&self, number: &str) -> Option<&'a str> {
        self.0.get(number).copied()
    }

    fn frame(&self, location: &'a str) -> Frame {
        let number = |key| field(location, key).and_then(|value| digits(value).parse().ok()).unwrap_or(0);
        let scope = self.referred(location, "scope: ");
        let function = self.function(scope);
        let file = scope.or(function).and_then(|scope| self.referred(scope, "file: "));
        let text = |of: Option<&'a str>, key| of.and_then(|of| string(of, key)).unwrap_or("?").to_owned();
        Frame {
            function: text(function, "name: \""),
            symbol: text(function, "linkageName: \""),
            file: text(file, "filename: \""),
            line: number("line: "),
            column: number("column: "),
        }
    }

    /// Returns the function that contains a scope, or the scope itself if it is a function.
    fn function(&self, scope: Option<&'a str>) -> Option<&'a str> {
        let mut scopes = self.chain(scope, |scope| self.referred(scope, "scope: "));
        scopes.find(|scope| scope.contains("!DISubprogram("))
    }

    /// Returns an entry and those that it leads to. A chain with more entries than there are goes in a circle, and ends.
    fn chain(
        &self,
        first: Option<&'a str>,
        next: impl Fn(&&'a str) -> Option<&'a str>,
    ) -> impl Iterator<Item = &'a str> {
        iter::successors(first, next).take(self.0.len())
    }

    fn referred(&self, from: &'a str, key: &str) -> Option<&'a str> {
        self.get(reference(from, key)?)
    }
}

/// Returns the text after `key`, the name of a field.
fn field<'a>(contents: &'a str, key: &str) -> Option<&'a str> {
    let before = |at: usize| contents[..at].ends_with(['(', ' ']);
    contents.match_indices(key).find(|(at, _)| before(*at)).map(|(at, _)| &contents[at + key.len()..])
}

/// Returns the metadata number that a field refers to.
fn reference<'a>(contents: &'a str, key: &str) -> Option<&'a str> {
    Some(digits(field(contents, key)?.strip_prefix('!')?))
}

/// Returns the string of a field. `key` ends in a quotation mark.
fn string<'a>(contents: &'a str, key: &str) -> Option<&'a str> {
    Some(field(contents, key)?.split_once('"')?.0)
}

/// Returns the digits at the start of the text.
pub(super) fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}
