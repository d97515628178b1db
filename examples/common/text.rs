//! Text in pictures, with letters of 8 x 8 dots.

use font8x8::legacy::BASIC_LEGACY;
use image::{Rgb, RgbImage};

/// Pixels per dot of a letter, in rows and columns.
const DOT: u32 = 2;

/// Rows of pixels of a line, and columns of a letter.
pub(crate) const LETTER: u32 = 8 * DOT;

/// Writes as many letters as fit into a width, in black. Letters that are not ASCII become question marks.
pub(crate) fn write(picture: &mut RgbImage, [x, y]: [u32; 2], width: u32, text: &str) {
    for (i, letter) in (0..width / LETTER).zip(text.chars()) {
        let glyph = BASIC_LEGACY.get(letter as usize).unwrap_or(&BASIC_LEGACY[b'?' as usize]);
        for (row, dots) in (0..).zip(glyph) {
            // The lowest bit is on the left.
            for column in (0..8).filter(|column| dots >> column & 1 == 1) {
                fill(picture, [x + i * LETTER + column * DOT, y + row * DOT]);
            }
        }
    }
}

/// Fills a dot.
fn fill(picture: &mut RgbImage, [x, y]: [u32; 2]) {
    for place in 0..DOT * DOT {
        picture.put_pixel(x + place % DOT, y + place / DOT, Rgb([0; 3]));
    }
}
