//! Parts of a case, such as `f32 n=1x1024 axis=1 taps=3`.

/// Returns the text after `key=`.
pub(super) fn text<'a>(case: &'a str, key: &str) -> Option<&'a str> {
    case.split_whitespace().find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
}

/// Returns the number after `key=`.
pub(super) fn number(case: &str, key: &str) -> Option<u64> {
    text(case, key)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_their_keys() {
        let case = "even f32 n=1x1024 axis=1 taps=33 bins=2^10";
        assert_eq!(text(case, "n"), Some("1x1024"));
        assert_eq!(number(case, "taps"), Some(33));
        assert_eq!(number(case, "n"), None);
        assert_eq!(number(case, "s"), None);
        assert_eq!(number(case, "stride"), None);
    }
}
