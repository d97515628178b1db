//! Constant memory: numbers that all threads read.
//!
//! They are the second parameter of a launch. The hardware keeps parameters in constant memory, which serves a whole warp at
//! once if all its lanes load the same element; an arithmetic instruction can then read the number from a uniform register.
//! Loads of different elements are served one after another.

use crate::argument::{Window, layout_of};
use crate::digest::Digest;
use crate::machine::constants;
use crate::value::check_pack;
use crate::{Argument, ArgumentOf, Value};
use core::marker::PhantomData;

/// The constants of a launch, as the host passes them: `N` elements, at most 4096 bytes together with the arguments.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct Table<T, const N: usize>(pub [T; N]);

// SAFETY: `repr(C)`, so the elements are consecutive on both sides; numbers are not windows.
unsafe impl<T: Value, const N: usize> Argument for Table<T, N> {
    const LAYOUT: Digest = layout_of::<Self>("Table").add_digest(T::LAYOUT).add_number(N as u64).finish();

    fn windows(&self, _name: &'static str, _visit: &mut dyn FnMut(&'static str, Window)) {}
}

// SAFETY: numbers are not windows.
unsafe impl<T: Value, const N: usize> ArgumentOf<'_> for Table<T, N> {}

/// The constants of a launch, as its kernel receives them.
///
/// An access beyond the table returns the table's last elements. A machine on the host can report it.
#[derive(Clone, Copy, Debug)]
pub struct Constants<'l, T, const N: usize> {
    pub(crate) source: constants::Source<T, N>,
    pub(crate) marker: PhantomData<(&'l (), T)>,
}

impl<T: Value, const N: usize> Constants<'_, T, N> {
    /// Returns pack `k`: elements `k * P` to `k * P + P - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes). The table must
    /// consist of whole packs, which is checked at compile time.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn pack<const P: usize>(&self, k: u32) -> [T; P] {
        check_pack::<T, P>();
        Self::check_packs::<P>();
        constants::pack(&self.source, k)
    }

    /// Checks at compile time that the table consists of whole packs.
    #[inline(always)]
    fn check_packs<const P: usize>() {
        const { assert!(N >= P && N.is_multiple_of(P)) };
    }
}
