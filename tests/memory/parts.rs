//! Data in parts: streams, and operations on several devices.

use crate::call::{Attempt, Case, Left, replaced, returned};
use crate::common::Random;
use slm::distributed::Devices;
use slm::life::{DistributedBoard, Pattern};
use slm::ndarray::Array2;
use slm::{Device, Filter1d, Filter2d, Histogram, Life, Result, Transpose};
use std::io::sink;

const LEN: usize = 1 << 20;

const SHAPE: (usize, usize) = (1000, 700);

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "streams::lines", attempt: streamed_lines },
        Case { name: "streams::rows", attempt: streamed_rows },
        Case { name: "streams::counts", attempt: streamed_counts },
        Case { name: "distributed::data", attempt: data },
        Case { name: "distributed::lines", attempt: lines },
        Case { name: "distributed::pictures", attempt: pictures },
        Case { name: "distributed::counts", attempt: counts },
        Case { name: "distributed::transposed", attempt: transposed },
        Case { name: "distributed::life", attempt: life },
        Case { name: "distributed::pattern", attempt: pattern },
    ]
}

/// Bytes that a stream may use.
const MEMORY: usize = 2 << 20;

fn devices() -> Result<Devices> {
    Devices::new([Device::cpu(), Device::cpu(), Device::cpu()])
}

fn floats() -> Vec<f32> {
    Random::new(18).values(LEN)
}

fn picture() -> Array2<f32> {
    Array2::from_shape_vec(SHAPE, Random::new(19).values(SHAPE.0 * SHAPE.1)).expect("a number for each pixel")
}

fn taps() -> Vec<f32> {
    Random::new(20).values(30)
}

fn streamed_lines() -> Result<Attempt> {
    let filter = Filter1d::correlate(&taps()).prepare(&Device::cpu())?;
    let bytes = Random::new(21).values::<u8>(LEN);
    returned(move || filter.stream(&bytes[..], sink()).memory(MEMORY).run())
}

fn streamed_rows() -> Result<Attempt> {
    let filter = Filter2d::<u8, f32>::box_blur(5, 5).output::<u8>().prepare(&Device::cpu())?;
    let bytes = Random::new(22).values::<u8>(LEN);
    returned(move || filter.stream(&bytes[..], sink(), 1024)?.memory(MEMORY).run())
}

fn streamed_counts() -> Result<Attempt> {
    let histogram = Histogram::<u16>::even(65_536, 0..65_536).prepare(&Device::cpu())?;
    let bytes = Random::new(23).values::<u8>(LEN);
    returned(move || histogram.stream(&bytes[..])?.memory(MEMORY).run())
}

fn data() -> Result<Attempt> {
    let (devices, samples) = (devices()?, floats());
    returned(move || devices.distribute(&samples)?.download())
}

fn lines() -> Result<Attempt> {
    let devices = devices()?;
    let (filter, samples) = (Filter1d::correlate(&taps()).prepare_on(&devices)?, devices.distribute(&floats())?);
    returned(move || filter.apply(&samples)?.download())
}

fn pictures() -> Result<Attempt> {
    let devices = devices()?;
    let filter = Filter2d::<f32, f32>::box_blur(21, 15).prepare_on(&devices)?;
    let picture = devices.distribute(&picture())?;
    returned(move || filter.apply(&picture)?.download())
}

fn counts() -> Result<Attempt> {
    let devices = devices()?;
    let histogram = Histogram::<f32>::even(100_000, -1.0..1.0).prepare_on(&devices)?;
    let samples = devices.distribute(&floats())?;
    returned(move || histogram.apply(&samples))
}

fn transposed() -> Result<Attempt> {
    let devices = devices()?;
    let transpose = Transpose::new(SHAPE.0, SHAPE.1).prepare_on(&devices)?;
    let matrix = devices.distribute(&picture())?;
    returned(move || transpose.apply(&matrix)?.download())
}

fn life() -> Result<Attempt> {
    let devices = devices()?;
    returned(move || {
        let mut board = Life::new(2000, 3000).prepare_on(&devices)?;
        board.step(2)?;
        board.population()
    })
}

/// A pattern whose cells are on the boards of all members. They are as they were if there is no memory for one of them.
fn pattern() -> Result<Attempt> {
    let mut cells = Array2::from_elem((1500, 2500), false);
    cells.iter_mut().step_by(9973).for_each(|cell| *cell = true);
    let (pattern, board) = (Pattern::from_array(cells.view())?, Life::new(2000, 3000).prepare_on(&devices()?)?);
    let clear = |board: &mut DistributedBoard| {
        (0..3).try_for_each(|member| {
            let rows = board.distribution().rows(member).len();
            board.set_words(member, Array2::zeros((rows, 47)).view())
        })
    };
    let words = |board: &DistributedBoard| (0..3).map(|member| board.words(member)).collect::<Result<Vec<_>>>();
    replaced(board, Left::WhatWasThere, clear, words, move |board| board.place(&pattern, 700, -200))
}
