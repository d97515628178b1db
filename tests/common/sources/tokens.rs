//! Rust source as names and marks, each with its line.

/// A name, a number, or one other character; comments, strings and characters are left out. A variable of a macro is one
/// token: `$name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Numbered from 1.
    pub line: u32,
}

/// Takes `source` apart.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), source, 1);
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = piece(rest, first);
        let (text, after) = rest.split_at(length);
        if is_token {
            tokens.push(Token { text, line });
        }
        line += text.matches('\n').count() as u32;
        rest = after;
    }
    tokens
}

/// The bytes of the piece that `rest` begins with, and whether it is a token.
fn piece(rest: &str, first: char) -> (usize, bool) {
    let name = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if rest.starts_with("//") {
        (rest.find('\n').unwrap_or(rest.len()), false)
    } else if first == '"' {
        (string(rest), false)
    } else if first == '\'' {
        (character(rest).unwrap_or(1), false)
    } else if first.is_whitespace() {
        (first.len_utf8(), false)
    } else if first == '$' && name(&rest[1..]) > 0 {
        (1 + name(&rest[1..]), true)
    } else {
        (name(rest).max(first.len_utf8()), true)
    }
}

/// The bytes of a string.
fn string(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The bytes of a character; `None` if it is the tick of a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inside = &rest[1..];
    let first = inside.chars().next()?;
    if first == '\\' {
        return Some(2 + inside[1..].find('\'')? + 1);
    }
    inside[first.len_utf8()..].starts_with('\'').then_some(first.len_utf8() + 2)
}

/// The place of the bracket that closes the one at `open`; the end if none does.
pub fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// The parts of `tokens` between separators that stand in no bracket.
pub fn split<'a, 't>(tokens: &'a [Token<'t>], separator: &str) -> Vec<&'a [Token<'t>]> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < tokens.len() {
        if tokens[at].text == separator {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
        at = if matches!(tokens[at].text, "(" | "[" | "{") { closing(tokens, at) } else { at } + 1;
    }
    parts.push(&tokens[start.min(tokens.len())..]);
    parts
}

/// The first place from `start` on, in no bracket that begins behind it, where one of these texts stands.
pub fn find(tokens: &[Token<'_>], start: usize, texts: &[&str]) -> Option<usize> {
    let mut at = start;
    while !texts.contains(&tokens.get(at)?.text) {
        at = if matches!(tokens[at].text, "(" | "[" | "{") { closing(tokens, at) } else { at } + 1;
    }
    Some(at)
}

/// Returns the number of arguments or parameters between two parentheses. Commas in `::<…>` do not count and, if `types` excludes
/// comparisons, neither do commas in any `<…>`.
pub fn count(tokens: &[Token<'_>], types: bool) -> usize {
    let (mut at, mut commas, mut depth) = (0, 0, 0);
    while at < tokens.len() {
        let is_after = |text| at > 0 && tokens[at - 1].text == text;
        match tokens[at].text {
            "<" if types || depth > 0 || is_after(":") => depth += 1,
            ">" if depth > 0 && !is_after("-") => depth -= 1,
            "," if depth == 0 && at + 1 < tokens.len() => commas += 1,
            _ => {}
        }
        at = if matches!(tokens[at].text, "(" | "[" | "{") { closing(tokens, at) } else { at } + 1;
    }
    commas + usize::from(!tokens.is_empty())
}

/// Whether these texts stand at `at`.
pub fn stands(tokens: &[Token<'_>], at: usize, texts: &[&str]) -> bool {
    tokens.len() >= at + texts.len() && tokens[at..].iter().zip(texts).all(|(token, text)| token.text == *text)
}
