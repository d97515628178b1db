//! Histograms of pictures of the crate `image`.

use super::{Counts, HistogramElement, PreparedHistogram};
use crate::Result;
use crate::pictures::{check_channels, samples};
use image::{ImageBuffer, Pixel};
use std::ops::Deref;

/// Pictures of the crate `image`.
#[cfg_attr(docsrs, doc(cfg(feature = "image")))]
impl<T: HistogramElement> PreparedHistogram<T> {
    /// Returns the counts of the subpixels of a picture. Its pixels have the histogram's
    /// [`channels`](crate::Histogram::channels), of which [`count`](crate::Histogram::count) selects the first ones.
    ///
    /// ```
    /// use slm::image::{Rgba, RgbaImage};
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let picture = RgbaImage::from_pixel(20, 10, Rgba([1, 2, 3, 255]));
    /// let colours = Histogram::bytes().channels(4).count(3).prepare(&Device::open()?)?;
    /// let counts = colours.apply_image(&picture)?;
    /// assert_eq!(counts.channels().map(|colour| colour.bins[2]).collect::<Vec<_>>(), [0, 200, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PictureError::Channels`] if the pixels have another number of channels than the histogram.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_image<P, C>(&self, picture: &ImageBuffer<P, C>) -> Result<Counts<T>>
    where
        P: Pixel<Subpixel = T>,
        C: Deref<Target = [T]>,
    {
        check_channels::<P>("the histogram", self.rule.channels)?;
        self.apply(samples(picture).1)
    }
}

#[cfg(doc)]
use crate::pictures::PictureError;
