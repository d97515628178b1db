//! Pictures of the crate `image`, transposed in place.

use super::in_place::TransposeIn;
use super::{InPlace, Matrices, PreparedTransposeInPlace, TransposeElement};
use crate::Result;
use crate::device::buffer::check_shape;
use crate::pictures::{Size, check_channels, picture_of, shape, size};
use image::{ImageBuffer, Pixel};

impl<T: TransposeElement, P: Pixel<Subpixel = T>> InPlace<T> for &mut ImageBuffer<P, Vec<T>> {}

impl<T: TransposeElement, P: Pixel<Subpixel = T>> TransposeIn<T> for &mut ImageBuffer<P, Vec<T>> {
    fn transpose(self, transpose: &PreparedTransposeInPlace<T>) -> Result<()> {
        let (size, space) = (transposed_size(&transpose.matrices, self)?, self.color_space());
        let samples: &mut [T] = self;
        // The memory may be longer than the picture.
        T::run_in_place_on_host(transpose, &mut samples[..transpose.matrices.len()])?;
        let samples = std::mem::take(self).into_raw();
        *self = picture_of(size, space, samples);
        Ok(())
    }
}

/// Returns the size of the transposed picture, or an error unless `picture` has the rows of all matrices below each other.
fn transposed_size<P: Pixel>(matrices: &Matrices, picture: &ImageBuffer<P, Vec<P::Subpixel>>) -> Result<Size> {
    let Matrices { rows, columns, count, components } = *matrices;
    check_channels::<P>("the transposition", components)?;
    check_shape("the picture", [count * rows, columns], shape(picture))?;
    size([count * columns, rows])
}
