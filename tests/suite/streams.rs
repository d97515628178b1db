//! Streams: what is read, computed and written part by part is what `apply` returns for all of it.

use crate::common::{Random, equal, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use slm::filter2d::Filter2dError;
use slm::histogram::HistogramError;
use slm::ndarray::Array2;
use slm::stream::{Progress, StreamCause, StreamError};
use slm::{Boundary, Device, Error, Extent, Filter1d, Filter2d, Histogram};
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend("streams", "lines", lines),
        on_every_backend("streams", "other_types", other_types),
        on_every_backend("streams", "rows", rows),
        on_every_backend("streams", "boxes", boxes),
        on_every_backend("streams", "counts", counts),
        on_every_backend("streams", "weights", weights),
        on_every_backend("streams", "weights_that_fail", weights_that_fail),
        on_every_backend("streams", "progress", progress),
        on_every_backend("streams", "inputs_that_fail", inputs_that_fail),
        on_every_backend("streams", "outputs_that_fail", outputs_that_fail),
        on_every_backend("streams", "panics", panics),
    ];
    trials.into_iter().flatten().collect()
}

/// So little memory that parts have the minimum size.
const LITTLE: usize = 1;

/// A reader that returns few bytes at a time, each time another number of them.
struct Sip<R> {
    reader: R,
    next: usize,
}

impl<R> Sip<R> {
    fn new(reader: R) -> Self {
        Sip { reader, next: 0 }
    }
}

impl<R: Read> Read for Sip<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.next = self.next % 61 + 7;
        if self.next.is_multiple_of(5) {
            return Err(ErrorKind::Interrupted.into());
        }
        let len = bytes.len().min(self.next);
        self.reader.read(&mut bytes[..len])
    }
}

impl<R: Seek> Seek for Sip<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
    }
}

/// A writer that takes few bytes at a time.
struct Spoon<'a>(&'a mut Vec<u8>);

impl Write for Spoon<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(100);
        self.0.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Numbers whose little-endian bytes are written.
trait Number: Copy {
    fn bytes(numbers: &[Self]) -> Vec<u8>;
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn bytes(numbers: &[$t]) -> Vec<u8> {
                numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
            }
        }
    )*};
}
numbers!(u8 u16 i16 u32 i32 f32 f64);

/// An input of these numbers that begins behind other bytes.
fn input<T: Number>(numbers: &[T]) -> Sip<Cursor<Vec<u8>>> {
    let mut cursor = Cursor::new([&[9u8; 13][..], &T::bytes(numbers)].concat());
    cursor.set_position(13);
    Sip::new(cursor)
}

const BOUNDARIES: [Boundary<i32>; 5] =
    [Boundary::Constant(7), Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap];
const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Lines around the sizes of parts, with all boundaries and extents, and filters longer than them.
fn lines(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(50);
    let samples: Vec<i32> = random.values(900);
    for (taps, (boundary, extent)) in [1, 2, 5, 40, 130].into_iter().flat_map(|taps| {
        BOUNDARIES
            .into_iter()
            .flat_map(|boundary| EXTENTS.map(|extent| (boundary, extent)))
            .map(move |both| (taps, both))
    }) {
        let weights: Vec<i32> = random.values(taps);
        let filter = Filter1d::correlate(&weights).boundary(boundary).extent(extent).prepare(device)?;
        for len in [0, 1, 15, 16, 17, 33, 150, 297, 900] {
            let samples = &samples[..len];
            let expected = i32::bytes(&filter.apply(samples)?);
            let mut outputs = Vec::new();
            let stream = filter.stream(input(samples), Spoon(&mut outputs)).memory(LITTLE).seekable();
            let context = |error: &str| format!("{taps} taps, {boundary:?}, {extent:?}, {len} samples: {error}");
            let written = stream.run().map_err(|error| context(&error.to_string()))?;
            equal(written as usize * 4, expected.len())?;
            same(&outputs, &expected).map_err(|_| context("other outputs"))?;
        }
    }
    let samples: Vec<f32> = samples.iter().map(|&sample| sample as f32 / 3e9).collect();
    let smooth = Filter1d::<f32, _>::gaussian(3.0).boundary(Boundary::Reflect).prepare(device)?;
    let mut outputs = Vec::new();
    smooth.stream(&f32::bytes(&samples)[..], &mut outputs).memory(LITTLE).run()?;
    same(&outputs, &f32::bytes(&smooth.apply(&samples)?))?;
    // In one part.
    outputs.clear();
    smooth.stream(&f32::bytes(&samples)[..], &mut outputs).run()?;
    same(&outputs, &f32::bytes(&smooth.apply(&samples)?))
}

/// Types without kernels of their own, and interleaved channels.
fn other_types(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(51);
    let samples: Vec<u8> = random.values(960);
    let weights = [0.1f32, 0.3, 0.2, 0.3, 0.05];
    for (channels, boundary) in [1, 3].into_iter().flat_map(|channels| {
        [Boundary::Constant(7), Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap]
            .map(|boundary| (channels, boundary))
    }) {
        let filter =
            Filter1d::correlate(&weights).samples::<u8>().boundary(boundary).channels(channels).prepare(device)?;
        let mut outputs = Vec::new();
        filter.stream(input(&samples), &mut outputs).memory(LITTLE).seekable().run()?;
        same(&outputs, &filter.apply(&samples)?)?;
    }
    let odd = Filter1d::correlate(&weights).samples::<u8>().channels(3).prepare(device)?;
    let incomplete = StreamCause::Incomplete { bytes: 1, size: 3 };
    equal(cause(odd.stream(&[1u8, 2, 3, 4][..], io::sink()).run())?.cause, incomplete)
}

/// Pictures with all boundaries, extents, strides and dilations of rows.
fn rows(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(52);
    let columns = 11;
    for (height, stride, dilation) in [(1, 1, 1), (3, 1, 1), (4, 3, 1), (3, 2, 4), (2, 7, 1)] {
        let weights = Array2::from_shape_simple_fn((height, 3), || random.below(2000) as i32 - 1000);
        for (boundary, extent) in BOUNDARIES.into_iter().flat_map(|boundary| EXTENTS.map(|extent| (boundary, extent))) {
            let filter = Filter2d::correlate(&weights).boundary(boundary).extent(extent);
            let filter = filter.stride(stride, 1).dilation(dilation, 1).prepare(device)?;
            for rows in [0, 1, 20, 100] {
                let samples = Array2::from_shape_vec((rows, columns), random.values::<i32>(rows * columns))?;
                let numbers = samples.as_slice().ok_or("row after row")?;
                let expected: Vec<i32> = filter.apply(&samples)?.into_raw_vec_and_offset().0;
                let mut outputs = Vec::new();
                let stream = filter.stream(input(numbers), &mut outputs, columns)?.memory(LITTLE).seekable();
                stream.run().map_err(|error| format!("{boundary:?} {extent:?} {rows}: {error}"))?;
                same(&outputs, &i32::bytes(&expected)).map_err(|_| {
                    format!("{height} x 3 weights, stride {stride}, dilation {dilation}, {boundary:?}, {extent:?}, {rows} rows")
                })?;
            }
        }
    }
    let pixels = Filter2d::<u8, f32>::box_blur(1, 1).channels(3).prepare(device)?;
    let interleaving = Filter2dError::Interleaving { columns: 7, channels: 3 };
    equal(pixels.stream(io::empty(), io::sink(), 7).err(), Some(interleaving.into()))?;
    let zero = Filter2dError::Zero { what: "the number of columns of a stream" };
    equal(pixels.stream(io::empty(), io::sink(), 0).err(), Some(zero.into()))
}

/// Sums of segments and outer products. Sums of integers do not depend on the segments.
fn boxes(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(53);
    let (rows, columns) = (260, 24);
    let bytes = Array2::from_shape_vec((rows, columns), random.values::<u8>(rows * columns))?;
    let floats = bytes.mapv(|byte| f32::from(byte) / 7.0);
    let (bytes_in, floats_in) = (bytes.as_slice().ok_or("")?, floats.as_slice().ok_or("")?);
    for boundary in [Boundary::Nearest, Boundary::Wrap] {
        let mean = Filter2d::<u8, f32>::box_blur(31, 9).boundary(boundary).prepare(device)?;
        let mut outputs = Vec::new();
        mean.stream(input(bytes_in), &mut outputs, columns)?.memory(LITTLE).seekable().run()?;
        same(&outputs, &mean.apply(&bytes)?.into_raw_vec_and_offset().0)?;
    }
    let blur = Filter2d::<f32, _>::gaussian(2.0).boundary(Boundary::Mirror).prepare(device)?;
    let mut outputs = Vec::new();
    blur.stream(input(floats_in), &mut outputs, columns)?.memory(LITTLE).run()?;
    same(&outputs, &f32::bytes(&blur.apply(&floats)?.into_raw_vec_and_offset().0))
}

fn counts(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(54);
    let samples: Vec<u8> = random.values(10_000);
    let colours = Histogram::bytes().channels(4).prepare(device)?;
    equal(colours.stream(input(&samples))?.memory(LITTLE).run()?, colours.apply(&samples)?)?;
    let floats: Vec<f32> = samples.iter().map(|&sample| f32::from(sample)).collect();
    let tens = Histogram::even(10, 0.0f32..200.0).prepare(device)?;
    equal(tens.stream(input(&floats[..999]))?.memory(LITTLE).seekable().run()?, tens.apply(&floats[..999])?)?;
    equal(tens.stream(io::empty())?.run()?.total(), 0)?;
    let incomplete = StreamCause::Incomplete { bytes: 2, size: 4 };
    let ended = cause(tens.stream(&[0u8; 4002][..])?.run())?;
    equal((ended.read, ended.cause), (4002, incomplete))
}

/// Sums of weights of all sizes, bit for bit those of `apply_weighted`.
fn weights(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(55);
    let samples: Vec<u8> = random.values(3000);
    let doubles: Vec<f64> = samples.iter().map(|&sample| (f64::from(sample) / 7.0).exp() - 1e9).collect();
    let floats: Vec<f32> = doubles.iter().map(|&weight| weight as f32).collect();
    let colours = Histogram::bytes().channels(3).prepare(device)?;
    for len in [0, 3, 1500, 3000] {
        let (samples, doubles, floats) = (&samples[..len], &doubles[..len], &floats[..len]);
        let expected = colours.apply_weighted(samples, doubles)?;
        let little = colours.stream_weighted::<f64>(input(samples), input(doubles))?.memory(900).run()?;
        equal(&little, &expected)?;
        equal(colours.stream_weighted::<f64>(input(samples), input(doubles))?.run()?, expected)?;
        let little = colours.stream_weighted::<f32>(input(samples), input(floats))?.memory(500).run()?;
        equal(little, colours.apply_weighted(samples, floats)?)?;
    }
    let reals = Histogram::even(10, 0.0f32..200.0).prepare(device)?;
    let values: Vec<f32> = samples.iter().map(|&sample| f32::from(sample)).collect();
    let mut seen = Vec::new();
    let stream = reals.stream_weighted::<f32>(input(&values), input(&floats))?.memory(20_000).progress(|progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    });
    equal(stream.run()?, reals.apply_weighted(&values, &floats)?)?;
    let total = 8 * 3000;
    equal(seen.len(), 12)?;
    equal(seen.is_sorted_by_key(|progress: &Progress| progress.done), true)?;
    equal(seen.iter().all(|progress| progress.total == Some(total)), true)?;
    equal([seen[5].done, seen[11].done], [total / 2, total])
}

fn weights_that_fail(device: &Device) -> Result<(), Failed> {
    let bytes = Histogram::bytes().channels(3).prepare(device)?;
    let ended = |samples: &[u8], weights: &[u8]| {
        let stream = bytes.stream_weighted::<f32>(Cursor::new(samples.to_vec()), Cursor::new(weights.to_vec()))?;
        cause(stream.memory(LITTLE).run())
    };
    equal(ended(&[0; 7], &[0; 28])?.cause, StreamCause::Incomplete { bytes: 1, size: 3 })?;
    equal(ended(&[0; 6], &[0; 25])?.cause, StreamCause::Incomplete { bytes: 1, size: 4 })?;
    let length = Error::Length { what: "the weights", expected: 6, actual: 5 };
    equal(ended(&[0; 6], &[0; 20])?.cause, length.into())?;
    let mut weights = [1.0f32; 99];
    weights[50] = f32::INFINITY;
    let infinite = ended(&[0; 99], &f32::bytes(&weights))?;
    let weight = HistogramError::Weight { index: 50, weight: f64::INFINITY };
    equal(infinite.cause, Error::Histogram(weight).into())?;

    // It becomes shorter after its length is known.
    struct Shrinks(Cursor<Vec<u8>>);
    impl Read for Shrinks {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.0.get_mut().truncate(100);
            self.0.read(bytes)
        }
    }
    impl Seek for Shrinks {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }
    let shrinks = Shrinks(Cursor::new(vec![0; 396]));
    let stream = bytes.stream_weighted::<f32>(Cursor::new(vec![0; 99]), shrinks)?.memory(LITTLE);
    equal(cause(stream.run())?.cause, StreamCause::Shortened { expected: 396 })?;
    let stop = |_| ControlFlow::Break(());
    let stream = bytes.stream_weighted::<f32>(Cursor::new(vec![0; 99]), Cursor::new(vec![0; 396]))?.progress(stop);
    equal(cause(stream.run())?.cause, StreamCause::Cancelled)?;
    equal(bytes.apply(&[1, 2, 3])?.total(), 3)
}

/// Bytes that are done grow to the whole, and a function can end the stream.
fn progress(device: &Device) -> Result<(), Failed> {
    let sum = Filter1d::correlate(&[1i32, 1, 1]).prepare(device)?;
    let samples = vec![1i32; 1000];
    let mut seen = Vec::new();
    sum.stream(input(&samples), io::sink())
        .memory(LITTLE)
        .seekable()
        .progress(|progress| {
            seen.push(progress);
            ControlFlow::Continue(())
        })
        .run()?;
    equal(seen.len() > 10, true)?;
    equal(seen.is_sorted_by_key(|progress: &Progress| progress.done), true)?;
    equal(seen.iter().all(|progress| progress.total == Some(4000)), true)?;
    equal(seen.last().map(|progress| progress.done), Some(4000))?;

    let mut parts = 0;
    let stream = sum.stream(io::repeat(1), io::sink()).memory(LITTLE).progress(|progress| {
        parts += 1;
        if parts == 3 && progress.total.is_none() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    equal(cause(stream.run())?.cause, StreamCause::Cancelled)?;
    equal(parts, 3)?;
    // The filter is as usable as before.
    equal(sum.apply(&[1, 2])?, vec![3, 3])
}

/// A reader that fails after some bytes.
struct Broken(usize);

impl Read for Broken {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.0).min(100);
        if len == 0 {
            return Err(io::Error::other("the disk is on fire"));
        }
        bytes[..len].fill(0);
        self.0 -= len;
        Ok(len)
    }
}

fn inputs_that_fail(device: &Device) -> Result<(), Failed> {
    let sum = Filter1d::correlate(&[1i32, 1, 1]).prepare(device)?;
    let mut outputs = Vec::new();
    let ended = cause(sum.stream(Broken(4000), &mut outputs).memory(LITTLE).run())?;
    let read = StreamCause::Read { kind: ErrorKind::Other, message: "the disk is on fire".to_owned() };
    equal((ended.read, ended.written as usize, &ended.cause), (4000, outputs.len(), &read))?;
    equal(outputs.len() > 3000, true)?;
    let text = format!(
        "after 4000 bytes of input and {} bytes of output: the input cannot be read: the disk is on fire",
        outputs.len()
    );
    equal(ended.to_string(), text)?;
    let wrap = Filter1d::correlate(&[1i32, 1, 1]).boundary(Boundary::Wrap).prepare(device)?;
    equal(cause(wrap.stream(&[0u8; 400][..], io::sink()).run())?.cause, StreamCause::NeedsSeek)?;
    let incomplete = StreamCause::Incomplete { bytes: 3, size: 4 };
    equal(cause(sum.stream(&[0u8; 403][..], io::sink()).run())?.cause, incomplete.clone())?;
    equal(cause(wrap.stream(Cursor::new([0u8; 403]), io::sink()).seekable().run())?.cause, incomplete)?;
    equal(sum.apply(&[1, 2])?, vec![3, 3])
}

/// A writer with room for some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.0);
        self.0 -= len;
        if len == 0 { Err(ErrorKind::StorageFull.into()) } else { Ok(len) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn outputs_that_fail(device: &Device) -> Result<(), Failed> {
    let sum = Filter1d::correlate(&[1i32, 1, 1]).prepare(device)?;
    let ended = cause(sum.stream(io::repeat(0), Full(1000)).memory(LITTLE).run())?;
    equal(ended.written, 1000)?;
    let StreamCause::Write { kind, .. } = ended.cause else { return Err(format!("{ended}").into()) };
    equal(kind, ErrorKind::StorageFull)?;
    // No room at all, and what was not read before stays unread.
    let mut reader = Cursor::new(vec![0u8; 1 << 20]);
    equal(cause(sum.stream(&mut reader, Full(0)).memory(LITTLE).run())?.written, 0)?;
    equal(reader.position() < 1 << 16, true)?;
    equal(sum.apply(&[1, 2])?, vec![3, 3])
}

/// A panic of the reader, of the writer or of the progress is the caller's, and nothing waits forever.
fn panics(device: &Device) -> Result<(), Failed> {
    struct Panics;
    impl Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("a reader panics on purpose")
        }
    }
    impl Write for Panics {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            panic!("a writer panics on purpose")
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let sum = Filter1d::correlate(&[1i32, 1, 1]).prepare(device)?;
    let caught = |run: &dyn Fn() -> slm::Result<u64>| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).err().map(|panic| panic.is::<&str>())
    };
    equal(caught(&|| sum.stream(Panics, io::sink()).run()), Some(true))?;
    equal(caught(&|| sum.stream(io::repeat(0), Panics).memory(LITTLE).run()), Some(true))?;
    let stop = |_| panic!("a progress panics on purpose");
    equal(caught(&|| sum.stream(io::repeat(0), io::sink()).memory(LITTLE).progress(stop).run()), Some(true))?;
    equal(sum.apply(&[1, 2])?, vec![3, 3])
}

fn cause<T>(result: slm::Result<T>) -> Result<StreamError, Failed> {
    match result {
        Err(Error::Stream(error)) => Ok(*error),
        Err(error) => Err(format!("another error: {error}").into()),
        Ok(_) => Err("no error".into()),
    }
}
