//! The bits of elements, for kernels that copy them.

use crate::cpu::allocation;
use crate::element::any::{BufferMut, BufferRef, Slice};
use crate::{Element, Result, Windows};
use cuda_std::{GlobalIn, GlobalOut};
use slm_kernels::cast;

/// The bits of an element.
pub(super) trait Word: Element {
    /// Returns the bits of numbers of this size.
    fn of_numbers(numbers: Slice<'_>) -> Result<Vec<Self>>;

    /// Returns a window on samples of this size.
    fn input<'l, 'b>(windows: &mut Windows<'l, 'b>, samples: BufferRef<'b>) -> Result<GlobalIn<'l, Self>>;

    /// Returns a window on outputs of this size.
    fn output<'l, 'b>(windows: &mut Windows<'l, 'b>, outputs: BufferMut<'b>) -> Result<GlobalOut<'l, Self>>;
}

macro_rules! words {
    ($($word:ident: $($name:ident)*;)*) => {$(
        impl Word for $word {
            fn of_numbers(numbers: Slice<'_>) -> Result<Vec<Self>> {
                match numbers {
                    $(Slice::$name(numbers) => {
                        allocation::collected(numbers.iter().map(|number| Self::from_ne_bytes(number.to_ne_bytes())))
                    })*
                    _ => another_size(),
                }
            }

            fn input<'l, 'b>(windows: &mut Windows<'l, 'b>, samples: BufferRef<'b>) -> Result<GlobalIn<'l, Self>> {
                match samples {
                    $(BufferRef::$name(samples) => Ok(cast(windows.input_slice(samples), 1)?),)*
                    _ => another_size(),
                }
            }

            fn output<'l, 'b>(windows: &mut Windows<'l, 'b>, outputs: BufferMut<'b>) -> Result<GlobalOut<'l, Self>> {
                match outputs {
                    $(BufferMut::$name(outputs) => Ok(cast(windows.output_slice(outputs), 1)?),)*
                    _ => another_size(),
                }
            }
        }
    )*};
}
words! {
    u8: U8;
    u16: U16 I16;
    u32: I32 F32;
    u64: F64;
}

fn another_size() -> ! {
    unreachable!("a kernel is prepared for the size of its elements")
}
