//! Transpositions, and boards of the Game of Life.

use crate::call::{Attempt, Case, Left, replaced, returned, written};
use crate::common::Random;
use slm::life::{Board, Pattern, Topology};
use slm::ndarray::Array2;
use slm::{Buffer, Device, Element, Life, Result, Transpose};

/// Without a common divisor, so that no way to transpose in place is easy.
const SHAPE: [usize; 2] = [997, 1009];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "transpose::out_of_place", attempt: transpose },
        Case { name: "transpose::into", attempt: transpose_into },
        Case { name: "transpose::in_place", attempt: || in_place(Transpose::new(SHAPE[0], SHAPE[1])) },
        Case { name: "transpose::in_place_tall", attempt: || in_place(Transpose::new(SHAPE[0] * SHAPE[1] / 3, 3)) },
        Case { name: "transpose::in_place_even", attempt: || in_place(Transpose::new(1024, 768)) },
        Case { name: "transpose::in_place_square", attempt: || in_place(Transpose::new(1000, 1000)) },
        Case { name: "transpose::in_place_preparation", attempt: preparation },
        Case { name: "life::board", attempt: board },
        Case { name: "life::step", attempt: || steps(Topology::Torus, 3) },
        Case { name: "life::wide_step", attempt: wide_step },
        Case { name: "life::twisted_step", attempt: || steps(Topology::KleinBottle, 1) },
        Case { name: "life::stable", attempt: stable },
        Case { name: "life::census", attempt: census },
        Case { name: "life::cells", attempt: || read(Board::cells) },
        Case { name: "life::words", attempt: || read(Board::words) },
        Case { name: "life::copy", attempt: || read(|board| board.try_clone()?.words()) },
        Case { name: "life::pattern", attempt: pattern },
        Case { name: "life::read_pattern", attempt: read_pattern },
        Case { name: "life::set_cells", attempt: set_cells },
    ]
}

fn numbers<T: Element + crate::common::Draw>(len: usize) -> Vec<T> {
    Random::new(12).values(len)
}

fn transpose() -> Result<Attempt> {
    let matrix = Array2::from_shape_vec(SHAPE, numbers::<i32>(SHAPE[0] * SHAPE[1])).expect("a number for each element");
    let transpose = Transpose::new(SHAPE[0], SHAPE[1]).prepare(&Device::cpu())?;
    returned(move || transpose.apply(&matrix))
}

fn transpose_into() -> Result<Attempt> {
    let device = Device::cpu();
    let transpose = Transpose::new(SHAPE[0], SHAPE[1]).components(3).prepare(&device)?;
    let matrix = device.upload(&numbers::<u8>(3 * SHAPE[0] * SHAPE[1]))?;
    written(device.zeroed(matrix.len())?, move |output| transpose.apply_into(&matrix, output))
}

/// A matrix that there was no memory to transpose is as it was.
fn in_place(transpose: Transpose<f32>) -> Result<Attempt> {
    let device = Device::cpu();
    let transpose = transpose.prepare_in_place(&device)?;
    let elements = numbers::<f32>(transpose.plan()?.outputs.iter().product());
    let matrix = device.upload(&elements)?;
    let set = move |matrix: &mut Buffer<f32>| matrix.upload(&elements);
    replaced(matrix, Left::WhatWasThere, set, Buffer::download, move |matrix| transpose.apply(matrix))
}

fn preparation() -> Result<Attempt> {
    let (device, transpose) = (Device::cpu(), Transpose::<f32>::new(SHAPE[0], SHAPE[1]));
    let elements = numbers::<f32>(SHAPE[0] * SHAPE[1]);
    let matrix = device.upload(&elements)?;
    let set = move |matrix: &mut Buffer<f32>| matrix.upload(&elements);
    replaced(matrix, Left::WhatWasThere, set, Buffer::download, move |matrix| {
        transpose.prepare_in_place(&device)?.apply(matrix)
    })
}

fn life(topology: Topology) -> Life {
    Life::new(3000, 3100).topology(topology)
}

/// A board with some cells, and their words.
fn living(life: &Life) -> Result<(Board, Array2<u64>)> {
    let mut board = life.prepare(&Device::cpu())?;
    let mut random = Random::new(13);
    let cells = Array2::from_shape_simple_fn((board.rows(), board.columns()), || random.below(3) == 0);
    board.set_cells(cells.view())?;
    let words = board.words()?;
    Ok((board, words))
}

fn board() -> Result<Attempt> {
    let life = life(Topology::Torus);
    returned(move || Ok(life.prepare(&Device::cpu())?.generation()))
}

fn stepped(life: &Life, steps: u64) -> Result<Attempt> {
    let (board, words) = living(life)?;
    let set = move |board: &mut Board| board.set_words(words.view());
    replaced(board, Left::WhatWasThere, set, Board::words, move |board| board.step(steps))
}

fn steps(topology: Topology, steps: u64) -> Result<Attempt> {
    stepped(&life(topology), steps)
}

/// The CPU needs memory for some rows.
fn wide_step() -> Result<Attempt> {
    stepped(&Life::new(3, 4_000_000), 1)
}

fn stable() -> Result<Attempt> {
    let life = Life::new(300, 2000);
    let (board, words) = living(&life)?;
    let set = move |board: &mut Board| board.set_words(words.view());
    let call = |board: &mut Board| board.run_until_stable(5).map(|_| ());
    replaced(board, Left::Anything, set, Board::words, call)
}

fn census() -> Result<Attempt> {
    let (board, _) = living(&life(Topology::Torus))?;
    returned(move || board.census())
}

fn read<O: PartialEq + 'static>(read: fn(&Board) -> Result<O>) -> Result<Attempt> {
    let (board, _) = living(&life(Topology::Torus))?;
    returned(move || read(&board))
}

fn pattern() -> Result<Attempt> {
    let (board, _) = living(&Life::new(300, 310))?;
    returned(move || board.pattern())
}

/// A pattern of an array, and of texts in three formats.
fn read_pattern() -> Result<Attempt> {
    let (board, _) = living(&Life::new(100, 310))?;
    let (cells, pattern) = (board.cells()?, board.pattern()?);
    let (rle, plain) = (pattern.to_rle(), pattern.to_cells()?);
    let points: String = cells.indexed_iter().map(|((row, column), _)| format!("{column} {row}\n")).collect();
    let life = format!("#Life 1.06\n{points}");
    returned(move || {
        let of_array = Pattern::from_array(cells.view())?;
        Ok([of_array, Pattern::from_rle(&rle)?, Pattern::from_cells(&plain)?, Pattern::from_life(&life)?])
    })
}

fn set_cells() -> Result<Attempt> {
    let (board, words) = living(&life(Topology::Torus))?;
    let cells = board.cells()?;
    let set = move |board: &mut Board| board.set_words(Array2::zeros(words.dim()).view());
    replaced(board, Left::WhatWasThere, set, Board::words, move |board| board.set_cells(cells.view()))
}
