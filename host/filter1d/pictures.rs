//! Pictures of the crate `image`, filtered along their rows or columns.

use super::{Lines, PreparedFilter1d};
use crate::buffer2::extent;
use crate::pictures::{check_channels, picture_of, samples, size};
use crate::{FilterSample, Result};
use image::{ImageBuffer, Pixel};
use std::ops::Deref;

/// Pictures of the crate `image`.
#[cfg_attr(docsrs, doc(cfg(feature = "image")))]
impl<S: FilterSample> PreparedFilter1d<S> {
    /// Returns the picture with every line along `axis` filtered. Axis 0 runs down the columns, axis 1 along the rows. Each
    /// channel of its pixels is filtered by itself.
    ///
    /// ```
    /// use slm::image::{Rgb, Rgb32FImage};
    /// use slm::{Boundary, Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let picture = Rgb32FImage::from_fn(40, 30, |x, y| Rgb([x as f32, y as f32, 1.0]));
    /// let central = Filter1d::correlate(&[-0.5, 0.0, 0.5]).boundary(Boundary::Nearest);
    /// let slope = central.channels(3).prepare(&Device::open()?)?.apply_image(&picture, 1)?;
    /// assert_eq!(slope.get_pixel(20, 10), &Rgb([1.0, 0.0, 0.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PictureError::Channels`] if the pixels do not have the filter's number of [`channels`](crate::Filter1d::channels).
    /// * [`Error::TooLarge`] if a picture cannot have as many rows or columns of outputs.
    /// * The errors of [`apply_axis`](Self::apply_axis).
    pub fn apply_image<P, C>(&self, picture: &ImageBuffer<P, C>, axis: usize) -> Result<ImageBuffer<P, Vec<S>>>
    where
        P: Pixel<Subpixel = S>,
        C: Deref<Target = [S]>,
    {
        let channels = self.reach.channels;
        check_channels::<P>("the filter", channels)?;
        let ([rows, columns], samples) = samples(picture);
        let width = columns * channels;
        let (lines, [rows, width]) = Lines::of_matrix(&self.reach, [rows, width], width, axis)?;
        let size = size([rows, width / channels])?;
        let outputs = self.run_on_host(&lines, samples, extent(rows, width, width)?)?;
        Ok(picture_of(size, picture.color_space(), outputs))
    }
}

#[cfg(doc)]
use crate::Error;
#[cfg(doc)]
use crate::pictures::PictureError;
