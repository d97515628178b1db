//! Numbers that networks put in order: keys, and samples that comparisons put in order.

/// A number in a network.
pub(crate) trait Number: Copy + Default + Send + Sync + 'static {
    #[must_use]
    fn lesser(self, other: Self) -> Self;

    #[must_use]
    fn greater(self, other: Self) -> Self;

    /// Returns whether comparisons put the number in order: it is neither NaN, nor -0, which they take for 0.
    fn is_plain(self) -> bool;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                self.min(other)
            }

            #[inline(always)]
            fn greater(self, other: Self) -> Self {
                self.max(other)
            }

            #[inline(always)]
            fn is_plain(self) -> bool {
                true
            }
        }
    )*};
}
integers! { u8 u16 i16 u32 i32 u64 }

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Number for $t {
            // One instruction each, unlike `min` and `max`, which leave out NaNs.
            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                if self < other { self } else { other }
            }

            #[inline(always)]
            fn greater(self, other: Self) -> Self {
                if self > other { self } else { other }
            }

            #[inline(always)]
            fn is_plain(self) -> bool {
                !self.is_nan() & (self.to_bits() != (-0.0 as $t).to_bits())
            }
        }
    )*};
}
floats! { f32 f64 }
