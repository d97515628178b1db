//! Transposed pictures of the crate `image`.

use super::{Matrices, PreparedTranspose, PreparedTransposeInPlace, TransposeElement};
use crate::Result;
use crate::buffer::check_shape;
use crate::pictures::{Size, check_channels, picture_of, samples, shape, size};
use image::{ImageBuffer, Pixel};
use std::ops::Deref;

/// Returns the size of the transposed picture, or an error unless `picture` has the rows of all matrices below each other.
fn transposed_size<P: Pixel, C>(matrices: &Matrices, picture: &ImageBuffer<P, C>) -> Result<Size>
where
    C: Deref<Target = [P::Subpixel]>,
{
    let Matrices { rows, columns, count, components } = *matrices;
    check_channels::<P>("the transposition", components)?;
    check_shape("the picture", [count * rows, columns], shape(picture))?;
    size([count * columns, rows])
}

/// Pictures of the crate `image`.
#[cfg_attr(docsrs, doc(cfg(feature = "image")))]
impl<T: TransposeElement> PreparedTranspose<T> {
    /// Returns the transposed picture. An element is a pixel, whose channels are the
    /// [`components`](crate::Transpose::components). The picture and the result have the rows of all matrices below each other.
    ///
    /// ```
    /// use slm::image::{Rgb, RgbImage};
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let picture = RgbImage::from_fn(30, 20, |x, y| Rgb([x as u8, y as u8, 7]));
    /// let transpose = Transpose::new(20, 30).components(3).prepare(&Device::open()?)?;
    /// let transposed = transpose.apply_image(&picture)?;
    /// assert_eq!(transposed.dimensions(), (20, 30));
    /// assert_eq!(transposed.get_pixel(11, 22), &Rgb([22, 11, 7]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PictureError::Channels`] if the pixels do not have as many channels as elements have components.
    /// * [`Error::Shape`] if the picture does not have matrices · rows rows and the columns of a matrix.
    /// * [`Error::TooLarge`] if a picture cannot have the rows of all transposed matrices.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_image<P, C>(&self, picture: &ImageBuffer<P, C>) -> Result<ImageBuffer<P, Vec<T>>>
    where
        P: Pixel<Subpixel = T>,
        C: Deref<Target = [T]>,
    {
        let size = transposed_size(&self.matrices, picture)?;
        Ok(picture_of(size, picture.color_space(), self.apply(samples(picture).1)?))
    }
}

/// Pictures of the crate `image`.
#[cfg_attr(docsrs, doc(cfg(feature = "image")))]
impl<T: TransposeElement> PreparedTransposeInPlace<T> {
    /// Transposes a picture, as [`PreparedTranspose::apply_image`] does. Afterwards it has the width and height of the result.
    /// The CPU transposes it in its own memory, and a GPU transposes a copy on the device.
    ///
    /// ```
    /// use slm::image::GrayImage;
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut picture = GrayImage::from_vec(3, 2, vec![1, 2, 3, 4, 5, 6]).expect("six pixels");
    /// Transpose::new(2, 3).prepare_in_place(&Device::open()?)?.apply_image(&mut picture)?;
    /// assert_eq!((picture.dimensions(), picture.into_raw()), ((2, 3), vec![1, 4, 2, 5, 3, 6]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The picture is unchanged after an error: those of [`PreparedTranspose::apply_image`].
    pub fn apply_image<P>(&self, picture: &mut ImageBuffer<P, Vec<T>>) -> Result<()>
    where
        P: Pixel<Subpixel = T>,
    {
        let (size, space) = (transposed_size(&self.matrices, picture)?, picture.color_space());
        let samples: &mut [T] = picture;
        // The memory may be longer than the picture.
        T::run_in_place_on_host(self, &mut samples[..self.matrices.len()])?;
        let samples = std::mem::take(picture).into_raw();
        *picture = picture_of(size, space, samples);
        Ok(())
    }
}

#[cfg(doc)]
use crate::Error;
#[cfg(doc)]
use crate::pictures::PictureError;
