//! A check for truncated JPEG files: the decoder would fill the missing part with grey.

use image::{DynamicImage, ImageFormat};
use std::iter;

/// Markers of the ends of pictures, and of the beginnings of pictures, scans and restarts.
const END: u8 = 0xd9;
const START: u8 = 0xd8;
const SCAN: u8 = 0xda;
const RESTARTS: std::ops::RangeInclusive<u8> = 0xd0..=0xd7;

/// Returns whether a JPEG has its end marker. Visits marker by marker, because the thumbnail in a header has its own end
/// marker.
pub(crate) fn is_complete(bytes: &[u8]) -> bool {
    segments(bytes).any(|(marker, _)| marker == END)
}

/// Returns the markers with their segments, without the data of scans. They end with the end marker, and where bytes are
/// missing.
fn segments(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = Some(bytes);
    iter::from_fn(move || {
        let bytes = rest.take()?;
        // Bytes outside markers are the data of a scan, where 0xff is followed by 0 or the number of a restart.
        let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff) && !RESTARTS.contains(&pair[1]);
        let at = bytes.windows(2).position(is_marker)?;
        let (marker, after) = (bytes[at + 1], &bytes[at + 2..]);
        let length = match (marker, after) {
            (END, _) => return Some((marker, &after[..0])),
            (0x01 | START, _) => 0,
            (_, [high, low, ..]) => usize::from(u16::from_be_bytes([*high, *low])),
            _ => return None,
        };
        rest = after.get(length..);
        Some((marker, after.get(2..length).unwrap_or_default())).filter(|_| rest.is_some())
    })
}

/// Returns a JPEG that lacks only its end marker, with the marker. `None` if it lacks data of pixels too.
///
/// A decoder that needs more data reads what follows as if it were data. So the pixels are all there if they do not depend on what
/// follows. A progressive picture must also have all of its scans.
pub(crate) fn with_end(bytes: &[u8]) -> Option<Vec<u8>> {
    // The first byte of the end marker may be there.
    let data = &bytes[..bytes.iter().rposition(|&byte| byte != 0xff)? + 1];
    if !has_all_scans(data) {
        return None;
    }
    let ended = |between: &[u8]| [data, &between.repeat(FOLLOWING), &[0xff, END]].concat();
    let decoded = |bytes: Vec<u8>| image::load_from_memory_with_format(&bytes, ImageFormat::Jpeg).ok();
    let pixels = decoded(ended(&[]))?;
    let is_same =
        |following: &&[u8]| decoded(ended(following)).as_ref().map(DynamicImage::as_bytes) == Some(pixels.as_bytes());
    PATTERNS.iter().all(is_same).then(|| ended(&[]))
}

/// Data of scans that differ in each bit. A byte of 0xff is followed by 0 there.
const PATTERNS: [&[u8]; 4] = [&[0], &[0xff, 0], &[0x55], &[0xaa]];

/// Repetitions of a pattern: more data than a block of pixels has.
const FOLLOWING: usize = 256;

/// Number of coefficients of a block.
const COEFFICIENTS: usize = 64;

/// Maximum number of components of a picture that is decoded. A header can declare 255.
const MOST_COMPONENTS: usize = 4;

/// Returns whether scans have all bits of all coefficients.
fn has_all_scans(bytes: &[u8]) -> bool {
    // The components of the picture, with the coefficients that are complete.
    let mut components: Vec<(u8, [bool; COEFFICIENTS])> = Vec::new();
    let mut is_progressive = false;
    for (marker, segment) in segments(bytes) {
        match marker {
            // Of the markers of frames, three are none.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                is_progressive = marker == 0xc2;
                let all = segment.get(6..).unwrap_or_default().chunks_exact(3);
                // The rest of the segment may be long, and each scan looks for all components.
                let all = all.take(MOST_COMPONENTS + 1);
                components = all.map(|component| (component[0], [false; COEFFICIENTS])).collect();
                if components.len() > MOST_COMPONENTS {
                    return false;
                }
            }
            SCAN => {
                let Some(scan) = Scan::new(segment, is_progressive) else { return false };
                let present = components.iter_mut().filter(|(component, _)| scan.has(*component));
                present.for_each(|(_, complete)| complete[scan.first..=scan.last].fill(scan.is_last));
            }
            _ => {}
        }
    }
    !components.is_empty() && components.iter().all(|(_, complete)| !complete.contains(&false))
}

/// The header of a scan.
struct Scan<'a> {
    /// Components, each with its tables.
    components: &'a [u8],
    /// First and last coefficient.
    first: usize,
    last: usize,
    /// Whether it has the lowest bits.
    is_last: bool,
}

impl<'a> Scan<'a> {
    fn new(segment: &'a [u8], is_progressive: bool) -> Option<Self> {
        let (&count, rest) = segment.split_first()?;
        let (components, rest) = rest.split_at_checked(2 * usize::from(count))?;
        let &[first, last, bits, ..] = rest else { return None };
        // Other pictures have all coefficients in one scan, whatever the header says.
        if !is_progressive {
            return Some(Scan { components, first: 0, last: COEFFICIENTS - 1, is_last: true });
        }
        let (first, last) = (usize::from(first), usize::from(last));
        (first <= last && last < COEFFICIENTS).then_some(Scan { components, first, last, is_last: bits & 15 == 0 })
    }

    fn has(&self, component: u8) -> bool {
        self.components.chunks_exact(2).any(|pair| pair[0] == component)
    }
}
