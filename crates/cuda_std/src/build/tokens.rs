//! A tokenizer that distinguishes names in Rust source from comments and literals.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or keyword, without the `r#` of a raw one.
    Name(&'a str),
    /// Any other visible character outside of comments and literals.
    Mark(char),
    /// A string, byte string, C string, character or byte.
    Literal,
}

/// Returns the tokens of `source`, or `None` if they cannot be determined: a comment or literal does not end, the source
/// begins with a line for the shell (`#!`), or it contains a raw C string, which older editions read differently.
pub(super) fn tokens(source: &str) -> Option<Vec<Token<'_>>> {
    let mut rest = source.strip_prefix('\u{feff}').unwrap_or(source);
    if rest.strip_prefix("#!").is_some_and(|after| !after.trim_ascii_start().starts_with('[')) {
        return None;
    }
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start_matches(is_space);
        let Some(first) = rest.chars().next() else { return Some(tokens) };
        let (token, length) = if let Some(length) = comment(rest)? {
            (None, length)
        } else if let Some(length) = literal(rest)? {
            (Some(Token::Literal), length)
        } else if is_start(first) {
            let name = name(rest.strip_prefix("r#").unwrap_or(rest));
            (Some(Token::Name(name)), name.len() + if rest.starts_with("r#") { 2 } else { 0 })
        } else {
            // This may be a number, whose suffix is not a name and does not begin a literal.
            (Some(Token::Mark(first)), if first.is_ascii_digit() { name(rest).len() } else { first.len_utf8() })
        };
        tokens.extend(token);
        rest = &rest[length..];
    }
}

/// Returns whether rustc treats a character as white space: Unicode's `Pattern_White_Space`, which is not `White_Space`.
fn is_space(character: char) -> bool {
    matches!(character, '\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether an identifier or keyword may begin with a character. Outside of comments and literals, rustc treats every
/// non-ASCII character as white space, as part of an identifier, or as an error.
fn is_start(character: char) -> bool {
    character == '_' || character.is_ascii_alphabetic() || !character.is_ascii()
}

/// Returns the identifier, keyword or number that `text` begins with.
fn name(text: &str) -> &str {
    let end = text.find(|c: char| !is_start(c) && !c.is_ascii_digit() || is_space(c)).unwrap_or(text.len());
    &text[..end]
}

/// Returns the length of the comment that `text` begins with, `Some(None)` if it begins with none, or `None` if the comment
/// does not end.
fn comment(text: &str) -> Option<Option<usize>> {
    if text.starts_with("//") {
        return Some(Some(text.find('\n').unwrap_or(text.len())));
    }
    if !text.starts_with("/*") {
        return Some(None);
    }
    let (mut depth, mut at) = (1, 2);
    while depth > 0 {
        let next = at + text[at..].find(['/', '*'])?;
        at = next + 1;
        if text[next..].starts_with("/*") {
            (depth, at) = (depth + 1, next + 2);
        } else if text[next..].starts_with("*/") {
            (depth, at) = (depth - 1, next + 2);
        }
    }
    Some(Some(at))
}

/// Returns the length of the literal that `text` begins with, `Some(None)` if it begins with none, or `None` if the literal
/// does not end or is a raw C string.
fn literal(text: &str) -> Option<Option<usize>> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        let rest = text.strip_prefix(*prefix);
        rest.is_some_and(|rest| rest.trim_start_matches(if prefix.ends_with('r') { "#" } else { "" }).starts_with('"'))
    });
    if let Some(prefix) = prefix.filter(|prefix| *prefix != "cr") {
        let rest = &text[prefix.len()..];
        let length = if prefix.ends_with('r') { raw_string(rest)? } else { quoted(rest, '"')? };
        return Some(Some(prefix.len() + length));
    }
    let byte = usize::from(text.starts_with("b'"));
    let rest = &text[byte..];
    match rest.strip_prefix('\'') {
        _ if prefix.is_some() => None,
        Some(inner) if is_character(inner) => Some(Some(byte + quoted(rest, '\'')?)),
        _ => Some(None),
    }
}

/// Returns whether the text after an apostrophe is a character, not a lifetime or label.
fn is_character(inner: &str) -> bool {
    inner.starts_with('\\') || inner.chars().nth(1) == Some('\'')
}

/// Returns the length of a raw string with its quotes, from its first `#` or quote on.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let end = format!("\"{}", &text[..hashes]);
    let from = hashes + 1;
    Some(from + text[from..].find(&end)? + end.len())
}

/// Returns the length of a literal in these quotes, in which backslashes escape.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<&str> {
        let name = |token: Token<'static>| if let Token::Name(name) = token { Some(name) } else { None };
        tokens(source.to_owned().leak()).unwrap().into_iter().filter_map(name).collect()
    }

    #[test]
    fn names_are_told_from_comments_and_literals() {
        let all: [(&str, &[&str]); 20] = [
            ("use std::fmt;", &["use", "std", "fmt"]),
            ("// std\nfn f() {}", &["fn", "f"]),
            ("/* std /* std */ std */ x", &["x"]),
            ("/**/y /* / * */ z", &["y", "z"]),
            (r#"a("std \" std") b"#, &["a", "b"]),
            (r###"r#"std " std"# b"###, &["b"]),
            (r#"b"std" br"std\" c"std" d"#, &["d"]),
            (r#"0r"\"std" a"#, &["a"]),
            ("1std 0x1fstd + a", &["a"]),
            ("r#std::x", &["std", "x"]),
            ("'a' '\\'' '\\\\' b'\\'' q", &["q"]),
            ("&'std str", &["std", "str"]),
            ("'std: loop { break 'std }", &["std", "loop", "break", "std"]),
            ("['s', 't'] 'ä' e", &["e"]),
            ("r\"\\\" std", &["std"]),
            ("1.0e5f32 + std", &["std"]),
            ("fn f<'℘>() {} std!('a')", &["fn", "f", "℘", "std"]),
            ("'℘' '😀' a℘std", &["a℘std"]),
            ("a\u{200e}b\u{85}c", &["a", "b", "c"]),
            ("\u{feff}#![std]", &["std"]),
        ];
        for (source, expected) in all {
            assert_eq!(names(source), expected, "{source}");
        }
    }

    #[test]
    fn what_does_not_end_is_not_understood() {
        let all =
            ["/* /* */", "\"std", "r#\"std\"", "'\\", "#!\"\nstd", "\u{feff}#! a", "#!\u{a0}[", "cr\"\"", "cr#\"\"#"];
        for source in all {
            assert_eq!(tokens(source), None, "{source}");
        }
    }
}
