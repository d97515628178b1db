//! Colour profiles: which colours the numbers of a picture stand for. The examples compute with the numbers, so a result stands for
//! colours in the same way as its input, and has the same profile.
//!
//! | in the input | in a PNG | in a JPEG |
//! |---|---|---|
//! | ICC profile | kept | kept |
//! | chunks `cICP`, `sRGB`, `gAMA` and `cHRM` of a PNG | kept | left out, with a note unless the colours stay those of the picture |
//! | ICC profile for other colours, such as those of a CMYK picture, which is converted to RGB | left out | left out |

use image::ColorType;

/// A colour profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Profile {
    /// The ICC profile.
    pub(crate) icc: Option<Vec<u8>>,
    /// Chunks of a PNG: [`CHUNKS`], whole, as many of them as there are.
    pub(crate) chunks: [Option<Vec<u8>>; 4],
}

/// The chunks that are kept, and the lengths of their data.
const CHUNKS: [(&[u8; 4], usize); 4] = [(b"cICP", 4), (b"sRGB", 1), (b"gAMA", 4), (b"cHRM", 32)];

/// Bytes of the signature of a PNG, and of its first chunk.
const HEADER: usize = 8 + 25;

impl Profile {
    /// Returns the profile of a file: its ICC profile, and its chunks if it is a PNG.
    pub(crate) fn new(icc: Option<Vec<u8>>, file: &[u8]) -> Self {
        let is_png = file.starts_with(b"\x89PNG");
        Profile {
            icc,
            chunks: if is_png { chunks(file).map(|chunk| chunk.map(<[u8]>::to_vec)) } else { Default::default() },
        }
    }

    /// Returns the profile for pictures with these channels, without an ICC profile that is for others.
    pub(crate) fn for_channels(self, color: ColorType) -> Self {
        let space = if color.has_color() { b"RGB " } else { b"GRAY" };
        // Bytes 16 to 19 of an ICC profile are its colour space.
        Profile { icc: self.icc.filter(|icc| icc.get(16..20) == Some(space)), ..self }
    }

    /// Returns a PNG with the chunks.
    pub(crate) fn add_chunks(&self, mut png: Vec<u8>) -> Vec<u8> {
        let at = HEADER.min(png.len());
        png.splice(at..at, self.chunks.iter().flatten().flatten().copied());
        png
    }

    /// Returns what a JPEG has.
    pub(crate) fn without_chunks(&self) -> Self {
        Profile { icc: self.icc.clone(), chunks: Default::default() }
    }

    /// Returns whether the colours are those of sRGB, as those of a file without a profile.
    pub(crate) fn is_srgb(&self) -> bool {
        let [code_points, srgb, gamma, chromaticities] = self.chunks.each_ref().map(Option::is_some);
        match &self.icc {
            _ if code_points => false,
            Some(icc) => has_name_of_srgb(icc),
            None => srgb || !(gamma || chromaticities),
        }
    }

    /// Returns whether the colours change if only the ICC profile is kept.
    pub(crate) fn needs_chunks(&self) -> bool {
        let [code_points, ..] = &self.chunks;
        code_points.is_some() || (self.icc.is_none() && !self.is_srgb())
    }
}

/// Returns whether an ICC profile has the name of the usual profile for sRGB: in ASCII, or in UTF-16 since version 4.
fn has_name_of_srgb(icc: &[u8]) -> bool {
    const NAME: &[u8] = b"sRGB IEC61966-2.1";
    let wide: Vec<u8> = NAME.iter().flat_map(|&letter| [0, letter]).collect();
    [NAME, &wide].iter().any(|name| icc.windows(name.len()).any(|part| part == *name))
}

/// Returns the [`CHUNKS`] of a PNG. Each must be before the pixels, and whole.
fn chunks(png: &[u8]) -> [Option<&[u8]>; 4] {
    let (mut found, mut rest) = ([None; 4], png.get(8..).unwrap_or_default());
    while let Some((length, _)) = rest.split_first_chunk() {
        // With its length, name and check sum.
        let length = (u32::from_be_bytes(*length) as usize).saturating_add(12);
        let Some((chunk, others)) = rest.split_at_checked(length) else { break };
        if &chunk[4..8] == b"IDAT" {
            break;
        }
        for (found, (name, data)) in found.iter_mut().zip(CHUNKS) {
            let is_it = &chunk[4..8] == name && length == data + 12 && is_intact(chunk);
            *found = found.or(is_it.then_some(chunk));
        }
        rest = others;
    }
    found
}

/// Returns whether the check sum of a chunk is right.
fn is_intact(chunk: &[u8]) -> bool {
    let Some((data, sum)) = chunk.split_last_chunk() else { return false };
    let shift = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    let crc = data[4..].iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), shift));
    !crc == u32::from_be_bytes(*sum)
}
