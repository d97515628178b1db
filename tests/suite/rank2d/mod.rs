//! One suite for every backend: `Rank2d` against the naive oracle, which sorts each window, and SciPy, OpenCV and
//! scikit-image.
//!
//! Every boundary and extent meets every type and windows, ranks, shapes, strides, channels and planes that are drawn at random, the same in
//! every run. Outputs must be the same bits, from host arrays and from device matrices with gaps; slow devices filter large pictures in one of
//! these forms.
//!
//! | file | what it tests |
//! |---|---|
//! | `golden.rs` | results of SciPy, OpenCV and scikit-image |
//! | `kernels.rs` | which methods run, large windows, and several blocks |
//! | `sorted.rs` | ranks of sorted tiles |
//! | `oracle.rs` | results by the definition, part of `tests/support` |
//! | `special.rs` | NaNs of every kind, and zeros of both signs outside |
//! | `api/` | the interface, part of `tests/api` |

mod golden;
mod kernels;
mod sorted;
mod special;

use crate::common::numbers::{Kind, Number, bits, converted, pitched};
use crate::common::{Random, equal, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use oracle::{Case, Rank};
use slm::ndarray::{Array2, ArrayD, ShapeBuilder};
use slm::rank2d::{PreparedRank2d, RankError};
use slm::{
    Backend, Boundary, Buffer2, Device, Error, Extent, Rank2d, Rank2dAlgorithm, RankElement, RankNanPolicy, RankWindow,
};
use slm_test_support::rank2d as oracle;

/// The name of the suite.
const SUITE: &str = "rank2d";

pub(super) const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

pub(super) fn trials() -> Vec<Trial> {
    let conformance = [
        on_every_backend(SUITE, "conformance::u8", conforms::<u8>),
        on_every_backend(SUITE, "conformance::u16", conforms::<u16>),
        on_every_backend(SUITE, "conformance::i16", conforms::<i16>),
        on_every_backend(SUITE, "conformance::i32", conforms::<i32>),
        on_every_backend(SUITE, "conformance::f32", conforms::<f32>),
        on_every_backend(SUITE, "conformance::f64", conforms::<f64>),
    ];
    conformance
        .into_iter()
        .flatten()
        .chain(kernels::trials())
        .chain(sorted::trials())
        .chain(golden::trials())
        .chain(special::trials())
        .collect()
}

/// Shapes of pictures and of windows, and strides.
struct Menu {
    shapes: &'static [[usize; 2]],
    windows: &'static [[usize; 2]],
    strides: &'static [[usize; 2]],
}

const MENU: Menu = Menu {
    shapes: &[[33, 65], [1, 700], [300, 1], [1, 1], [3, 2], [17, 5], [66, 130], [0, 5], [5, 0]],
    windows: &[[1, 1], [1, 5], [5, 1], [2, 2], [3, 3], [4, 3], [5, 5], [7, 7], [9, 11], [1, 70], [3, 3]],
    strides: &[[1, 1], [1, 1], [1, 1], [2, 1], [1, 2], [3, 2], [i32::MAX as usize; 2]],
};

/// For emulated devices: one block and several, channels and planes in them.
const SMALL_MENU: Menu = Menu {
    shapes: &[[5, 7], [1, 9], [9, 1], [3, 2], [1, 1], [2, 35], [17, 3], [0, 3]],
    windows: &[[1, 1], [1, 3], [3, 1], [2, 2], [3, 3], [3, 3], [4, 3]],
    strides: &[[1, 1], [1, 1], [1, 1], [2, 1], [3, 2], [1, 3], [i32::MAX as usize; 2]],
};

fn conforms<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let (menu, count) = if is_slow(device) { (&SMALL_MENU, 36) } else { (&MENU, 9 * 18) };
    // Each type on emulated devices begins with another shape.
    let first = if is_slow(device) { T::KIND as usize * 36 } else { 0 };
    (first..first + count).try_for_each(|number| check::<T>(device, &case(T::KIND, menu, number)))
}

pub(super) fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())]
}

/// A sample: few different ones, so that some are equal, or any; with special floats among them, such as subnormal ones.
pub(super) fn sample(random: &mut Random, kind: Kind) -> f64 {
    let tiny = if kind == Kind::F32 { f64::from(1e-40f32) } else { 5e-324 };
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, tiny, -tiny];
    match kind.range() {
        Some([least, greatest]) if random.below(2) == 0 => (least + random.unit() * (greatest - least + 1.0)).floor(),
        Some([least, _]) => least + random.below(4) as f64,
        None if random.below(3) == 0 => pick(random, &special),
        None => kind.stored(random.unit() * 2.0 - 1.0),
    }
}

/// Case number `number` of a menu.
fn case(kind: Kind, menu: &Menu, number: usize) -> Case {
    let random = &mut Random::new(number as u64 ^ (kind as u64) << 32);
    // Each shape meets every boundary and extent before the next one's turn.
    let shape = menu.shapes[number / 18 % menu.shapes.len()];
    let window = pick(random, menu.windows);
    let mask = mask(random, window);
    let count = mask.as_ref().map_or(window[0] * window[1], |mask| mask.iter().filter(|&&inside| inside).count());
    let any = random.below(2 * count) as isize - count as isize;
    let within = random.unit() * 100.0;
    let percentage = pick(random, &[0.0, within, within, 100.0]);
    let ranks = [Rank::Median, Rank::Minimum, Rank::Maximum, Rank::At(any), Rank::Percentile(percentage)];
    let all = boundaries(sample(random, kind));
    let has_nans = kind.range().is_none() && random.below(2) == 0;
    let case = Case {
        window,
        mask,
        rank: pick(random, &[&ranks[..], &[Rank::Median; 2]].concat()),
        origin: window
            .map(|taps| if random.below(2) == 0 { 0 } else { random.below(taps) as isize - (taps / 2) as isize }),
        boundaries: [all[number % 6], pick(random, &[all[number % 6], Boundary::Wrap, Boundary::Nearest])],
        extent: EXTENTS[number / 6 % 3],
        stride: pick(random, menu.strides),
        channels: pick(random, &[None, None, Some(1), Some(2), Some(3), Some(4)]),
        omit: random.below(2) == 0,
        planes: pick(random, &[1, 1, 1, 2, 3, 0]),
        shape,
        samples: Vec::new(),
    };
    let nan = |random: &mut Random| has_nans && random.below(8) == 0;
    let samples = (0..case.sample_count()).map(|_| if nan(random) { f64::NAN } else { sample(random, kind) }).collect();
    Case { samples, ..case }
}

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

/// Any mask with at least one sample in one of three cases.
pub(super) fn mask(random: &mut Random, [rows, columns]: [usize; 2]) -> Option<Vec<bool>> {
    let len = rows * columns;
    let (is_masked, own) = (random.below(3) == 0, random.below(len));
    is_masked.then(|| (0..len).map(|at| at == own || random.below(3) > 0).collect())
}

/// The boundary for samples of another type.
pub(super) fn boundary_of<T: Number>(boundary: Boundary<f64>) -> Boundary<T> {
    match boundary {
        Boundary::Zero => Boundary::Zero,
        Boundary::Constant(outside) => Boundary::Constant(T::of(outside)),
        Boundary::Nearest => Boundary::Nearest,
        Boundary::Reflect => Boundary::Reflect,
        Boundary::Mirror => Boundary::Mirror,
        Boundary::Wrap => Boundary::Wrap,
    }
}

fn filter<T: RankElement + Number>(case: &Case) -> Rank2d<T> {
    let [rows, columns] = case.window;
    let window = match &case.mask {
        None => RankWindow::rectangle(rows, columns),
        Some(mask) => {
            RankWindow::from(&Array2::from_shape_vec((rows, columns), mask.clone()).expect("a mask is whole"))
        }
    };
    let filter = match case.rank {
        Rank::Median => Rank2d::median(window),
        Rank::Minimum => Rank2d::minimum(window),
        Rank::Maximum => Rank2d::maximum(window),
        Rank::At(rank) => Rank2d::rank(window, rank),
        Rank::Percentile(percentile) => Rank2d::percentile(window, percentile),
    };
    let [above, before] = case.boundaries.map(boundary_of);
    let filter = filter
        .boundaries(above, before)
        .extent(case.extent)
        .origin(case.origin[0], case.origin[1])
        .stride(case.stride[0], case.stride[1])
        .nan_policy(if case.omit { RankNanPolicy::Omit } else { RankNanPolicy::Propagate });
    match case.channels {
        None => filter,
        Some(channels) => filter.channels(channels),
    }
}

fn algorithms(device: &Device) -> &'static [Rank2dAlgorithm] {
    use Rank2dAlgorithm::{Auto, GlobalMemory, SharedTile, SortedTile, VanHerk};
    const ALL: [Rank2dAlgorithm; 5] = [Auto, GlobalMemory, SharedTile, SortedTile, VanHerk];
    match device.info().backend {
        Backend::Cpu => &ALL[..1],
        // `Auto` is one of the others.
        Backend::Emulated => &ALL[1..],
        _ => &ALL,
    }
}

/// Whether an algorithm does not take a filter on this device, for a reason that the case has.
fn is_refused<T: RankElement>(
    case: &Case,
    algorithm: Rank2dAlgorithm,
    prepared: slm::Result<PreparedRank2d<T>>,
) -> bool {
    let is_sortable = case.mask.is_none() && case.stride == [1, 1];
    let is_separable = is_sortable && [Rank::Minimum, Rank::Maximum].contains(&case.rank);
    match algorithm {
        Rank2dAlgorithm::SharedTile => match prepared {
            Err(Error::SharedMemoryExceeded { available, .. }) => most_bytes_of_tile(case) > available as f64,
            _ => false,
        },
        Rank2dAlgorithm::SortedTile => !is_sortable && matches!(prepared, Err(Error::Rank(RankError::NotSortable))),
        Rank2dAlgorithm::VanHerk => !is_separable && matches!(prepared, Err(Error::Rank(RankError::NotSeparable))),
        _ => false,
    }
}

/// An upper bound of the shared memory for 16 x 32 outputs: keys have at most 8 bytes, and extremes along rows take no more than the keys. Larger
/// tiles fit on every device.
fn most_bytes_of_tile(case: &Case) -> f64 {
    let samples = |axis: usize, outputs: usize| (outputs * case.stride[axis] + case.window[axis]) as f64;
    samples(0, 16) * samples(1, 32) * (case.channels() * 2 * 8) as f64
}

/// Compares all algorithms with the oracle, from host arrays and with matrices on the device.
fn check<T: RankElement + Number>(device: &Device, case: &Case) -> Result<(), Failed> {
    check_with::<T>(device, case, algorithms(device))
}

fn check_with<T: RankElement + Number>(
    device: &Device,
    case: &Case,
    algorithms: &[Rank2dAlgorithm],
) -> Result<(), Failed> {
    let expected = case.outputs();
    algorithms.iter().enumerate().try_for_each(|(number, &algorithm)| {
        if is_refused(case, algorithm, filter::<T>(case).algorithm(algorithm).prepare(device)) {
            return Ok(());
        }
        let described = |error: Failed| {
            let case = Case { samples: Vec::new(), ..case.clone() };
            format!("{algorithm:?}: {}\n{case:?}", error.message().unwrap_or("they differ"))
        };
        let forms = if is_slow(device) { forms_of_a_slow_device::<T>(case, number) } else { [true; 2] };
        for (form, is_checked) in [check_array::<T>, check_matrices::<T>].into_iter().zip(forms) {
            if is_checked {
                form(device, case, algorithm, &expected).map_err(described)?;
            }
        }
        Ok(())
    })
}

/// Whether a slow device filters host arrays, and matrices with gaps: one of them if the picture is large. If its rows begin at multiples of
/// four samples, they do so in the array; otherwise types and algorithms take turns.
fn forms_of_a_slow_device<T: Number>(case: &Case, algorithm: usize) -> [bool; 2] {
    const LARGE: usize = 1_000;
    let is_aligned = (case.shape[1] * case.channels()).is_multiple_of(4);
    let takes_the_array = is_aligned || (T::KIND as usize + algorithm).is_multiple_of(2);
    if case.samples.len() > LARGE { [takes_the_array, !takes_the_array] } else { [true; 2] }
}

fn check_array<T: RankElement + Number>(
    device: &Device,
    case: &Case,
    algorithm: Rank2dAlgorithm,
    expected: &[f64],
) -> Result<(), Failed> {
    let filter = filter::<T>(case).algorithm(algorithm).prepare(device)?;
    let shape = |picture: [usize; 2]| [case.planes].into_iter().chain(picture).chain(case.channels).collect::<Vec<_>>();
    let is_reversed = case.samples.len() % 2 == 1;
    let mut samples = ArrayD::from_elem(shape(case.shape).set_f(is_reversed), T::of(0.0));
    samples.iter_mut().zip(&case.samples).for_each(|(to, &sample)| *to = T::of(sample));
    let outputs = filter.apply(samples.view())?;
    equal(outputs.shape().to_vec(), shape(case.output_shape()))?;
    let values: Vec<f64> = outputs.iter().map(|&output| output.to()).collect();
    same(&bits(&values), &bits(expected))
}

/// Filters matrices with gaps, which must not change.
fn check_matrices<T: RankElement + Number>(
    device: &Device,
    case: &Case,
    algorithm: Rank2dAlgorithm,
    expected: &[f64],
) -> Result<(), Failed> {
    const GAPS: [usize; 2] = [3, 5];
    const GAP: f64 = 77.0;
    let filter = filter::<T>(case).algorithm(algorithm).prepare(device)?;
    let (channels, [rows, columns]) = (case.channels(), case.output_shape());
    let input = [case.planes * case.shape[0], case.shape[1] * channels, case.shape[1] * channels + GAPS[0]];
    let output = [case.planes * rows, columns * channels, columns * channels + GAPS[1]];
    let matrix = |values: &[f64], [rows, columns, pitch]: [usize; 3]| {
        Buffer2::from_buffer(device.upload(&converted::<T>(values))?, rows, columns, pitch)
    };
    let expected = pitched(expected, output, GAP);
    let samples = matrix(&pitched(&case.samples, input, GAP), input)?;
    let mut outputs = matrix(&vec![GAP; expected.len()], output)?;
    match case.planes {
        1 => filter.apply_into(&samples, &mut outputs)?,
        planes => filter.apply_into(samples.planes(planes), &mut outputs)?,
    }
    let outputs: Vec<f64> = outputs.into_buffer().download()?.into_iter().map(T::to).collect();
    same(&bits(&outputs), &bits(&expected))
}
