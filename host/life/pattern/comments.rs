//! Names and comments, in lines of limited length.

/// Maximum number of characters of a line: 70 with `#`, a letter and a space before them.
const LENGTH: usize = 67;

/// Divides a text into lines, where it has ends of lines and, if they are too long, at spaces. Lines have no spaces at either
/// end and no control characters. Lines of this form stay as they are.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.split('\n').flat_map(wrapped).collect()
}

fn wrapped(line: &str) -> Vec<String> {
    let printable: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let (mut rest, mut lines) = (printable.trim(), Vec::new());
    while let Some((end, _)) = rest.char_indices().nth(LENGTH) {
        let (line, after) = divided(rest, end);
        lines.push(line.to_owned());
        rest = after;
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}

/// Divides a text at the last space before `end` or at `end`, and leaves out spaces there. Without such a space, `end` is where
/// the text is divided.
fn divided(text: &str, end: usize) -> (&str, &str) {
    let is_space_at_end = text[end..].starts_with(char::is_whitespace);
    let at = if is_space_at_end { end } else { text[..end].rfind(char::is_whitespace).unwrap_or(end) };
    (text[..at].trim_end(), text[at..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_divided_at_spaces() {
        assert_eq!(lines(""), [""]);
        assert_eq!(lines(" one\t two \r\n\n three"), ["one  two", "", "three"]);
        let text = "x".repeat(66) + " y z";
        assert_eq!(lines(&text), ["x".repeat(66).as_str(), "y z"]);
        let text = "x".repeat(67) + " y";
        assert_eq!(lines(&text), ["x".repeat(67).as_str(), "y"]);
        let text = "ä".repeat(150);
        assert_eq!(lines(&text), [67, 67, 16].map(|len| "ä".repeat(len)));
        assert_eq!(lines(&"x".repeat(67)), ["x".repeat(67)]);
    }
}
