//! A check for truncated JPEG files: the decoder would fill the missing part with grey.

/// Returns whether a JPEG has its end marker. Visits marker by marker, because the thumbnail in a header has its own end
/// marker.
pub(crate) fn is_complete(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        // Bytes outside markers are the data of a scan, where 0xff is followed by 0 or the number of a restart.
        let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff | 0xd0..=0xd7);
        let Some(at) = rest.windows(2).position(is_marker) else { return false };
        let marker = rest[at + 1];
        rest = &rest[at + 2..];
        let segment = match (marker, rest) {
            (0xd9, _) => return true,
            (0x01 | 0xd8, _) => 0,
            (_, [high, low, ..]) => usize::from(u16::from_be_bytes([*high, *low])),
            _ => return false,
        };
        let Some(next) = rest.get(segment..) else { return false };
        rest = next;
    }
}
