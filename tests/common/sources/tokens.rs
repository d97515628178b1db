//! Rust source as tokens, each with its line.

/// A name, a number, or another single character. Comments, strings and character literals are omitted. A macro variable is
/// one token: `$name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Line number, from 1.
    pub line: u32,
}

/// Returns the tokens of `source`.
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

/// Returns the number of bytes of the first piece of `rest`, and whether it is a token.
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

/// Returns the number of bytes of the string literal at the start of `rest`.
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

/// Returns the number of bytes of the character literal at the start of `rest`, or `None` if it is a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inside = &rest[1..];
    let first = inside.chars().next()?;
    if first == '\\' {
        return Some(2 + inside[1..].find('\'')? + 1);
    }
    inside[first.len_utf8()..].starts_with('\'').then_some(first.len_utf8() + 2)
}

/// Returns the position of the bracket that closes the one at `open`, or the end if there is none.
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

/// Returns the parts of `tokens` between separators outside of brackets.
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

/// Returns the first position from `start` on that has one of the texts, skipping brackets that open after `start`.
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

/// Returns whether the tokens from `at` on are `texts`.
pub fn matches_at(tokens: &[Token<'_>], at: usize, texts: &[&str]) -> bool {
    tokens.len() >= at + texts.len() && tokens[at..].iter().zip(texts).all(|(token, text)| token.text == *text)
}
