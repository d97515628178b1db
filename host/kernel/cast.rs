//! Windows as elements of another size, for kernels that move several elements at a time.

use crate::{Error, Result};
use cuda_std::host::Window;
use cuda_std::{Argument, GlobalIn, GlobalInOut, GlobalOut, Value};

/// A window on elements of some type.
pub(crate) trait Cast: Argument {
    /// The same window on others.
    type As<U: Value>;

    /// The window without elements.
    fn none<U: Value>() -> Self::As<U>;

    /// The same memory; `None` if it does not begin at a multiple of the size of `U`.
    fn as_elements<U: Value>(self) -> Option<Self::As<U>>;
}

macro_rules! casts {
    ($($window:ident)*) => {$(
        impl<T: Value> Cast for $window<T> {
            type As<U: Value> = $window<U>;

            fn none<U: Value>() -> $window<U> {
                $window::empty()
            }

            fn as_elements<U: Value>(self) -> Option<$window<U>> {
                self.cast()
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
    let alignment = u64::from(at_once) * size_of::<U>() as u64;
    let Window { address, bytes, .. } = described(&window);
    if bytes == 0 {
        return Ok(W::none());
    }
    let aligned = window.as_elements().filter(|_| address.is_multiple_of(alignment));
    aligned.ok_or(Error::MisalignedWindow { address, alignment })
}

fn described(window: &impl Cast) -> Window {
    let mut found = None;
    window.windows("", &mut |_, window| found = Some(window));
    found.expect("a window shows itself")
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
        let start = described(&whole).address;
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
