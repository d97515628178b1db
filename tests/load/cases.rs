//! Operations with data and expected outputs.
//!
//! All outputs are the same bits on every device: integers, floats that are small integers or rounded to integers, and what is copied,
//! counted or compared.

use crate::common::{Random, same};
use crate::disturbances::{panicking, refused};
use crate::place::{Pile, Place};
use libtest_mimic::Failed;
use slm::filter1d::Filter1dAlgorithm;
use slm::life::Topology;
use slm::ndarray::Array2;
use slm::{
    Arithmetic, Boundary, Buffer, Buffer2, Channels, Convert, Device, Element, Filter1d, Filter2d, Histogram, Life,
    Lookup, Map, Morphology2d, Rank1d, Rank2d, RankWindow, Result, StructuringElement, Transpose,
};
use std::fmt::Debug;

/// An operation on its data, which any thread can run any number of times.
pub(crate) struct Case {
    name: &'static str,
    run: Box<dyn Fn(&Place<'_>) -> std::result::Result<(), Failed> + Send + Sync>,
}

impl Case {
    pub(crate) fn run(&self, place: &Place<'_>) -> std::result::Result<(), Failed> {
        (self.run)(place).map_err(|error| format!("{}: {}", self.name, error.message().unwrap_or("failed")).into())
    }
}

/// Draws a case of an operation with this name, on at most this number of elements.
type Draw = fn(&'static str, &mut Random, usize) -> Result<Case>;

pub(crate) const OPERATIONS: [(&str, Draw); 28] = [
    ("filter of lines", line_filter),
    ("filter of bytes", byte_filter),
    ("transforms", transforms),
    ("filter of pictures", picture_filter),
    ("outer product", outer_product),
    ("box blur", box_blur),
    ("median of lines", line_median),
    ("median of pictures", picture_median),
    ("minimum of pictures", minimum),
    ("erosion", erosion),
    ("erosion with heights", heights),
    ("opening", opening),
    ("gradient", gradient),
    ("top hat", top_hat),
    ("histogram", histogram),
    ("counts of edges", edges),
    ("sums of weights", weights),
    ("transposition", transposition),
    ("transposition in place", in_place),
    ("life", life),
    ("map", map),
    ("conversion", conversion),
    ("table", table),
    ("equalisation", equalisation),
    ("sum", sum),
    ("channels", channels),
    ("panics", |name, _, _| Ok(Case { name, run: Box::new(panicking) })),
    ("refused requests", |name, _, _| Ok(Case { name, run: Box::new(refused) })),
];

/// Returns a case whose outputs must be those of the CPU at rest.
fn case<O: PartialEq + Debug + Send + Sync + 'static>(
    name: &'static str,
    work: impl Fn(&Place<'_>) -> Result<Vec<O>> + Send + Sync + 'static,
) -> Result<Case> {
    let expected = work(&Place::new(&[Device::cpu()], &Pile::default(), Random::new(0)))?;
    Ok(Case { name, run: Box::new(move |place| same(&work(place)?, &expected)) })
}

/// Returns a case that applies an operation to samples on the device.
fn lines<S: Element, O: Element + PartialEq + Debug>(
    name: &'static str,
    samples: Vec<S>,
    apply: impl Fn(&Place<'_>, &Buffer<S>) -> Result<Buffer<O>> + Send + Sync + 'static,
) -> Result<Case> {
    case(name, move |place| {
        let samples = place.queue().upload(&samples)?;
        let outputs = apply(place, &samples)?;
        place.leave(samples);
        place.elements(outputs)
    })
}

/// Returns a case that applies an operation to a picture on the device.
fn pictures<S: Element, O: Element + PartialEq + Debug>(
    name: &'static str,
    picture: Array2<S>,
    apply: impl Fn(&Place<'_>, &Buffer2<S>) -> Result<Buffer2<O>> + Send + Sync + 'static,
) -> Result<Case> {
    case(name, move |place| {
        let picture = Buffer2::upload(place.queue(), &picture)?;
        let outputs = apply(place, &picture)?;
        place.leave(picture);
        place.elements(outputs.into_buffer())
    })
}

/// Returns a number of elements: few in one of four cases.
fn len(random: &mut Random, most: usize) -> usize {
    let most = if random.below(4) == 0 { 40 } else { most };
    random.below(most + 1)
}

/// Returns at least one row and one column.
fn shape(random: &mut Random, most: usize) -> [usize; 2] {
    let rows = random.below(most.min(400)) + 1;
    [rows, random.below(most / rows) + 1]
}

fn bytes(random: &mut Random, len: usize) -> Vec<u8> {
    random.values(len)
}

/// Returns floats whose sums are exact.
fn integers(random: &mut Random, len: usize) -> Vec<f32> {
    (0..len).map(|_| random.below(17) as f32 - 8.0).collect()
}

/// Returns a picture of this function's numbers.
fn picture<T>(random: &mut Random, most: usize, numbers: fn(&mut Random, usize) -> Vec<T>) -> Array2<T> {
    let [rows, columns] = shape(random, most);
    Array2::from_shape_vec((rows, columns), numbers(random, rows * columns)).expect("a number for each pixel")
}

fn boundary<S>(random: &mut Random, outside: S) -> Boundary<S> {
    match random.below(6) {
        0 => Boundary::Zero,
        1 => Boundary::Constant(outside),
        2 => Boundary::Nearest,
        3 => Boundary::Reflect,
        4 => Boundary::Mirror,
        _ => Boundary::Wrap,
    }
}

fn line_filter(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let taps = random.below(70) + 1;
    let filter = Filter1d::correlate(&random.values::<i32>(taps)).boundary(boundary(random, 7));
    let len = len(random, most);
    lines(name, random.values(len), move |place, x| filter.prepare(place.queue())?.apply(x))
}

fn byte_filter(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let taps = random.below(9) + 1;
    let filter = Filter1d::convolve(&random.values::<i32>(taps)).samples::<u8>().boundary(boundary(random, 7));
    let len = len(random, most);
    lines(name, bytes(random, len), move |place, x| filter.prepare(place.queue())?.apply(x))
}

/// Sums of integers, which are near their transforms.
fn transforms(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let taps = random.below(300) + 1;
    let filter = Filter1d::correlate(&integers(random, taps)).algorithm(Filter1dAlgorithm::Fft);
    let len = len(random, most);
    let samples = integers(random, len);
    case(name, move |place| {
        let x = place.queue().upload(&samples)?;
        let filter = filter.prepare(place.queue())?;
        let outputs = place.elements(filter.apply(&x)?)?;
        place.leave((x, filter));
        Ok(outputs.into_iter().map(|output| output.round() as i64).collect())
    })
}

fn picture_filter(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let weights = [random.below(7) + 1, random.below(7) + 1];
    let weights = Array2::from_shape_simple_fn(weights, || random.below(9) as f32 - 4.0);
    let filter = Filter2d::<f32, f32>::correlate(&weights).boundary(boundary(random, 7.0));
    pictures(name, picture(random, most, integers), move |place, x| filter.prepare(place.queue())?.apply(x))
}

/// Many weights, as of a large Gaussian, which take two passes with memory between them.
fn outer_product(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let [column, row] = [0; 2].map(|_| {
        let taps = random.below(90) + 1;
        integers(random, taps)
    });
    let filter = Filter2d::<f32, f32>::separable(&column, &row).boundary(boundary(random, 7.0));
    pictures(name, picture(random, most, integers), move |place, x| filter.prepare(place.queue())?.apply(x))
}

fn box_blur(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let (rows, columns) = (random.below(30) + 1, random.below(30) + 1);
    let filter = Filter2d::<u8, f32>::box_blur(rows, columns).boundary(boundary(random, 7));
    pictures(name, picture(random, most, bytes), move |place, x| filter.prepare(place.queue())?.apply(x))
}

fn line_median(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let filter = Rank1d::median(random.below(20) + 1).boundary(boundary(random, 7.0));
    let len = len(random, most);
    lines(name, random.values::<f32>(len), move |place, x| filter.prepare(place.queue())?.apply(x))
}

fn picture_median(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let window = RankWindow::rectangle(random.below(5) + 1, random.below(5) + 1);
    let filter = Rank2d::median(window).boundary(boundary(random, 7));
    pictures(name, picture(random, most, bytes), move |place, x| filter.prepare(place.queue())?.apply(x))
}

/// Large windows take memory for a picture between two passes.
fn minimum(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let filter = Rank2d::minimum(RankWindow::rectangle(random.below(40) + 1, random.below(40) + 1));
    let filter = filter.boundary(boundary(random, 7));
    pictures(name, picture(random, most, bytes), move |place, x| filter.prepare(place.queue())?.apply(x))
}

fn erosion(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let operation = Morphology2d::erosion(RankWindow::disc(random.below(4)));
    pictures(name, picture(random, most, bytes), move |place, x| operation.prepare(place.queue())?.apply(x))
}

fn heights(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let shape = [random.below(5) + 1, random.below(5) + 1];
    let heights = Array2::from_shape_simple_fn(shape, || random.below(9) as f32 - 4.0);
    let operation = Morphology2d::erosion(StructuringElement::with_heights(&heights)).boundary(boundary(random, 7.0));
    pictures(name, picture(random, most, integers), move |place, x| operation.prepare(place.queue())?.apply(x))
}

fn opening(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let operation = Morphology2d::opening(RankWindow::rectangle(random.below(9) + 1, random.below(9) + 1));
    pictures(name, picture(random, most, integers), move |place, x| operation.prepare(place.queue())?.apply(x))
}

fn gradient(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let operation = Morphology2d::gradient(RankWindow::disc(random.below(4)));
    pictures(name, picture(random, most, integers), move |place, x| operation.prepare(place.queue())?.apply(x))
}

fn top_hat(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let operation = Morphology2d::top_hat([random.below(20) + 1, random.below(20) + 1]);
    pictures(name, picture(random, most, bytes), move |place, x| operation.prepare(place.queue())?.apply(x))
}

/// Counts and, without a wait in between, counts again.
fn histogram(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let len = len(random, most);
    lines(name, bytes(random, len), move |place, x| {
        let histogram = Histogram::bytes().prepare(place.queue())?;
        let mut counts = place.queue().zeroed(histogram.counts_len())?;
        histogram.apply_into(x, &mut counts)?;
        histogram.accumulate_into(x, &mut counts)?;
        Ok(counts)
    })
}

fn edges(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let edges: Vec<f32> = (0..random.below(3000) + 2).map(|edge| edge as f32 / 100.0 - 8.0).collect();
    let (histogram, len) = (Histogram::edges(&edges), len(random, most));
    lines(name, integers(random, len), move |place, x| {
        let histogram = histogram.prepare(place.queue())?;
        let mut counts = place.queue().zeroed(histogram.counts_len())?;
        histogram.apply_into(x, &mut counts)?;
        place.leave(histogram);
        Ok(counts)
    })
}

fn weights(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let len = len(random, most);
    let (samples, weights) = (bytes(random, len), random.values::<f32>(len));
    case(name, move |place| {
        let (x, w) = (place.queue().upload(&samples)?, place.queue().upload(&weights)?);
        let sums = Histogram::bytes().prepare(place.queue())?.apply_weighted(&x, &w)?.sums;
        place.leave((x, w));
        Ok(sums.bins()?.iter().map(|sum| sum.to_bits()).collect())
    })
}

fn transposition(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let matrix = picture(random, most, |random, len| random.values::<i32>(len));
    let transpose = Transpose::new(matrix.nrows(), matrix.ncols());
    pictures(name, matrix, move |place, x| transpose.prepare(place.queue())?.apply(x))
}

fn in_place(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let [rows, columns] = shape(random, most);
    let (transpose, numbers) = (Transpose::new(rows, columns), integers(random, rows * columns));
    case(name, move |place| {
        let mut matrix = place.queue().upload(&numbers)?;
        transpose.prepare_in_place(place.queue())?.apply(&mut matrix)?;
        place.elements(matrix)
    })
}

fn life(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let ([rows, columns], generations) = (shape(random, most), random.below(12) as u64);
    let cells = Array2::from_shape_simple_fn((rows, columns), || random.below(3) == 0);
    let topology = [Topology::Torus, Topology::Plane, Topology::KleinBottle][random.below(3)];
    let life = Life::new(rows, columns).topology(topology);
    case(name, move |place| {
        let mut board = life.prepare(place.queue())?;
        board.set_cells(cells.view())?;
        board.step(generations)?;
        let next = board.try_clone()?;
        // The copy may still be made.
        board.step(1)?;
        place.leave(board);
        Ok(next.cells()?.into_raw_vec_and_offset().0)
    })
}

fn map(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let len = len(random, most);
    lines(name, integers(random, len), |place, x| Map::<f32>::square().prepare(place.queue())?.apply(x))
}

fn conversion(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let convert = Convert::<u8, i32>::new().offset(random.below(100) as f64);
    let len = len(random, most);
    lines(name, bytes(random, len), move |place, x| convert.prepare(place.queue())?.apply(x))
}

fn table(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let key = random.bits();
    let lookup = Lookup::<u8, i32>::of(move |sample| (key >> (sample % 50)) as i32);
    let len = len(random, most);
    lines(name, bytes(random, len), move |place, x| lookup.prepare(place.queue())?.apply(x))
}

/// A table that is computed from counts, which are dropped before it is used.
fn equalisation(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let len = len(random, most);
    lines(name, bytes(random, len), |place, x| {
        let histogram = Histogram::bytes().prepare(place.queue())?;
        let mut counts = place.queue().zeroed(histogram.counts_len())?;
        histogram.apply_into(x, &mut counts)?;
        let table = Lookup::<u8, u8>::equalise(&counts)?;
        place.leave(counts);
        table.apply(x)
    })
}

/// The sum of samples with themselves, through an operation in another queue.
fn sum(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let len = len(random, most);
    lines(name, integers(random, len), |place, x| {
        let magnitudes = Map::<f32>::abs().prepare(place.queue())?.apply(x)?;
        let sums = Arithmetic::<f32>::add().prepare(place.queue())?.apply(&magnitudes, x)?;
        place.leave(magnitudes);
        Ok(sums)
    })
}

fn channels(name: &'static str, random: &mut Random, most: usize) -> Result<Case> {
    let [rows, pixels] = shape(random, most / 3);
    let picture = Array2::from_shape_vec((rows, 3 * pixels), bytes(random, 3 * rows * pixels)).expect("whole pixels");
    pictures(name, picture, |place, x| Channels::<u8>::split(3).prepare(place.queue())?.apply(x))
}
