//! The types of samples and outputs.

use crate::Element;
use crate::element::any::Erase;
use slm_kernels::pointwise::TableIndex;

/// A type of samples and outputs of pointwise operations: `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Erase` in their generic code")]
pub trait PointwiseElement: Element + Erase {}

impl PointwiseElement for u8 {}
impl PointwiseElement for u16 {}
impl PointwiseElement for i16 {}
impl PointwiseElement for i32 {}
impl PointwiseElement for f32 {}
impl PointwiseElement for f64 {}

/// A type of samples whose values are indices in a table: `u8`, with 256 values, or `u16`, with 65,536. The trait is sealed.
pub trait LookupElement: PointwiseElement + TableIndex {}

impl LookupElement for u8 {}
impl LookupElement for u16 {}
