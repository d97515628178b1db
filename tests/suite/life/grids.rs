//! Grids of patterns against Golly's documentation, which shows the cells around a grid of 4 x 3.

use super::SUITE;
use crate::common::{Random, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::life::{Pattern, Rule};
use slm::ndarray::Array2;
use slm::{Device, Life};

/// The grid, and the cells of it and around it. A dot is a dead cell.
const DIAGRAMS: [(&str, [&str; 5]); 3] = [
    (":P4,3", ["......", ".ABCD.", ".EFGH.", ".IJKL.", "......"]),
    (":T4,3", ["LIJKLI", "DABCDA", "HEFGHE", "LIJKLI", "DABCDA"]),
    (":K4*,3", ["ILKJIL", "DABCDA", "HEFGHE", "LIJKLI", "ADCBAD"]),
];

const RULES: [&str; 3] = ["B3/S23", "B36/S125", "B1357/S02468"];

pub(super) fn trials() -> Vec<Trial> {
    on_every_backend(SUITE, "grids", grids).into()
}

fn grids(device: &Device) -> Result<(), Failed> {
    let soups = if is_slow(device) { 4 } else { 200 };
    for (stream, (grid, diagram)) in DIAGRAMS.into_iter().enumerate() {
        let mut random = Random::new(stream as u64);
        for rule in RULES {
            for _ in 0..soups {
                let cells = Array2::from_shape_simple_fn((3, 4), || random.below(3) == 0);
                let lines: Vec<String> = cells
                    .rows()
                    .into_iter()
                    .map(|row| row.iter().map(|cell| if *cell { 'o' } else { 'b' }).collect())
                    .collect();
                let text = format!("x = 4, y = 3, rule = {rule}{grid}\n{}!", lines.join("$"));
                let expected = next(&cells, rule.parse()?, diagram);
                equal((&*text, on_grid(device, &text)?), (&*text, expected))?;
            }
        }
    }
    Ok(())
}

/// Returns the next generation of a pattern on its grid.
fn on_grid(device: &Device, text: &str) -> Result<Array2<bool>, Failed> {
    let pattern: Pattern = text.parse()?;
    let (grid, rule) = pattern.grid().zip(pattern.rule()).ok_or("no grid or no rule")?;
    let life = Life::new(grid.rows(), grid.columns()).topology(grid.topology()).rule(rule);
    let mut board = life.prepare(device)?;
    board.place(&pattern, 0, 0)?;
    board.step(1)?;
    Ok(board.cells()?)
}

/// Returns the next generation of cells with these ones around them.
fn next(cells: &Array2<bool>, rule: Rule, diagram: [&str; 5]) -> Array2<bool> {
    let letters: Vec<&[u8]> = diagram.iter().map(|line| line.as_bytes()).collect();
    let is_alive =
        |letter: u8| letter != b'.' && cells[(usize::from(letter - b'A') / 4, usize::from(letter - b'A') % 4)];
    Array2::from_shape_fn(cells.dim(), |(row, column)| {
        let around = (row..row + 3).flat_map(|r| (column..column + 3).map(move |c| (r, c)));
        let others = around.filter(|place| *place != (row + 1, column + 1));
        let neighbours = others.filter(|&(r, c)| is_alive(letters[r][c])).count();
        rule.is_alive(cells[(row, column)], neighbours as u32)
    })
}
