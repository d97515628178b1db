//! Windows as elements of another size, for kernels that move several elements at a time.

use crate::{Error, Result};
use cuda_std::{Argument, GlobalIn, GlobalInOut, GlobalOut, Value};

/// A window on elements of some type.
pub(crate) trait Cast: Argument {
    /// The same window on others.
    type As<U: Value>;

    /// The same memory, if it has elements for accesses of so many or needs none; `at_once` is a power of two.
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
/// [`Error::MisalignedWindow`] if such accesses are impossible: on a device each of them would do nothing.
pub(crate) fn cast<W: Cast, U: Value>(window: W, at_once: u32) -> Result<W::As<U>> {
    window.for_accesses(at_once).ok_or_else(|| Error::MisalignedWindow {
        address: address(&window),
        alignment: u64::from(at_once) * size_of::<U>() as u64,
    })
}

/// The address of the first byte.
#[cold]
fn address(window: &impl Cast) -> u64 {
    let mut address = 0;
    window.windows("", &mut |_, window| address = window.address);
    address
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::{Device, Windows};
    use emulator::Profile;

    #[test]
    fn windows_are_moved_by_what_they_are_aligned_for() {
        let device = Device::emulated(Profile::SM_90, 0);
        let buffer = device.upload(&[0u8; 64]).unwrap();
        let whole = Windows::new(&device).input(&buffer);
        let start = address(&whole);
        for first in 0..=48 {
            let part = whole.slice(first, 16);
            let refused = |alignment| Error::MisalignedWindow { address: start + first, alignment };
            let words: Result<GlobalIn<u32>> = cast(part, 1);
            assert_eq!(words.map(|words| words.len()), if first % 4 == 0 { Ok(4) } else { Err(refused(4)) });
            let packs: Result<GlobalIn<u32>> = cast(part, 4);
            assert_eq!(packs.map(|packs| packs.len()), if first % 16 == 0 { Ok(4) } else { Err(refused(16)) });
            let doubles: Result<GlobalIn<u64>> = cast(part, 1);
            assert_eq!(doubles.map(|doubles| doubles.len()), if first % 8 == 0 { Ok(2) } else { Err(refused(8)) });
            let bytes: Result<GlobalIn<u8>> = cast(part, 1);
            assert_eq!(bytes.map(|bytes| bytes.len()), Ok(16));
        }
        // What has no elements has no accesses either.
        let nothing: Result<GlobalIn<u64>> = cast(whole.slice(3, 0), 2);
        assert_eq!(nothing.map(|nothing| nothing.len()), Ok(0));
    }
}
