//! The types of computations.

use super::function::{combined, mapped};
use super::lines::Place;
use super::power::power;
use super::{CombineArgs, MapArgs};
use crate::signal::{Accumulator, AnyIn, AnyOut, Output, kinds};
use core::ops::{Add, Div, Mul, Sub};
use cuda_std::math::Float;

/// Elements of a pack if samples and outputs are bytes.
pub const BYTES: usize = 16;

/// A type of computations: `f32` or `f64`.
pub trait Number:
    Accumulator
    + Float
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Into<f64>
{
    /// Elements of a pack, unless samples and outputs are bytes.
    const PACK: usize;

    /// Returns the nearest number.
    #[must_use]
    fn of(number: f64) -> Self;

    /// Computes a pack of outputs of a function.
    fn map_pack(args: &MapArgs<Self>, place: &Place);

    /// Computes a pack of outputs of a function of two numbers.
    fn combine_pack(args: &CombineArgs, place: &Place);
}

impl Number for f32 {
    const PACK: usize = 4;

    #[inline(always)]
    fn of(number: f64) -> Self {
        number as f32
    }

    #[inline(always)]
    fn map_pack(args: &MapArgs<f32>, place: &Place) {
        match args.bytes {
            0 => map_pack::<f32, { Self::PACK }>(args, place),
            _ => map_pack::<f32, BYTES>(args, place),
        }
    }

    #[inline(always)]
    fn combine_pack(args: &CombineArgs, place: &Place) {
        match args.bytes {
            0 => combine_pack::<f32, { Self::PACK }>(args, place),
            _ => combine_pack::<f32, BYTES>(args, place),
        }
    }
}

impl Number for f64 {
    const PACK: usize = 2;

    #[inline(always)]
    fn of(number: f64) -> Self {
        number
    }

    #[inline(always)]
    fn map_pack(args: &MapArgs<f64>, place: &Place) {
        map_pack::<f64, { Self::PACK }>(args, place);
    }

    #[inline(always)]
    fn combine_pack(args: &CombineArgs, place: &Place) {
        combine_pack::<f64, { Self::PACK }>(args, place);
    }
}

/// Returns the elements of a thread.
#[inline(always)]
fn pack<A: Number>(bytes: u32) -> u32 {
    if bytes == 0 { A::PACK as u32 } else { BYTES as u32 }
}

/// Computes the calling thread's outputs of a function.
#[inline(always)]
pub(super) fn map<A: Number>(args: &MapArgs<A>) {
    let place = args.lines.place(pack::<A>(args.bytes));
    if place.is_pack {
        A::map_pack(args, &place);
        return;
    }
    let (i, o) = (place.index(args.input_pitch), place.index(args.output_pitch));
    let mut k = 0;
    while k < place.len as u64 {
        let x = A::load_sample(&args.input, i + k);
        let [y] = mapped(args.function, [x], [args.p, args.q]);
        y.store_output(&args.output, o + k);
        k += 1;
    }
}

#[inline(always)]
fn map_pack<A: Packs<V>, const V: usize>(args: &MapArgs<A>, place: &Place) {
    let x = A::load_pack(&args.input, place.index(args.input_pitch));
    let y = mapped(args.function, x, [args.p, args.q]);
    A::store_pack(y, &args.output, place.index(args.output_pitch));
}

/// Computes the calling thread's power. Arithmetic takes longer than memory here, so there are no packs.
#[inline(always)]
pub(super) fn raise<A: Number>(args: &MapArgs<A>) {
    let place = args.lines.place(1);
    if place.len > 0 {
        let x = A::load_sample(&args.input, place.index(args.input_pitch));
        power(x, args.p).store_output(&args.output, place.index(args.output_pitch));
    }
}

/// Computes the calling thread's outputs of a function of two numbers.
#[inline(always)]
pub(super) fn combine<A: Number>(args: &CombineArgs) {
    let place = args.lines.place(pack::<A>(args.bytes));
    if place.is_pack {
        A::combine_pack(args, &place);
        return;
    }
    let (i, j) = (place.index(args.a_pitch), place.index(args.b_pitch));
    let o = place.index(args.output_pitch);
    let mut k = 0;
    while k < place.len as u64 {
        let a = A::load_sample(&args.a, i + k);
        let b = A::load_sample(&args.b, j + k);
        let [y] = combined(args.combination, [a], [b]);
        y.store_output(&args.output, o + k);
        k += 1;
    }
}

#[inline(always)]
fn combine_pack<A: Packs<V>, const V: usize>(args: &CombineArgs, place: &Place) {
    let a = A::load_pack(&args.a, place.index(args.a_pitch));
    let b = A::load_pack(&args.b, place.index(args.b_pitch));
    let y = combined(args.combination, a, b);
    A::store_pack(y, &args.output, place.index(args.output_pitch));
}

/// A type of computations with packs of `V` elements.
trait Packs<const V: usize>: Number {
    /// Returns samples `i` and on.
    fn load_pack(samples: &AnyIn, i: u64) -> [Self; V];

    /// Stores outputs `i` and on.
    fn store_pack(values: [Self; V], outputs: &AnyOut, i: u64);
}

/// Implements [`Packs`] for the types of samples and outputs whose packs have at most 16 bytes. The last one is for all other
/// types, which the host does not pass.
macro_rules! packs {
    ($($a:ident, $v:literal: $($pattern:pat => $t:ident),*;)*) => {$(
        impl Packs<$v> for $a {
            #[inline(always)]
            #[track_caller]
            fn load_pack(samples: &AnyIn, i: u64) -> [Self; $v] {
                match samples.kind {
                    $($pattern => samples.$t.get_pack::<$v>(i).map(Output::<$a>::to_sum),)*
                }
            }

            #[inline(always)]
            #[track_caller]
            fn store_pack(values: [Self; $v], outputs: &AnyOut, i: u64) {
                match outputs.kind {
                    $($pattern => outputs.$t.set_pack::<$v>(i, values.map(<$t as Output<$a>>::of_sum)),)*
                }
            }
        }
    )*};
}
packs! {
    f32, 16: _ => u8;
    f32, 4: kinds::U8 => u8, kinds::U16 => u16, kinds::I16 => i16, _ => f32;
    f64, 2: kinds::U8 => u8, kinds::U16 => u16, kinds::I16 => i16, kinds::I32 => i32, kinds::F32 => f32, _ => f64;
}
