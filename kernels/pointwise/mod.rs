//! Functions of single elements: `y[r, c] = f(x[r, c])`, and of two at the same place.
//!
//! | file | contents |
//! |---|---|
//! | `lines.rs` | which elements a thread computes |
//! | `number.rs` | the types of computations: packs of samples are converted to them, and packs of outputs from them |
//! | `function.rs` | functions of one and of two numbers, for host and device |
//! | `power.rs` | powers, for host and device |
//! | `lookup.rs` | tables with an entry for each value, or for each interval between edges |
//! | `equalise.rs` | the table that equalises a histogram |
//! | `channels.rs` | interleaved channels to planes, and back |
//! | `host.rs` | grid and block for a problem's size: what only the host has |
//!
//! There is one instance per type of the computation: `f32` if it represents all numbers of the samples and the outputs,
//! otherwise `f64`. The types of samples and outputs, and the function, are arguments. All threads of a launch take the same
//! branch for them, and memory is slower than these branches. Tables for each value have an instance for each size of
//! samples and entries, and channels for each size of elements: these are copied bit by bit.
//!
//! A thread computes one pack of neighbouring elements, at most 16 bytes of the largest type. It moves the pack in one
//! access if the pack is aligned and inside its row, otherwise element by element.

mod channels;
mod equalise;
mod function;
#[cfg(not(target_os = "cuda"))]
mod host;
mod lines;
mod lookup;
mod number;
mod power;

pub use channels::{MergeArgs, SplitArgs};
pub use equalise::{Equalisation, EqualiseArgs, equalise_shape};
pub use function::{Combination, Function, combined, mapped};
#[cfg(not(target_os = "cuda"))]
pub use host::{Geometry, LaunchConstants, RowPart};
pub use lines::{Lines, Place};
pub use lookup::{BetweenArgs, LookupArgs, TableIndex, lookup_pack, part_of};
pub use number::{BYTES, Number};
pub use power::power;

use crate::signal::{AnyIn, AnyOut};
use cuda_std::{Value, arguments, kernel};

arguments! {
    /// Arguments of functions of one number.
    pub struct MapArgs<'l, A: Number> {
        /// The samples.
        pub input: AnyIn<'l>,
        /// Receives the outputs.
        pub output: AnyOut<'l>,
        /// The elements of this launch.
        pub lines: Lines,
        /// Row pitch of the input.
        pub input_pitch: u64,
        /// Row pitch of the output.
        pub output_pitch: u64,
        /// The first parameter of the function.
        pub p: A,
        /// The second parameter of the function.
        pub q: A,
        /// A [`Function`](function::Function).
        pub function: u32,
        /// Not 0 if samples and outputs are bytes, and packs have 16 of them.
        pub bytes: u32,
    }
}

arguments! {
    /// Arguments of functions of two numbers.
    pub struct CombineArgs<'l> {
        /// The first samples.
        pub a: AnyIn<'l>,
        /// The second samples.
        pub b: AnyIn<'l>,
        /// Receives the outputs.
        pub output: AnyOut<'l>,
        /// The elements of this launch.
        pub lines: Lines,
        /// Row pitch of the first samples.
        pub a_pitch: u64,
        /// Row pitch of the second samples.
        pub b_pitch: u64,
        /// Row pitch of the output.
        pub output_pitch: u64,
        /// A [`Combination`](function::Combination).
        pub combination: u32,
        /// Not 0 if samples and outputs are bytes, and packs have 16 of them.
        pub bytes: u32,
    }
}

kernel! {
    for<A: Number> {
        "pointwise_f32" { f32 => f32; }
        "pointwise_f64" { f64 => f64; }
    }

    /// A function of each sample.
    pub fn pointwise_map<'l>(_arena, args: MapArgs<'l, A>) {
        number::map(&args);
    }

    /// A power of each sample.
    pub fn pointwise_power<'l>(_arena, args: MapArgs<'l, A>) {
        number::raise(&args);
    }

    /// A function of two samples at the same place.
    pub fn pointwise_combine<'l>(_arena, args: CombineArgs<'l>) {
        number::combine::<A>(&args);
    }

    /// The entry of a table between edges.
    pub fn pointwise_between<'l>(_arena, args: BetweenArgs<'l, A>) {
        lookup::between(&args);
    }
}

kernel! {
    for<S: TableIndex, W: Value> {
        "pointwise_lookup" {
            u8, u8 => u8_8;
            u8, u16 => u8_16;
            u8, u32 => u8_32;
            u8, u64 => u8_64;
            u16, u8 => u16_8;
            u16, u16 => u16_16;
            u16, u32 => u16_32;
            u16, u64 => u16_64;
        }
    }

    /// The entry of a table with an entry for each value of the samples.
    pub fn pointwise_lookup<'l>(_arena, args: LookupArgs<'l, S, W>) {
        const V: usize = lookup::lookup_pack::<S, W>();
        lookup::look_up::<S, W, V>(&args);
    }
}

kernel! {
    for<S: TableIndex> {
        "pointwise_lookup" { u8 => u8; u16 => u16; }
    }

    /// The table that equalises a histogram of samples of this type.
    pub fn pointwise_equalise<'l>(arena, args: EqualiseArgs<'l, S>) where registers <= 64 {
        equalise::equalise(arena, &args);
    }
}

kernel! {
    for<W: Value> {
        "pointwise_channels" { u8 => 8; u16 => 16; u32 => 32; u64 => 64; }
    }

    /// Interleaved channels to planes.
    pub fn pointwise_split<'l>(_arena, args: SplitArgs<'l, W>) {
        channels::split(&args);
    }

    /// Planes to interleaved channels.
    pub fn pointwise_merge<'l>(_arena, args: MergeArgs<'l, W>) {
        channels::merge(&args);
    }
}
