//! Histograms of pictures of the crate `image`.

use super::{Counts, HistogramElement, HistogramError, HistogramWeight, PreparedHistogram, WeightedCounts};
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
        check_channels::<P>("the histogram", self.layout().channels)?;
        self.apply(samples(picture).1)
    }

    /// Returns the sums of the weights of the subpixels of a picture, as [`apply_weighted`](Self::apply_weighted) does. The weight of
    /// a subpixel is the one at its place in another picture of the same size, with as many channels.
    ///
    /// ```
    /// use slm::image::{GrayImage, ImageBuffer, Luma};
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let picture = GrayImage::from_vec(2, 2, vec![10, 20, 10, 30]).expect("four pixels");
    /// let area = ImageBuffer::<Luma<f32>, _>::from_vec(2, 2, vec![0.5, 1.0, 0.25, 1.0]).expect("four pixels");
    /// let areas = Histogram::bytes().prepare(&Device::open()?)?.apply_weighted_image(&picture, &area)?;
    /// assert_eq!(areas.sums.bins()?[10], 0.75);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PictureError::Channels`] if the pixels of `picture` have another number of channels than the histogram.
    /// * [`HistogramError::WeightShape`] if `weights` has other rows, columns or channels than `picture`.
    /// * The errors of [`apply_weighted`](Self::apply_weighted).
    pub fn apply_weighted_image<P, C, Q, D>(
        &self,
        picture: &ImageBuffer<P, C>,
        weights: &ImageBuffer<Q, D>,
    ) -> Result<WeightedCounts<T>>
    where
        P: Pixel<Subpixel = T>,
        C: Deref<Target = [T]>,
        Q: Pixel<Subpixel: HistogramWeight>,
        D: Deref<Target = [Q::Subpixel]>,
    {
        check_channels::<P>("the histogram", self.layout().channels)?;
        let (([rows, columns], samples), ([weight_rows, weight_columns], weights)) =
            (samples(picture), samples(weights));
        let expected = [rows, columns, P::CHANNEL_COUNT.into()];
        let actual = [weight_rows, weight_columns, Q::CHANNEL_COUNT.into()];
        if expected != actual {
            return Err(HistogramError::WeightShape { samples: expected.to_vec(), weights: actual.to_vec() }.into());
        }
        self.apply_weighted(samples, weights)
    }
}

#[cfg(doc)]
use crate::pictures::PictureError;
