//! Conversions of `binary16`.

use crate::half::round;

/// Returns the bits of the `binary16` nearest to `x`, which must not be a NaN.
pub(crate) fn narrow_f16(x: f32) -> u16 {
    const INFINITY: u32 = 0x7c00;
    let (sign, magnitude) = ((x.to_bits() >> 16) as u16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    // The exponent of an f32 counts from -127, that of a binary16 from -15.
    let rounded = match (magnitude >> 23) as i32 - 127 + 15 {
        exponent if exponent > 0 => round(magnitude - (112 << 23), 13).min(INFINITY),
        // Subnormal: multiples of 2^-24. Numbers below a quarter of that become zero.
        exponent if exponent > -12 => round(magnitude & 0x7f_ffff | 0x80_0000, (14 - exponent) as u32),
        _ => 0,
    };
    sign | rounded as u16
}

/// Returns the `binary16` with these bits, which must not be a NaN.
pub(crate) fn widen_f16(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits) >> 10 & 0x1f, u32::from(bits) & 0x3ff);
    let magnitude = match exponent {
        0 => fraction as f32 * f32::from_bits((127 - 24) << 23),
        0x1f => f32::INFINITY,
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}
