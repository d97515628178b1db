//! The element types that have kernels for lines.

use super::kernels::FilterKernels;
use crate::fold::Foldable;
use crate::multiply_add::MultiplyAdd;
use crate::{FilterSample, FilterWeight};

/// A type of samples and of taps for filters that have both of one type: `f32`, `f64` or `i32`. The trait is sealed.
pub trait FilterElement: FilterSample + FilterWeight {}

impl FilterElement for i32 {}
impl FilterElement for f32 {}
impl FilterElement for f64 {}

/// Traits that the code of an element type requires.
pub(super) trait Number: FilterElement + MultiplyAdd + FilterKernels + Foldable {}

impl<T: FilterElement + MultiplyAdd + FilterKernels + Foldable> Number for T {}
