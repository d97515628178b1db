//! Where samples near the edges of a picture are, as 32-bit numbers for shared memory.

use super::Axis;

/// The source of the constant outside. Others are positions in a row, counted from its end if they are negative.
pub(super) const OUTSIDE: i32 = i32::MIN;

/// The source of a word that is not needed, or that is the constant zero.
pub(super) const NOTHING: i32 = i32::MIN + 1;

/// The position of what has no place: beyond all memory, so that zeros are loaded.
pub(super) const NONE: u64 = 1 << 62;

/// Pixels of a row whose positions are counted from its beginning.
const NEAR: u64 = 1 << 28;

/// Returns the source of element `element` of a row of pixels of `channels` elements, which is near an edge of the picture.
#[inline(always)]
pub(super) fn source(columns: &Axis, channels: usize, element: i64) -> i32 {
    let (pixel, channel) = (element.div_euclid(channels as i64), element.rem_euclid(channels as i64));
    // Less than 2^31 from one of the ends: a border repeats samples near an edge.
    match columns.source(pixel) {
        Some(pixel) if pixel < NEAR => (pixel as i64 * channels as i64 + channel) as i32,
        Some(pixel) => (pixel as i64 * channels as i64 + channel - width(columns, channels)) as i32,
        None => OUTSIDE,
    }
}

/// Returns the place of a source in a row of `width` elements that begins at `line`, or [`NONE`].
#[inline(always)]
pub(super) fn place(source: i32, line: u64, width: i64) -> u64 {
    match source {
        OUTSIDE | NOTHING => NONE,
        _ if source < 0 => line.wrapping_add(width as u64).wrapping_add_signed(source as i64),
        _ => line.wrapping_add(source as u64),
    }
}

/// Returns the elements of a row of samples.
#[inline(always)]
pub(super) fn width(columns: &Axis, channels: usize) -> i64 {
    (columns.samples * channels as u64) as i64
}
