//! Filters, transpositions and histograms on one to four CPUs, against the same operation on one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::distributed::{Devices, DistributedBuffer};
use slm::ndarray::{Array2, Array3};
use slm::{Boundary, Device, Extent, Filter1d, Filter2d, FilterElement, FilterSample, Histogram, Transpose};
use slm_fuzz::{Reader, boundary, compatible, expect, extent, origin, typed};
use slm_test_support::numbers::{Kind, Number, bits, converted};

/// A filter of a line, or of a picture, and its samples. Origins and strides are those of rows and columns.
#[derive(Debug)]
struct Problem {
    is_line: bool,
    /// Rows, columns and channels. A line has one column.
    shape: [usize; 3],
    weights: [usize; 2],
    taps: Vec<f64>,
    is_flipped: bool,
    boundaries: [Boundary<f64>; 2],
    extent: Extent,
    origin: [isize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    samples: Vec<f64>,
    /// How often the filter is applied. Outputs are not distributed as the samples are.
    times: usize,
}

type Check = fn(&Problem, &Devices);

/// Types of samples and weights.
const TYPES: [(Kind, Kind, Check); 6] = [
    (Kind::F32, Kind::F32, check::<f32, f32>),
    (Kind::F64, Kind::F64, check::<f64, f64>),
    (Kind::I32, Kind::I32, check::<i32, i32>),
    (Kind::U8, Kind::F32, check::<u8, f32>),
    (Kind::U8, Kind::I32, check::<u8, i32>),
    (Kind::I16, Kind::I32, check::<i16, i32>),
];

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let members = reader.within(1, 4);
    let devices = expect(Devices::new((0..members).map(|_| Device::cpu())), &members);
    match reader.below(8) {
        0 => transpose(reader, &devices),
        1 => count(reader, &devices),
        filter => {
            let (samples, weights, check) = reader.pick(&TYPES);
            check(&Problem::read(reader, filter < 5, samples, weights), &devices);
        }
    }
});

impl Problem {
    fn read(reader: &mut Reader<'_>, is_line: bool, samples: Kind, weights: Kind) -> Self {
        let along = |rows, columns| [rows, if is_line { 1 } else { columns }];
        // Up to where each of four members has inner outputs.
        let rows = reader.below(256) * reader.pick(if is_line { &[1, 2, 6] } else { &[1, 2, 3] });
        let [rows, columns] = along(rows, reader.below(7));
        let shape = [rows, columns, reader.pick(&[1, 1, 1, 2, 3])];
        // Sums of large boxes begin at certain rows. They take steps of one sample.
        let is_box = !is_line && reader.below(3) == 0;
        let steps = |steps| if is_box { [1, 1] } else { steps };
        let [most_down, most_across] = match (is_line, is_box) {
            (true, _) => [40, 1],
            (false, true) => [25, 25],
            (false, false) => [7, 4],
        };
        let [down, across] = [reader.within(1, most_down), reader.within(1, most_across)];
        let taps = reader.numbers(if is_box { 1 } else { down * across }, weights, true);
        let above = {
            let outside = reader.number(samples, true);
            boundary(reader, outside)
        };
        let is_finite = reader.flag();
        Problem {
            is_line,
            shape,
            weights: [down, across],
            taps: taps.iter().copied().cycle().take(down * across).collect(),
            is_flipped: reader.flag(),
            boundaries: [above, compatible(reader, above)],
            extent: extent(reader),
            origin: [down, across].map(|weights| origin(reader, weights)),
            stride: steps(along(reader.pick(&[1, 1, 1, 2, 3, 7, 50, 1 << 30]), reader.within(1, 2))),
            dilation: steps([reader.pick(&[1, 1, 2, 5]), reader.within(1, 2)]),
            times: reader.within(1, 2),
            samples: reader.numbers(shape.iter().product(), samples, is_finite),
        }
    }

    fn line<S: FilterSample + Number, W: FilterElement + Number>(&self) -> Filter1d<S, W> {
        let taps: Vec<W> = converted(&self.taps);
        let filter = if self.is_flipped { Filter1d::convolve(&taps) } else { Filter1d::correlate(&taps) };
        let filter = filter.samples::<S>().boundary(typed(self.boundaries[0])).extent(self.extent);
        filter.stride(self.stride[0]).origin(self.origin[0]).channels(self.shape[2])
    }

    fn picture<S: FilterSample + Number, W: FilterElement + Number>(&self) -> Filter2d<S, W> {
        let [rows, columns] = self.weights;
        let taps: Vec<W> = converted(&self.taps);
        let weights = Array2::from_shape_fn((rows, columns), |(row, column)| taps[row * columns + column]);
        let filter = if self.is_flipped { Filter2d::convolve(&weights) } else { Filter2d::correlate(&weights) };
        let [above, before] = self.boundaries.map(typed);
        let filter = filter.boundaries(above, before).extent(self.extent).origin(self.origin[0], self.origin[1]);
        let ([rows, columns], [down, along]) = (self.stride, self.dilation);
        filter.stride(rows, columns).dilation(down, along).channels(self.shape[2])
    }
}

/// Runs the same on one CPU and on all members, and compares the results.
fn check<S: FilterSample + Number, W: FilterElement + Number>(problem: &Problem, devices: &Devices) {
    let what = (S::KIND, W::KIND, devices.len(), problem);
    let results = if problem.is_line { lines::<S, W> } else { pictures::<S, W> };
    match results(problem, devices) {
        // Members and a single device refuse the same.
        [Err(_), Err(_)] => {}
        [one, all] => {
            let [one, all] = [one, all].map(|result| expect(result, &what));
            let [one, all] = [one, all].map(|outputs| outputs.into_iter().map(S::to).collect::<Vec<_>>());
            assert_eq!(bits(&all), bits(&one), "{what:?}");
        }
    }
}

fn lines<S: FilterSample + Number, W: FilterElement + Number>(
    problem: &Problem,
    devices: &Devices,
) -> [slm::Result<Vec<S>>; 2] {
    let (filter, samples, [rows, _, channels]) = (problem.line::<S, W>(), converted(&problem.samples), problem.shape);
    let one = || {
        let filter = filter.prepare(&Device::cpu())?;
        (0..problem.times).try_fold(samples.clone(), |samples, _| filter.apply(samples.as_slice()))
    };
    let all = || {
        let filter = filter.prepare_on(devices)?;
        let samples = Array2::from_shape_fn((rows, channels), |(row, channel)| samples[row * channels + channel]);
        repeated(problem.times, devices.distribute(&samples)?, |samples| filter.apply(samples))
    };
    [one(), all()]
}

fn pictures<S: FilterSample + Number, W: FilterElement + Number>(
    problem: &Problem,
    devices: &Devices,
) -> [slm::Result<Vec<S>>; 2] {
    let (filter, samples) = (problem.picture::<S, W>(), converted::<S>(&problem.samples));
    let [rows, columns, channels] = problem.shape;
    let picture = Array3::from_shape_fn((rows, columns, channels), |(row, column, channel)| {
        samples[(row * columns + column) * channels + channel]
    });
    let one = || {
        let filter = filter.prepare(&Device::cpu())?;
        let filtered = (0..problem.times).try_fold(picture.clone(), |picture, _| filter.apply(&picture))?;
        Ok(filtered.iter().copied().collect())
    };
    let all = || {
        let filter = filter.prepare_on(devices)?;
        repeated(problem.times, devices.distribute(&picture)?, |picture| filter.apply(picture))
    };
    [one(), all()]
}

fn repeated<S: FilterSample>(
    times: usize,
    first: DistributedBuffer<S>,
    apply: impl Fn(&DistributedBuffer<S>) -> slm::Result<DistributedBuffer<S>>,
) -> slm::Result<Vec<S>> {
    (0..times).try_fold(first, |samples, _| apply(&samples))?.download()
}

fn transpose(reader: &mut Reader<'_>, devices: &Devices) {
    let [rows, columns, components] = [reader.below(256), reader.below(100), reader.within(1, 3)];
    let bytes = reader.bytes(rows * columns * components);
    let what = (devices.len(), [rows, columns, components], &bytes);
    let width = columns * components;
    let matrix = Array2::from_shape_fn((rows, width), |(row, column)| bytes[row * width + column]);
    let transpose = Transpose::new(rows, columns).components(components);
    let one = || transpose.prepare(&Device::cpu())?.apply(bytes.as_slice());
    let all = || transpose.prepare_on(devices)?.apply(&devices.distribute(&matrix)?)?.download();
    assert_eq!(expect(all(), &what), expect(one(), &what), "{what:?}");
}

fn count(reader: &mut Reader<'_>, devices: &Devices) {
    let count = reader.below(256) * 8;
    let samples = reader.bytes(count);
    let what = (devices.len(), &samples);
    let one = || Histogram::bytes().prepare(&Device::cpu())?.apply(&samples);
    let all = || Histogram::bytes().prepare_on(devices)?.apply(&devices.distribute(&samples)?);
    assert_eq!(expect(all(), &what), expect(one(), &what), "{what:?}");
}
