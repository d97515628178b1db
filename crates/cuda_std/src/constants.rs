//! Numbers that all threads read at the same place: constant memory.
//!
//! A launch brings them along as its second parameter. The hardware keeps parameters in constant memory, which serves
//! a whole warp at once as long as all its lanes ask for the same element; an arithmetic instruction can then take the
//! number by way of a uniform register. Lanes that ask for different elements are served one after another.

use crate::argument::layout_of;
use crate::digest::Digest;
use crate::{Argument, Value, Vector4};

/// The constants of a launch as the host makes them: `N` elements, at most 4096 bytes together with the arguments.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct Table<T, const N: usize>(pub [T; N]);

// SAFETY: elements one after another, on both sides; numbers are no windows.
unsafe impl<T: Value, const N: usize> Argument for Table<T, N> {
    const LAYOUT: Digest = layout_of::<Self>("Table").add_digest(T::LAYOUT).add_number(N as u64);

    #[cfg(not(target_os = "cuda"))]
    fn windows(&self, _name: &'static str, _visit: &mut dyn FnMut(&'static str, crate::host::Window)) {}
}

/// The constants of a launch as its kernel sees them.
///
/// An access beyond the table gives its last elements. A machine on the host reports it.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T, const N: usize> {
    #[cfg(target_os = "cuda")]
    address: u64,
    #[cfg(target_os = "cuda")]
    marker: core::marker::PhantomData<T>,
    #[cfg(not(target_os = "cuda"))]
    table: Table<T, N>,
}

impl<T: Value, const N: usize> Constants<T, N> {
    /// The table at this address of the parameter space. For [`kernel!`](crate::kernel) alone.
    ///
    /// # Safety
    ///
    /// A parameter of type `Table<T, N>` of the running kernel is there.
    #[doc(hidden)]
    #[cfg(target_os = "cuda")]
    #[inline(always)]
    #[must_use]
    pub unsafe fn at(address: u64) -> Self {
        Constants { address, marker: core::marker::PhantomData }
    }

    /// The table itself. For [`kernel!`](crate::kernel) alone.
    #[doc(hidden)]
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn of(table: Table<T, N>) -> Self {
        Constants { table }
    }

    /// Elements `2 k` and `2 k + 1`.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn pair(&self, k: u32) -> [T; 2] {
        #[cfg(target_os = "cuda")]
        return crate::device::Word::load2_parameter(self.address_of::<2>(k)).map(T::from_word);
        #[cfg(not(target_os = "cuda"))]
        return self.group(k);
    }

    /// A table consists of whole groups: checked when compiling.
    #[inline(always)]
    fn check_groups<const G: usize>() {
        const { assert!(N >= G && N.is_multiple_of(G)) };
    }

    /// The address of the group number `k` of `G` elements, or of the last one if there are fewer: nothing to compute
    /// in a loop whose limit is no more than `N / G`.
    #[cfg(target_os = "cuda")]
    #[inline(always)]
    fn address_of<const G: usize>(&self, k: u32) -> u64 {
        Self::check_groups::<G>();
        let k = k.min((N / G) as u32 - 1);
        self.address + k as u64 * (G * size_of::<T>()) as u64
    }

    #[cfg(not(target_os = "cuda"))]
    #[track_caller]
    fn group<const G: usize>(&self, k: u32) -> [T; G] {
        Self::check_groups::<G>();
        let access = crate::host::Access {
            space: crate::host::Space::Constant,
            base: 0,
            index: u64::from(k) * G as u64,
            len: N as u64,
            elements: G as u32,
            element_bytes: size_of::<T>() as u32,
            at: core::panic::Location::caller(),
        };
        crate::host::machine().constant(&access);
        let groups = self.table.0.as_chunks::<G>().0;
        groups[(k as usize).min(groups.len() - 1)]
    }
}

impl<T: Vector4, const N: usize> Constants<T, N> {
    /// Elements `4 k` to `4 k + 3`.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn quad(&self, k: u32) -> [T; 4] {
        #[cfg(target_os = "cuda")]
        return crate::device::Word4::load4_parameter(self.address_of::<4>(k)).map(T::from_word);
        #[cfg(not(target_os = "cuda"))]
        return self.group(k);
    }
}
