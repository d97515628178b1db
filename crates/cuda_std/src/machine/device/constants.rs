//! Constants: the second parameter of a launch.

use super::words::Pack;
use crate::{Constants, Table, Value};
use core::marker::PhantomData;

/// Where a kernel's table is: an address of the parameter space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<T, const N: usize> {
    address: u64,
    table: PhantomData<Table<T, N>>,
}

impl<T: Value, const N: usize> Constants<'_, T, N> {
    /// Returns the table at this address of the parameter space. Only for [`kernel!`](crate::kernel).
    ///
    /// # Safety
    ///
    /// The address must be that of a parameter of type `Table<T, N>` of the running kernel.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    pub unsafe fn at(address: u64) -> Self {
        Constants { source: Source { address, table: PhantomData }, marker: PhantomData }
    }
}

/// Returns the address of pack `k` of `P` elements, or of the last pack if `k` is beyond it. The limit costs nothing in a loop
/// of at most `N / P` iterations.
#[inline(always)]
fn address_of<T: Value, const N: usize, const P: usize>(source: &Source<T, N>, k: u32) -> u64 {
    let k = k.min((N / P) as u32 - 1);
    source.address + k as u64 * (P * size_of::<T>()) as u64
}

/// Returns pack `k`, or the last one if `k` is beyond it.
#[inline(always)]
pub(crate) fn pack<T: Value, const N: usize, const P: usize>(source: &Source<T, N>, k: u32) -> [T; P] {
    Pack::load_pack_parameter(address_of::<T, N, P>(source, k)).map(T::from_word)
}
