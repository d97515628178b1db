//! Samples of all types, and the bits of numbers.

use crate::common::Random;
use crate::common::numbers::Kind;

/// Samples of a type: all special ones first, then random ones.
pub(super) fn samples(kind: Kind, random: &mut Random, count: usize) -> Vec<f64> {
    let special = special(kind);
    let first = special.iter().copied().cycle().skip(random.below(7)).take(count.min(special.len()));
    let mut samples: Vec<f64> = first.collect();
    samples.extend((samples.len()..count).map(|_| any(kind, random)));
    samples
}

fn any(kind: Kind, random: &mut Random) -> f64 {
    match kind.range() {
        Some([least, greatest]) if random.below(2) == 0 => (least + random.unit() * (greatest - least)).round() + 0.0,
        Some([least, _]) => (random.unit() * 400.0 - 100.0).round().max(least).min(255.0) + 0.0,
        // Multiples of 1/8: many are ties.
        None if random.below(2) == 0 => (random.unit() * 4800.0 - 2400.0).round() / 8.0,
        None => kind.stored(random.unit() * 140_000.0 - 70_000.0),
    }
}

fn special(kind: Kind) -> Vec<f64> {
    const FLOATS: [f64; 24] = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -1.5,
        -2.5,
        254.5,
        255.5,
        256.0,
        -1.0,
        65_534.5,
        65_535.5,
        32_767.5,
        -32_768.5,
        2_147_483_648.0,
        -2_147_483_649.0,
        1e30,
        -1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-40,
    ];
    match kind.range() {
        Some([least, greatest]) => vec![least, greatest, 0.0, 1.0, greatest - 1.0, least + 1.0, 2.0, 255.0],
        None => FLOATS.map(|number| kind.stored(number)).to_vec(),
    }
}
