//! Medians of 3 x 3, 5 x 5 and 7 x 7 samples by networks of comparisons in registers.
//!
//! Tile and threads are those of `tile.rs`; the column stride is 1. Of `n` samples, any `n / 2 + 2` contain a least and a greatest one that
//! cannot be the median. A thread loads that many, forgets both, loads the next sample, and so on, until three are left: the median of
//! these is the median of all. The least and the greatest one of `m` samples take about `1.5 m` comparisons, since the lesser ones of pairs
//! contain the least, and the greater ones the greatest.
//!
//! The samples of a set have names, not indices, so they are in registers. The method is that of J. Smith, *Implementing median filters in
//! XC4000E FPGAs* (1996), and M. McGuire, *A fast, small-radius GPU median filter* (2008).

use super::Args;
use super::key::{Key, Ranked};
use super::tile::{Layout, Place};
use cuda_std::{Arena, Shared, thread};

/// Puts the lesser one of two keys first.
macro_rules! sort {
    ($a:ident $b:ident) => {
        ($a, $b) = ($a.min($b), $a.max($b));
    };
}

/// Evaluates to the median of a set of keys and of those that `$next` returns. The set is lists of equal length of lower and upper keys, and
/// perhaps one more. The remaining names are for keys to come.
macro_rules! forget {
    ([$low:ident $($l:ident)*] [$high:ident $($u:ident)*] [$x:ident $($rest:ident)*] $next:ident) => {{
        sort!($low $high);
        $(sort!($l $u);)*
        $(sort!($low $l);)*
        $(sort!($u $high);)*
        // Neither of them is compared again.
        let _ = ($low, $high);
        let mut $x = $next();
        forget!([$($l)*] [$($u)*] + $x [$($rest)*] $next)
    }};
    ([$low:ident] [$high:ident] + $x:ident [] $next:ident) => {{
        sort!($low $high);
        sort!($low $x);
        sort!($x $high);
        let _ = ($low, $high);
        $x
    }};
    ([$low:ident $($l:ident)*] [$high:ident $($u:ident)*] + $x:ident [$y:ident $($rest:ident)*] $next:ident) => {{
        sort!($low $high);
        $(sort!($l $u);)*
        $(sort!($low $l);)*
        $(sort!($u $high);)*
        sort!($low $x);
        sort!($x $high);
        let _ = ($low, $high);
        let mut $y = $next();
        forget!([$($l)* $x] [$($u)* $y] [$($rest)*] $next)
    }};
}

/// Evaluates to the median of the keys that `$next` returns, for the names of the first ones and of the others.
macro_rules! median {
    ([$($l:ident)*] [$($u:ident)*] [$($rest:ident)*] $next:ident) => {{
        $(let mut $l = $next();)*
        $(let mut $u = $next();)*
        forget!([$($l)*] [$($u)*] [$($rest)*] $next)
    }};
}

/// Stores the outputs of the block, which `median` returns for a tile, its layout and the place of a window there.
#[inline(always)]
fn store<T: Ranked>(arena: Arena, args: &Args<T>, median: impl Fn(&Shared<T::Key>, u32, u32) -> T) {
    let (layout, place) = (Layout::new(args), Place::new(args));
    let (tile, _) = arena.split::<T::Key>(layout.len());
    place.load(&tile, args, &layout, T::key);
    thread::sync_threads();
    place.store(
        args,
        #[inline(always)]
        |row, element| median(&tile, layout.pitch, row * args.rows.stride * layout.pitch + element),
    );
}

/// Returns the sample at a place of a window of `side` columns, from `start` on.
#[inline(always)]
fn sample<K: Key>(tile: &Shared<K>, start: u32, [place, side]: [u32; 2], [pitch, channels]: [u32; 2]) -> K {
    tile.get(start + place / side * pitch + place % side * channels)
}

/// Returns the samples of a window of `$side` rows and columns one after another, which [`median!`] compares.
macro_rules! window {
    ($side:literal, $args:ident, [$tile:ident $pitch:ident $start:ident], $most:ident => $next:ident) => {
        let mut place = 0;
        let mut $most = T::Key::ZERO;
        let mut $next = || {
            let key = sample($tile, $start, [place, $side], [$pitch, $args.channels]);
            place += 1;
            if T::IS_FLOAT {
                $most = $most.max(key);
            }
            key
        };
    };
}

/// Medians of 3 x 3 samples.
#[inline(always)]
pub(super) fn median3<T: Ranked>(arena: Arena, args: &Args<T>) {
    store(
        arena,
        args,
        #[inline(always)]
        |tile, pitch, start| {
            window!(3, args, [tile pitch start], most => next);
            let median = median!(
                [l0 l1 l2]
                [u0 u1 u2]
                [x0 x1 x2]
                next
            );
            if T::IS_FLOAT && most == T::Key::MAX { T::NONE } else { T::of_key(median) }
        },
    );
}

/// Medians of 5 x 5 samples.
#[inline(always)]
pub(super) fn median5<T: Ranked>(arena: Arena, args: &Args<T>) {
    store(
        arena,
        args,
        #[inline(always)]
        |tile, pitch, start| {
            window!(5, args, [tile pitch start], most => next);
            let median = median!(
                [l0 l1 l2 l3 l4 l5 l6]
                [u0 u1 u2 u3 u4 u5 u6]
                [x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10]
                next
            );
            if T::IS_FLOAT && most == T::Key::MAX { T::NONE } else { T::of_key(median) }
        },
    );
}

/// Medians of 7 x 7 samples.
#[inline(always)]
pub(super) fn median7<T: Ranked>(arena: Arena, args: &Args<T>) {
    store(
        arena,
        args,
        #[inline(always)]
        |tile, pitch, start| {
            window!(7, args, [tile pitch start], most => next);
            let median = median!(
                [l0 l1 l2 l3 l4 l5 l6 l7 l8 l9 l10 l11 l12]
                [u0 u1 u2 u3 u4 u5 u6 u7 u8 u9 u10 u11 u12]
                [x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22]
                next
            );
            if T::IS_FLOAT && most == T::Key::MAX { T::NONE } else { T::of_key(median) }
        },
    );
}
