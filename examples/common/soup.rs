//! Random cells.

use super::cells::bands;
use ndarray::Array2;
use slm::life::Board;

/// Sets all cells of a board: a fraction of them, on average, is alive.
pub(crate) fn fill(board: &mut Board, density: f64, seed: u64) -> slm::Result<()> {
    let (most, mut state) = ((density * 2f64.powi(32)) as u64, seed);
    // SplitMix64 (Steele, Lea and Flood 2014).
    let mut cell = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u64::from((z >> 32) < most)
    };
    let mut word = || (0..64).fold(0, |word, i| word | cell() << i);
    let width = board.columns().div_ceil(64);
    for rows in bands(board) {
        let words = Array2::from_shape_simple_fn((rows.len(), width), &mut word);
        board.set_words_of_rows(rows.start, words.view())?;
    }
    Ok(())
}
