//! Thread indices, the clock, barriers and fences.

use crate::host::{Axis, Index, Scope, machine};
use std::panic::Location;

macro_rules! indices {
    ($($name:ident, $index:ident, $axis:ident;)*) => {$(
        pub(crate) fn $name() -> u32 {
            machine().index(Index::$index, Axis::$axis)
        }
    )*};
}
indices! {
    thread_idx_x, Thread, X;
    thread_idx_y, Thread, Y;
    thread_idx_z, Thread, Z;
    block_idx_x, Block, X;
    block_idx_y, Block, Y;
    block_idx_z, Block, Z;
    block_dim_x, BlockDim, X;
    block_dim_y, BlockDim, Y;
    block_dim_z, BlockDim, Z;
    grid_dim_x, GridDim, X;
    grid_dim_y, GridDim, Y;
    grid_dim_z, GridDim, Z;
}

#[track_caller]
pub(crate) fn clock() -> u64 {
    machine().clock(Location::caller())
}

#[track_caller]
pub(crate) fn sync_threads() {
    machine().sync_threads(Location::caller());
}

#[track_caller]
pub(crate) fn fence(scope: Scope) {
    machine().fence(scope, Location::caller());
}
