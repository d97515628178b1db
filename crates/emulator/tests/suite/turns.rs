//! Counts of divergent lanes, compared with warps that run in lockstep.

mod lockstep;

use crate::planted::{launch, run};
use catalogue::probes::{Probe, ProbeVisitor};
use catalogue::{Args, turns};
use cuda_std::Entry;
use cuda_std::host::Space;
use emulator::{Action, Counts, Report};
use lockstep::{Block, Kind, Totals};

fn counted(report: &Report, kind: Kind) -> Counts {
    match kind {
        Kind::SharedLoad => report.counts(Action::Load, Some(Space::Shared)),
        Kind::SharedStore => report.counts(Action::Store, Some(Space::Shared)),
        Kind::SharedAtomic => report.counts(Action::Atomic, Some(Space::Shared)),
        Kind::GlobalLoad => report.counts(Action::Load, Some(Space::GlobalConstant)),
        Kind::GlobalStore => report.counts(Action::Store, Some(Space::Global)),
    }
}

/// Visitor that runs every kernel in several orders of the threads, and compares the counts with those of lockstep
/// execution.
#[derive(Default)]
struct Compare(String);

impl ProbeVisitor for Compare {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, probe: &Probe) {
        let mut block = Block::of(probe.threads);
        expected(probe.name, &mut block);
        for seed in 0..5 {
            let (report, _) = run::<E>(launch(1, probe.threads).seed(seed), false);
            assert!(report.is_clean(), "{report}");
            for kind in Kind::ALL {
                let Counts { requests, wavefronts, sectors, approximate, .. } = counted(&report, kind);
                let (actual, expected) = (Totals { requests, wavefronts, sectors }, block.totals(kind));
                if actual != expected || approximate != is_approximate(probe.name, kind) {
                    let mark = if approximate { "~" } else { "" };
                    self.0 += &format!("{} {kind:?}, seed {seed}: {mark}{actual:?}, not {expected:?}\n", probe.name);
                }
            }
        }
    }
}

/// All counts equal those of lockstep execution, including the ones that are marked as approximate.
#[test]
fn iterations_are_counted_as_in_lockstep() {
    let mut compare = Compare::default();
    turns::visit(&mut compare);
    assert!(compare.0.is_empty(), "this is counted:\n{}", compare.0);
}

/// Counts that are marked as approximate, because lanes take different paths: a compiler that unrolls such loops, or splits
/// one into two, groups the lanes differently.
const APPROXIMATE: &[(&str, &[Kind])] = &[
    ("clamped_tile", &[Kind::SharedStore, Kind::GlobalLoad]),
    ("clamped_tile_at_the_end", &[Kind::SharedStore, Kind::GlobalLoad]),
    ("wrapped_tile", &[Kind::SharedStore, Kind::GlobalLoad]),
    ("torus_tile", &[Kind::SharedStore, Kind::GlobalLoad]),
    ("clamped_fours", &[Kind::SharedStore, Kind::GlobalLoad]),
    ("red_black", &[Kind::SharedLoad]),
    ("red_black_of_seven", &[Kind::SharedLoad]),
    ("red_black_continued", &[Kind::SharedLoad]),
    ("chosen_turns_continued", &[Kind::SharedLoad, Kind::GlobalLoad]),
    ("red_black_update", &[Kind::SharedLoad, Kind::SharedStore]),
    ("three_colours", &[Kind::SharedLoad]),
    ("colours_beside_all", &[Kind::SharedLoad, Kind::GlobalLoad]),
    ("scattered_turns", &[Kind::SharedLoad]),
    ("triangle", &[Kind::SharedLoad]),
    ("triangle_unrolled", &[Kind::SharedLoad]),
    ("early_exits", &[Kind::SharedLoad, Kind::GlobalStore]),
    ("early_exits_anywhere", &[Kind::SharedLoad, Kind::GlobalStore]),
    ("breaks", &[Kind::SharedLoad, Kind::GlobalLoad]),
    ("early_returns", &[Kind::SharedLoad]),
    ("ragged_rows", &[Kind::SharedLoad, Kind::GlobalLoad]),
    ("ragged_rows_unrolled", &[Kind::SharedLoad, Kind::GlobalLoad]),
    ("grid_stride", &[Kind::GlobalLoad, Kind::GlobalStore]),
    ("fours_and_a_rest", &[Kind::GlobalLoad]),
    ("rows_of_sixteen", &[Kind::SharedStore, Kind::GlobalLoad]),
    ("histogram_of_data", &[Kind::SharedAtomic, Kind::GlobalLoad]),
    ("chosen", &[Kind::SharedStore, Kind::GlobalLoad]),
];

/// Returns whether the counts of a kernel's accesses of this kind are marked.
fn is_approximate(kernel: &str, kind: Kind) -> bool {
    APPROXIMATE.iter().any(|(name, kinds)| *name == kernel && kinds.contains(&kind))
}

/// Equals `scattered` of the catalogue.
fn scattered(iteration: u32, lane: u32) -> u32 {
    (32 * iteration + lane).wrapping_mul(0x9e37_79b9) >> 28
}

/// The accesses of `fill` of the catalogue.
fn fill(block: &mut Block, rows: u32) {
    (0..rows).for_each(|row| block.request(Kind::SharedStore, 1, |t| Some(32 * row + t)));
}

/// Each thread stores one element.
fn output(block: &mut Block) {
    block.request(Kind::GlobalStore, 1, Some);
}

/// Loads `from` and stores `to`, for indices below `end`, one per thread in each iteration.
fn tile(block: &mut Block, end: u32, from: impl Fn(u32) -> u32, to: impl Fn(u32) -> u32) {
    for first in (0..end).step_by(block.threads as usize) {
        let inside = |t: u32| Some(first + t).filter(|j| *j < end);
        block.request(Kind::GlobalLoad, 1, |t| inside(t).map(&from));
        block.request(Kind::SharedStore, 1, |t| inside(t).map(&to));
    }
}

/// Loads shared memory in the given number of iterations. `at(k, t)` is the word that thread `t` loads in iteration `k`, if
/// any.
fn loads(block: &mut Block, iterations: u32, at: impl Fn(u32, u32) -> Option<u32>) {
    (0..iterations).for_each(|k| block.request(Kind::SharedLoad, 1, |t| at(k, t)));
}

/// Adds the accesses of a kernel to `block`, request by request.
fn expected(kernel: &str, block: &mut Block) {
    match kernel {
        "clamped_tile" => {
            tile(block, 170, |j| j.saturating_sub(5), |j| j);
            loads(block, 1, |_, t| Some(t + 10));
            output(block);
        }
        "clamped_tile_at_the_end" => {
            tile(block, 170, |j| (j + 110).min(255), |j| j);
            loads(block, 1, |_, t| Some(t + 10));
            output(block);
        }
        "wrapped_tile" => {
            tile(block, 170, |j| (j + 150) % 256, |j| j);
            loads(block, 1, |_, t| Some(t + 10));
            output(block);
        }
        "torus_tile" => {
            let cell = |j: u32| 16 * ((j / 18 + 15) % 16) + (j % 18 + 15) % 16;
            tile(block, 324, cell, |j| 19 * (j / 18) + j % 18);
            loads(block, 1, |_, t| Some(19 * (t / 16 + 1) + t % 16 + 1));
            output(block);
        }
        "clamped_fours" => {
            for first in [0, 32] {
                let inside = |t: u32| Some(first + t).filter(|j| *j < 40);
                block.request(Kind::GlobalLoad, 4, |t| inside(t).map(|j| 4 * j.saturating_sub(3)));
                block.request(Kind::SharedStore, 4, |t| inside(t).map(|j| 4 * j));
            }
            block.request(Kind::SharedLoad, 4, |t| Some(4 * t));
            output(block);
        }
        "red_black" | "red_black_continued" | "red_black_of_seven" => {
            fill(block, 9);
            let iterations = if kernel == "red_black_of_seven" { 7 } else { 8 };
            loads(block, iterations, |k, t| ((t + k) % 2 == 1).then_some(t + 33 * k));
            output(block);
        }
        "red_black_update" => {
            fill(block, 10);
            for k in 0..8 {
                let cell = |t: u32| ((t + k) % 2 == 1 && t > 0 && t < 31).then_some(t + 33 * k);
                block.request(Kind::SharedLoad, 1, |t| cell(t).map(|cell| cell - 1));
                block.request(Kind::SharedLoad, 1, |t| cell(t).map(|cell| cell + 1));
                block.request(Kind::SharedStore, 1, cell);
            }
        }
        "three_colours" => {
            fill(block, 9);
            loads(block, 8, |k, t| ((t + k) % 3 == 0).then_some(t + 33 * k));
            output(block);
        }
        "colours_beside_all" => {
            fill(block, 9);
            loads(block, 8, |k, t| Some(32 * k + t));
            (0..8).for_each(|k| block.request(Kind::GlobalLoad, 1, |t| ((t + k) % 2 == 0).then_some(t + 16 * k)));
            output(block);
        }
        "chosen_turns_continued" => {
            fill(block, 9);
            (0..8).for_each(|k| block.request(Kind::GlobalLoad, 1, |t| Some(t + 32 * k)));
            loads(block, 8, |k, t| (scattered(t + 32 * k, 0) < 9).then_some(t + 33 * k));
            output(block);
        }
        "scattered_turns" => {
            fill(block, 9);
            loads(block, 8, |k, t| (scattered(k, t) < 9).then_some(t + 33 * k));
            output(block);
        }
        "triangle" | "triangle_unrolled" => {
            fill(block, 32);
            loads(block, 31, |k, t| (k < t).then_some(31 * t + k));
            output(block);
        }
        "early_exits" | "early_exits_anywhere" => {
            fill(block, 32);
            for row in 0..4 {
                loads(block, 4, |k, t| {
                    let iteration = 4 * row + k;
                    let at =
                        if kernel == "early_exits" { t + 33 * iteration } else { t * scattered(iteration, t) % 1024 };
                    (k <= (t + row) % 4).then_some(at)
                });
                block.request(Kind::GlobalStore, 1, |t| Some(32 * row + t));
            }
        }
        "breaks" => {
            fill(block, 9);
            let stays = |k: u32, t: u32| (0..k).all(|k| scattered(k, t) != 0);
            loads(block, 8, |k, t| stays(k, t).then_some(t + 32 * k));
            (0..8).for_each(|k| block.request(Kind::GlobalLoad, 1, |t| stays(k + 1, t).then_some(2 * t + 16 * k)));
            output(block);
        }
        "early_returns" => {
            fill(block, 9);
            loads(block, 3, |k, t| (t < 27 && k <= t / 10).then_some(2 * t + 32 * k));
            block.request(Kind::GlobalStore, 1, |t| (t < 27).then_some(t));
        }
        "ragged_rows" | "ragged_rows_unrolled" => {
            fill(block, 9);
            let place = |k: u32, t: u32| (k < 7 * t % 5).then_some(6 * t + k);
            (0..4).for_each(|k| block.request(Kind::GlobalLoad, 1, |t| place(k, t)));
            loads(block, 4, |k, t| place(k, t).map(|place| 5 * place % 97));
            output(block);
        }
        "grid_stride" => {
            for first in (0..230).step_by(64) {
                let inside = |t: u32| Some(first + t).filter(|i| *i < 230);
                block.request(Kind::GlobalLoad, 1, inside);
                block.request(Kind::GlobalStore, 1, inside);
            }
        }
        "fours_and_a_rest" => {
            // Lanes below 6 execute two iterations of four loads. The others execute one, and then three single loads.
            (0..8).for_each(|k| block.request(Kind::GlobalLoad, 1, |t| (k < 4 || t < 6).then_some(t + 32 * k)));
            (4..7).for_each(|k| block.request(Kind::GlobalLoad, 1, |t| (t >= 6).then_some(t + 32 * k)));
            output(block);
        }
        "rows_of_sixteen" => {
            for first in [0, 4, 8, 12] {
                let row = |t: u32| Some(first + t / 16).filter(|row| *row < 13);
                block.request(Kind::GlobalLoad, 1, |t| row(t).map(|row| 16 * row + t % 16));
                block.request(Kind::SharedStore, 1, |t| row(t).map(|row| 17 * row + t % 16));
            }
            loads(block, 1, |_, t| Some(17 * (t / 16) + t % 16));
            output(block);
        }
        "ring" => {
            fill(block, 9);
            loads(block, 6, |k, t| Some((5 * t + 32 * k) % 100));
            output(block);
        }
        "histogram_of_data" => {
            fill(block, 1);
            for first in (0..200).step_by(32) {
                let inside = |t: u32| Some(first + t).filter(|i| *i < 200);
                block.request(Kind::GlobalLoad, 1, inside);
                block.request(Kind::SharedAtomic, 1, |t| inside(t).map(|i| 7 * i % 32));
            }
            loads(block, 1, |_, t| Some(t));
            output(block);
        }
        "chosen" => {
            (0..8).for_each(|k| block.request(Kind::GlobalLoad, 1, |t| Some(32 * k + t)));
            for k in 0..8 {
                let chosen = |k: u32, t: u32| scattered(32 * k + t, 0) < 5;
                let kept = |t: u32| (0..k).filter(|k| chosen(*k, t)).count() as u32;
                block.request(Kind::SharedStore, 1, |t| chosen(k, t).then(|| 33 * kept(t) + t));
            }
            output(block);
        }
        _ => panic!("{kernel} has no expected accesses"),
    }
}
