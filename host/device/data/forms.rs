//! Slices, arrays and buffers as input.

use super::{BufferView, Data, Elements, Form, Input, Planes, Results, Shape};
use crate::cpu::allocation;
use crate::device::slice::BufferSlice;
use crate::{Buffer, Buffer2, Element, Error, Pinned, Result};
use ndarray::{Array, ArrayBase, ArrayView, Dimension};
use std::borrow::Cow;

macro_rules! slices {
    ($($slice:ty, [$($length:tt)*];)*) => {$(
        impl<S: Element, O: Element, $($length)*> Input<S, O> for $slice {
            type Output = Vec<O>;
        }
        impl<S: Element, O: Element, $($length)*> Data<S, O> for $slice {
            type Results = Vec<O>;

            fn shape(&self) -> Shape {
                Shape::new(Form::Row, &[self.len()])
            }

            fn elements(&self) -> Result<Elements<'_, S>> {
                Ok(Elements::Host(Cow::Borrowed(&self[..])))
            }

            fn check_results(_: &[usize]) -> Result<()> {
                Ok(())
            }

            fn results(&self, _: &[usize], results: Results<O>) -> Result<Vec<O>> {
                results.into_vec()
            }
        }
    )*};
}
slices! {
    &[S], [];
    &Vec<S>, [];
    &[S; N], [const N: usize];
    &Pinned<S>, [];
}

macro_rules! arrays {
    ($($array:ty, [$($data:tt)*];)*) => {$(
        impl<S: Element, O: Element, D: Dimension, $($data)*> Input<S, O> for $array {
            type Output = Array<O, D>;
        }
        impl<S: Element, O: Element, D: Dimension, $($data)*> Data<S, O> for $array {
            type Results = Array<O, D>;

            fn shape(&self) -> Shape {
                Shape::new(Form::Array, self.view().shape())
            }

            fn elements(&self) -> Result<Elements<'_, S>> {
                Ok(Elements::Host(allocation::row_after_row(self.view())?))
            }

            fn unordered(&self) -> Result<Elements<'_, S>> {
                match self.as_slice_memory_order() {
                    Some(elements) => Ok(Elements::Host(Cow::Borrowed(elements))),
                    None => Data::<S, O>::elements(self),
                }
            }

            fn check_results(axes: &[usize]) -> Result<()> {
                check_array(axes)
            }

            fn results(&self, axes: &[usize], results: Results<O>) -> Result<Array<O, D>> {
                let mut shape = self.raw_dim();
                shape.slice_mut().copy_from_slice(axes);
                Ok(Array::from_shape_vec(shape, results.into_vec()?).expect("`check_results` has checked the axes"))
            }
        }
    )*};
}
arrays! {
    ArrayView<'_, S, D>, [];
    &ArrayBase<R, D>, [R: ndarray::Data<Elem = S>];
}

/// Returns an error if `ndarray` has no arrays of this shape: the product of all lengths other than 0 is at most `isize::MAX`.
fn check_array(axes: &[usize]) -> Result<()> {
    let lengths = || axes.iter().copied().filter(|&len| len > 0);
    match lengths().try_fold(1usize, usize::checked_mul) {
        Some(elements) if elements <= isize::MAX as usize => Ok(()),
        _ => {
            let longest = lengths().max().unwrap_or(0) as u64;
            let others = lengths().fold(1u64, |product, len| product.saturating_mul(len as u64)) / longest.max(1);
            Err(Error::TooLarge { what: "an array of outputs", factors: [longest, others], limit: isize::MAX as u64 })
        }
    }
}

macro_rules! on_devices {
    ($($input:ty, $output:ident, |$variable:ident| [$form:expr, $axes:expr, $view:expr];)*) => {$(
        impl<'a, S: Element, O: Element> Input<S, O> for $input {
            type Output = $output<O>;
        }

        impl<'a, S: Element, O: Element> Data<S, O> for $input {
            type Results = $output<O>;

            fn shape(&self) -> Shape {
                let $variable = self;
                Shape::new($form, &$axes)
            }

            fn elements(&self) -> Result<Elements<'_, S>> {
                let $variable = *self;
                Ok(Elements::Device($view.into()))
            }

            fn check_results(axes: &[usize]) -> Result<()> {
                $output::<O>::check_axes(axes)
            }

            fn results(&self, axes: &[usize], results: Results<O>) -> Result<$output<O>> {
                let $variable = *self;
                let view: BufferView<'_, S> = $view.into();
                $output::with_axes(results.into_buffer(view.slice().device())?, axes)
            }
        }
    )*};
}
on_devices! {
    &'a Buffer<S>, Buffer, |buffer| [Form::Row, [buffer.len()], buffer];
    BufferSlice<'a, S>, Buffer, |slice| [Form::Row, [slice.len()], slice];
    &'a Buffer2<S>, Buffer2, |matrix| [Form::Matrix { planes: 1 }, [matrix.rows(), matrix.columns()], matrix];
    Planes<'a, S>, Buffer2, |planes| [
        Form::Matrix { planes: planes.count }, [planes.matrix.rows(), planes.matrix.columns()], planes.matrix
    ];
}

/// Results on a device.
trait OnDevice<T: Element>: Sized {
    /// Returns an error if there are no results with these axes.
    fn check_axes(axes: &[usize]) -> Result<()>;

    /// Returns results with these axes.
    fn with_axes(results: Buffer<T>, axes: &[usize]) -> Result<Self>;
}

impl<T: Element> OnDevice<T> for Buffer<T> {
    fn check_axes(_: &[usize]) -> Result<()> {
        Ok(())
    }

    fn with_axes(results: Buffer<T>, _: &[usize]) -> Result<Self> {
        Ok(results)
    }
}

impl<T: Element> OnDevice<T> for Buffer2<T> {
    fn check_axes(axes: &[usize]) -> Result<()> {
        Buffer2::<T>::buffer_len(axes[0], axes[1], axes[1]).map(drop)
    }

    fn with_axes(results: Buffer<T>, axes: &[usize]) -> Result<Self> {
        Buffer2::from_buffer(results, axes[0], axes[1], axes[1])
    }
}
