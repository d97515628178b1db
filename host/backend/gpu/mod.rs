//! Operations on GPUs, by way of [`Kernel`](crate::Kernel) and [`Windows`](crate::Windows), whatever runs the kernels. Free of
//! `unsafe`. Once they are prepared, operations allocate nothing here.
//!
//! One file or folder per operation: which kernels it launches, how often, in which shape and with which arguments.

mod filter1d;
mod histogram;
mod transpose;
mod transpose_in_place;

pub(crate) use filter1d::{Filter1d, FilterKernels};
pub(crate) use histogram::{HistogramKernels, histogram};
pub(crate) use transpose::Transpose;
pub(crate) use transpose_in_place::TransposeInPlace;
