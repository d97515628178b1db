//! Elements as bytes, in files and streams: little-endian, one after another.

use crate::Element;

/// Elements whose bytes can be read and written.
pub(crate) trait Raw: Element {
    /// Returns the bytes of elements, in the byte order of this machine.
    fn bytes(elements: &[Self]) -> &[u8];

    /// Returns the bytes of elements, to be overwritten.
    fn bytes_mut(elements: &mut [Self]) -> &mut [u8];

    /// Changes elements from little-endian to the byte order of this machine, or back.
    fn swap_if_big_endian(elements: &mut [Self]);
}

macro_rules! raw {
    ($($t:ty)*) => {$(
        impl Raw for $t {
            fn bytes(elements: &[$t]) -> &[u8] {
                bytemuck::must_cast_slice(elements)
            }

            fn bytes_mut(elements: &mut [$t]) -> &mut [u8] {
                bytemuck::must_cast_slice_mut(elements)
            }

            fn swap_if_big_endian(elements: &mut [$t]) {
                if cfg!(target_endian = "big") {
                    elements.iter_mut().for_each(|element| *element = <$t>::from_le_bytes(element.to_ne_bytes()));
                }
            }
        }
    )*};
}
raw!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);
