//! The kernel without shared memory.
//!
//! A block of 256 threads transposes a tile. The threads read it row by row: neighbouring threads read neighbouring units of
//! the input, and write them one or several rows of the output apart. So reads are contiguous and writes are not.

use super::Args;
use super::tile::{Tile, Walk, element_of};
use cuda_std::Value;

#[inline(always)]
pub(super) fn transpose<U: Value>(args: &Args<U>) {
    let layout = &args.layout;
    let tile = Tile::of_block(layout);
    let (source, target) = (tile.source(layout, 1, layout.units), tile.target(layout, 1, layout.units));
    let mut at = Walk::new(tile.columns * layout.units);
    while at.line < tile.rows {
        let value = args.input.get(source + at.line as u64 * layout.input_pitch + at.place as u64);
        let (column, unit) = element_of(at.place, layout.units);
        let row = (at.line * layout.units + unit) as u64;
        args.output.set(target + column as u64 * layout.output_pitch + row, value);
        at.step();
    }
}
