//! One suite for every backend: `Rank1d` against the naive oracle of `Rank2d`, for which lines are rows or columns of pictures.
//!
//! Boundaries, extents, windows, ranks, strides, channels and shapes are drawn at random, the same in every run, and lines run along both axes.
//! Outputs must be the same bits, from host arrays and from buffers and matrices on the device.
//!
//! | file | what it tests |
//! |---|---|
//! | `api.rs` | errors and equalities, part of `tests/api` |

use crate::common::numbers::{Kind, Number, bits, converted};
use crate::common::{Random, equal, is_slow, on_every_backend, same};
use crate::rank2d::{EXTENTS, boundaries, boundary_of, pick, sample};
use libtest_mimic::{Failed, Trial};
use slm::ndarray::{Array1, Array2};
use slm::{Buffer2, Device, Rank1d, RankElement, RankNanPolicy};
use slm_test_support::rank2d::{Case, Rank};

/// The name of the suite.
const SUITE: &str = "rank1d";

pub(super) fn trials() -> Vec<Trial> {
    let conformance = [
        on_every_backend(SUITE, "conformance::u8", conforms::<u8>),
        on_every_backend(SUITE, "conformance::u16", conforms::<u16>),
        on_every_backend(SUITE, "conformance::i16", conforms::<i16>),
        on_every_backend(SUITE, "conformance::i32", conforms::<i32>),
        on_every_backend(SUITE, "conformance::f32", conforms::<f32>),
        on_every_backend(SUITE, "conformance::f64", conforms::<f64>),
        on_every_backend(SUITE, "long_lines::u8", long_lines::<u8>),
        on_every_backend(SUITE, "long_lines::f32", long_lines::<f32>),
    ];
    conformance.into_iter().flatten().collect()
}

/// Lines, and samples of each and channel.
const SHAPES: [[usize; 2]; 8] = [[1, 1000], [3, 65], [17, 40], [1, 1], [2, 2], [40, 3], [0, 5], [5, 0]];

/// For emulated devices.
const SMALL_SHAPES: [[usize; 2]; 6] = [[1, 40], [3, 9], [1, 1], [9, 2], [0, 3], [2, 0]];

fn conforms<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let (shapes, windows, count): (&[_], &[usize], _) = match is_slow(device) {
        true => (&SMALL_SHAPES, &[1, 2, 3, 5, 12], 24),
        false => (&SHAPES, &[1, 2, 3, 4, 5, 7, 12, 33, 300], 144),
    };
    (0..count).try_for_each(|number| {
        let random = &mut Random::new(number as u64 ^ (T::KIND as u64) << 32 ^ 0x1d);
        let window = pick(random, windows);
        let lines = Lines::new(random, T::KIND, shapes[number % shapes.len()], window, number);
        lines.check::<T>(device).map_err(|error| {
            let case = Case { samples: Vec::new(), ..lines.0.clone() };
            format!("{}\n{case:?}", error.message().unwrap_or("they differ")).into()
        })
    })
}

/// Several blocks of a line, with windows of both kinds of kernels for extremes.
fn long_lines<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let samples = if is_slow(device) { 1200 } else { 70_000 };
    for (number, (window, rank)) in
        [(5, Rank::Median), (16, Rank::Minimum), (40, Rank::Maximum), (31, Rank::Percentile(90.0))]
            .into_iter()
            .enumerate()
    {
        let random = &mut Random::new(number as u64 + 900);
        let Lines(case) = Lines::new(random, T::KIND, [1, samples], window, number);
        Lines(Case { rank, stride: [1, 1], ..case }).check::<T>(device)?;
    }
    Ok(())
}

/// A filter of lines along rows, and what it is used on.
struct Lines(Case);

impl Lines {
    fn new(random: &mut Random, kind: Kind, shape: [usize; 2], window: usize, number: usize) -> Self {
        let any = random.below(2 * window) as isize - window as isize;
        let ranks =
            [Rank::Median, Rank::Minimum, Rank::Maximum, Rank::At(any), Rank::Percentile(random.unit() * 100.0)];
        let shift = if random.below(2) == 0 { 0 } else { random.below(window) as isize - (window / 2) as isize };
        let case = Case {
            window: [1, window],
            mask: None,
            rank: pick(random, &ranks),
            origin: [0, shift],
            boundaries: [boundaries(sample(random, kind))[number % 6]; 2],
            extent: EXTENTS[number / 6 % 3],
            stride: [1, pick(random, &[1, 1, 2, 3, 1000])],
            channels: Some(pick(random, &[1, 1, 2, 3])),
            omit: random.below(2) == 0,
            planes: 1,
            shape,
            samples: Vec::new(),
        };
        let has_nans = kind.range().is_none() && random.below(2) == 0;
        let nan = |random: &mut Random| has_nans && random.below(8) == 0;
        let samples =
            (0..case.sample_count()).map(|_| if nan(random) { f64::NAN } else { sample(random, kind) }).collect();
        Lines(Case { samples, ..case })
    }

    fn filter<T: RankElement + Number>(&self) -> Rank1d<T> {
        let Case { window: [_, len], rank, origin, boundaries, extent, stride, omit, .. } = self.0;
        let filter = match rank {
            Rank::Median => Rank1d::median(len),
            Rank::Minimum => Rank1d::minimum(len),
            Rank::Maximum => Rank1d::maximum(len),
            Rank::At(rank) => Rank1d::rank(len, rank),
            Rank::Percentile(percentile) => Rank1d::percentile(len, percentile),
        };
        filter
            .boundary(boundary_of(boundaries[1]))
            .extent(extent)
            .origin(origin[1])
            .stride(stride[1])
            .channels(self.0.channels())
            .nan_policy(if omit { RankNanPolicy::Omit } else { RankNanPolicy::Propagate })
    }

    fn check<T: RankElement + Number>(&self, device: &Device) -> Result<(), Failed> {
        self.check_rows::<T>(device)?;
        self.check_columns::<T>(device)
    }

    /// Lines along rows, and one line as a slice and a buffer.
    fn check_rows<T: RankElement + Number>(&self, device: &Device) -> Result<(), Failed> {
        let (case, filter) = (&self.0, self.filter::<T>().prepare(device)?);
        let (expected, width) = (case.outputs(), case.channels() * case.shape[1]);
        let samples = converted::<T>(&case.samples);
        let rows = [case.shape[0], width];
        let matrix = Array2::from_shape_vec(rows, samples.clone())?;
        let outputs = filter.apply(&matrix)?;
        equal(outputs.dim(), (case.shape[0], case.channels() * case.output_shape()[1]))?;
        equal(filter.output_shape(rows)?, [outputs.nrows(), outputs.ncols()])?;
        agree(outputs.iter(), &expected)?;
        let on_device = filter.apply(&Buffer2::upload(device, &matrix)?)?.download()?;
        agree(on_device.iter(), &expected)?;
        if case.shape[0] == 1 {
            agree(&filter.apply(&samples)?, &expected)?;
            agree(&filter.apply(&Array1::from(samples.clone()))?, &expected)?;
            let mut outputs = device.upload(&vec![T::of(7.0); expected.len()])?;
            filter.apply_into(&device.upload(&samples)?, &mut outputs)?;
            agree(&outputs.download()?, &expected)?;
        }
        Ok(())
    }

    /// The same lines down the columns of a matrix, whose channels are neighbouring columns.
    fn check_columns<T: RankElement + Number>(&self, device: &Device) -> Result<(), Failed> {
        let (case, filter) = (&self.0, self.filter::<T>().prepare(device)?.along(0));
        let (lines, channels) = (case.shape[0], case.channels());
        let turned = |values: &[f64], len: usize| {
            let place = |at: usize| (at / (lines * channels), at / channels % lines, at % channels);
            let value = |(i, line, channel): (usize, usize, usize)| values[(line * len + i) * channels + channel];
            (0..values.len()).map(|at| value(place(at))).collect::<Vec<_>>()
        };
        let samples = converted::<T>(&turned(&case.samples, case.shape[1]));
        let matrix = Array2::from_shape_vec([case.shape[1], lines * channels], samples)?;
        let expected = turned(&case.outputs(), case.output_shape()[1]);
        agree(filter.apply(&matrix)?.iter(), &expected)?;
        agree(filter.apply(&Buffer2::upload(device, &matrix)?)?.download()?.iter(), &expected)
    }
}

fn agree<'a, T: Number + 'a>(outputs: impl IntoIterator<Item = &'a T>, expected: &[f64]) -> Result<(), Failed> {
    let outputs: Vec<f64> = outputs.into_iter().map(|&output| output.to()).collect();
    same(&bits(&outputs), &bits(expected))
}
