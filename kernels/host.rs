//! What only the host has: casts of windows to elements of another size, for kernels that move several elements at a time, and
//! the list of sources.

use cuda_std::{Argument, GlobalIn, GlobalInOut, GlobalOut, Value};

/// List of the files that this crate is compiled from. Compiled modules are checked against it.
pub const SOURCES: &str = env!("SLM_KERNEL_SOURCES");

/// Error for a window that is not aligned for a kernel's accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misaligned {
    /// Address of the window's first byte.
    pub address: u64,
    /// Required alignment: the number of bytes of one access.
    pub alignment: u64,
}

/// A window that can be cast to another element type.
pub trait Cast: Argument {
    /// The window with elements of type `U`.
    type As<U: Value>;

    /// Returns a window on the same memory, or `None` if it is neither empty nor aligned for accesses of `at_once`
    /// elements. `at_once` is a power of two.
    #[must_use]
    fn for_accesses<U: Value>(self, at_once: u32) -> Option<Self::As<U>>;
}

macro_rules! casts {
    ($($window:ident)*) => {$(
        impl<'l, T: Value> Cast for $window<'l, T> {
            type As<U: Value> = $window<'l, U>;

            fn for_accesses<U: Value>(self, at_once: u32) -> Option<$window<'l, U>> {
                match self.len() {
                    0 => Some($window::empty()),
                    _ => self.cast().filter(|window: &$window<U>| window.is_aligned(at_once)),
                }
            }
        }
    )*};
}
casts!(GlobalIn GlobalOut GlobalInOut);

/// Returns a window on the same memory as elements of type `U`, for a kernel that accesses up to `at_once` of them at a
/// time.
///
/// Buffers are aligned to at least 16 bytes, so a whole buffer is never refused, only a part of one.
///
/// # Errors
///
/// [`Misaligned`] if the window is not aligned for such accesses. On a device, misaligned accesses would do nothing.
pub fn cast<W: Cast, U: Value>(window: W, at_once: u32) -> Result<W::As<U>, Misaligned> {
    window
        .for_accesses(at_once)
        .ok_or_else(|| Misaligned { address: address(&window), alignment: u64::from(at_once) * size_of::<U>() as u64 })
}

/// Returns the address of the first byte.
#[cold]
fn address(window: &impl Cast) -> u64 {
    let mut address = 0;
    window.windows("", &mut |_, window| address = window.address);
    address
}
