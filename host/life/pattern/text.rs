//! The text of a file: its encoding, and formats that are not read.

use super::cursor::BYTE_ORDER_MARK;
use crate::life::LifeError;
use crate::{Error, Result};
use std::borrow::Cow;

/// Starts of files that are not read: what they are, and what to do with them.
const OTHERS: [(&[u8], &str, &str); 13] = [
    (b"[M2]", "a macrocell file of Golly", RLE),
    (b"#MCell", "an MCell file", RLE),
    (b"#MCLife", "an MCell file", RLE),
    (b"#GAME", "an MCell file", RLE),
    (b"@RULE", "a rule file of Golly", PATTERN),
    (b"<", "an HTML or XML page", "download the file that the page links to"),
    (b"\x1f\x8b", "a gzip file", "decompress it first"),
    (b"PK\x03\x04", "a ZIP archive", "extract the pattern first"),
    (b"\xff\xfe", "text in UTF-16", UTF_8),
    (b"\xfe\xff", "text in UTF-16", UTF_8),
    (b"\x89PNG", "a PNG picture", PATTERN),
    (b"GIF8", "a GIF picture", PATTERN),
    (b"\xff\xd8\xff", "a JPEG picture", PATTERN),
];

const RLE: &str = "save it as .rle, for instance with Golly";
const PATTERN: &str = "use a file with a pattern";
const UTF_8: &str = "save it as UTF-8";

/// Returns the text of a file. Lines that are not UTF-8 are read as Latin-1, in which each byte is a character.
pub(super) fn of(bytes: &[u8]) -> Result<Cow<'_, str>> {
    check(bytes)?;
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(Cow::Borrowed(text));
    }
    // A character of Latin-1 has at most two bytes in UTF-8.
    let (mut text, most) = (String::new(), bytes.len().saturating_mul(2));
    text.try_reserve_exact(most).map_err(|_| Error::OutOfHostMemory { requested: most as u64 })?;
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK.encode_utf8(&mut [0; 3]).as_bytes()).unwrap_or(bytes);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match std::str::from_utf8(line) {
            Ok(line) => text.push_str(line),
            Err(_) => text.extend(line.iter().copied().map(char::from)),
        }
    }
    Ok(Cow::Owned(text))
}

/// Returns an error if a file or a text begins as those of another format.
pub(super) fn check(bytes: &[u8]) -> Result<()> {
    let start =
        bytes.strip_prefix(BYTE_ORDER_MARK.encode_utf8(&mut [0; 3]).as_bytes()).unwrap_or(bytes).trim_ascii_start();
    let known = OTHERS.iter().find(|(other, ..)| start.starts_with(other));
    let apgcode = matches!(start, [b'x', b's' | b'p' | b'q', b'0'..=b'9', ..]).then_some(("an apgcode", RLE));
    match known.map(|(_, format, advice)| (*format, *advice)).or(apgcode) {
        Some((format, advice)) => Err(LifeError::PatternFormat { format, advice }.into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_utf_8_or_latin_1() {
        assert!(matches!(of("ä\n".as_bytes()), Ok(Cow::Borrowed("ä\n"))));
        assert_eq!(of(b"\xe4\r\n\xc3\xa4\n\x80\xff").unwrap(), "ä\r\nä\n\u{80}ÿ");
        assert_eq!(of(b"\xef\xbb\xbf#\xe4\n").unwrap(), "#ä\n");
        assert_eq!(of(b"").unwrap(), "");
    }

    #[test]
    fn other_formats_begin_after_spaces() {
        assert!(check(b" \r\n\tx = 3, y = 3\n").is_ok() && check(b"xo!").is_ok());
        for text in ["\u{feff}[M2] (golly 4.0)", "\n\n<!DOCTYPE html>", "xs4_33", "xp2_7"] {
            assert!(check(text.as_bytes()).is_err(), "{text}");
        }
    }
}
