//! Contact sheets: small copies of pictures in rows, with labels.
//!
//! ```text
//! camera.png, 512 x 512
//! original    gaussian 4   edges
//! +-------+   +-------+   +-------+
//! |       |   |       |   |       |
//! +-------+   +-------+   +-------+
//! ```
//!
//! A sheet has the colour profile of its pictures, if they all have the same, and it is for RGB: a small copy consists of the numbers of
//! its picture.

use super::picture::Picture;
use super::profile::Profile;
use super::text::{LETTER, write};
use image::imageops::{replace, thumbnail};
use image::{ColorType, Rgb, RgbImage};

/// Longest side of a small copy, in pixels.
const CELL: u32 = 256;

/// Space around the copies and lines of text.
const SPACE: u32 = 12;

/// Paper: light grey, so that white parts of pictures have a border.
const PAPER: Rgb<u8> = Rgb([224; 3]);

/// Pictures in rows.
#[derive(Default)]
pub(crate) struct Sheet {
    rows: Vec<Row>,
    /// The different profiles of the pictures.
    profiles: Vec<Profile>,
}

struct Row {
    title: String,
    cells: Vec<(String, RgbImage)>,
}

impl Sheet {
    /// Begins a row.
    pub(crate) fn begin_row(&mut self, title: String) {
        self.rows.push(Row { title, cells: Vec::new() });
    }

    /// Adds a small copy of an opaque picture to the last row.
    pub(crate) fn add(&mut self, label: String, picture: &Picture) {
        if let Some(row) = self.rows.last_mut() {
            row.cells.push((label, small(picture)));
        }
        if !self.profiles.contains(&picture.profile) {
            self.profiles.push(picture.profile.clone());
        }
    }

    /// Returns the profile of the sheet.
    fn profile(&self) -> Profile {
        match &self.profiles[..] {
            [profile] => profile.clone().for_channels(ColorType::Rgb8),
            _ => Profile::default(),
        }
    }

    /// Returns whether pictures have other colours than the sheet.
    pub(crate) fn changes_colors(&self) -> bool {
        let profile = self.profile();
        let is_same = |picture: &Profile| *picture == profile || (picture.is_srgb() && profile.is_srgb());
        !self.profiles.iter().all(is_same)
    }

    /// Returns the sheet as a picture.
    pub(crate) fn draw(&self) -> Picture {
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0) as u32;
        let [width, height] =
            [SPACE + columns * (CELL + SPACE), SPACE + self.rows.iter().map(Row::height).sum::<u32>()];
        let (mut paper, mut y) = (RgbImage::from_pixel(width, height, PAPER), SPACE);
        for row in &self.rows {
            row.draw(&mut paper, y);
            y += row.height();
        }
        let [rows, columns] = [height, width].map(|length| length as usize);
        Picture { rows, columns, color: ColorType::Rgb8, profile: self.profile(), bytes: paper.into_raw() }
    }
}

impl Row {
    /// Returns the height with the space below.
    fn height(&self) -> u32 {
        let highest = self.cells.iter().map(|(_, cell)| cell.height()).max().unwrap_or(0);
        2 * (LETTER + SPACE / 2) + highest + 2 * SPACE
    }

    fn draw(&self, paper: &mut RgbImage, y: u32) {
        let width = paper.width() - 2 * SPACE;
        write(paper, [SPACE, y], width, &self.title);
        let labels = y + LETTER + SPACE / 2;
        for (x, (label, cell)) in (SPACE..).step_by((CELL + SPACE) as usize).zip(&self.cells) {
            write(paper, [x, labels], CELL, label);
            replace(paper, cell, x.into(), (labels + LETTER + SPACE / 2).into());
        }
    }
}

/// Returns a copy of 8 bits per colour that fits into a cell. Small pictures are not enlarged.
fn small(picture: &Picture) -> RgbImage {
    let most = u32::from(picture.most());
    let to_8_bits = |sample: u16| ((u32::from(sample) * 255 + most / 2) / most) as u8;
    // Grey is its own red, green and blue.
    let channel = |color: usize| color.min(picture.channels() - 1);
    let places = (0..picture.rows).flat_map(|row| (0..picture.columns).map(move |column| [row, column]));
    let pixel = |place| [0, 1, 2].map(|color| to_8_bits(picture.sample(place, channel(color))));
    let bytes: Vec<u8> = places.flat_map(pixel).collect();
    let [width, height] = [picture.columns as u32, picture.rows as u32];
    let image = RgbImage::from_raw(width, height, bytes).expect("three bytes for every pixel");
    let longest = width.max(height);
    if longest <= CELL {
        return image;
    }
    let scaled = |side: u32| (u64::from(side) * u64::from(CELL) / u64::from(longest)).max(1) as u32;
    thumbnail(&image, scaled(width), scaled(height))
}
