//! Blurs a picture with a Gaussian, one pass along the rows and one down the columns:
//!
//! ```sh
//! cargo run --release --example 01_blur -- assets/camera.png blurred.png --sigma 3
//! ```
//!
//! PNG and JPEG, grey and colour, 8 and 16 bits, with and without transparency. The channels' numbers are blurred as
//! they stand in the file, as SciPy's `gaussian_filter` does. The result is checked before it gets its name: against a
//! naive evaluation at some pixels, and by reading the written file.

#[path = "common/jpeg.rs"]
mod jpeg;

use clap::Parser;
use image::{ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use ndarray::Array2;
use slm::{Boundary, Buffer2, Device, Filter1d};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io, process};

/// Beyond it, every picture of a usual size is one even colour.
const MOST_SIGMA: f64 = 100_000.0;

/// Blurs a picture with a Gaussian.
#[derive(Debug, Parser)]
#[command(name = "01_blur")]
struct Arguments {
    /// The picture: PNG or JPEG
    input: PathBuf,
    /// Where the result goes: a PNG or JPEG, as the extension says
    output: PathBuf,
    /// The Gaussian's standard deviation in pixels
    #[arg(long, default_value_t = 3.0, allow_negative_numbers = true)]
    sigma: f64,
    /// The device: auto, cpu, cuda, cuda:N, emulated, emulated:PROFILE or emulated:PROFILE:SEED; without it, SLM_DEVICE
    /// decides
    #[arg(long)]
    device: Option<String>,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("--sigma {0}: it must be more than 0 and at most {MOST_SIGMA}")]
    Sigma(f64),
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: FileError },
    #[error(transparent)]
    Filter(#[from] slm::Error),
    #[error("channel {channel} at row {row}, column {column} became {actual}, expected {expected} within {bound:e}")]
    Wrong { channel: usize, row: usize, column: usize, actual: f32, expected: f64, bound: f64 },
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error("neither a PNG nor a JPEG picture")]
    NoPicture,
    #[error("the JPEG data end too early")]
    EndsEarly,
    #[error("a result can be written as .png, .jpg or .jpeg only")]
    Extension,
    #[error("the folder {} does not exist", .0.display())]
    NoFolder(PathBuf),
    #[error("JPEG has 8 bits per channel and no transparency, and the picture is {0:?}: write a .png")]
    NotForJpeg(ColorType),
    #[error("what was written reads differently")]
    ReadsDifferently,
}

impl FileError {
    fn at(self, path: &Path) -> Failure {
        Failure::File { path: path.to_owned(), cause: self }
    }
}

fn main() -> ExitCode {
    // A closed pipe on the other side is no failure of the blur, so nothing is made of errors while printing.
    match run(&Arguments::parse()) {
        Ok(report) => {
            let _ = write!(io::stdout(), "{report}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let message = failure.to_string().replace('\n', "; ");
            let _ = writeln!(io::stderr(), "error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let start = Instant::now();
    let (input, output) = (&arguments.input, &arguments.output);
    let taps = gaussian(arguments.sigma)?;
    let format = output_format(output).map_err(|e| e.at(output))?;
    let picture = fs::read(input).map_err(FileError::from).and_then(|bytes| Picture::decode(&bytes));
    let picture = picture.map_err(|e| e.at(input))?;
    picture.check_format(format).map_err(|e| e.at(output))?;
    let device = arguments.device.as_deref().map_or_else(Device::open, Device::named)?;

    let planes = picture.planes();
    let (blurred, mut report, device_time) = blur(&device, &planes, &taps)?;
    for (channel, (before, after)) in planes.iter().zip(&blurred).enumerate() {
        check(channel, before, after, &taps)?;
    }
    picture.with_planes(blurred).save(output, format).map_err(|e| e.at(output))?;

    let _ = writeln!(report, "device time {}, in total {}", in_ms(device_time), in_ms(start.elapsed()));
    Ok(report)
}

fn in_ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// The Gaussian at whole numbers up to four standard deviations away, with the sum 1.
fn gaussian(sigma: f64) -> Result<Vec<f32>, Failure> {
    if !(sigma > 0.0 && sigma <= MOST_SIGMA) {
        return Err(Failure::Sigma(sigma));
    }
    let radius = (4.0 * sigma + 0.5) as i32;
    let weights: Vec<f64> = (-radius..=radius).map(|x| (-0.5 * (f64::from(x) / sigma).powi(2)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    Ok(weights.iter().map(|weight| (weight / sum) as f32).collect())
}

/// Blurs every plane: gives the planes, how it was done, and how long the device took.
fn blur(
    device: &Device,
    planes: &[Array2<f32>],
    taps: &[f32],
) -> Result<(Vec<Array2<f32>>, String, Duration), slm::Error> {
    let filter = Filter1d::correlate(taps).boundary(Boundary::Reflect).prepare(device)?;
    let mut buffers = Vec::new();
    for plane in planes {
        let (rows, columns) = plane.dim();
        buffers.push((Buffer2::upload(device, plane.view())?, Buffer2::zeroed(device, rows, columns)?));
    }
    let passes = || {
        for (picture, between) in &mut buffers {
            filter.apply_axis_into(picture, 1, between)?;
            filter.apply_axis_into(between, 0, picture)?;
        }
        Ok(())
    };
    let ((), time) = device.time(passes)?;

    let shape = planes.first().map_or([0, 0], |plane| plane.dim().into());
    let mut report = format!("{device}: {}\n", device.info().selection);
    let _ = writeln!(report, "channels {}, taps {}", planes.len(), taps.len());
    for (name, axis) in [("along the rows", 1), ("down the columns", 0)] {
        let _ = writeln!(report, "{name}:\n{}", filter.plan_axis(shape, axis)?);
    }
    let blurred = buffers.iter().map(|(picture, _)| picture.download()).collect::<Result<_, _>>()?;
    Ok((blurred, report, time))
}

/// Checks that a blurred plane stays between the least and the greatest number of the original, and that it is what
/// the definition says: at the corners, and at some pixels between them.
fn check(channel: usize, before: &Array2<f32>, after: &Array2<f32>, taps: &[f32]) -> Result<(), Failure> {
    let bound = rounding(before, taps);
    let compare = |(row, column): (usize, usize), expected: f64| {
        let actual = after[[row, column]];
        // So that a NaN is wrong.
        let agrees = (f64::from(actual) - expected).abs() <= bound;
        if agrees { Ok(()) } else { Err(Failure::Wrong { channel, row, column, actual, expected, bound }) }
    };
    let (least, greatest) = before.iter().fold((f32::MAX, f32::MIN), |(a, b), &x| (a.min(x), b.max(x)));
    for (place, &actual) in after.indexed_iter() {
        compare(place, f64::from(actual).clamp(least.into(), greatest.into()))?;
    }
    let (rows, columns) = before.dim();
    let some = |n: usize| [0, n / 3, n / 2, n - 1];
    for row in some(rows) {
        for column in some(columns) {
            compare((row, column), naive(before, taps, row, column))?;
        }
    }
    Ok(())
}

/// How far both passes can be from the exact result: twice the bound that the library documents, and what the taps'
/// sum, being rounded, is off from 1.
fn rounding(plane: &Array2<f32>, taps: &[f32]) -> f64 {
    let relative = 1.0 + taps.len() as f64 * f64::from(f32::EPSILON) / 2.0;
    let sum: f64 = taps.iter().copied().map(f64::from).sum();
    let largest = plane.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
    f64::from(largest) * ((sum * relative).powi(2) - 1.0 + 2.0 * (sum.powi(2) - 1.0).abs())
}

/// A pixel of the blurred plane, in double precision.
fn naive(plane: &Array2<f32>, taps: &[f32], row: usize, column: usize) -> f64 {
    let (rows, columns) = plane.dim();
    let (rows, columns) = (weights(taps, row, rows), weights(taps, column, columns));
    let row = |r: usize| columns.iter().map(|&(c, weight)| weight * f64::from(plane[[r, c]])).sum::<f64>();
    rows.iter().map(|&(r, weight)| weight * row(r)).sum()
}

/// How much each of `n` pixels counts for the one at `centre`, its reflections included; those that count nothing are
/// left out.
fn weights(taps: &[f32], centre: usize, n: usize) -> Vec<(usize, f64)> {
    let mut weights = vec![0.0; n];
    let first = centre as i64 - taps.len() as i64 / 2;
    for (i, &tap) in (first..).zip(taps) {
        let place = i.rem_euclid(2 * n as i64) as usize;
        weights[place.min(2 * n - 1 - place)] += f64::from(tap);
    }
    weights.into_iter().enumerate().filter(|&(_, weight)| weight != 0.0).collect()
}

/// A picture of 8 or 16 bits per channel, pixel after pixel.
#[derive(PartialEq)]
struct Picture {
    rows: usize,
    columns: usize,
    color: ColorType,
    samples: Vec<u16>,
}

impl Picture {
    fn decode(bytes: &[u8]) -> Result<Self, FileError> {
        let format = image::guess_format(bytes).map_err(|_| FileError::NoPicture)?;
        match format {
            // The decoder would fill up what is missing with grey.
            ImageFormat::Jpeg if !jpeg::is_complete(bytes) => return Err(FileError::EndsEarly),
            ImageFormat::Jpeg | ImageFormat::Png => {}
            _ => return Err(FileError::NoPicture),
        }
        let mut decoder = ImageReader::with_format(Cursor::new(bytes), format).into_decoder()?;
        // A header can promise more than there is memory for.
        Limits::default().reserve(decoder.total_bytes())?;
        let orientation = decoder.orientation()?;
        let mut image = DynamicImage::from_decoder(decoder)?;
        image.apply_orientation(orientation);
        Self::from_image(&image)
    }

    fn from_image(image: &DynamicImage) -> Result<Self, FileError> {
        let samples = match (image.as_flat_samples_u8(), image.as_flat_samples_u16()) {
            (Some(samples), _) => samples.as_slice().iter().copied().map(u16::from).collect(),
            (_, Some(samples)) => samples.as_slice().to_vec(),
            _ => return Err(FileError::NoPicture),
        };
        let (rows, columns) = (image.height() as usize, image.width() as usize);
        Ok(Picture { rows, columns, color: image.color(), samples })
    }

    fn is_wide(&self) -> bool {
        self.color.bytes_per_pixel() > self.color.channel_count()
    }

    fn most(&self) -> f32 {
        if self.is_wide() { u16::MAX.into() } else { u8::MAX.into() }
    }

    /// The channels. Colours are multiplied by the opacity: what cannot be seen must not show in the blur.
    fn planes(&self) -> Vec<Array2<f32>> {
        let channels = usize::from(self.color.channel_count());
        let plane = |channel| {
            let sample = |(r, c)| f32::from(self.samples[(r * self.columns + c) * channels + channel]);
            Array2::from_shape_fn((self.rows, self.columns), sample)
        };
        let mut planes: Vec<_> = (0..channels).map(plane).collect();
        if let Some((alpha, colors)) = planes.split_last_mut().filter(|_| self.color.has_alpha()) {
            colors.iter_mut().for_each(|color| color.zip_mut_with(alpha, |c, a| *c *= a / self.most()));
        }
        planes
    }

    /// The picture with other channels: the reverse of `planes`, rounded.
    fn with_planes(&self, mut planes: Vec<Array2<f32>>) -> Self {
        let most = self.most();
        if let Some((alpha, colors)) = planes.split_last_mut().filter(|_| self.color.has_alpha()) {
            // Where the opacity is rounded to nothing, the colour would be noise.
            let divide = |c: &mut f32, &a: &f32| *c = if a < 0.5 { 0.0 } else { *c * (most / a) };
            colors.iter_mut().for_each(|color| color.zip_mut_with(alpha, divide));
        }
        let mut samples = Vec::with_capacity(self.samples.len());
        for r in 0..self.rows {
            for c in 0..self.columns {
                samples.extend(planes.iter().map(|plane| plane[[r, c]].round().clamp(0.0, most) as u16));
            }
        }
        Picture { samples, ..*self }
    }

    fn check_format(&self, format: ImageFormat) -> Result<(), FileError> {
        let fits = format == ImageFormat::Png || matches!(self.color, ColorType::L8 | ColorType::Rgb8);
        if fits { Ok(()) } else { Err(FileError::NotForJpeg(self.color)) }
    }

    /// Writes the picture under another name first, reads it again, and then renames it: a file with the name `path`
    /// is always a whole one.
    fn save(&self, path: &Path, format: ImageFormat) -> Result<(), FileError> {
        let partial = Partial::beside(path);
        fs::write(&partial.0, self.encode(format)?)?;
        let read = Picture::decode(&fs::read(&partial.0)?)?;
        let same = (read.rows, read.columns) == (self.rows, self.columns);
        // JPEG loses a little, so only its size can be compared.
        if !same || (format == ImageFormat::Png && read != *self) {
            return Err(FileError::ReadsDifferently);
        }
        Ok(fs::rename(&partial.0, path)?)
    }

    fn encode(&self, format: ImageFormat) -> Result<Vec<u8>, FileError> {
        let bytes: Vec<u8> = match self.is_wide() {
            true => self.samples.iter().flat_map(|sample| sample.to_ne_bytes()).collect(),
            false => self.samples.iter().map(|&sample| sample as u8).collect(),
        };
        let mut file = Cursor::new(Vec::new());
        let (width, height) = (self.columns as u32, self.rows as u32);
        image::write_buffer_with_format(&mut file, &bytes, width, height, self.color, format)?;
        Ok(file.into_inner())
    }
}

/// A file that is not finished. It is removed in the end, unless it was renamed.
struct Partial(PathBuf);

impl Partial {
    fn beside(path: &Path) -> Self {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.partial", process::id()));
        Partial(path.with_file_name(name))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Usually it is not there any more.
        let _ = fs::remove_file(&self.0);
    }
}

/// The format that the extension says; looks for the folder too, so that nobody waits for a result in vain.
fn output_format(path: &Path) -> Result<ImageFormat, FileError> {
    let format = ImageFormat::from_path(path).map_err(|_| FileError::Extension)?;
    if !matches!(format, ImageFormat::Png | ImageFormat::Jpeg) {
        return Err(FileError::Extension);
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(FileError::NoFolder(folder.to_owned()))
        }
        _ => Ok(format),
    }
}
