//! Where operations write.

use super::check_same;
use super::shape::Axes;
use super::view::BufferViewMut;
use crate::cpu::allocation;
use crate::device::slice::BufferSliceMut;
use crate::{Buffer, Buffer2, Device, Element, Pinned, Result};
use ndarray::{ArrayBase, DataMut, Dimension};

/// Elements that an operation writes, in host memory or on a device.
///
/// | output | axes |
/// |---|---|
/// | a slice: `[T]`, `Vec<T>`, `[T; N]`, [`Pinned<T>`](Pinned) | one |
/// | an array of `ndarray` whose elements can be written, of any strides | its own |
/// | a picture of `image`: `ImageBuffer<P, C>` | rows, and columns times channels |
/// | [`Buffer<T>`](Buffer), [`BufferSliceMut<T>`](BufferSliceMut) | one |
/// | [`Buffer2<T>`](Buffer2) | two |
///
/// If it is in host memory, an operation returns when it is written; if it is on a device, when the work is enqueued.
///
/// The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Write` in their generic code")]
pub trait Output<T: Element>: Write<T> {}

/// Access to what is written.
pub(crate) trait Write<T: Element> {
    /// Returns the lengths of the axes, the slowest first.
    fn axes(&self) -> Axes;

    /// Calls a function that writes all elements. Elements on the host have no gaps.
    fn write(&mut self, function: &mut dyn FnMut(Target<'_, T>) -> Result<()>) -> Result<()>;

    /// Returns an error if the axes have other lengths.
    fn check_axes(&self, what: &'static str, expected: &[usize]) -> Result<()> {
        check_same(what, expected, &self.axes())
    }
}

/// Elements that an operation writes.
#[derive(Debug)]
pub(crate) enum Target<'a, T: Element> {
    /// On the host, without gaps.
    Host(&'a mut [T]),
    Device(BufferViewMut<'a, T>),
}

impl<'a, T: Element> Target<'a, T> {
    /// Returns the elements on the CPU, also those in gaps. Buffers are on the CPU.
    pub(crate) fn into_cpu(self) -> &'a mut [T] {
        match self {
            Target::Host(elements) => elements,
            Target::Device(view) => view.into_slice().into_cpu(),
        }
    }

    /// Returns an error if elements on a device belong to another device.
    pub(crate) fn check_owner(&self, what: &'static str, device: &Device) -> Result<()> {
        match self {
            Target::Host(_) => Ok(()),
            Target::Device(view) => view.check_owner(what, device),
        }
    }

    /// Returns the row pitch of rows with this number of elements.
    pub(crate) fn pitch(&self, columns: usize) -> usize {
        match self {
            Target::Host(_) => columns,
            Target::Device(view) => view.pitch(columns),
        }
    }
}

macro_rules! slices {
    ($($slice:ty, [$($length:tt)*];)*) => {$(
        impl<T: Element, $($length)*> Output<T> for $slice {}

        impl<T: Element, $($length)*> Write<T> for $slice {
            fn axes(&self) -> Axes {
                Axes::from_slice(&[self.len()])
            }

            fn write(&mut self, function: &mut dyn FnMut(Target<'_, T>) -> Result<()>) -> Result<()> {
                function(Target::Host(&mut self[..]))
            }
        }
    )*};
}
slices! {
    [T], [];
    Vec<T>, [];
    [T; N], [const N: usize];
    Pinned<T>, [];
}

impl<T: Element, R: DataMut<Elem = T>, D: Dimension> Output<T> for ArrayBase<R, D> {}

impl<T: Element, R: DataMut<Elem = T>, D: Dimension> Write<T> for ArrayBase<R, D> {
    fn axes(&self) -> Axes {
        Axes::from_slice(self.shape())
    }

    fn write(&mut self, function: &mut dyn FnMut(Target<'_, T>) -> Result<()>) -> Result<()> {
        if let Some(elements) = self.as_slice_mut() {
            return function(Target::Host(elements));
        }
        // With what it contains, because counts are added to it.
        let mut elements = allocation::row_after_row(self.view())?.into_owned();
        function(Target::Host(&mut elements))?;
        self.iter_mut().zip(elements).for_each(|(output, element)| *output = element);
        Ok(())
    }
}

macro_rules! on_devices {
    ($($output:ty, |$variable:ident| $axes:expr;)*) => {$(
        impl<T: Element> Output<T> for $output {}

        impl<T: Element> Write<T> for $output {
            fn axes(&self) -> Axes {
                let $variable = self;
                Axes::from_slice(&$axes)
            }

            fn write(&mut self, function: &mut dyn FnMut(Target<'_, T>) -> Result<()>) -> Result<()> {
                function(Target::Device(self.into()))
            }
        }
    )*};
}
on_devices! {
    Buffer<T>, |buffer| [buffer.len()];
    Buffer2<T>, |matrix| [matrix.rows(), matrix.columns()];
    BufferSliceMut<'_, T>, |slice| [slice.len()];
}
