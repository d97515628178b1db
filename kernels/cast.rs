//! Windows as elements of another size, for kernels that move several elements at a time.

use cuda_std::{Argument, GlobalIn, GlobalInOut, GlobalOut, Value};

/// A window that begins where a kernel's accesses cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misaligned {
    /// The address of its first byte.
    pub address: u64,
    /// The bytes of an access.
    pub alignment: u64,
}

/// A window on elements of some type.
pub trait Cast: Argument {
    /// The same window on others.
    type As<U: Value>;

    /// Returns the same memory if it is aligned for accesses of `at_once` elements, or empty; `at_once` is a power of two.
    #[must_use]
    fn for_accesses<U: Value>(self, at_once: u32) -> Option<Self::As<U>>;
}

macro_rules! casts {
    ($($window:ident)*) => {$(
        impl<T: Value> Cast for $window<T> {
            type As<U: Value> = $window<U>;

            fn for_accesses<U: Value>(self, at_once: u32) -> Option<$window<U>> {
                match self.len() {
                    0 => Some($window::empty()),
                    _ => self.cast().filter(|window: &$window<U>| window.is_aligned(at_once)),
                }
            }
        }
    )*};
}
casts!(GlobalIn GlobalOut GlobalInOut);

/// Returns the same memory as elements of type `U`, for a kernel that accesses up to `at_once` of them at a time.
///
/// Buffers begin at multiples of 16 bytes and more, so of these alone a part can be refused.
///
/// # Errors
///
/// If such accesses are impossible: on a device each of them would do nothing.
pub fn cast<W: Cast, U: Value>(window: W, at_once: u32) -> Result<W::As<U>, Misaligned> {
    window
        .for_accesses(at_once)
        .ok_or_else(|| Misaligned { address: address(&window), alignment: u64::from(at_once) * size_of::<U>() as u64 })
}

/// The address of the first byte.
#[cold]
fn address(window: &impl Cast) -> u64 {
    let mut address = 0;
    window.windows("", &mut |_, window| address = window.address);
    address
}
