//! Operations between threads, through the host interface: atomics, barriers, fences and warps.

use crate::machine::{Event, GLOBAL, Tester, in_out, output};
use cuda_std::host::{Access, Fragments, Masked, Operation, Product, Scope, Space, WarpOperation};
use cuda_std::{Ordering, fence, thread, warp};

/// Applies a method to element 5 of a window of each kind, with both orderings. The element is `$old` before the call, and
/// must be `$new` after it. The machine must get the call.
macro_rules! atomic {
    ($t:ty, $name:ident($operand:expr), $operation:ident, $old:expr => $new:expr) => {
        for ordering in [Ordering::Relaxed, Ordering::SeqCst] {
            atomic!(@each $t, $old, $new, |window| window.$name(5, $operand, ordering), |event: Event| {
                let Event::Update(_, operation, actual) = event else { panic!("{event:?}") };
                assert_eq!((operation, actual), (Operation::$operation, ordering));
            });
        }
    };
    ($t:ty, compare_exchange($current:expr, $replacement:expr), $old:expr => $new:expr) => {
        for ordering in [Ordering::Relaxed, Ordering::SeqCst] {
            atomic!(@each $t, $old, $new, |window| window.compare_exchange(5, $current, $replacement, ordering),
                |event: Event| {
                    let Event::CompareExchange(_, actual) = event else { panic!("{event:?}") };
                    assert_eq!(actual, ordering);
                });
        }
    };
    (@each $t:ty, $old:expr, $new:expr, |$window:ident| $call:expr, $check:expr) => {{
        let (old, new): ($t, $t) = ($old, $new);
        let check: &dyn Fn(Event) = &$check;
        let tester = Tester::new(128, 128);
        let (shared, _) = tester.arena().split::<$t>(8);
        let element = |space| {
            let memory = if space == Space::Shared { &tester.shared } else { &tester.global };
            let bytes = memory.borrow()[5 * size_of::<$t>()..][..size_of::<$t>()].to_vec();
            <$t>::from_le_bytes(bytes.try_into().unwrap())
        };
        atomic!(@one $t, tester, element, old, new, shared, 0, Space::Shared, |$window| $call, check);
        let base = GLOBAL;
        atomic!(@one $t, tester, element, old, new, output::<$t>(0, 8), base, Space::Global, |$window| $call, check);
        atomic!(@one $t, tester, element, old, new, in_out::<$t>(0, 8), base, Space::Global, |$window| $call, check);
        let part = in_out::<$t>(0, 8).at(0);
        atomic!(@one $t, tester, element, old, new, part, base, Space::Global, |$window| $call, check);
    }};
    (@one $t:ty, $tester:ident, $element:ident, $old:ident, $new:ident, $made:expr, $base:expr, $space:expr,
        |$window:ident| $call:expr, $check:expr) => {{
        let $window = $made;
        $tester.observe(|| $window.set(5, $old));
        let (returned, event) = $tester.observe_one(|| $call);
        check_access(&event.access(), $space, $base, size_of::<$t>());
        // Bit by bit, to distinguish NaNs and the two zeros.
        check_bits(&returned.to_le_bytes(), &$old.to_le_bytes());
        check_bits(&$element($space).to_le_bytes(), &$new.to_le_bytes());
        $check(event);
    }};
}

/// Checks an access to element 5 of 8, with elements of this size. This and `check_bits` are functions, because the
/// expansion of `atomic` is compiled some 250 times.
#[track_caller]
fn check_access(access: &Access, space: Space, base: u64, element_bytes: usize) {
    assert_eq!((access.space, access.base, access.index, access.len), (space, base, 5, 8));
    assert_eq!((access.elements, access.element_bytes as usize), (1, element_bytes));
}

#[track_caller]
fn check_bits(actual: &[u8], expected: &[u8]) {
    assert_eq!(actual, expected);
}

macro_rules! integers {
    ($($name:ident: $t:ident;)*) => {$(
        #[test]
        fn $name() {
            const MIN: $t = $t::MIN;
            const MAX: $t = $t::MAX;
            atomic!($t, fetch_add(3), Add, 4 => 7);
            atomic!($t, fetch_add(3), Add, MAX => MIN + 2);
            atomic!($t, fetch_add(MAX), Add, MAX => MAX.wrapping_add(MAX));
            atomic!($t, fetch_min(MIN), Min, MAX => MIN);
            atomic!($t, fetch_min(9), Min, 4 => 4);
            atomic!($t, fetch_max(MAX), Max, MIN => MAX);
            atomic!($t, fetch_max(4), Max, 9 => 9);
            atomic!($t, fetch_and(0b0110), And, 0b0011 => 0b0010);
            atomic!($t, fetch_or(0b0110), Or, 0b0011 => 0b0111);
            atomic!($t, fetch_xor(!0), Xor, 0b0011 => !0b0011);
            atomic!($t, exchange(MIN), Exchange, MAX => MIN);
            atomic!($t, compare_exchange(4, MAX), 4 => MAX);
            atomic!($t, compare_exchange(5, MAX), 4 => 4);
        }
    )*};
}
integers! {
    atomics_of_u32: u32;
    atomics_of_i32: i32;
    atomics_of_u64: u64;
    atomics_of_i64: i64;
}

macro_rules! floats {
    ($($name:ident: $t:ident;)*) => {$(
        #[test]
        fn $name() {
            atomic!($t, fetch_add(0.25), Add, 1.5 => 1.75);
            atomic!($t, fetch_add($t::MAX), Add, $t::MAX => $t::INFINITY);
            atomic!($t, exchange(-0.0), Exchange, $t::NAN => -0.0);
            atomic!($t, compare_exchange(1.5, 2.0), 1.5 => 2.0);
            // The bits are compared, not the numbers.
            atomic!($t, compare_exchange(0.0, 2.0), -0.0 => -0.0);
            atomic!($t, compare_exchange($t::NAN, 2.0), $t::NAN => 2.0);
        }
    )*};
}
floats! {
    atomics_of_f32: f32;
    atomics_of_f64: f64;
}

/// Additions that do not return the old value, with and without a condition.
#[test]
fn additions_without_an_answer() {
    let tester = Tester::new(64, 64);
    let (shared, _) = tester.arena().split::<u32>(8);
    let global = in_out::<u32>(0, 8);
    macro_rules! additions {
        ($window:ident) => {
            tester.observe(|| $window.set(3, 40));
            let is_update = |event: &Event, expected| {
                matches!(event, Event::Update(_, Operation::Add, ordering) if *ordering == expected)
            };
            for ordering in [Ordering::Relaxed, Ordering::SeqCst] {
                let ((), event) = tester.observe_one(|| $window.add(3, u32::MAX, ordering));
                assert!(is_update(&event, ordering), "{event:?}");
                let ((), event) = tester.observe_one(|| $window.add_if(true, 3, 2, ordering));
                assert!(is_update(&event, ordering), "{event:?}");
                // The index does not matter.
                let ((), event) = tester.observe_one(|| $window.add_if(false, 99, 2, ordering));
                assert!(matches!(event, Event::LeftOut(_, Masked::Update)), "{event:?}");
            }
            assert_eq!(tester.observe(|| $window.get(3)).0, 42);
        };
    }
    additions!(shared);
    additions!(global);
}

/// Numbers of both signs, where signed and unsigned orders differ.
#[test]
fn atomic_order_is_that_of_the_type() {
    atomic!(i32, fetch_min(-1), Min, 1 => -1);
    atomic!(i64, fetch_max(-1), Max, 1 => 1);
    atomic!(u32, fetch_min(u32::MAX), Min, 1 => 1);
    atomic!(u64, fetch_max(u64::MAX), Max, 1 => u64::MAX);
}

#[test]
fn atomics_out_of_range_change_nothing() {
    let tester = Tester::new(0, 64);
    tester.global.borrow_mut().fill(0xff);
    let window = in_out::<u32>(0, 4);
    let (old, event) = tester.observe_one(|| window.fetch_add(4, 1, Ordering::Relaxed));
    assert!(old == 0 && !event.access().in_range());
    let (old, event) = tester.observe_one(|| window.compare_exchange(9, 0, 1, Ordering::SeqCst));
    assert!(old == 0 && !event.access().in_range());
    assert_eq!(*tester.global.borrow(), [0xff; 64]);
}

#[test]
fn barriers_and_fences() {
    let tester = Tester::new(0, 0);
    let ((), event) = tester.observe_one(|| thread::sync_threads());
    assert!(matches!(event, Event::SyncThreads(_)), "{event:?}");
    let ((), event) = tester.observe_one(|| warp::sync_warp(0b1011));
    assert!(matches!(event, Event::SyncWarp(0b1011, _)), "{event:?}");
    let ((), event) = tester.observe_one(|| fence::fence_block());
    assert!(matches!(event, Event::Fence(Scope::Block, _)), "{event:?}");
    let ((), event) = tester.observe_one(|| fence::fence_device());
    assert!(matches!(event, Event::Fence(Scope::Device, _)), "{event:?}");
}

#[test]
fn the_clock() {
    let tester = Tester::new(0, 0);
    tester.clock.set(u64::MAX - 7);
    let (time, event) = tester.observe_one(|| thread::clock());
    assert!(time == u64::MAX - 7 && matches!(event, Event::Clock(_)), "{event:?}");
}

/// The operation, the mask and the lane's word reach the machine, and its answer is returned.
#[test]
fn exchanges() {
    let tester = Tester::new(0, 0);
    let mask = 0x0000_ffff;
    macro_rules! exchange {
        ($call:expr, $operation:expr, $word:expr, $answer:expr => $result:expr) => {
            tester.answer.set($answer);
            let (result, event) = tester.observe_one(|| $call);
            let Event::Exchange(operation, actual_mask, word, _) = event else { panic!("{event:?}") };
            assert_eq!((operation, actual_mask, word), ($operation, mask, $word));
            assert_eq!(result, $result);
        };
    }
    exchange!(warp::shuffle(mask, 7u32, 9), WarpOperation::Shuffle { lane: 9 }, 7, 5 => 5);
    exchange!(warp::shuffle(mask, 7u32, 41), WarpOperation::Shuffle { lane: 9 }, 7, 5 => 5);
    exchange!(warp::shuffle_up(mask, -1i32, 2), WarpOperation::ShuffleUp { delta: 2 }, u32::MAX, !1 => -2);
    let half = 0.5f32.to_bits();
    exchange!(warp::shuffle_down(mask, -0.0f32, 4), WarpOperation::ShuffleDown { delta: 4 }, 1 << 31, half => 0.5);
    exchange!(warp::shuffle_xor(mask, 7u32, 16), WarpOperation::ShuffleXor { mask: 16 }, 7, 5 => 5);
    exchange!(warp::ballot(mask, true), WarpOperation::Ballot, 1, 0x55 => 0x55);
    exchange!(warp::ballot(mask, false), WarpOperation::Ballot, 0, 0x55 => 0x55);
    exchange!(warp::any(mask, true), WarpOperation::Any, 1, 1 => true);
    exchange!(warp::all(mask, false), WarpOperation::All, 0, 0 => false);
    exchange!(warp::match_any(mask, -0.0f32), WarpOperation::MatchAny, 0x8000_0000, 0x55 => 0x55);
    exchange!(warp::shuffle_xor(mask, -2i8, 1), WarpOperation::ShuffleXor { mask: 1 }, 0xfe, 0x181 => -127);
    exchange!(warp::reduce_add(mask, 3), WarpOperation::ReduceAdd, 3, 48 => 48);
    exchange!(warp::reduce_add(mask, -3), WarpOperation::ReduceAdd, u32::MAX - 2, u32::MAX => -1);
    exchange!(warp::reduce_min(mask, 3u32), WarpOperation::ReduceMin, 3, 2 => 2);
    exchange!(warp::reduce_max(mask, 3u32), WarpOperation::ReduceMax, 3, 4 => 4);
    exchange!(warp::reduce_min(mask, -3), WarpOperation::ReduceMinSigned, u32::MAX - 2, u32::MAX - 4 => -5);
    exchange!(warp::reduce_max(mask, -3), WarpOperation::ReduceMaxSigned, u32::MAX - 2, 4 => 4);
    exchange!(warp::reduce_and(mask, 3u32), WarpOperation::ReduceAnd, 3, 1 => 1);
    exchange!(warp::reduce_or(mask, -1), WarpOperation::ReduceOr, u32::MAX, u32::MAX => -1);
}

/// One call with all of the lane's operands, whose result is returned unchanged.
#[test]
fn products_of_matrices() {
    let tester = Tester::new(0, 0);
    for product in [[0; 4], [i32::MIN, i32::MAX, 1, 2], [-1, 7, 8, 9]] {
        tester.product.set(product);
        let (result, event) = tester.observe_one(|| warp::mma_m8n8k16_s8(0x8000_7fff, u32::MAX, [3, i32::MIN]));
        let Event::Mma(fragments, _) = event else { panic!("{event:?}") };
        let (a, b, c) = ([0x8000_7fff, 0, 0, 0], [u32::MAX, 0], [3, i32::MIN, 0, 0]);
        assert_eq!(fragments, Fragments { product: Product::M8N8K16S8, a, b, c });
        assert_eq!(result[..], product[..2]);
        let (a, b, c) = ([1, 2, u32::MAX, 4], [5, 6], [7, 8, i32::MIN, 10]);
        let (result, event) = tester.observe_one(|| warp::mma_m16n8k32_u8(a, b, c));
        let Event::Mma(fragments, _) = event else { panic!("{event:?}") };
        assert_eq!(fragments, Fragments { product: Product::M16N8K32U8, a, b, c });
        assert_eq!(result, product);
    }
}

#[test]
fn a_thread_knows_where_it_is() {
    let tester = Tester::new(0, 0);
    for (k, indices) in tester.indices.iter().enumerate() {
        indices.set([10, 20, 30].map(|n| n + k as u32));
    }
    tester.lane.set(17);
    let (indices, events) = tester.observe(|| {
        [
            [thread::thread_idx_x(), thread::thread_idx_y(), thread::thread_idx_z()],
            [thread::block_idx_x(), thread::block_idx_y(), thread::block_idx_z()],
            [thread::block_dim_x(), thread::block_dim_y(), thread::block_dim_z()],
            [thread::grid_dim_x(), thread::grid_dim_y(), thread::grid_dim_z()],
        ]
    });
    assert_eq!(indices, [[10, 20, 30], [11, 21, 31], [12, 22, 32], [13, 23, 33]]);
    assert!(events.is_empty());
    assert_eq!(tester.observe(warp::lane).0, 17);
}

/// The index in the grid has 64 bits.
#[test]
fn a_large_grid() {
    let tester = Tester::new(0, 0);
    tester.indices[0].set([1023, 0, 0]);
    tester.indices[1].set([(1 << 31) - 2, 0, 0]);
    tester.indices[2].set([1024, 1, 1]);
    assert_eq!(tester.observe(thread::global_x).0, ((1 << 31) - 2) * 1024 + 1023);
}
