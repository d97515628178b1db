//! Parts of windows, for launches that do a part of the work each.

use crate::{GlobalIn, GlobalInOut, GlobalOut, Value};

macro_rules! slices {
    ($($name:ident)*) => {$(
        impl<T: Value> $name<'_, T> {
            /// Returns the window on `len` elements from `first` on, truncated at the end of this window.
            ///
            /// ```
            #[doc = concat!("let window = cuda_std::", stringify!($name), "::<f32>::empty();")]
            /// assert_eq!(window.slice(3, 5).len(), 0);
            /// ```
            #[must_use]
            pub fn slice(self, first: u64, len: u64) -> Self {
                let first = first.min(self.len());
                let address = self.description().address.wrapping_add(first.wrapping_mul(size_of::<T>() as u64));
                // SAFETY: `first` and `len` are limited by the length, so the part lies inside this window, for which the
                // contract holds. The address is a whole number of elements further on, so it is aligned.
                unsafe { $name::from_raw_parts(address, len.min(self.len() - first)) }
            }
        }
    )*};
}
slices!(GlobalIn GlobalOut GlobalInOut);

#[cfg(test)]
mod tests {
    use crate::GlobalIn;

    #[test]
    fn a_slice_stays_inside_its_window() {
        // SAFETY: no kernel is launched.
        let window = unsafe { GlobalIn::<f64>::from_raw_parts(1 << 20, 10) };
        let part = |first, len| {
            let part = window.slice(first, len).description();
            (part.address - (1 << 20), part.bytes)
        };
        assert_eq!([part(0, 10), part(3, 4), part(3, 100)], [(0, 80), (24, 32), (24, 56)]);
        assert_eq!([part(10, 1), part(11, 1), part(u64::MAX, u64::MAX)], [(80, 0); 3]);
        assert!(window.description().contains(&window.slice(9, u64::MAX).description()));
    }
}
