//! Filtered pictures of the crate `image`.

use super::window::Problem;
use super::{FilterSample, PreparedFilter2d};
use crate::Result;
use crate::pictures::{WithSubpixel, check_channels, picture_of, samples, size};
use image::{ImageBuffer, Pixel};
use std::ops::Deref;

/// Pictures of the crate `image`.
#[cfg_attr(docsrs, doc(cfg(feature = "image")))]
impl<S: FilterSample, O: FilterSample> PreparedFilter2d<S, O> {
    /// Returns the filtered picture. Each channel of its pixels is filtered by itself. The pixels of the result have subpixels of
    /// type `O`.
    ///
    /// ```
    /// use slm::image::{Rgba, RgbaImage};
    /// use slm::{Boundary, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let picture = RgbaImage::from_fn(64, 48, |x, _| if x < 32 { Rgba([0, 0, 0, 255]) } else { Rgba([255; 4]) });
    /// let blur = Filter2d::gaussian(3.0).boundary(Boundary::Nearest).channels(4).prepare(&Device::open()?)?;
    /// let blurred: RgbaImage = blur.apply_image(&picture)?;
    /// assert_eq!(blurred.dimensions(), (64, 48));
    /// assert!(blurred.get_pixel(31, 20)[0] > 100 && blurred.get_pixel(32, 20)[0] < 155);
    /// assert_eq!(blurred.get_pixel(31, 20)[3], 255);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PictureError::Channels`] if the pixels do not have the filter's number of [`channels`](crate::Filter2d::channels).
    /// * [`Error::TooLarge`] if a picture cannot have as many rows or columns of outputs.
    /// * The errors of [`apply`](Self::apply) for lack of memory and failures of the device.
    pub fn apply_image<P, C>(&self, picture: &ImageBuffer<P, C>) -> Result<ImageBuffer<P::Pixel, Vec<O>>>
    where
        P: Pixel<Subpixel = S> + WithSubpixel<O>,
        C: Deref<Target = [S]>,
    {
        check_channels::<P>("the filter", self.window.channels())?;
        check_channels::<P::Pixel>("the filter", self.window.channels())?;
        let (shape, samples) = samples(picture);
        let problem = Problem::new(&self.window, 1, shape)?;
        let size = size([problem.rows.outputs, problem.columns.outputs])?;
        Ok(picture_of(size, picture.color_space(), self.run_on_host(&problem, samples)?))
    }
}

#[cfg(doc)]
use crate::Error;
#[cfg(doc)]
use crate::pictures::PictureError;
