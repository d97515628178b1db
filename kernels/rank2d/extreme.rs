//! Minima and maxima of rectangles: along the rows first, then down the columns.
//!
//! Tile and threads are those of `tile.rs`. After the barrier, thread `(x, y)` finds the least key of the columns of windows `x`,
//! `x + 32`, … in rows `y`, `y + 8`, … of the tile with its halo, and stores it in a second window of shared memory. After another
//! barrier, it finds the least of these in the rows of each window. So with a stride of 1, an output takes about `(r + h) / r * v + h`
//! comparisons, where `r` are the rows of outputs of a block, for a window of `h` rows and `v` columns. Maxima are minima of inverted keys.
//!
//! Both windows have consecutive addresses in the lanes of a warp, so there are no bank conflicts.

use super::Args;
use super::key::{Extreme, Key, Ranked};
use super::tile::{Layout, Place, for_each_column};
use cuda_std::{Arena, thread};

#[inline(always)]
pub(super) fn extreme<T: Ranked>(arena: Arena, args: &Args<T>) {
    let (layout, place) = (Layout::new(args), Place::new(args));
    let ([x, y], [along, down]) = (layout.form.thread(), layout.form.threads);
    let width = layout.form.pixels * args.channels;
    let extreme = Extreme { greatest: args.greatest != 0, omit: args.omit != 0 };
    let (tile, arena) = arena.split::<T::Key>(layout.len());
    let (lines, _) = arena.split::<T::Key>(layout.rows * width);
    place.load(&tile, args, &layout, |sample| extreme.key(sample));
    thread::sync_threads();

    let mut row = y;
    while row < layout.rows {
        // Outputs beyond the picture have samples in the tile, too.
        let mut element = x;
        while element < width {
            let (start, mut least) = (row * layout.pitch + element, T::Key::MAX);
            let all = [0, args.columns.taps];
            for_each_column(args, &layout, &tile, start, all, |key| least = least.min(key));
            lines.set(row * width + element, least);
            element += along;
        }
        row += down;
    }
    thread::sync_threads();

    place.store(args, |row, element| {
        let first = row * args.rows.stride * width + element;
        let (mut least, mut tap) = (lines.get(first), 1);
        while tap < args.rows.taps {
            least = least.min(lines.get(first + tap * width));
            tap += 1;
        }
        extreme.sample(least)
    });
}
