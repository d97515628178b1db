//! Descriptions with any numbers, most of them extreme: each is an error or has a result, and soon.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::ndarray::{Array2, Array3};
use slm::{
    Boundary, Buffer2, Channels, Convert, Device, Filter1d, Filter2d, Gaussian, Histogram, Life, Lookup, Map,
    Morphology2d, Rank1d, Rank2d, RankWindow, Result, Transpose,
};
use slm_fuzz::{Reader, boundary, devices, extent, floods, typed};
use slm_test_support::numbers::Kind;

/// An operation with extreme numbers. Errors are fine, and nothing else is checked.
type Run = fn(&mut Reader<'_>, &Device) -> Result<()>;

const RUNS: [Run; 13] = [
    lines,
    generated_lines,
    pictures,
    generated_pictures,
    ranks,
    histograms,
    transposes,
    boards,
    buffers,
    ranks_of_lines,
    morphology,
    channels,
    tables,
];

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let (run, devices) = (reader.pick(&RUNS), devices(reader));
    for device in &devices {
        // An error is as good as a result, and must have a text.
        if let Err(error) = run(&mut Reader::new(reader.rest()), device) {
            assert!(!error.to_string().is_empty());
        }
    }
});

/// Returns a float of any bits, or one of usual size.
fn real(reader: &mut Reader<'_>) -> f64 {
    if reader.flag() { f64::from_bits(reader.word()) } else { reader.number(Kind::F64, false) }
}

fn outside(reader: &mut Reader<'_>) -> Boundary<f32> {
    let outside = real(reader);
    typed(boundary(reader, outside))
}

fn lines(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let count = reader.below(9);
    let taps: Vec<f32> = (0..count).map(|_| real(reader) as f32).collect();
    line(reader, device, Filter1d::convolve(&taps))
}

fn generated_lines(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let filter =
        if reader.flag() { Filter1d::box_blur(reader.extreme()) } else { Filter1d::gaussian(gaussian(reader)) };
    line(reader, device, filter)
}

fn gaussian(reader: &mut Reader<'_>) -> Gaussian {
    let gaussian = Gaussian::new(real(reader));
    match reader.below(3) {
        0 => gaussian,
        1 => gaussian.truncate(real(reader)),
        _ => gaussian.radius(reader.extreme()),
    }
}

fn line(reader: &mut Reader<'_>, device: &Device, filter: Filter1d<f32>) -> Result<()> {
    let filter = filter.boundary(outside(reader)).extent(extent(reader));
    let filter = if reader.flag() { filter.stride(reader.extreme()) } else { filter };
    let filter = if reader.flag() { filter.channels(reader.extreme()) } else { filter };
    let filter = if reader.flag() { filter.origin(reader.extreme() as isize) } else { filter };
    let filter = filter.prepare(device)?.along(reader.below(3));
    let _ = filter.output_shape([reader.extreme()]);
    let _ = filter.output_shape([reader.extreme(), reader.extreme()]);
    let _ = filter.plan([reader.extreme(), reader.extreme()]);
    let shape = [reader.below(9), reader.below(20)];
    if floods(&filter.output_shape(shape)?) {
        return Ok(());
    }
    filter.apply(&Array2::<f32>::ones(shape))?;
    Ok(())
}

fn pictures(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let shape = [reader.below(6), reader.below(6)];
    let weights = Array2::from_shape_simple_fn(shape, || real(reader) as f32);
    picture(reader, device, Filter2d::correlate(&weights))
}

fn generated_pictures(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let filter = match reader.below(3) {
        0 => Filter2d::box_blur(reader.extreme(), reader.extreme()),
        1 => Filter2d::gaussian([gaussian(reader), gaussian(reader)]),
        _ => Filter2d::unsharp([gaussian(reader), gaussian(reader)], real(reader)),
    };
    picture(reader, device, filter)
}

fn picture(reader: &mut Reader<'_>, device: &Device, filter: Filter2d<f32, f32>) -> Result<()> {
    let filter = filter.boundaries(outside(reader), outside(reader)).extent(extent(reader));
    let filter = if reader.flag() { filter.stride(reader.extreme(), reader.extreme()) } else { filter };
    let filter = if reader.flag() { filter.dilation(reader.extreme(), reader.extreme()) } else { filter };
    let filter =
        if reader.flag() { filter.origin(reader.extreme() as isize, reader.extreme() as isize) } else { filter };
    let channels = reader.flag().then(|| reader.extreme());
    let filter = if let Some(channels) = channels { filter.channels(channels) } else { filter };
    let filter = filter.prepare(device)?;
    let _ = filter.output_shape([reader.extreme(), reader.extreme(), reader.extreme()]);
    let _ = filter.plan([reader.extreme(), reader.extreme()]);
    let shape = [reader.below(9), reader.below(20), channels.unwrap_or(1)];
    if floods(&shape) || floods(&filter.output_shape(shape)?) {
        return Ok(());
    }
    filter.apply(&Array3::<f32>::ones(shape))?;
    Ok(())
}

fn ranks(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let window = match reader.below(3) {
        0 => RankWindow::rectangle(reader.extreme(), reader.extreme()),
        1 => RankWindow::disc(reader.extreme()),
        _ => RankWindow::rectangle(reader.below(6), reader.below(6)),
    };
    // An emulated device reads all samples of a window for each output, several times.
    let samples = window.shape().into_iter().fold(1, usize::saturating_mul);
    let filter = match reader.below(3) {
        0 => Rank2d::median(window),
        1 => Rank2d::rank(window, reader.extreme() as isize),
        _ => Rank2d::percentile(window, real(reader)),
    };
    let filter = filter.boundary(outside(reader)).extent(extent(reader));
    let filter = if reader.flag() { filter.stride(reader.extreme(), reader.extreme()) } else { filter };
    let filter = if reader.flag() { filter.channels(reader.extreme()) } else { filter };
    let filter = filter.prepare(device)?;
    let _ = filter.output_shape([reader.extreme(), reader.extreme()]);
    let shape = [reader.below(9), reader.below(20)];
    let [rows, columns] = filter.output_shape(shape)?;
    if !floods(&[rows, columns, samples / 8 + 1]) {
        filter.apply(&Array2::<f32>::ones(shape))?;
    }
    Ok(())
}

fn histograms(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    // Counters take memory, so their number is usual more often than not.
    let bins = if reader.below(8) == 0 { reader.extreme() } else { reader.below(99) };
    if floods(&[bins]) && bins <= 1 << 24 {
        // Legal, and `prepare` computes the edges of all bins.
        return Ok(());
    }
    let histogram = match reader.below(3) {
        0 => Histogram::even(bins, real(reader)..real(reader)),
        1 => Histogram::even(reader.below(99), -1.0..real(reader)),
        _ => {
            let count = reader.below(9);
            Histogram::edges(&(0..count).map(|_| real(reader)).collect::<Vec<_>>())
        }
    };
    let histogram = if reader.flag() { histogram.channels(reader.extreme()) } else { histogram };
    let histogram = if reader.flag() { histogram.count(reader.extreme()) } else { histogram };
    let count = reader.below(40);
    let [samples, weights] = [0; 2].map(|_| (0..count).map(|_| real(reader)).collect::<Vec<_>>());
    let wide = histogram.clone().prepare(device)?;
    let _ = wide.plan([reader.extreme()]);
    if floods(&[wide.counts_len()]) {
        return Ok(());
    }
    wide.apply(&samples)?;
    wide.apply_weighted(&samples, &weights)?;
    let narrow: Vec<f32> = samples.iter().map(|&sample| sample as f32).collect();
    histogram.single_precision().prepare(device)?.apply(&narrow)?;
    Ok(())
}

fn transposes(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let shape = [0; 4].map(|_| if reader.flag() { reader.extreme() } else { reader.below(9) });
    let transpose = Transpose::new(shape[0], shape[1]).batch(shape[2]).components(shape[3]);
    let prepared = transpose.prepare(device)?;
    prepared.plan()?;
    let _ = prepared.plan_pitched([reader.extreme(), reader.extreme()]);
    let in_place = transpose.prepare_in_place(device)?;
    in_place.plan()?;
    let elements = shape.into_iter().fold(1, usize::saturating_mul);
    if !floods(&[elements]) {
        prepared.apply(&vec![1u16; elements])?;
    }
    // In place there may be launches for each matrix.
    if !floods(&[elements, 16]) {
        in_place.apply(&mut vec![1u16; elements])?;
    }
    prepared.apply(&[1u16; 12])?;
    Ok(())
}

fn boards(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let shape = [0; 2].map(|_| if reader.flag() { reader.extreme() } else { reader.within(1, 9) });
    if floods(&shape) && shape.iter().all(|side| *side < 1 << 40) {
        // A legal board, which takes memory.
        return Ok(());
    }
    let mut board = Life::new(shape[0], shape[1]).prepare(device)?;
    board.set(reader.extreme(), reader.extreme(), true)?;
    board.step(reader.below(9) as u64)?;
    board.place(&board.pattern()?, reader.extreme() as isize, reader.extreme() as isize)
}

fn buffers(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let buffer = device.upload(&[1.0f32; 60])?;
    let [start, end] = [0; 2].map(|_| reader.extreme());
    let _ = buffer.slice(start..end).and_then(|slice| slice.download());
    Convert::<f32, u8>::new().scale(real(reader)).offset(real(reader)).prepare(device)?.apply(&buffer)?;
    Map::<f32>::gamma(real(reader)).prepare(device)?.apply(&buffer)?;
    Map::clamp(real(reader) as f32, real(reader) as f32).prepare(device)?.apply(&buffer)?;
    let matrix = Buffer2::from_buffer(buffer, reader.extreme(), reader.extreme(), reader.extreme())?;
    matrix.download()?;
    Ok(())
}

fn ranks_of_lines(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let window = reader.extreme();
    let filter = match reader.below(3) {
        0 => Rank1d::median(window),
        1 => Rank1d::rank(window, reader.extreme() as isize),
        _ => Rank1d::percentile(window, real(reader)),
    };
    let filter = filter.boundary(outside(reader)).extent(extent(reader));
    let filter = if reader.flag() { filter.stride(reader.extreme()) } else { filter };
    let filter = if reader.flag() { filter.channels(reader.extreme()) } else { filter };
    let filter = if reader.flag() { filter.origin(reader.extreme() as isize) } else { filter };
    let filter = filter.prepare(device)?.along(reader.below(3));
    let _ = filter.output_shape([reader.extreme(), reader.extreme()]);
    let _ = filter.plan([reader.extreme()]);
    let shape = [reader.below(9), reader.below(20)];
    let [lines, samples] = filter.output_shape(shape)?;
    // As for `ranks`.
    if !floods(&[lines, samples, window / 8 + 1]) {
        filter.apply(&Array2::<f32>::ones(shape))?;
    }
    Ok(())
}

fn morphology(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let window = RankWindow::rectangle(reader.extreme(), reader.extreme());
    let samples = window.shape().into_iter().fold(1, usize::saturating_mul);
    let operation = match reader.below(3) {
        0 => Morphology2d::erosion(window),
        1 => Morphology2d::opening(window),
        _ => Morphology2d::gradient(window),
    };
    let operation = if reader.flag() { operation.ignore_outside() } else { operation.boundary(outside(reader)) };
    let operation = if reader.flag() { operation.channels(reader.extreme()) } else { operation };
    let operation =
        if reader.flag() { operation.origin(reader.extreme() as isize, reader.extreme() as isize) } else { operation };
    let operation = operation.prepare(device)?;
    let _ = operation.plan([reader.extreme(), reader.extreme()]);
    let shape = [reader.below(9), reader.below(20)];
    if !floods(&[shape[0], shape[1], samples / 8 + 1]) {
        operation.apply(&Array2::<f32>::ones(shape))?;
    }
    Ok(())
}

fn channels(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let count = reader.extreme();
    let split = Channels::<u16>::split(count).prepare(device)?;
    let _ = split.plan([reader.extreme(), reader.extreme()]);
    split.apply(&vec![1; reader.below(60)])?;
    let merge = Channels::<u16>::merge(count).prepare(device)?;
    let _ = merge.plan([reader.extreme(), reader.extreme()]);
    merge.apply(&vec![1; reader.below(60)])?;
    Ok(())
}

fn tables(reader: &mut Reader<'_>, device: &Device) -> Result<()> {
    let (edges, entries) = (reader.below(9), reader.below(9));
    let edges: Vec<f32> = (0..edges).map(|_| real(reader) as f32).collect();
    let table = Lookup::between(&edges, &vec![1u8; entries]).below(reader.byte()).nan(reader.byte());
    let samples: Vec<f32> = (0..reader.below(20)).map(|_| real(reader) as f32).collect();
    table.prepare(device)?.apply(&samples)?;
    Ok(())
}
