//! What the conformance tests meet: every boundary with every extent, and of everything else what a random number picks.

use super::oracle::{Case, Direction, Weights};
use super::types::Types;
use crate::common::Random;
use slm::{Boundary, Extent};

pub(super) const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Shapes of pictures and of weights, strides and dilations.
pub(super) struct Menu {
    shapes: &'static [[usize; 2]],
    weights: &'static [[usize; 2]],
    strides: &'static [[usize; 2]],
    dilations: &'static [[usize; 2]],
}

pub(super) const MENU: Menu = Menu {
    shapes: &[[33, 65], [1, 700], [300, 1], [1, 1], [3, 2], [17, 5], [66, 130], [0, 5], [5, 0]],
    weights: &[[1, 1], [1, 5], [5, 1], [2, 2], [3, 3], [4, 3], [7, 7], [3, 3]],
    strides: &[[1, 1], [1, 1], [2, 1], [1, 2], [3, 2], [2, 3], [80, 750], [i32::MAX as usize; 2]],
    dilations: &[[1, 1], [1, 1], [2, 1], [1, 3], [2, 2], [3, 5], [40, 35], [1, 800]],
};

/// For emulated devices: one block and several, channels and planes in them.
pub(super) const SMALL_MENU: Menu = Menu {
    shapes: &[[5, 7], [1, 9], [9, 1], [3, 2], [1, 1], [2, 35], [17, 3], [0, 3]],
    weights: &[[1, 1], [1, 3], [3, 1], [2, 2], [3, 3], [4, 3]],
    strides: &[[1, 1], [1, 1], [2, 1], [3, 2], [1, 3], [40, 40], [i32::MAX as usize; 2]],
    dilations: &[[1, 1], [1, 1], [2, 1], [2, 2], [3, 5], [1, 40]],
};

/// The boundaries for a value outside.
pub(super) fn boundaries(outside: f64) -> [Boundary<f64>; 6] {
    [
        Boundary::Zero,
        Boundary::Constant(outside),
        Boundary::Nearest,
        Boundary::Reflect,
        Boundary::Mirror,
        Boundary::Wrap,
    ]
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())]
}

/// Case number `number` of a menu.
pub(super) fn case(types: &Types, menu: &Menu, number: usize) -> Case {
    let random = &mut Random::new(number as u64 ^ types.name.bytes().fold(0, |hash, byte| hash * 31 + u64::from(byte)));
    // Each shape meets every boundary and extent before the next one's turn.
    let shape = menu.shapes[number / 18 % menu.shapes.len()];
    let weights = pick(random, menu.weights);
    let is_separable = random.below(4) == 0;
    let outside = types.sample(random);
    let case = Case {
        weights: self::weights(types, random, weights, is_separable),
        direction: if is_separable || random.below(2) == 0 { Direction::Correlate } else { Direction::Convolve },
        origin: origin(weights, number),
        boundary: boundaries(outside)[number % 6],
        column_boundary: column_boundary(outside, number),
        extent: EXTENTS[number / 6 % 3],
        stride: pick(random, menu.strides),
        dilation: pick(random, menu.dilations),
        channels: pick(random, &[None, None, Some(1), Some(2), Some(3), Some(4)]),
        renormalise: false,
        planes: pick(random, &[1, 1, 1, 2, 3, 0]),
        shape,
        samples: Vec::new(),
    };
    with_samples(types, random, case)
}

/// Any origin of weights of this shape in one of two cases, the centre in the other one.
fn origin(weights: [usize; 2], number: usize) -> [isize; 2] {
    let random = &mut Random::new(!number as u64);
    if random.below(2) == 0 { [0, 0] } else { weights.map(|taps| random.below(taps) as isize - (taps / 2) as isize) }
}

/// Whether two boundaries have no different constants.
pub(super) fn are_compatible(rows: Boundary<f64>, columns: Boundary<f64>) -> bool {
    let constant = |boundary| match boundary {
        Boundary::Zero => Some(0.0),
        Boundary::Constant(outside) => Some(outside),
        _ => None,
    };
    constant(rows).zip(constant(columns)).is_none_or(|(above, before)| above == before)
}

/// Another boundary of the columns in about one of two cases.
fn column_boundary(outside: f64, number: usize) -> Option<Boundary<f64>> {
    let (random, all) = (&mut Random::new(!number as u64 ^ 1), boundaries(outside));
    let other = (random.below(2) == 0).then(|| pick(random, &all));
    other.filter(|&columns| are_compatible(all[number % 6], columns))
}

fn weights(types: &Types, random: &mut Random, [rows, columns]: [usize; 2], is_separable: bool) -> Weights {
    match is_separable {
        false => Weights::Dense([rows, columns], types.weights(random, rows * columns)),
        true => Weights::Separable(types.weights(random, rows), types.weights(random, columns)),
    }
}

/// A case of one plane without further steps.
pub(super) fn plain(types: &Types, stream: u64, shape: [usize; 2], weights: [usize; 2]) -> Case {
    let random = &mut Random::new(stream);
    let case = Case {
        weights: self::weights(types, random, weights, false),
        direction: Direction::Correlate,
        origin: [0, 0],
        boundary: Boundary::Reflect,
        column_boundary: None,
        extent: Extent::Same,
        stride: [1, 1],
        dilation: [1, 1],
        channels: None,
        renormalise: false,
        planes: 1,
        shape,
        samples: Vec::new(),
    };
    with_samples(types, random, case)
}

fn with_samples(types: &Types, random: &mut Random, case: Case) -> Case {
    let samples = (0..case.sample_count()).map(|_| types.sample(random)).collect();
    Case { samples, ..case }
}

/// The case with other dimensions, and as many samples.
pub(super) fn resized(types: &Types, case: Case, channels: Option<usize>, planes: usize) -> Case {
    with_samples(types, &mut Random::new(5), Case { channels, planes, ..case })
}
