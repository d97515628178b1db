//! PNG and JPEG pictures.

use super::file::{Cause, FileError, Kind, Output};
use super::profile::Profile;
use super::{jpeg, program};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ColorType, DynamicImage, ImageDecoder, ImageEncoder, ImageError, ImageFormat, ImageReader, ImageResult};
use slm::{Buffer2, Device, Element};
use std::borrow::Cow;
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// File formats of pictures.
pub(crate) static KIND: Kind = Kind { what: "a picture", extensions: &["png", "jpg", "jpeg"] };

/// Maximum bytes of the samples of a picture that is read: 4 GiB. The header of a small file can declare any size.
const MOST_BYTES: u64 = 4 << 30;

/// A picture of 8 or 16 bits per channel.
#[derive(Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) color: ColorType,
    pub(crate) profile: Profile,
    /// Pixels in row-major order; samples of 16 bits in native byte order.
    pub(crate) bytes: Vec<u8>,
}

/// What the user of a picture should know, although it was read.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Note {
    #[error("the JPEG lacks its end marker; its pixels are complete")]
    NoEnd,
    #[error("the colour profile is for other channels than those of the decoded picture, and is left out")]
    OtherChannels,
}

/// A type of the samples of pictures.
pub(crate) trait Sample: Element {
    fn of(sample: u16) -> Self;

    /// Returns samples from the bytes of a picture.
    fn of_bytes(bytes: &[u8]) -> Cow<'_, [Self]>;

    /// Returns the bytes of a picture with these samples.
    fn into_bytes(samples: Vec<Self>) -> Vec<u8>;
}

impl Sample for u8 {
    fn of(sample: u16) -> u8 {
        sample as u8
    }

    fn of_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
        bytes.into()
    }

    fn into_bytes(samples: Vec<u8>) -> Vec<u8> {
        samples
    }
}

impl Sample for u16 {
    fn of(sample: u16) -> u16 {
        sample
    }

    fn of_bytes(bytes: &[u8]) -> Cow<'_, [u16]> {
        bytes.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect()
    }

    fn into_bytes(samples: Vec<u16>) -> Vec<u8> {
        samples.into_iter().flat_map(u16::to_ne_bytes).collect()
    }
}

/// Reading.
impl Picture {
    /// Reads a PNG or JPEG. Notes go to standard error.
    pub(crate) fn read(path: &Path) -> Result<Self, FileError> {
        let decoded = fs::read(path).map_err(Cause::from).and_then(|bytes| Self::decode(&bytes));
        let (picture, notes) = decoded.map_err(|cause| cause.at(path))?;
        notes.into_iter().for_each(|note| program::note(path, note));
        Ok(picture)
    }

    /// Decodes a PNG or JPEG, and turns it as its camera was held.
    fn decode(bytes: &[u8]) -> Result<(Self, Vec<Note>), Cause> {
        if bytes.is_empty() {
            return Err(Cause::Empty);
        }
        let format = image::guess_format(bytes).map_err(|_| Cause::NoPicture)?;
        let mut notes = Vec::new();
        let bytes = match format {
            // The decoder would fill the missing part with grey.
            ImageFormat::Jpeg if !jpeg::is_complete(bytes) => {
                notes.push(Note::NoEnd);
                Cow::Owned(jpeg::with_end(bytes).ok_or(Cause::EndsEarly)?)
            }
            ImageFormat::Jpeg | ImageFormat::Png => Cow::Borrowed(bytes),
            _ => return Err(Cause::NoPicture),
        };
        let mut decoder = ImageReader::with_format(Cursor::new(&*bytes), format).into_decoder()?;
        check_size(decoder.dimensions(), decoder.total_bytes())?;
        let (orientation, profile) = (decoder.orientation()?, Profile::new(decoder.icc_profile()?, &bytes));
        let mut image = DynamicImage::from_decoder(decoder)?;
        image.apply_orientation(orientation);
        let (rows, columns, color) = (image.height() as usize, image.width() as usize, image.color());
        // PNG and JPEG have no other sample types.
        if !matches!(color.bytes_per_pixel() / color.channel_count(), 1 | 2) {
            return Err(Cause::NoPicture);
        }
        let fitting = profile.clone().for_channels(color);
        if fitting != profile {
            notes.push(Note::OtherChannels);
        }
        Ok((Picture { rows, columns, color, profile: fitting, bytes: image.into_bytes() }, notes))
    }
}

/// Returns an error for pictures that are too large for memory.
fn check_size((columns, rows): (u32, u32), bytes: u64) -> Result<(), Cause> {
    if bytes > MOST_BYTES {
        return Err(Cause::TooLarge { columns, rows, bytes, limit: MOST_BYTES });
    }
    // The decoder ends the process if there is no memory.
    Vec::<u8>::new().try_reserve_exact(bytes as usize).map_err(|_| Cause::NoMemory { columns, rows, bytes })
}

/// Samples.
impl Picture {
    pub(crate) fn channels(&self) -> usize {
        self.color.channel_count().into()
    }

    /// Returns whether samples have 16 bits.
    pub(crate) fn is_wide(&self) -> bool {
        self.color.bytes_per_pixel() > self.color.channel_count()
    }

    /// Returns the largest sample.
    pub(crate) fn most(&self) -> u16 {
        if self.is_wide() { u16::MAX } else { u8::MAX.into() }
    }

    /// Returns a sample.
    pub(crate) fn sample(&self, [row, column]: [usize; 2], channel: usize) -> u16 {
        let index = (row * self.columns + column) * self.channels() + channel;
        match self.is_wide() {
            true => u16::from_ne_bytes([self.bytes[2 * index], self.bytes[2 * index + 1]]),
            false => self.bytes[index].into(),
        }
    }

    /// Changes a sample.
    pub(crate) fn set_sample(&mut self, [row, column]: [usize; 2], channel: usize, sample: u16) {
        let index = (row * self.columns + column) * self.channels() + channel;
        match self.is_wide() {
            true => self.bytes[2 * index..][..2].copy_from_slice(&sample.to_ne_bytes()),
            false => self.bytes[index] = sample as u8,
        }
    }

    /// Returns the picture with other samples.
    pub(crate) fn with_samples<S: Sample>(&self, samples: Vec<S>) -> Self {
        Picture { bytes: S::into_bytes(samples), profile: self.profile.clone(), ..*self }
    }

    /// Returns the samples on a device. The columns are pixels times channels.
    pub(crate) fn upload<S: Sample>(&self, device: &Device) -> slm::Result<Buffer2<S>> {
        let columns = self.columns * self.channels();
        Buffer2::from_buffer(device.upload(&S::of_bytes(&self.bytes))?, self.rows, columns, columns)
    }

    /// Returns the picture on white paper, if it is transparent.
    pub(crate) fn on_white(self) -> Self {
        let color = match self.color {
            ColorType::La8 => ColorType::L8,
            ColorType::La16 => ColorType::L16,
            ColorType::Rgba8 => ColorType::Rgb8,
            ColorType::Rgba16 => ColorType::Rgb16,
            _ => return self,
        };
        let most = u32::from(self.most());
        let mix = |color: u16, opacity: u32| ((u32::from(color) * opacity + most / 2) / most + most - opacity) as u16;
        let mut opaque = Picture { color, bytes: Vec::new(), profile: self.profile.clone(), ..self };
        opaque.bytes = vec![0; self.rows * self.columns * usize::from(color.bytes_per_pixel())];
        for place in (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| [row, column])) {
            let opacity = self.sample(place, opaque.channels()).into();
            for channel in 0..opaque.channels() {
                opaque.set_sample(place, channel, mix(self.sample(place, channel), opacity));
            }
        }
        opaque
    }
}

/// Writing.
impl Picture {
    /// Returns an error if JPEG cannot store the channels or sample type of the picture.
    pub(crate) fn check_format(&self, output: &Output) -> Result<(), FileError> {
        let fits = format(output) == ImageFormat::Png || matches!(self.color, ColorType::L8 | ColorType::Rgb8);
        if fits { Ok(()) } else { Err(Cause::NotForJpeg(self.color).at(output.path())) }
    }

    /// Writes the picture, if the encoded bytes decode to it. Returns the line that reports the file.
    pub(crate) fn write(&self, output: &Output) -> Result<String, FileError> {
        let format = format(output);
        let wrote = output.write(&self.encode(format).map_err(|cause| cause.at(output.path()))?)?;
        if format == ImageFormat::Jpeg && self.profile.needs_chunks() {
            let note = "a JPEG cannot have the gamma or the colour space of the PNG, so its colours may look different: write a .png";
            program::note(output.path(), note);
        }
        Ok(wrote)
    }

    fn encode(&self, format: ImageFormat) -> Result<Vec<u8>, Cause> {
        let (is_png, mut file) = (format == ImageFormat::Png, Cursor::new(Vec::new()));
        match is_png {
            true => self.encode_by(PngEncoder::new(&mut file))?,
            false => self.encode_by(JpegEncoder::new(&mut file))?,
        }
        let file = if is_png { self.profile.add_chunks(file.into_inner()) } else { file.into_inner() };
        let (read, _) = Self::decode(&file)?;
        // JPEG is lossy, so only the size and the profile can be compared.
        let is_same = match is_png {
            true => read == *self,
            false => {
                let shape = (read.rows, read.columns, &read.profile);
                shape == (self.rows, self.columns, &self.profile.without_chunks())
            }
        };
        if is_same { Ok(file) } else { Err(Cause::ReadsDifferently) }
    }

    fn encode_by(&self, mut encoder: impl ImageEncoder) -> ImageResult<()> {
        if let Some(icc) = &self.profile.icc {
            encoder.set_icc_profile(icc.clone()).map_err(ImageError::Unsupported)?;
        }
        encoder.write_image(&self.bytes, self.columns as u32, self.rows as u32, self.color.into())
    }
}

/// Returns the format of a file with one of the extensions of [`KIND`].
fn format(output: &Output) -> ImageFormat {
    ImageFormat::from_path(output.path()).unwrap_or(ImageFormat::Png)
}
