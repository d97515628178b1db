//! Rust source as far as it takes to tell names from comments and strings.

/// A piece of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or keyword, without the `r#` of a raw one.
    Name(&'a str),
    /// Any other visible character outside of comments and literals.
    Mark(char),
    /// A string, byte string, C string, character or byte.
    Literal,
}

/// The tokens of `source`; `None` if a comment or literal does not end.
pub(super) fn tokens(source: &str) -> Option<Vec<Token<'_>>> {
    let mut rest = source;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Some(tokens) };
        let (token, length) = if let Some(length) = comment(rest)? {
            (None, length)
        } else if let Some(length) = literal(rest)? {
            (Some(Token::Literal), length)
        } else if is_start(first) {
            let name = name(rest.strip_prefix("r#").unwrap_or(rest));
            (Some(Token::Name(name)), name.len() + if rest.starts_with("r#") { 2 } else { 0 })
        } else {
            (Some(Token::Mark(first)), first.len_utf8())
        };
        tokens.extend(token);
        rest = &rest[length..];
    }
}

fn is_start(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

/// The identifier, keyword or number that `text` begins with.
fn name(text: &str) -> &str {
    let end = text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

/// The length of the comment that `text` begins with, if it does; `None` outside if it does not end.
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

/// The length of the literal that `text` begins with, if it does; `None` outside if it does not end.
fn literal(text: &str) -> Option<Option<usize>> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        let rest = text.strip_prefix(*prefix);
        rest.is_some_and(|rest| rest.trim_start_matches(if prefix.ends_with('r') { "#" } else { "" }).starts_with('"'))
    });
    if let Some(prefix) = prefix {
        let rest = &text[prefix.len()..];
        let length = if prefix.ends_with('r') { raw_string(rest)? } else { quoted(rest, '"')? };
        return Some(Some(prefix.len() + length));
    }
    let prefix = usize::from(text.starts_with("b'"));
    let rest = &text[prefix..];
    match rest.strip_prefix('\'') {
        Some(inner) if !is_lifetime(inner) => Some(Some(prefix + quoted(rest, '\'')?)),
        _ => Some(None),
    }
}

/// Whether what follows an apostrophe is a lifetime or label, and not a character.
fn is_lifetime(inner: &str) -> bool {
    let mut characters = inner.chars();
    characters.next().is_some_and(is_start) && characters.next() != Some('\'')
}

/// The length of a raw string with its quotes, from its first `#` or quote on.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let end = format!("\"{}", &text[..hashes]);
    let from = hashes + 1;
    Some(from + text[from..].find(&end)? + end.len())
}

/// The length of a literal in such quotes, whose backslashes escape.
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
        let all: [(&str, &[&str]); 14] = [
            ("use std::fmt;", &["use", "std", "fmt"]),
            ("// std\nfn f() {}", &["fn", "f"]),
            ("/* std /* std */ std */ x", &["x"]),
            ("/**/y /* / * */ z", &["y", "z"]),
            (r#"a("std \" std") b"#, &["a", "b"]),
            (r###"r#"std " std"# b"###, &["b"]),
            (r#"b"std" br"std\" c"std" d"#, &["d"]),
            ("r#std::x", &["std", "x"]),
            ("'a' '\\'' '\\\\' b'\\'' q", &["q"]),
            ("&'std str", &["std", "str"]),
            ("'std: loop { break 'std }", &["std", "loop", "break", "std"]),
            ("['s', 't'] 'ä' e", &["e"]),
            ("r\"\\\" std", &["std"]),
            ("1.0e5f32 + std", &["e5f32", "std"]),
        ];
        for (source, expected) in all {
            assert_eq!(names(source), expected, "{source}");
        }
    }

    #[test]
    fn what_does_not_end_is_not_understood() {
        for source in ["/* /* */", "\"std", "r#\"std\"", "'\\"] {
            assert_eq!(tokens(source), None, "{source}");
        }
    }
}
