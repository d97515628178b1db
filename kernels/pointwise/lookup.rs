//! Tables. Threads read the entries from global memory: tables of bytes, and most others, stay in the first-level cache.

use super::{Lines, Number};
use crate::signal::{AnyIn, AnyOut, with_kind};
use cuda_std::{GlobalIn, GlobalOut, Value, arguments};

/// A type of samples that are indices in a table: `u8` or `u16`.
pub trait TableIndex: Value {
    /// Number of values.
    const VALUES: u32;

    /// Returns the index.
    fn index(self) -> u32;

    /// Returns the value with this index, which must be less than [`VALUES`](Self::VALUES).
    fn of_index(index: u32) -> Self;
}

macro_rules! indices {
    ($($t:ident)*) => {$(
        impl TableIndex for $t {
            const VALUES: u32 = 1 << $t::BITS;

            #[inline(always)]
            fn index(self) -> u32 {
                self as u32
            }

            #[inline(always)]
            fn of_index(index: u32) -> Self {
                index as $t
            }
        }
    )*};
}
indices!(u8 u16);

arguments! {
    /// Arguments of tables with an entry for each value of `S`. Entries have as many bits as `W`.
    pub struct LookupArgs<'l, S: TableIndex, W: Value> {
        /// The samples.
        pub input: GlobalIn<'l, S>,
        /// Receives the outputs.
        pub output: GlobalOut<'l, W>,
        /// The entries.
        pub table: GlobalIn<'l, W>,
        /// The elements of this launch.
        pub lines: Lines,
        /// Row pitch of the input.
        pub input_pitch: u64,
        /// Row pitch of the output.
        pub output_pitch: u64,
    }
}

/// Returns the elements of a pack: 16 bytes of the larger type.
#[must_use]
pub const fn lookup_pack<S, W>() -> usize {
    let (sample, entry) = (size_of::<S>(), size_of::<W>());
    16 / if sample > entry { sample } else { entry }
}

#[inline(always)]
pub(super) fn look_up<S: TableIndex, W: Value, const V: usize>(args: &LookupArgs<S, W>) {
    let place = args.lines.place(V as u32);
    let (i, o, table) = (place.index(args.input_pitch), place.index(args.output_pitch), args.table.at(0));
    if place.is_pack {
        let samples = args.input.get_pack::<V>(i);
        args.output.set_pack::<V>(o, samples.map(|sample| table.get(sample.index())));
        return;
    }
    let mut k = 0;
    while k < place.len as u64 {
        let sample = args.input.get(i + k);
        args.output.set(o + k, table.get(sample.index()));
        k += 1;
    }
}

arguments! {
    /// Arguments of tables between edges.
    pub struct BetweenArgs<'l, A: Number> {
        /// The samples.
        pub input: AnyIn<'l>,
        /// Receives the outputs.
        pub output: AnyOut<'l>,
        /// The entries, of the type of the outputs: one for each [part](part_of).
        pub entries: AnyIn<'l>,
        /// The edges, ascending.
        pub edges: GlobalIn<'l, A>,
        /// The elements of this launch.
        pub lines: Lines,
        /// Row pitch of the input.
        pub input_pitch: u64,
        /// Row pitch of the output.
        pub output_pitch: u64,
    }
}

/// Returns the number of `edges` that are not larger than `x`, by bisection; one more than all for NaN.
#[inline(always)]
#[must_use]
pub fn part_of<A: Number>(edges: u32, edge: impl Fn(u32) -> A, x: A) -> u32 {
    if x.is_nan() {
        return edges + 1;
    }
    // The edges before `low` are not larger than `x`, and the edges from `high` on are larger.
    let (mut low, mut high) = (0, edges);
    while low < high {
        let middle = low + (high - low) / 2;
        if edge(middle) <= x {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[inline(always)]
pub(super) fn between<A: Number>(args: &BetweenArgs<A>) {
    let place = args.lines.place(1);
    if place.len == 0 {
        return;
    }
    let x = A::load_sample(&args.input, place.index(args.input_pitch));
    let edges = args.edges.at(0);
    let part = part_of(edges.len(), |i| edges.get(i), x);
    copy_entry(&args.entries, part as u64, &args.output, place.index(args.output_pitch));
}

/// Copies entry `i` to output `o` of the same type.
#[inline(always)]
#[track_caller]
fn copy_entry(entries: &AnyIn, i: u64, outputs: &AnyOut, o: u64) {
    with_kind!(outputs.kind, [entries as entry, outputs as output] => output.set(o, entry.get(i)))
}
