//! Constant memory: numbers that all threads read.
//!
//! They are the second parameter of a launch. The hardware keeps parameters in constant memory, which serves a whole warp at
//! once if all its lanes load the same element; an arithmetic instruction can then read the number from a uniform register.
//! Loads of different elements are served one after another.

use crate::argument::layout_of;
use crate::digest::Digest;
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

    #[cfg(not(target_os = "cuda"))]
    fn windows(&self, _name: &'static str, _visit: &mut dyn FnMut(&'static str, crate::host::Window)) {}
}

// SAFETY: numbers are not windows.
unsafe impl<T: Value, const N: usize> ArgumentOf<'_> for Table<T, N> {}

/// The constants of a launch, as its kernel receives them.
///
/// An access beyond the table returns the table's last elements. A machine on the host can report it.
#[derive(Clone, Copy, Debug)]
pub struct Constants<'l, T, const N: usize> {
    #[cfg(target_os = "cuda")]
    address: u64,
    #[cfg(not(target_os = "cuda"))]
    table: Table<T, N>,
    marker: PhantomData<(&'l (), T)>,
}

impl<T: Value, const N: usize> Constants<'_, T, N> {
    /// Returns the table at this address of the parameter space. Only for [`kernel!`](crate::kernel).
    ///
    /// # Safety
    ///
    /// The address must be that of a parameter of type `Table<T, N>` of the running kernel.
    #[doc(hidden)]
    #[cfg(target_os = "cuda")]
    #[inline(always)]
    #[must_use]
    pub unsafe fn at(address: u64) -> Self {
        Constants { address, marker: PhantomData }
    }

    /// Returns the constants in `table`. Only for [`kernel!`](crate::kernel).
    #[doc(hidden)]
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn of(table: Table<T, N>) -> Self {
        Constants { table, marker: PhantomData }
    }

    /// Returns pack `k`: elements `k * P` to `k * P + P - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes). The table must
    /// consist of whole packs, which is checked at compile time.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn pack<const P: usize>(&self, k: u32) -> [T; P] {
        check_pack::<T, P>();
        #[cfg(target_os = "cuda")]
        return crate::device::Pack::load_pack_parameter(self.address_of::<P>(k)).map(T::from_word);
        #[cfg(not(target_os = "cuda"))]
        return self.read(k);
    }

    /// Checks at compile time that the table consists of whole packs.
    #[inline(always)]
    fn check_packs<const P: usize>() {
        const { assert!(N >= P && N.is_multiple_of(P)) };
    }

    /// Returns the address of pack `k` of `P` elements, or of the last pack if `k` is beyond it. The limit costs nothing in
    /// a loop of at most `N / P` iterations.
    #[cfg(target_os = "cuda")]
    #[inline(always)]
    fn address_of<const P: usize>(&self, k: u32) -> u64 {
        Self::check_packs::<P>();
        let k = k.min((N / P) as u32 - 1);
        self.address + k as u64 * (P * size_of::<T>()) as u64
    }

    #[cfg(not(target_os = "cuda"))]
    #[track_caller]
    fn read<const P: usize>(&self, k: u32) -> [T; P] {
        Self::check_packs::<P>();
        let access = crate::host::Access {
            space: crate::host::Space::Constant,
            base: 0,
            index: u64::from(k) * P as u64,
            len: N as u64,
            elements: P as u32,
            element_bytes: size_of::<T>() as u32,
            at: core::panic::Location::caller(),
        };
        crate::host::machine().constant(&access);
        let packs = self.table.0.as_chunks::<P>().0;
        packs[(k as usize).min(packs.len() - 1)]
    }
}
