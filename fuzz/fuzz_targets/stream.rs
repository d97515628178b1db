//! Streams with little memory, against the same operation on all samples at once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::ndarray::Array2;
use slm::{Boundary, Device, Extent, Filter1d, Filter2d, Histogram};
use slm_fuzz::{Reader, devices, expect, extent};
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// A description of a stream, with samples of `i32`, whose sums are exact.
#[derive(Debug)]
struct Problem {
    samples: Vec<i32>,
    /// Bytes behind the last sample.
    extra: usize,
    weights: Vec<i32>,
    boundary: Boundary<i32>,
    extent: Extent,
    stride: usize,
    dilation: usize,
    columns: usize,
    memory: usize,
    sip: usize,
}

/// A reader that returns few bytes at a time.
struct Sip {
    bytes: Cursor<Vec<u8>>,
    most: usize,
}

impl Read for Sip {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.most);
        self.bytes.read(&mut bytes[..len])
    }
}

impl Seek for Sip {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

impl Problem {
    fn read(reader: &mut Reader<'_>) -> Self {
        let boundary = reader.pick(&[
            Boundary::Constant(7),
            Boundary::Nearest,
            Boundary::Reflect,
            Boundary::Mirror,
            Boundary::Wrap,
        ]);
        let (columns, count) = (reader.within(1, 9), reader.within(1, 30));
        let integers = |bytes: Vec<u8>| bytes.into_iter().map(|byte| i32::from(byte) - 128).collect();
        Problem {
            boundary,
            extent: extent(reader),
            stride: reader.pick(&[1, 1, 2, 3, 50]),
            dilation: reader.pick(&[1, 1, 2, 3]),
            columns,
            memory: reader.pick(&[0, 1, 100, 1000, 5000, 1 << 20]),
            sip: reader.within(1, 200),
            extra: reader.pick(&[0, 0, 0, 1, 3]),
            weights: integers(reader.bytes(count)),
            samples: {
                // With little memory, each sample has launches of its own, which take milliseconds on an emulated device.
                let rows = reader.below(30);
                integers(reader.bytes(rows * columns))
            },
        }
    }

    fn input(&self) -> Sip {
        let mut bytes: Vec<u8> = self.samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        bytes.resize(bytes.len() + self.extra, 0);
        Sip { bytes: Cursor::new(bytes), most: self.sip }
    }

    /// Weights for the samples, whose sums are rounded.
    fn weights_of_samples(&self) -> Vec<f64> {
        self.weights.iter().cycle().take(self.samples.len()).map(|&weight| f64::from(weight) / 3.0).collect()
    }

    fn matrix(&self) -> Array2<i32> {
        let rows = self.samples.len() / self.columns;
        Array2::from_shape_fn((rows, self.columns), |(row, column)| self.samples[row * self.columns + column])
    }
}

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let (operation, devices) = (reader.below(4), devices(reader));
    let problem = Problem::read(reader);
    for device in &devices {
        let what = (operation, device.to_string(), &problem);
        let streamed = match operation {
            0 => lines(device, &problem),
            1 => rows(device, &problem),
            2 => counts(device, &problem),
            _ => sums(device, &problem),
        };
        // A stream that ends within a sample is an error.
        match streamed {
            Err(_) if problem.extra > 0 => {}
            streamed => {
                let [actual, expected] = expect(streamed, &what);
                assert_eq!((actual, problem.extra), (expected, 0), "{what:?}");
            }
        }
    }
});

fn bytes(outputs: impl IntoIterator<Item = i32>) -> Vec<u8> {
    outputs.into_iter().flat_map(i32::to_le_bytes).collect()
}

fn lines(device: &Device, problem: &Problem) -> slm::Result<[Vec<u8>; 2]> {
    let filter = Filter1d::correlate(&problem.weights).boundary(problem.boundary).extent(problem.extent);
    let filter = filter.stride(problem.stride).prepare(device)?;
    let mut outputs = Vec::new();
    filter.stream(problem.input(), &mut outputs).memory(problem.memory).seekable().run()?;
    Ok([outputs, bytes(filter.apply(&problem.samples)?)])
}

fn rows(device: &Device, problem: &Problem) -> slm::Result<[Vec<u8>; 2]> {
    let weights = &problem.weights;
    let columns = problem.columns.min(weights.len());
    let weights =
        Array2::from_shape_fn((weights.len() / columns, columns), |(row, column)| weights[row * columns + column]);
    let filter = Filter2d::<i32, i32>::correlate(&weights).boundary(problem.boundary).extent(problem.extent);
    let filter = filter.stride(problem.stride, 1).dilation(problem.dilation, 1).prepare(device)?;
    let mut outputs = Vec::new();
    filter.stream(problem.input(), &mut outputs, problem.columns)?.memory(problem.memory).seekable().run()?;
    Ok([outputs, bytes(filter.apply(&problem.matrix())?)])
}

fn counts(device: &Device, problem: &Problem) -> slm::Result<[Vec<u8>; 2]> {
    let histogram = Histogram::even(problem.weights.len(), -100..100).prepare(device)?;
    let all = histogram.apply(&problem.samples)?;
    let streamed = histogram.stream(problem.input())?.memory(problem.memory).run()?;
    Ok([streamed, all]
        .map(|counts| counts.channels().flat_map(|c| c.bins.to_vec()).flat_map(u64::to_le_bytes).collect()))
}

fn sums(device: &Device, problem: &Problem) -> slm::Result<[Vec<u8>; 2]> {
    let (histogram, weights) = (Histogram::even(7, -100..100).prepare(device)?, problem.weights_of_samples());
    let all = histogram.apply_weighted(&problem.samples, &weights)?;
    let input = Cursor::new(weights.iter().flat_map(|weight| weight.to_le_bytes()).collect::<Vec<u8>>());
    let streamed = histogram.stream_weighted::<f64>(problem.input(), input)?.memory(problem.memory).run()?;
    Ok([streamed, all]
        .map(|weighted| weighted.sums.channels().flat_map(|c| c.bins.to_vec()).flat_map(f64::to_le_bytes).collect()))
}
