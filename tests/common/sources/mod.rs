//! Accessor calls in the sources of kernels. Accessors are the functions with `#[track_caller]`.

mod functions;
mod tokens;
mod trials;

use functions::{Function, functions};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};
use tokens::{Token, closing, count, find, matches_at, tokens};

pub use trials::trials;

/// Functions that make an access, exchange values or order accesses, by name and number of arguments. The value is `true`
/// for masked forms, which make their access or leave it out.
#[derive(Clone, Debug, Default)]
pub struct Accessors {
    methods: BTreeMap<(String, usize), bool>,
    functions: BTreeMap<(String, usize), bool>,
}

/// The lines that call accessors, and those with a masked form among them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub all: BTreeSet<u32>,
    pub masked: BTreeSet<u32>,
}

impl Accessors {
    /// Adds the public accessors of `cuda_std`. Functions that split windows off an arena, and functions that only return a
    /// number, do not count.
    pub fn add_library(&mut self, source: &str) {
        let tokens = tokens(source);
        let functions = functions(&tokens).into_iter();
        for function in
            functions.filter(|function| function.is_public && !makes_windows(function) && !only_returns(function))
        {
            self.add(&function, is_masked(&function));
        }
    }

    /// Adds the functions with `#[track_caller]` in `sources`. They are masked forms if they call one.
    pub fn with_helpers(mut self, sources: &[String]) -> Self {
        // Twice, because a helper may precede the helpers that it calls.
        for source in sources.iter().chain(sources) {
            let tokens = tokens(source);
            for function in functions(&tokens) {
                let is_masked = function.body.clone().any(|at| self.call(&tokens, at) == Some(true));
                self.add(&function, is_masked);
            }
        }
        self
    }

    fn add(&mut self, function: &Function<'_>, is_masked: bool) {
        let of_kind = if function.is_method() { &mut self.methods } else { &mut self.functions };
        for name in &function.names {
            *of_kind.entry(((*name).to_owned(), function.arguments)).or_default() |= is_masked;
        }
    }

    /// Returns the calls in `source`, except in tests, and in functions with `#[track_caller]`, whose calls have the lines
    /// of their callers.
    pub fn calls(&self, source: &str) -> Calls {
        let tokens = tokens(source);
        let mut left_out: Vec<_> = functions(&tokens).into_iter().map(|function| function.body).collect();
        left_out.extend((0..tokens.len()).filter_map(|at| attribute(&tokens, at)));
        let mut calls = Calls::default();
        for at in (0..tokens.len()).filter(|at| !left_out.iter().any(|range| range.contains(at))) {
            let Some(is_masked) = self.call(&tokens, at) else { continue };
            calls.all.insert(tokens[at].line);
            if is_masked {
                calls.masked.insert(tokens[at].line);
            }
        }
        calls
    }

    /// Returns whether the token at `at` calls a masked form, or `None` if it calls no accessor.
    fn call(&self, tokens: &[Token<'_>], at: usize) -> Option<bool> {
        let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
        let of_kind = if before == "." { &self.methods } else { &self.functions };
        let name = tokens[at].text.trim_start_matches('$').to_owned();
        let open = if before == "fn" { None } else { arguments(tokens, at + 1) }?;
        of_kind.get(&(name, count(&tokens[open + 1..closing(tokens, open)], false))).copied()
    }
}

/// Returns the range of the attribute at `at`, with its item if the attribute selects tests.
fn attribute(tokens: &[Token<'_>], at: usize) -> Option<Range<usize>> {
    let end = matches_at(tokens, at, &["#", "["]).then(|| closing(tokens, at + 1))?;
    let is_for_tests = matches_at(tokens, at + 2, &["cfg"]) && tokens[at..end].iter().any(|token| token.text == "test");
    let open = if is_for_tests { find(tokens, end + 1, &["{", ";"]) } else { None };
    Some(at..open.map_or(end, |open| closing(tokens, open)))
}

/// Returns the position of the parenthesis of the arguments at `at`, after `::<…>` if there is one.
fn arguments(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut open = at;
    if matches_at(tokens, at, &[":", ":", "<"]) {
        let mut depth = 0;
        open += 1 + tokens[at..].iter().position(|token| {
            depth += i32::from(token.text == "<") - i32::from(token.text == ">");
            token.text == ">" && depth == 0
        })?;
    }
    matches_at(tokens, open, &["("]).then_some(open)
}

/// Returns whether a function returns windows and the rest of the arena.
fn makes_windows(function: &Function<'_>) -> bool {
    let last = function.returned.rsplit(|token| *token == ",").next().unwrap_or_default();
    // Its lifetime may follow.
    last.contains(&"Arena") && last.last() == Some(&")")
}

/// Returns whether a function has no parameters but a result.
fn only_returns(function: &Function<'_>) -> bool {
    function.parameters.is_empty() && !function.returned.is_empty()
}

/// Returns whether a function is a masked form: it takes a condition, or a value for elements outside, or its names end in
/// `_masked`.
fn is_masked(function: &Function<'_>) -> bool {
    let takes = |parameter| function.parameters.contains(&parameter);
    takes("condition") || takes("outside") || function.names.iter().all(|name| name.ends_with("_masked"))
}

/// Returns the accessors of `cuda_std`.
pub fn library() -> io::Result<Accessors> {
    let mut accessors = Accessors::default();
    for file in files(Path::new("crates/cuda_std/src"))? {
        accessors.add_library(&fs::read_to_string(file)?);
    }
    Ok(accessors)
}

/// Returns the Rust files below `folder`, sorted.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
