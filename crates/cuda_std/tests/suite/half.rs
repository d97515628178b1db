//! 16-bit floats: all of them, compared with the definitions of the formats.

use crate::machine::{GLOBAL, Tester, input, output};
use cuda_std::host::Space;
use cuda_std::{Argument, Bf16, F16, Value};

/// The operations of both types.
trait Half: Value {
    const INFINITY: u16;
    fn bits(self) -> u16;
    fn of_bits(bits: u16) -> Self;
    fn narrow(x: f32) -> Self;
    fn widen(self) -> f32;
    /// Returns the magnitude of a finite number, by the definition of the format.
    fn magnitude(bits: u16) -> f64;
}

macro_rules! half {
    ($t:ident, $infinity:literal, $fraction_bits:literal, $bias:literal) => {
        impl Half for $t {
            const INFINITY: u16 = $infinity;
            fn bits(self) -> u16 {
                self.to_bits()
            }
            fn of_bits(bits: u16) -> Self {
                $t::from_bits(bits)
            }
            fn narrow(x: f32) -> Self {
                $t::from_f32(x)
            }
            fn widen(self) -> f32 {
                self.to_f32()
            }
            fn magnitude(bits: u16) -> f64 {
                let (exponent, fraction) = (bits >> $fraction_bits, bits & ((1 << $fraction_bits) - 1));
                let significand = f64::from(fraction) / f64::from(1 << $fraction_bits);
                match exponent {
                    0 => significand * 2f64.powi(1 - $bias),
                    _ => (1.0 + significand) * 2f64.powi(i32::from(exponent) - $bias),
                }
            }
        }
    };
}
half!(F16, 0x7c00, 10, 15);
half!(Bf16, 0x7f80, 7, 127);

/// Checks every number of the type.
fn widening_is_exact<T: Half>() {
    for bits in 0..T::INFINITY {
        let x = T::of_bits(bits).widen();
        assert_eq!(f64::from(x), T::magnitude(bits), "{bits:#06x}");
        assert_eq!(T::of_bits(bits | 0x8000).widen().to_bits(), (-x).to_bits());
        assert_eq!((T::narrow(x).bits(), T::narrow(-x).bits()), (bits, bits | 0x8000));
    }
    assert_eq!(T::of_bits(T::INFINITY).widen(), f32::INFINITY);
    for bits in (T::INFINITY + 1)..0x8000 {
        assert_eq!(T::of_bits(bits).widen().to_bits(), 0x7fff_ffff);
    }
}

/// Checks the numbers below, at and above the middle of each two neighbours. The largest number's neighbour is the number
/// that would follow it.
fn narrowing_rounds_to_nearest_even<T: Half>() {
    for bits in 0..T::INFINITY {
        let (low, high) = (T::magnitude(bits), T::magnitude(bits + 1));
        let middle = (0.5 * (low + high)) as f32;
        if f64::from(middle) != 0.5 * (low + high) {
            // The middle of two of the smallest bfloat16s may not be an f32.
            continue;
        }
        let even = bits + (bits & 1);
        let expected = [(middle.next_down(), bits), (middle, even), (middle.next_up(), bits + 1)];
        for (x, expected) in expected {
            assert_eq!(T::narrow(x).bits(), expected, "{x:e}");
            assert_eq!(T::narrow(-x).bits(), expected | 0x8000, "{x:e}");
        }
    }
    for x in [f32::MAX, f32::INFINITY] {
        assert_eq!((T::narrow(x).bits(), T::narrow(-x).bits()), (T::INFINITY, T::INFINITY | 0x8000));
    }
    for nan in [f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001), f32::from_bits(0xffff_ffff)] {
        assert_eq!(T::narrow(nan).bits(), 0x7fff);
    }
    assert_eq!((T::narrow(0.0).bits(), T::narrow(-0.0).bits(), T::narrow(1e-45).bits()), (0, 0x8000, 0));
}

#[test]
fn conversions_of_f16() {
    widening_is_exact::<F16>();
    narrowing_rounds_to_nearest_even::<F16>();
}

#[test]
fn conversions_of_bf16() {
    widening_is_exact::<Bf16>();
    narrowing_rounds_to_nearest_even::<Bf16>();
}

#[test]
fn comparisons_are_those_of_floats() {
    assert_eq!(F16::from_bits(0x8000), F16::from_bits(0));
    assert_ne!(F16::from_bits(0x7e00), F16::from_bits(0x7e00));
    assert!(Bf16::from_f32(-2.0) < Bf16::from_f32(1.0));
    assert_eq!((format!("{:?}", F16::from_f32(0.5)), f32::from(Bf16::from_f32(3.0))), ("0.5".into(), 3.0));
    assert_ne!(F16::LAYOUT, Bf16::LAYOUT);
}

/// Windows hold them in two bytes each. Accesses move one, two or four.
#[test]
fn windows_hold_them() {
    fn test<T: Half>() {
        let tester = Tester::new(64, 64);
        let values = [0x8182, 0x9192, 0xa1a2, 0xb1b2].map(T::of_bits);
        let (_, event) = tester.observe_one(|| output::<T>(16, 8).set_pack(4, values));
        let access = event.access();
        assert_eq!(
            (access.space, access.base, access.elements, access.element_bytes),
            (Space::Global, GLOBAL + 16, 4, 2)
        );
        let (pair, _) = tester.observe_one(|| input::<T>(16, 8).get_pack::<2>(6));
        assert_eq!(pair.map(T::bits), [0xa1a2, 0xb1b2]);
        let (tile, _) = tester.arena().split::<T>(8);
        tester.observe_one(|| tile.set(3, values[1]));
        assert_eq!(tester.observe_one(|| tile.get(3)).0.bits(), 0x9192);
    }
    test::<F16>();
    test::<Bf16>();
}
