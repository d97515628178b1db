//! Checks that a source file does without `std`.

use super::tokens::{Token, tokens};
use std::collections::BTreeSet;

/// Names that lead to `std`, to allocations, or to a file that is not checked, however a macro combines them. The last three
/// lead to the parts of this crate that allocate.
const REFUSED: [&str; 8] =
    ["std", "alloc", "proc_macro", "include", "unsafe", "image", "include_kernels", "kernel_crate"];

/// Returns whether a crate root has the attribute `#![no_std]`.
pub(super) fn says_no_std(source: &str) -> bool {
    use Token::{Mark, Name};
    let attribute = [Mark('#'), Mark('!'), Mark('['), Name("no_std"), Mark(']')];
    tokens(source).is_some_and(|tokens| {
        // In a macro's argument, or as a module's inner attribute, it would be inside brackets.
        let mut depth = 0;
        tokens.iter().enumerate().any(|(place, token)| {
            let found = depth == 0 && tokens[place..].starts_with(&attribute);
            match token {
                Mark('(' | '[' | '{') => depth += 1,
                Mark(')' | ']' | '}') => depth -= 1,
                _ => {}
            }
            found
        })
    })
}

/// Returns whether a source file contains no name that leads to `std` or to a file that is not checked. Modules with names
/// in `skipped` may be in such files.
pub(super) fn does_without(source: &str, skipped: &BTreeSet<String>) -> bool {
    use Token::{Mark, Name};
    let Some(tokens) = tokens(source) else { return false };
    let mut places = Places::new();
    (0..tokens.len()).all(|at| {
        let passes = match tokens[at..] {
            [Name(name), ..] if REFUSED.contains(&name) => false,
            [Name("extern"), Name("crate"), Name("core"), ..] => true,
            [Name("extern"), Name("crate"), ..] => false,
            [Name("path"), ..] => places.current() != Place::Attribute,
            [Name("mod"), Name(name), Mark(';'), ..] => places.current() == Place::Module && !skipped.contains(name),
            // Its modules may be in a folder of its name.
            [Name("mod"), Name(name), Mark('{'), ..] => places.declare(!skipped.contains(name)),
            [Name("mod"), ..] => false,
            _ => true,
        };
        passes && places.pass(&tokens[at..])
    })
}

/// What a token is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A module, outside of all items, so no macro has generated it.
    Module,
    /// An attribute.
    Attribute,
    /// Anything else, including macros and their arguments.
    Other,
}

/// The nested places around the current token, innermost last.
struct Places {
    all: Vec<Place>,
    /// The place that the next bracket opens.
    next: Place,
}

impl Places {
    fn new() -> Self {
        Places { all: vec![Place::Module], next: Place::Other }
    }

    fn current(&self) -> Place {
        self.all.last().copied().unwrap_or(Place::Other)
    }

    /// Expects the body of an inline module next. Returns whether a module may be declared here.
    fn declare(&mut self, may_have_files: bool) -> bool {
        self.next = if may_have_files { Place::Module } else { Place::Other };
        self.current() == Place::Module
    }

    /// Passes the first of `tokens`. Returns `false` if it closes a bracket that was not opened.
    fn pass(&mut self, tokens: &[Token<'_>]) -> bool {
        use Token::Mark;
        match tokens {
            // The attribute includes its bracket.
            [Mark('#'), Mark('['), ..] | [Mark('#'), Mark('!'), Mark('['), ..] => self.next = Place::Attribute,
            [Mark('!'), Mark('['), ..] if self.next == Place::Attribute => {}
            [Mark('(' | '[' | '{'), ..] => {
                let inside = if self.current() == Place::Attribute { Place::Attribute } else { self.next };
                self.all.push(inside);
                self.next = Place::Other;
            }
            [Mark(')' | ']' | '}'), ..] => {
                self.all.pop();
            }
            _ => {}
        }
        !self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_std_is_for_all_targets() {
        let all = [
            ("//! Kernels.\n#![no_std]\n", true),
            ("#![cfg_attr(target_os = \"cuda\", feature(abi_ptx))] #![ no_std ] fn f() {}", true),
            ("#![cfg_attr(target_os = \"cuda\", no_std)]", false),
            ("// #![no_std]", false),
            ("macro_rules! m { () => { #![no_std] } }", false),
            ("#[no_std]", false),
            ("", false),
        ];
        for (source, expected) in all {
            assert_eq!(says_no_std(source), expected, "{source}");
        }
    }

    #[test]
    fn what_leads_to_std_is_seen() {
        let all = [
            ("use core::fmt; // std", true),
            ("const TEXT: &str = \"std\";", true),
            ("extern crate core;", true),
            ("extern \"C\" fn f() { } mod main { } mod rows; let path = 1;", true),
            ("#[cfg(test)] mod tests { use super::*; } pub(crate) mod outer { mod inner; mod innermost { } }", true),
            ("macro_rules! m { ($p:path, $(#[$a:meta])*) => { $(#[$a])* fn f(path: $p) { } } }", true),
            ("use std::fmt;", false),
            ("use r#std::fmt;", false),
            ("extern crate std as other;", false),
            ("extern crate alloc;", false),
            ("include!(\"other\");", false),
            ("use core::include as other; other!(\"other\");", false),
            ("#[path = \"../other.rs\"] mod other;", false),
            ("#[cfg_attr(all(), path = r\"x\")] mod other;", false),
            ("#![path = \"x\"]", false),
            ("mod tests;", false),
            ("mod folder;", false),
            ("mod folder { mod inner; }", false),
            ("mod outer { mod tests; }", false),
            ("mod $name;", false),
            // A macro can expand its arguments to anything.
            ("m!(mod tests);", false),
            ("m!(extern alloc crate);", false),
            ("macro_rules! m { ($k:ident $v:literal) => { #[$k = $v] mod other; } } m!(path \"x\");", false),
            ("macro_rules! m { ($h:tt $k:ident $v:literal) => { $h[$k = $v] mod other; } }", false),
            ("fn f() { mod other; }", false),
            ("} mod other; {", false),
            // A type that is `Sync` by assertion lets the host put code into a static; a foreign function can be any.
            ("unsafe impl<T> Sync for Lock<T> {}", false),
            ("unsafe extern \"C\" { fn malloc(bytes: usize) -> *mut u8; }", false),
            // Allocations.
            ("cuda_std::image::digest(text)", false),
            ("use cuda_std::image::verify_kernel as v;", false),
            ("cuda_std::include_kernels!(); fn f() { KERNELS.iter().next().unwrap().verify(SOURCES); }", false),
            ("/*", false),
        ];
        let skipped = ["tests", "folder"].map(String::from).into();
        for (source, expected) in all {
            assert_eq!(does_without(source, &skipped), expected, "{source}");
        }
    }

    /// Kernels must not allocate, because they may be abandoned half-way. The parts of this crate that allocate are for the
    /// host only, and all paths to them contain refused names.
    #[test]
    fn what_allocates_is_refused() {
        let functions = include_str!("../build.rs").lines().filter_map(|line| line.strip_prefix("pub fn "));
        let names = functions.map(|rest| rest.split('(').next().unwrap_or_default());
        assert_eq!(names.filter(|name| !REFUSED.contains(name)).collect::<Vec<_>>(), [""; 0]);
        let exports = include_str!("../lib.rs").lines().filter(|line| line.starts_with("pub use"));
        assert_eq!(exports.filter(|line| line.contains("image")).count(), 0);
    }
}
