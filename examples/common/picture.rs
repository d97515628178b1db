//! PNG and JPEG pictures.

use super::file::{Cause, FileError, Kind, Output};
use super::jpeg;
use image::{ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use ndarray::Array2;
use slm::{Buffer2, Device, Element};
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// File formats of pictures.
pub(crate) static KIND: Kind = Kind { what: "a picture", extensions: &["png", "jpg", "jpeg"] };

/// A picture of 8 or 16 bits per channel.
#[derive(PartialEq)]
pub(crate) struct Picture {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) color: ColorType,
    /// Pixels in row-major order; samples of 16 bits in native byte order.
    pub(crate) bytes: Vec<u8>,
}

/// A type of the samples of pictures.
pub(crate) trait Sample: Element + Into<u16> {
    fn of(sample: u16) -> Self;
}

impl Sample for u8 {
    fn of(sample: u16) -> Self {
        sample as u8
    }
}

impl Sample for u16 {
    fn of(sample: u16) -> Self {
        sample
    }
}

impl Picture {
    pub(crate) fn read(path: &Path) -> Result<Self, FileError> {
        let picture = fs::read(path).map_err(Cause::from).and_then(|bytes| Self::decode(&bytes));
        picture.map_err(|cause| cause.at(path))
    }

    /// Decodes a PNG or JPEG, and turns it as its camera was held.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Cause> {
        let format = image::guess_format(bytes).map_err(|_| Cause::NoPicture)?;
        match format {
            // The decoder would fill the missing part with grey.
            ImageFormat::Jpeg if !jpeg::is_complete(bytes) => return Err(Cause::EndsEarly),
            ImageFormat::Jpeg | ImageFormat::Png => {}
            _ => return Err(Cause::NoPicture),
        }
        let mut decoder = ImageReader::with_format(Cursor::new(bytes), format).into_decoder()?;
        // A header can declare more pixels than fit into memory.
        Limits::default().reserve(decoder.total_bytes())?;
        let orientation = decoder.orientation()?;
        let mut image = DynamicImage::from_decoder(decoder)?;
        image.apply_orientation(orientation);
        let (rows, columns, color) = (image.height() as usize, image.width() as usize, image.color());
        let bytes = image.into_bytes();
        // PNG and JPEG have no other sample types.
        let is_known = matches!(color.bytes_per_pixel() / color.channel_count(), 1 | 2);
        if is_known { Ok(Picture { rows, columns, color, bytes }) } else { Err(Cause::NoPicture) }
    }

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

    pub(crate) fn samples(&self) -> Vec<u16> {
        match self.is_wide() {
            true => self.bytes.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect(),
            false => self.bytes.iter().copied().map(u16::from).collect(),
        }
    }

    /// Returns the picture with other samples.
    pub(crate) fn with_samples(&self, samples: impl Iterator<Item = u16>) -> Self {
        let bytes = match self.is_wide() {
            true => samples.flat_map(u16::to_ne_bytes).collect(),
            false => samples.map(|sample| sample as u8).collect(),
        };
        Picture { bytes, ..*self }
    }

    /// Returns a channel as numbers.
    pub(crate) fn plane(&self, channel: usize) -> Array2<f64> {
        let samples = self.samples();
        let sample = |(r, c)| f64::from(samples[(r * self.columns + c) * self.channels() + channel]);
        Array2::from_shape_fn((self.rows, self.columns), sample)
    }

    /// Returns the samples on a device. The columns are pixels times channels.
    pub(crate) fn upload<S: Sample>(&self, device: &Device) -> slm::Result<Buffer2<S>> {
        let samples: Vec<_> = self.samples().into_iter().map(S::of).collect();
        let columns = self.columns * self.channels();
        Buffer2::from_buffer(device.upload(&samples)?, self.rows, columns, columns)
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
        let samples = self.samples();
        let pixels = samples.chunks_exact(self.channels());
        let colors = pixels
            .filter_map(|pixel| pixel.split_last())
            .flat_map(|(&opacity, colors)| colors.iter().map(move |&color| mix(color, opacity.into())));
        Picture { color, ..self.with_samples(colors) }
    }

    /// Returns an error if JPEG cannot store the channels or sample type of the picture.
    pub(crate) fn check_format(&self, output: &Output) -> Result<(), FileError> {
        let fits = format(output) == ImageFormat::Png || matches!(self.color, ColorType::L8 | ColorType::Rgb8);
        if fits { Ok(()) } else { Err(Cause::NotForJpeg(self.color).at(output.path())) }
    }

    /// Writes the picture, if the encoded bytes decode to it. Returns the line that reports the file.
    pub(crate) fn write(&self, output: &Output) -> Result<String, FileError> {
        let format = format(output);
        output.write(&self.encode(format).map_err(|cause| cause.at(output.path()))?)
    }

    fn encode(&self, format: ImageFormat) -> Result<Vec<u8>, Cause> {
        let mut file = Cursor::new(Vec::new());
        let (width, height) = (self.columns as u32, self.rows as u32);
        image::write_buffer_with_format(&mut file, &self.bytes, width, height, self.color, format)?;
        let (bytes, same_size) =
            (file.into_inner(), |read: &Self| (read.rows, read.columns) == (self.rows, self.columns));
        let read = Self::decode(&bytes)?;
        // JPEG is lossy, so only the size can be compared.
        if !same_size(&read) || (format == ImageFormat::Png && read != *self) {
            return Err(Cause::ReadsDifferently);
        }
        Ok(bytes)
    }
}

/// Returns the format of a file with one of the extensions of [`KIND`].
fn format(output: &Output) -> ImageFormat {
    ImageFormat::from_path(output.path()).unwrap_or(ImageFormat::Png)
}
