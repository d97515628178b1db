//! Correct kernels that a less precise checker would report: they have no findings in any order of the threads.

use crate::planted::{launch, run};
use catalogue::correct::{
    all_say_the_same, last_block_sum, locked_sum, look_back, quarters, relay, result_in_parts, reused_as_others,
    stack_of_a_block, two_tiles,
};
use catalogue::{Args, LEN};
use cuda_std::Entry;
use emulator::Launch;

/// Seeds of the orders that each kernel runs in.
const SEEDS: std::ops::Range<u64> = 0..50;

/// Runs a kernel in all orders, and checks that it has no findings and that its output is right.
fn check<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(launch: Launch, is_right: impl Fn(&[u32]) -> bool) {
    for seed in SEEDS {
        let (report, output) = run::<E>(launch.seed(seed), true);
        assert!(report.is_clean(), "{report}");
        assert!(is_right(&output), "seed {seed}: {output:?}");
    }
}

#[test]
fn look_back_in_the_order_of_tickets() {
    check::<look_back>(launch(20, 32), |output| (0..20).all(|k| output[k as usize] == (0..8 * (k + 1)).sum::<u32>()));
}

#[test]
fn flags_in_sequentially_consistent_order() {
    check::<relay>(launch(30, 1), |output| output[0] == 30);
}

#[test]
fn a_lock_with_fences() {
    check::<locked_sum>(launch(6, 8), |output| output[0] == 48);
}

#[test]
fn the_last_block_reduces() {
    check::<last_block_sum>(launch(4, 64), |output| output[0] == 255 * 128);
}

#[test]
fn shared_memory_is_used_again_as_other_types() {
    let sum = |t: u32| 63 - t % 32 + (31 - t % 32);
    check::<reused_as_others>(launch(3, 64), |output| (0..192).all(|t| output[t as usize] == sum(63 - t % 64)));
}

#[test]
fn a_queue_with_compare_exchange() {
    check::<stack_of_a_block>(launch(1, 64), |output| output[..64] == [1; 64]);
}

#[test]
fn allowed_writes_of_the_same_value() {
    check::<all_say_the_same>(launch(5, 64).allow_same_value_writes(), |output| output[0] == 1);
}

#[test]
fn parts_of_a_warp_synchronise_on_their_own() {
    let sum = |k: usize| (8 * (8 * k + k % 4) + 28) as u32;
    check::<quarters>(launch(1, 64), |output| (0..8).all(|k| output[k] == sum(k)));
}

#[test]
fn two_tiles_need_one_barrier_per_iteration() {
    check::<two_tiles>(launch(4, 64), |output| (0..LEN).all(|i| output[i as usize] == (i + 6) % 64));
}

#[test]
fn masked_stores_complete_each_other() {
    let complete = Launch { partial_outputs: false, ..launch(8, 32) };
    check::<result_in_parts>(complete, |output| output[..] == [0; 256]);
}
