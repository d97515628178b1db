//! Pictures of the crate `image`: as input and results of filters, histograms, transpositions and pointwise operations, and in the
//! memory of devices.
//!
//! A picture is an `ImageBuffer<P, C>` with any container `C`, such as `GrayImage`, `RgbImage`, `Rgba32FImage` or a buffer that
//! borrows its subpixels. It is a matrix of `height` rows and `width` columns, whose elements are pixels with interleaved
//! channels. Its subpixels are read where they are: nothing is converted or copied on the host. The CPU writes results into
//! the memory of the returned picture. [`Buffer2::upload_image`] and [`Buffer2::download_image`] copy pictures to devices and back.
//!
//! All channels are treated alike, also the opacity. Results have the colour space of the picture that they were computed
//! from.
//!
//! ```
//! use slm::image::{Rgb, RgbImage};
//! use slm::{Boundary, Device, Filter2d, Histogram, Transpose};
//!
//! # fn main() -> slm::Result<()> {
//! let device = Device::open()?;
//! let picture = RgbImage::from_fn(40, 30, |x, y| Rgb([x as u8, y as u8, 100]));
//!
//! let blur = Filter2d::gaussian(2.0).boundary(Boundary::Nearest).channels(3).prepare(&device)?;
//! assert_eq!(blur.apply(&picture)?.get_pixel(20, 15), &Rgb([20, 15, 100]));
//!
//! let colours = Histogram::bytes().channels(3).prepare(&device)?;
//! let counts = colours.apply(&picture)?;
//! assert_eq!(counts.channel(2).map(|blue| blue.bins[100]), Some(40 * 30));
//!
//! let transpose = Transpose::new(30, 40).components(3).prepare(&device)?;
//! assert_eq!(transpose.apply(&picture)?.get_pixel(3, 4), &Rgb([4, 3, 100]));
//! # Ok(())
//! # }
//! ```

use crate::device::data::{Axes, Data, Elements, Form, Results, Shape, Target, Write};
use crate::{Buffer2, Device, Element, Error, Input, Output, Result};
use image::metadata::Cicp;
use image::{ImageBuffer, Luma, LumaA, Pixel, Rgb, Rgba};
use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

/// Pictures and operations whose pixels do not fit together.
///
/// Functions return it in [`Error::Picture`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PictureError {
    /// The pixels have another number of channels than the operation.
    #[error("{operation} is for {expected} channels per pixel, but the pixels of the picture have {actual}")]
    Channels {
        /// The operation.
        operation: &'static str,
        /// Channels of the operation.
        expected: usize,
        /// Channels of a pixel.
        actual: usize,
    },
    /// The rows of a matrix are not made of whole pixels.
    #[error("rows of {columns} elements cannot be divided into pixels of {channels} channels")]
    Interleaving {
        /// Columns of the matrix.
        columns: usize,
        /// Channels of a pixel.
        channels: usize,
    },
}

/// A pixel type that also exists with subpixels of type `O`: filters whose outputs have another type than the samples
/// return pictures of such pixels.
///
/// The pixels of `image` have subpixels of all types that `image` supports for them. For a pixel type of another crate,
/// implement the trait for each type of outputs, which includes the type of the samples.
///
/// ```
/// use slm::image::{GrayImage, ImageBuffer, Luma};
/// use slm::{Device, Filter2d};
///
/// # fn main() -> slm::Result<()> {
/// let picture = GrayImage::from_vec(3, 1, vec![10, 20, 40]).expect("three pixels");
/// let slope = Filter2d::sobel_x().output::<i16>().prepare(&Device::open()?)?;
/// let slope: ImageBuffer<Luma<i16>, Vec<i16>> = slope.apply(&picture)?;
/// assert_eq!(slope.as_raw(), &[40, 60, -40]);
/// # Ok(())
/// # }
/// ```
pub trait WithSubpixel<O>: Pixel {
    /// The pixel with subpixels of type `O`. It has the same number of channels.
    type Pixel: Pixel<Subpixel = O>;
}

macro_rules! with_subpixels {
    ($($pixel:ident)*) => {$(
        impl<S, O> WithSubpixel<O> for $pixel<S>
        where
            $pixel<S>: Pixel,
            $pixel<O>: Pixel<Subpixel = O>,
        {
            type Pixel = $pixel<O>;
        }
    )*};
}
with_subpixels!(Luma LumaA Rgb Rgba);

/// A picture that owns its subpixels.
pub(crate) type Picture<P> = ImageBuffer<P, Vec<<P as Pixel>::Subpixel>>;

/// Pictures on devices.
#[cfg_attr(docsrs, doc(cfg(feature = "image")))]
impl<T: Element> Buffer2<T> {
    /// Returns a matrix without gaps that contains the subpixels of a picture: a row for each row of pixels, and a column for
    /// each channel of each pixel. The copy is done when this returns.
    ///
    /// ```
    /// use slm::image::RgbImage;
    /// use slm::{Buffer2, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let picture = RgbImage::from_vec(2, 1, vec![1, 2, 3, 5, 6, 7]).expect("two pixels");
    /// let matrix = Buffer2::upload_image(&device, &picture)?;
    /// assert_eq!((matrix.rows(), matrix.columns()), (1, 6));
    ///
    /// let mut mean = Buffer2::zeroed(&device, 1, 6)?;
    /// Filter2d::box_blur(1, 2).channels(3).prepare(&device)?.apply_into(&matrix, &mut mean)?;
    /// let mean: RgbImage = mean.download_image()?;
    /// assert_eq!(mean.as_raw(), &[0, 1, 2, 3, 4, 5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Device::upload`].
    pub fn upload_image<P, C>(device: &Device, picture: &ImageBuffer<P, C>) -> Result<Self>
    where
        P: Pixel<Subpixel = T>,
        C: Deref<Target = [T]>,
    {
        let [rows, columns] = shape(picture);
        let width = columns * channels::<P>();
        Buffer2::from_buffer(device.upload(subpixels(picture))?, rows, width, width)
    }

    /// Returns a picture with the elements of the matrix as subpixels, after all work that was enqueued before. Its colour space
    /// is sRGB, as that of every new picture.
    ///
    /// # Errors
    ///
    /// * [`PictureError::Interleaving`] if the number of columns is not a multiple of the channels of a pixel.
    /// * [`Error::TooLarge`] if a picture cannot have as many rows or columns.
    /// * The errors of [`download`](Self::download).
    pub fn download_image<P: Pixel<Subpixel = T>>(&self) -> Result<ImageBuffer<P, Vec<T>>> {
        let (columns, channels) = (self.columns(), channels::<P>());
        if !columns.is_multiple_of(channels) {
            return Err(PictureError::Interleaving { columns, channels }.into());
        }
        let size = size([self.rows(), columns.checked_div(channels).unwrap_or(0)])?;
        let (samples, _) = self.download()?.into_raw_vec_and_offset();
        Ok(picture_of(size, Cicp::SRGB, samples))
    }
}

impl<S, O, P, C> Input<S, O> for &ImageBuffer<P, C>
where
    S: Element,
    O: Element,
    P: Pixel<Subpixel = S> + WithSubpixel<O>,
    C: Deref<Target = [S]>,
{
    type Output = Picture<P::Pixel>;
}

impl<S, O, P, C> Data<S, O> for &ImageBuffer<P, C>
where
    S: Element,
    O: Element,
    P: Pixel<Subpixel = S> + WithSubpixel<O>,
    C: Deref<Target = [S]>,
{
    type Results = Picture<P::Pixel>;

    fn shape(&self) -> Shape {
        let channels = channels::<P>();
        Shape::new(Form::Picture { channels }, &[self.height() as usize, self.width() as usize * channels])
    }

    fn elements(&self) -> Result<Elements<'_, S>> {
        Ok(Elements::Host(Cow::Borrowed(subpixels(self))))
    }

    fn check_results(axes: &[usize]) -> Result<()> {
        check_channels::<P::Pixel>("the type of the results", channels::<P>())?;
        size([axes[0], columns::<P>(axes[1])]).map(drop)
    }

    fn results(&self, axes: &[usize], results: Results<O>) -> Result<Picture<P::Pixel>> {
        let size = size([axes[0], columns::<P>(axes[1])])?;
        Ok(picture_of(size, self.color_space(), results.into_vec()?))
    }
}

impl<T: Element, P: Pixel<Subpixel = T>, C: DerefMut<Target = [T]>> Output<T> for ImageBuffer<P, C> {}

impl<T: Element, P: Pixel<Subpixel = T>, C: DerefMut<Target = [T]>> Write<T> for ImageBuffer<P, C> {
    fn axes(&self) -> Axes {
        let [rows, columns] = shape(self);
        Axes::from_slice(&[rows, columns * channels::<P>()])
    }

    fn write(&mut self, function: &mut dyn FnMut(Target<'_, T>) -> Result<()>) -> Result<()> {
        let used = subpixels(self).len();
        function(Target::Host(&mut (**self)[..used]))
    }
}

/// Returns the channels of a pixel.
fn channels<P: Pixel>() -> usize {
    P::CHANNEL_COUNT.into()
}

/// Returns the pixels of a row with this number of subpixels. The pixels of other crates may have no channels.
fn columns<P: Pixel>(width: usize) -> usize {
    width.checked_div(channels::<P>()).unwrap_or(0)
}

/// Returns an error unless a pixel has as many channels as the operation.
pub(crate) fn check_channels<P: Pixel>(operation: &'static str, expected: usize) -> Result<()> {
    let actual = channels::<P>();
    if actual == expected { Ok(()) } else { Err(PictureError::Channels { operation, expected, actual }.into()) }
}

/// Returns the rows and columns of a picture, in pixels.
pub(crate) fn shape<P: Pixel, C>(picture: &ImageBuffer<P, C>) -> [usize; 2]
where
    C: Deref<Target = [P::Subpixel]>,
{
    [picture.height() as usize, picture.width() as usize]
}

/// Returns the subpixels of a picture. Its container may be longer.
pub(crate) fn subpixels<P: Pixel, C>(picture: &ImageBuffer<P, C>) -> &[P::Subpixel]
where
    C: Deref<Target = [P::Subpixel]>,
{
    let [rows, columns] = shape(picture);
    &picture.as_raw()[..rows * columns * channels::<P>()]
}

/// Width and height of a picture, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    width: u32,
    height: u32,
}

/// Returns the size of a picture with these rows and columns, in pixels.
pub(crate) fn size([rows, columns]: [usize; 2]) -> Result<Size> {
    let side = |what, len: usize| {
        u32::try_from(len).map_err(|_| Error::TooLarge { what, factors: [len as u64, 1], limit: u32::MAX.into() })
    };
    Ok(Size { width: side("the width of a picture", columns)?, height: side("the height of a picture", rows)? })
}

/// Returns the picture of all `samples`, which are at least as many as its size needs.
pub(crate) fn picture_of<P: Pixel>(size: Size, space: Cicp, samples: Vec<P::Subpixel>) -> Picture<P> {
    let Size { width, height } = size;
    let mut picture =
        ImageBuffer::from_raw(width, height, samples).expect("the caller has computed the size from them");
    picture.set_rgb_primaries(space.primaries);
    picture.set_transfer_function(space.transfer);
    picture
}
