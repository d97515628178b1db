//! Pictures of boards of the Game of Life: for files and for the terminal.

use super::file::Cause;
use super::picture::Picture;
use super::profile::Profile;
use image::codecs::gif::{GifDecoder, GifEncoder, Repeat};
use image::{AnimationDecoder, ColorType, Delay, Frame, GrayImage, ImageResult, RgbaImage};
use ndarray::{Array2, ArrayView1};
use slm::life::Board;
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Cursor, Write};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// Least length of the longer side of a picture, in pixels, unless a cell would be larger than [`LARGEST`].
const LEAST: usize = 512;

/// Largest side of a cell, in pixels.
const LARGEST: usize = 16;

/// Time of a frame in an animation.
const FRAME: Duration = Duration::from_millis(50);

/// Words of a board that are read or written at a time, unless a row has more: 1 MiB.
const BAND: usize = 1 << 17;

/// Returns all rows of a board in bands, because a board may be larger than what memory has room for besides.
pub(crate) fn bands(board: &Board) -> impl Iterator<Item = Range<usize>> + use<> {
    let (rows, width) = (board.rows(), board.columns().div_ceil(64));
    let count = (BAND / width).max(1);
    (0..rows).step_by(count).map(move |first| first..rows.min(first + count))
}

/// Returns a black and white picture of a board whose sides have at most `most` pixels. Cells of small boards have several
/// pixels. If a pixel has several cells, it is the darker, the more of them are alive, and at least grey if one is.
pub(crate) fn picture(board: &Board, most: usize) -> slm::Result<Picture> {
    let longest = board.rows().max(board.columns());
    let (side, scale) = (longest.div_ceil(most), (LEAST / longest).clamp(1, LARGEST));
    let squares = squares(board, side)?;
    let cells = (side * side) as f64;
    let grey = |count: u64| if count == 0 { 255 } else { 127 - (127.0 * count as f64 / cells).round() as u8 };
    let (rows, columns) = (squares.nrows() * scale, squares.ncols() * scale);
    let pixels = Array2::from_shape_fn((rows, columns), |(r, c)| grey(squares[[r / scale, c / scale]]));
    let (bytes, _) = pixels.into_raw_vec_and_offset();
    Ok(Picture { rows, columns, color: ColorType::L8, profile: Profile::default(), bytes })
}

/// Returns at most `lines` lines of at most `letters` Braille letters, which have two columns and four rows of dots. If a dot
/// has several cells, it shows whether any is alive.
pub(crate) fn dots(board: &Board, letters: usize, lines: usize) -> slm::Result<String> {
    /// The bits of a letter, row by row.
    const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let side = board.columns().div_ceil(2 * letters).max(board.rows().div_ceil(4 * lines));
    let squares = squares(board, side)?;
    let mut bits = Array2::<u32>::zeros((squares.nrows().div_ceil(4), squares.ncols().div_ceil(2)));
    for ((row, column), _) in squares.indexed_iter().filter(|(_, count)| **count > 0) {
        bits[[row / 4, column / 2]] |= DOTS[row % 4][column % 2];
    }
    let letter = |bits: &u32| char::from_u32(0x2800 + bits).unwrap_or(' ');
    let lines = bits.rows().into_iter().flat_map(|row| row.into_iter().map(letter).chain(['\n']).collect::<Vec<_>>());
    Ok(lines.collect())
}

/// Returns the number of living cells in each square of `side` cells. The last squares may be smaller.
fn squares(board: &Board, side: usize) -> slm::Result<Array2<u64>> {
    let columns = board.columns();
    let mut squares = Array2::zeros((board.rows().div_ceil(side), columns.div_ceil(side)));
    for rows in bands(board) {
        for (row, words) in rows.clone().zip(board.words_of_rows(rows)?.rows()) {
            for (k, count) in squares.row_mut(row / side).iter_mut().enumerate() {
                *count += alive(&words, k * side, ((k + 1) * side).min(columns));
            }
        }
    }
    Ok(squares)
}

/// Returns the number of living cells in columns `first` to `end - 1` of a row.
fn alive(words: &ArrayView1<'_, u64>, first: usize, end: usize) -> u64 {
    let of_word = |k: usize| {
        let (from, to) = (first.max(64 * k) - 64 * k, end.min(64 * k + 64) - 64 * k);
        let cells = words[k] >> from & u64::MAX >> (64 - (to - from));
        u64::from(cells.count_ones())
    };
    (first / 64..end.div_ceil(64)).map(of_word).sum()
}

/// An animated GIF of grey pictures, which have the same size. It starts again at its end.
///
/// Each picture is encoded when it is added, because many of them would need much memory.
pub(crate) struct Animation {
    encoder: GifEncoder<SharedFile>,
    file: SharedFile,
    /// Hashes of the frames.
    frames: Vec<u64>,
}

impl Animation {
    pub(crate) fn new() -> Result<Self, Cause> {
        let file = SharedFile::default();
        let mut encoder = GifEncoder::new(file.clone());
        encoder.set_repeat(Repeat::Infinite)?;
        Ok(Animation { encoder, file, frames: Vec::new() })
    }

    pub(crate) fn add(&mut self, picture: &Picture) -> Result<(), Cause> {
        let frame = frame(picture);
        self.frames.push(hash(&frame));
        Ok(self.encoder.encode_frame(frame)?)
    }

    /// Returns the file, if the frames decode to what was added.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Cause> {
        // Writes the end of the file.
        drop(self.encoder);
        let file = self.file.0.take();
        // Greys are few colours, so the file has the same ones.
        let frames = GifDecoder::new(Cursor::new(&file))?.into_frames();
        let read = frames.map(|frame| frame.map(|frame| hash(&frame))).collect::<ImageResult<Vec<_>>>()?;
        if read == self.frames { Ok(file) } else { Err(Cause::ReadsDifferently) }
    }
}

/// A file in memory with several handles, because the encoder does not return the one that it has.
#[derive(Clone, Default)]
struct SharedFile(Rc<RefCell<Vec<u8>>>);

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hash(frame: &Frame) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(frame.buffer());
    hasher.finish()
}

fn frame(picture: &Picture) -> Frame {
    let [width, height] = [picture.columns as u32, picture.rows as u32];
    let grey = GrayImage::from_raw(width, height, picture.bytes.clone()).expect("a byte for every pixel");
    let image: RgbaImage = image::DynamicImage::ImageLuma8(grey).into_rgba8();
    Frame::from_parts(image, 0, 0, Delay::from_saturating_duration(FRAME))
}
