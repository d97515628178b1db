//! Windows and matrices, as the host makes them for a launch.

use crate::{GlobalIn, GlobalIn2, GlobalInOut, GlobalInOut2, GlobalOut, GlobalOut2, Value};

macro_rules! windows {
    ($($name:ident)*) => {$(
        impl<'l, T: Value> $name<'l, T> {
            /// Returns the window of `len` elements from `address` on, for a launch.
            ///
            /// # Safety
            ///
            /// The address must be aligned for `T`. Whoever launches a kernel with the window, or with a copy of it, must
            /// ensure that the elements lie inside one live allocation of the launch's device until the kernel has ended,
            /// and that nothing writes the elements of a [`GlobalIn`] in that time. Safe code that could make the window's
            /// lifetime an argument of a kernel must be generic over it, so that no kernel can keep the window.
            #[must_use]
            pub unsafe fn from_raw_parts(address: u64, len: u64) -> Self {
                $name::of(address, len)
            }

            /// Returns an empty window.
            #[must_use]
            pub fn empty() -> Self {
                $name::of(0, 0)
            }

            /// Returns a window on the same memory with elements of another type. Its length is rounded down to whole
            /// elements. Returns `None` if the window does not begin at a multiple of their size.
            ///
            /// ```
            /// let window = cuda_std::GlobalIn::<u8>::empty().cast::<u32>();
            /// assert_eq!(window.map(|window| window.len()), Some(0));
            /// ```
            #[must_use]
            pub fn cast<U: Value>(self) -> Option<$name<'l, U>> {
                let aligned = self.address.is_multiple_of(size_of::<U>() as u64);
                let len = self.description().bytes / size_of::<U>() as u64;
                aligned.then_some($name::of(self.address, len))
            }

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
windows!(GlobalIn GlobalOut GlobalInOut);

macro_rules! matrices {
    ($($name:ident, $window:ident;)*) => {$(
        impl<'l, T: Value> $name<'l, T> {
            /// Returns a matrix of `rows` rows of `columns` elements, with a row pitch of `pitch` elements. Returns `None`
            /// if the window is too short, if rows overlap (`columns > pitch`), or if a number exceeds 32 bits.
            ///
            /// ```
            /// use cuda_std::GlobalIn2;
            ///
            /// let window = cuda_std::GlobalIn::<f32>::empty();
            /// assert!(GlobalIn2::new(window, 0, 5, 8).is_some());
            /// assert!(GlobalIn2::new(window, 1, 5, 8).is_none());
            /// ```
            #[must_use]
            pub fn new(window: $window<'l, T>, rows: u64, columns: u64, pitch: u64) -> Option<Self> {
                let last = rows.checked_sub(1).map_or(Some(0), |before| before.checked_mul(pitch)?.checked_add(columns))?;
                let fits = last <= window.len() && columns <= pitch;
                let [rows, columns, pitch] = [rows, columns, pitch].map(|number| u32::try_from(number).ok());
                fits.then_some($name { window, rows: rows?, columns: columns?, pitch: pitch? })
            }
        }
    )*};
}
matrices! {
    GlobalIn2, GlobalIn;
    GlobalOut2, GlobalOut;
    GlobalInOut2, GlobalInOut;
}

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
