//! Calls of the machine for asynchronous copies; minima and maxima of floats; linear indices.

use crate::machine::{Event, GLOBAL, Tester, in_out, input};
use cuda_std::{Ordering, copy, thread};

#[test]
fn copies_move_the_elements_inside_the_window() {
    let tester = Tester::new(64, 64);
    tester.put(0, (1..17u32).map(u32::to_le_bytes));
    let (tile, _) = tester.arena().split::<u32>(8);
    let (_, event) = tester.observe_one(|| input::<u32>(0, 6).copy_async::<4>(0, &tile, 4));
    let Event::Copy(copied) = event else { panic!("{event:?}") };
    assert_eq!((copied.from.base, copied.from.elements, copied.to.index, copied.masked), (GLOBAL, 4, 4, false));
    assert_eq!((copied.present(), copied.from.is_aligned()), (4, true));
    let (_, event) = tester.observe_one(|| in_out::<u32>(0, 6).at(4).copy_async_masked::<4>(0u32, &tile, 0));
    let Event::Copy(copied) = event else { panic!("{event:?}") };
    assert_eq!((copied.present(), copied.masked), (2, true));
    let (values, _) = tester.observe(|| [tile.get_pack::<4>(0), tile.get_pack::<4>(4)]);
    assert_eq!(values, [[5, 6, 0, 0], [1, 2, 3, 4]]);
    for j in [6, u64::MAX] {
        let (_, event) = tester.observe_one(|| input::<u32>(0, 6).copy_async_masked::<2>(j, &tile, 0));
        assert!(matches!(event, Event::Copy(copied) if copied.present() == 0));
    }
}

#[test]
fn groups_are_reported() {
    let tester = Tester::new(0, 0);
    let (_, events) = tester.observe(|| {
        copy::commit();
        copy::wait_group::<3>();
        copy::wait_all();
    });
    let reported = |event: &Event| match event {
        Event::Commit(_) => Some(None),
        Event::WaitCopies(latest, _) => Some(Some(*latest)),
        _ => None,
    };
    assert_eq!(events.iter().map(reported).collect::<Vec<_>>(), [Some(None), Some(Some(Some(3))), Some(Some(None))]);
}

/// The total order: a NaN is no exception, and -0 is below +0.
#[test]
fn extremes_of_floats_are_in_total_order() {
    let ordered =
        [-f32::NAN, f32::NEG_INFINITY, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::INFINITY, f32::NAN].map(f32::to_bits);
    let tester = Tester::new(64, 0);
    let (floats, rest) = tester.arena().split::<f32>(1);
    let (doubles, _) = rest.split::<f64>(1);
    for (i, a) in ordered.into_iter().enumerate() {
        for (j, b) in ordered.into_iter().enumerate() {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let (results, _) = tester.observe(|| {
                floats.set(0, a);
                let old = floats.fetch_min(0, b, Ordering::Relaxed);
                let min = floats.exchange(0, a, Ordering::Relaxed);
                floats.fetch_max(0, b, Ordering::SeqCst);
                [old, min, floats.get(0)]
            });
            assert_eq!(results.map(f32::to_bits), [ordered[i], ordered[i.min(j)], ordered[i.max(j)]]);
        }
    }
    tester.observe(|| doubles.set(0, 0.0));
    tester.observe(|| doubles.fetch_min(0, -0.0, Ordering::Relaxed));
    assert!(tester.observe(|| doubles.get(0)).0.is_sign_negative());
}

#[test]
fn linear_indices_count_x_first() {
    let tester = Tester::new(0, 0);
    for (k, indices) in
        [[3, 2, 1], [70_000, 60_000, 50_000], [8, 4, 2], [100_000, 65_535, 65_535]].into_iter().enumerate()
    {
        tester.indices[k].set(indices);
    }
    let (all, _) = tester.observe(|| {
        let in_block = [thread::threads_per_block(), thread::thread_linear()];
        let in_grid = [thread::global_x(), thread::global_y(), thread::global_z(), thread::block_linear()];
        (in_block, in_grid, thread::global_linear())
    });
    let block = 70_000 + 100_000 * (60_000 + 65_535 * 50_000u64);
    assert_eq!(all, ([64, 3 + 8 * (2 + 4)], [560_003, 240_002, 100_001, block], 64 * block + 51));
}
