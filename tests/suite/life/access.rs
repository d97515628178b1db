//! Reading and writing cells, in all forms and with all algorithms.

use super::{SUITE, algorithms, same, soup};
use crate::common::{ensure, equal, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::life::{Board, Pattern};
use slm::ndarray::Array2;
use slm::{Device, Life};

const SIZES: [[usize; 2]; 5] = [[1, 1], [3, 63], [2, 64], [5, 65], [4, 200]];

type Check = fn(Board, &Array2<bool>) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 8] = [
        ("cells_one_by_one", cells_one_by_one),
        ("all_cells", all_cells),
        ("words", words),
        ("words_of_rows", words_of_rows),
        ("patterns", patterns),
        ("patterns_across_the_ends", patterns_across_the_ends),
        ("pattern_of_board", pattern_of_board),
        ("clones", clones),
    ];
    let of_all = |(name, check): (&str, Check)| {
        on_every_backend(SUITE, &format!("access::{name}"), move |device| on_all_boards(device, check))
    };
    checks.into_iter().flat_map(of_all).collect()
}

/// Calls `check` with empty boards, and random cells of the same size.
fn on_all_boards(device: &Device, check: Check) -> Result<(), Failed> {
    for (stream, [rows, columns]) in SIZES.into_iter().enumerate() {
        for &algorithm in algorithms(device) {
            let board = Life::new(rows, columns).algorithm(algorithm).prepare(device)?;
            check(board, &soup([rows, columns], stream as u64))
                .map_err(|e| format!("{rows} x {columns}, {algorithm:?}: {}", e.message().unwrap_or_default()))?;
        }
    }
    Ok(())
}

fn cells_one_by_one(mut board: Board, soup: &Array2<bool>) -> Result<(), Failed> {
    for ((row, column), &is_alive) in soup.indexed_iter() {
        // Back and forth, so that cells are also killed.
        board.set(row, column, !is_alive)?;
        equal(board.get(row, column)?, !is_alive)?;
        board.set(row, column, is_alive)?;
        equal(board.get(row, column)?, is_alive)?;
    }
    Ok(same(&board.cells()?, soup)?)
}

fn all_cells(mut board: Board, soup: &Array2<bool>) -> Result<(), Failed> {
    equal(board.population()?, 0)?;
    // In column-major order too.
    let reversed = Array2::from_shape_vec((soup.ncols(), soup.nrows()), soup.t().iter().copied().collect())?;
    for cells in [soup.view(), reversed.t()] {
        board.set_cells(cells)?;
        same(&board.cells()?, soup)?;
    }
    equal(board.population()?, soup.iter().filter(|cell| **cell).count() as u64)?;
    equal(((board.rows(), board.columns()), board.generation()), (soup.dim(), 0))
}

fn words(mut board: Board, soup: &Array2<bool>) -> Result<(), Failed> {
    let (rows, width) = (soup.nrows(), soup.ncols().div_ceil(64));
    let packed = Array2::from_shape_fn((rows, width), |(row, word)| {
        (0..64).filter(|i| soup.get([row, word * 64 + i]).is_some_and(|cell| *cell)).fold(0, |word, i| word | 1u64 << i)
    });
    board.set_cells(soup.view())?;
    equal(board.words()?, packed.clone())?;
    // Bits after the end of a row are ignored.
    let mut more = packed.clone();
    let unused = (width * 64 - soup.ncols()) as u32;
    more.column_mut(width - 1).mapv_inplace(|word| word | !u64::MAX.unbounded_shr(unused));
    board.set_cells(Array2::default(soup.dim()).view())?;
    board.set_words(more.view())?;
    equal(board.words()?, packed)?;
    Ok(same(&board.cells()?, soup)?)
}

/// Some rows at a time, with bits after the end of a row.
fn words_of_rows(mut board: Board, soup: &Array2<bool>) -> Result<(), Failed> {
    board.set_cells(soup.view())?;
    let (rows, all) = (soup.nrows(), board.words()?);
    let width = all.ncols();
    for first in 0..=rows {
        for end in first..=rows {
            let part = all.slice(slm::ndarray::s![first..end, ..]);
            equal(board.words_of_rows(first..end)?, part.to_owned())?;
            let more = Array2::from_elem((end - first, width), u64::MAX);
            board.set_words_of_rows(first, more.view())?;
            let expected = Array2::from_shape_fn(soup.dim(), |at| (first..end).contains(&at.0) || soup[at]);
            same(&board.cells()?, &expected)?;
            let alive = expected.iter().filter(|cell| **cell).count() as u64;
            equal(board.population()?, alive)?;
            board.set_words_of_rows(first, part)?;
            same(&board.cells()?, soup)?;
        }
    }
    let reversed = Array2::from_shape_vec((width, rows), all.t().iter().copied().collect())?;
    board.set_words_of_rows(0, reversed.t())?;
    Ok(same(&board.cells()?, soup)?)
}

/// A part of the cells, placed twice.
fn patterns(mut board: Board, soup: &Array2<bool>) -> Result<(), Failed> {
    let (rows, columns) = soup.dim();
    for (top, left) in [(0, 0), (rows / 2, columns / 3), (rows - 1, columns - 1), (rows, columns)] {
        let part = soup.slice(slm::ndarray::s![top.., left..]);
        let before = board.cells()?;
        board.place(&Pattern::from_array(part)?, top as isize, left as isize)?;
        let expected = Array2::from_shape_fn(soup.dim(), |at| before[at] || at.0 >= top && at.1 >= left && soup[at]);
        same(&board.cells()?, &expected)?;
        let corner = soup.slice(slm::ndarray::s![..rows - top, ..columns - left]);
        board.place(&Pattern::from_array(corner)?, top as isize, left as isize)?;
        let expected = Array2::from_shape_fn(soup.dim(), |(r, c)| {
            expected[(r, c)] || r >= top && c >= left && soup[(r - top, c - left)]
        });
        same(&board.cells()?, &expected)?;
    }
    Ok(())
}

/// All cells, shifted down and to the left on a torus.
fn patterns_across_the_ends(mut board: Board, soup: &Array2<bool>) -> Result<(), Failed> {
    let (rows, columns) = soup.dim();
    let (down, left) = (rows / 2, columns / 3);
    board.place(&Pattern::from_array(soup.view())?, down as isize, -(left as isize))?;
    let shifted = |(row, column)| soup[((row + rows - down) % rows, (column + left) % columns)];
    Ok(same(&board.cells()?, &Array2::from_shape_fn(soup.dim(), shifted))?)
}

fn pattern_of_board(mut board: Board, soup: &Array2<bool>) -> Result<(), Failed> {
    board.set_cells(soup.view())?;
    equal(board.pattern()?, Pattern::from_array(soup.view())?.with_rule(board.rule()))
}

/// A clone is independent, and of the same generation.
fn clones(mut board: Board, soup: &Array2<bool>) -> Result<(), Failed> {
    board.set_cells(soup.view())?;
    board.step(1)?;
    let (mut clone, cells) = (board.try_clone()?, board.cells()?);
    clone.step(1)?;
    same(&board.cells()?, &cells)?;
    equal((board.generation(), clone.generation()), (1, 2))?;
    board.step(1)?;
    same(&board.cells()?, &clone.cells()?)?;
    ensure((board.rule(), board.topology()) == (clone.rule(), clone.topology()), || format!("{clone:?}"))
}
