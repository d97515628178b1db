//! Slices, arrays and buffers as input.

use super::{Data, Elements, Form, Input, Results, Shape};
use crate::cpu::allocation;
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

impl<S: Element, O: Element> Input<S, O> for &Buffer<S> {
    type Output = Buffer<O>;
}

impl<S: Element, O: Element> Data<S, O> for &Buffer<S> {
    type Results = Buffer<O>;

    fn shape(&self) -> Shape {
        Shape::new(Form::Row, &[self.len()])
    }

    fn elements(&self) -> Result<Elements<'_, S>> {
        Ok(Elements::Device((*self).into()))
    }

    fn check_results(_: &[usize]) -> Result<()> {
        Ok(())
    }

    fn results(&self, _: &[usize], results: Results<O>) -> Result<Buffer<O>> {
        results.into_buffer(self.device())
    }
}

impl<S: Element, O: Element> Input<S, O> for &Buffer2<S> {
    type Output = Buffer2<O>;
}

impl<S: Element, O: Element> Data<S, O> for &Buffer2<S> {
    type Results = Buffer2<O>;

    fn shape(&self) -> Shape {
        Shape::new(Form::Matrix, &[self.rows(), self.columns()])
    }

    fn elements(&self) -> Result<Elements<'_, S>> {
        Ok(Elements::Device((*self).into()))
    }

    fn check_results(axes: &[usize]) -> Result<()> {
        Buffer2::<O>::buffer_len(axes[0], axes[1], axes[1]).map(drop)
    }

    fn results(&self, axes: &[usize], results: Results<O>) -> Result<Buffer2<O>> {
        Buffer2::from_buffer(results.into_buffer(self.buffer().device())?, axes[0], axes[1], axes[1])
    }
}
