//! Pixels and planes as input of [`Channels`](crate::Channels).

use super::{PointwiseElement, PreparedChannels};
use crate::filter2d::Planes;
use crate::{Buffer, Buffer2, BufferSlice, Input, Pinned, Result};
#[cfg(feature = "image")]
use crate::{
    cpu::allocation,
    device::data::{Elements, Target, number_of},
    pictures,
};
#[cfg(feature = "image")]
use image::{ImageBuffer, Luma, Pixel, Primitive};
use ndarray::{ArrayBase, ArrayView, Dimension};
#[cfg(feature = "image")]
use std::{borrow::Cow, ops::Deref};

/// Pixels to divide into planes, or planes to unite: every [`Input`], and pictures with several channels, whose planes are pictures of
/// `Luma`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Changed` in their generic code")]
pub trait ChannelsInput<T: PointwiseElement>: Changed<T, Results = <Self as ChannelsInput<T>>::Output> {
    /// Results of the same form.
    type Output;
}

/// Changing pixels or planes of some form.
pub(super) trait Changed<T: PointwiseElement>: Sized {
    type Results;

    fn changed(self, channels: &PreparedChannels<T>) -> Result<Self::Results>;
}

macro_rules! inputs {
    ($($input:ty, [$($parameters:tt)*];)*) => {$(
        impl<'a, T: PointwiseElement, $($parameters)*> ChannelsInput<T> for $input {
            type Output = <$input as Input<T>>::Output;
        }
        impl<'a, T: PointwiseElement, $($parameters)*> Changed<T> for $input {
            type Results = <$input as Input<T>>::Output;

            fn changed(self, channels: &PreparedChannels<T>) -> Result<Self::Results> {
                channels.apply_in_form(&self)
            }
        }
    )*};
}
inputs! {
    &'a [T], [];
    &'a Vec<T>, [];
    &'a [T; N], [const N: usize];
    &'a Pinned<T>, [];
    ArrayView<'a, T, D>, [D: Dimension];
    &'a ArrayBase<R, D>, [R: ndarray::Data<Elem = T>, D: Dimension];
    &'a Buffer<T>, [];
    BufferSlice<'a, T>, [];
    &'a Buffer2<T>, [];
    Planes<'a, T>, [];
}

#[cfg(feature = "image")]
impl<T, P, C> ChannelsInput<T> for &ImageBuffer<P, C>
where
    T: PointwiseElement + Primitive,
    P: Pixel<Subpixel = T>,
    C: Deref<Target = [T]>,
{
    type Output = ImageBuffer<Luma<T>, Vec<T>>;
}

#[cfg(feature = "image")]
impl<T, P, C> Changed<T> for &ImageBuffer<P, C>
where
    T: PointwiseElement + Primitive,
    P: Pixel<Subpixel = T>,
    C: Deref<Target = [T]>,
{
    type Results = ImageBuffer<Luma<T>, Vec<T>>;

    fn changed(self, channels: &PreparedChannels<T>) -> Result<Self::Results> {
        let of_pixel = P::CHANNEL_COUNT.into();
        channels.check_pixels(of_pixel)?;
        let [rows, columns] = pictures::shape(self);
        let (picture, axes) = channels.picture(&[rows, columns * of_pixel])?;
        let size = pictures::size([axes[0], axes[1]])?;
        let mut results = allocation::filled(T::default(), number_of(&axes))?;
        let pixels = Elements::Host(Cow::Borrowed(pictures::subpixels(self)));
        channels.run(picture, &pixels, Target::Host(&mut results))?;
        Ok(pictures::picture_of(size, self.color_space(), results))
    }
}
