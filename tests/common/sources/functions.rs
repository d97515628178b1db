//! Functions with `#[track_caller]`, with their names and signatures.

use super::tokens::{Token, closing, count, find, matches_at, split};
use std::ops::Range;

/// A function with `#[track_caller]`.
#[derive(Debug)]
pub struct Function<'a> {
    /// Names. There are several if a macro defines the function.
    pub names: Vec<&'a str>,
    pub is_public: bool,
    /// Tokens between the parentheses.
    pub parameters: Vec<&'a str>,
    /// Number of parameters, without `self`.
    pub arguments: usize,
    /// Tokens between the parentheses and the body.
    pub returned: Vec<&'a str>,
    /// Range of the body's tokens; empty if there is none.
    pub body: Range<usize>,
}

impl Function<'_> {
    pub fn is_method(&self) -> bool {
        self.parameters.contains(&"self")
    }
}

/// Returns the functions with `#[track_caller]` of a file.
pub fn functions<'a>(tokens: &[Token<'a>]) -> Vec<Function<'a>> {
    let attributes = (0..tokens.len()).filter(|&at| matches_at(tokens, at, &["#", "[", "track_caller", "]"]));
    attributes.filter_map(|at| function(tokens, at + 4)).collect()
}

/// Returns the next function, which may have other attributes.
fn function<'a>(tokens: &[Token<'a>], start: usize) -> Option<Function<'a>> {
    let keyword = start + tokens[start..].iter().position(|token| token.text == "fn")?;
    let is_public = (start..keyword).any(|at| tokens[at].text == "pub" && tokens[at + 1].text != "(");
    let open = find(tokens, keyword, &["("])?;
    let close = closing(tokens, open);
    let end = find(tokens, close + 1, &["{", ";"])?;
    let texts = |range: Range<usize>| tokens[range].iter().map(|token| token.text).collect();
    let name = tokens[keyword + 1].text;
    let names = if name.starts_with('$') { names(tokens, keyword + 1) } else { vec![name] };
    let (parameters, returned): (Vec<_>, _) = (texts(open + 1..close), texts(close + 1..end));
    let arguments = count(&tokens[open + 1..close], true) - usize::from(parameters.contains(&"self"));
    Some(Function { names, is_public, parameters, arguments, returned, body: end..closing(tokens, end) })
}

/// Returns the names that the macro variable at `at` has in all calls of its macro in this file.
fn names<'a>(tokens: &[Token<'a>], at: usize) -> Vec<&'a str> {
    let begins = |begin: &usize| matches_at(tokens, *begin, &["macro_rules", "!"]) && closing(tokens, begin + 3) > at;
    let Some(begin) = (0..at).rev().find(begins) else { return Vec::new() };
    let (name, inside) = (tokens[begin + 2].text, begin + 3..closing(tokens, begin + 3));
    let Some(place) = place(&tokens[inside.start + 1..inside.end], tokens[at].text) else { return Vec::new() };
    let calls = (0..tokens.len()).filter(|&call| !inside.contains(&call) && matches_at(tokens, call, &[name, "!"]));
    let arguments = calls.map(|call| &tokens[call + 3..closing(tokens, call + 2)]);
    arguments.flat_map(|arguments| place.names(arguments)).collect()
}

/// Position of a macro variable in the macro's arguments.
struct Place {
    /// Whether the arguments are lists that end with semicolons.
    is_repeated: bool,
    /// Index of its part, between commas.
    part: usize,
}

/// Returns the position of `variable` in the pattern of a macro's first rule.
fn place(rules: &[Token<'_>], variable: &str) -> Option<Place> {
    let pattern = &rules[1..closing(rules, 0)];
    let is_repeated = matches_at(pattern, 0, &["$", "("]);
    let pattern = if is_repeated { &pattern[2..closing(pattern, 1)] } else { pattern };
    let has = |part: &&[Token<'_>]| part.iter().any(|token| token.text == variable);
    Some(Place { is_repeated, part: split(pattern, ",").iter().position(has)? })
}

impl Place {
    /// Returns the names at this position in `arguments`.
    fn names<'a>(&self, arguments: &[Token<'a>]) -> Vec<&'a str> {
        let lists = if self.is_repeated { split(arguments, ";") } else { vec![arguments] };
        let parts = lists.into_iter().filter_map(|list| split(list, ",").get(self.part).copied());
        parts.filter_map(|part| Some(part.first()?.text)).filter(|name| !name.starts_with('$')).collect()
    }
}
