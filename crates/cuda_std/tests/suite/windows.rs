//! Masked forms with a condition, packs at the end of a window, and matrices.

use crate::machine::{Event, GLOBAL, Tester, in_out, input, output};
use cuda_std::host::Masked;
use cuda_std::{Argument, GlobalIn, GlobalIn2, GlobalInOut2, GlobalOut2};

/// Returns a machine with the numbers 0, 1, 2 … in its global memory.
fn numbers() -> std::rc::Rc<Tester> {
    let tester = Tester::new(0, 256);
    tester.put(0, (0..64u32).map(u32::to_le_bytes));
    tester
}

fn stored(tester: &Tester) -> Vec<u32> {
    tester.global.borrow().chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Returns the index of each access and its number of elements, negative if the access is skipped.
fn accesses(events: &[Event]) -> Vec<(u64, i32)> {
    let signed = |event: &Event| {
        let elements = event.access().elements as i32;
        if matches!(event, Event::LeftOut(..)) { -elements } else { elements }
    };
    events.iter().map(|event| (event.access().index, signed(event))).collect()
}

#[test]
fn a_load_with_a_condition() {
    let (tester, window) = (numbers(), input::<u32>(0, 6));
    for (condition, i, expected) in [(true, 5, 5), (true, 6, 99), (false, 5, 99), (false, u64::MAX, 99)] {
        let (value, event) = tester.observe_one(|| window.get_if(condition, i, 99));
        assert_eq!(value, expected);
        assert_eq!(matches!(event, Event::LeftOut(_, Masked::Load)), expected == 99);
    }
    let (value, _) = tester.observe_one(|| in_out::<u32>(0, 6).at(2).get_if(true, 3u32, 99));
    assert_eq!(value, 5);
}

#[test]
fn loads_at_a_tail_keep_the_elements_inside() {
    let tester = numbers();
    let window = input::<u32>(0, 6);
    let (values, events) = tester.observe(|| window.get_pack_or::<4>(0, 9));
    assert_eq!((values, accesses(&events)), ([0, 1, 2, 3], vec![(0, 4)]));
    let (values, events) = tester.observe(|| window.get_pack_or::<4>(4, 9));
    assert_eq!((values, accesses(&events)), ([4, 5, 9, 9], vec![(4, -4), (4, 1), (5, 1), (6, -1), (7, -1)]));
    // Misaligned, and far outside.
    let (values, events) = tester.observe(|| window.get_pack_or::<4>(1, 9));
    assert_eq!((values, accesses(&events)), ([1, 2, 3, 4], vec![(1, -4), (1, 1), (2, 1), (3, 1), (4, 1)]));
    assert_eq!(tester.observe(|| window.get_pack_or::<4>(u64::MAX, 9)).0, [9; 4]);
    assert_eq!(tester.observe(|| window.at(5).get_pack_or::<2>(0u32, 9)).0, [5, 9]);
    let (values, events) = tester.observe(|| in_out::<f64>(0, 3).get_pack_or::<2>(2, 1.0));
    assert_eq!((values[1], accesses(&events)), (1.0, vec![(2, -2), (2, 1), (3, -1)]));
}

#[test]
fn stores_at_a_tail_keep_the_elements_inside() {
    let tester = Tester::new(0, 64);
    let window = output::<u32>(0, 6);
    let (_, events) = tester.observe(|| window.set_pack_if(true, 0, [1, 2, 3, 4]));
    assert_eq!(accesses(&events), [(0, 4)]);
    let (_, events) = tester.observe(|| window.set_pack_if(true, 4, [5, 6, 7, 8]));
    assert_eq!(accesses(&events), [(4, -4), (4, 1), (5, 1), (6, -1), (7, -1)]);
    assert_eq!(stored(&tester)[..8], [1, 2, 3, 4, 5, 6, 0, 0]);
    let (_, events) = tester.observe(|| window.set_pack_if(false, 0, [9; 4]));
    assert_eq!(accesses(&events), [(0, -4)]);
    tester.observe(|| in_out::<u32>(0, 6).at(1).set_pack_if(true, 0u32, [8, 9]));
    assert_eq!(stored(&tester)[..6], [1, 8, 9, 4, 5, 6]);
}

#[test]
fn matrices_have_room_in_their_window() {
    let fits = |rows, columns, pitch| GlobalIn2::new(input::<u32>(0, 20), rows, columns, pitch).is_some();
    assert!(fits(3, 4, 8) && fits(4, 5, 5) && fits(0, 7, 7) && fits(2, 0, 20));
    assert!(!fits(3, 5, 8) && !fits(5, 5, 5) && !fits(2, 4, 3));
    assert!(!fits(u64::MAX, 1, u64::MAX) && !fits(0, 1 << 32, 1 << 32) && !fits(1 << 32, 0, 0));
}

/// An index beyond the end of its row is out of range, although the window continues there.
#[test]
fn each_row_of_a_matrix_is_checked() {
    let tester = numbers();
    let matrix = GlobalIn2::new(input::<u32>(16, 20), 3, 4, 8).unwrap();
    assert_eq!((matrix.rows(), matrix.columns(), matrix.row(2u32).len(), matrix.row(3u32).len()), (3, 4, 4, 0));
    let (value, event) = tester.observe_one(|| matrix.get(2u32, 3u64));
    let access = event.access();
    assert_eq!((value, access.base, access.index, access.len), (4 + 19, GLOBAL + 16 + 64, 3, 4));
    for (row, column) in [(0, 4), (2, 4), (3, 0), (u64::MAX, 0), (0, u64::MAX)] {
        let (value, event) = tester.observe_one(|| matrix.get_or(row, column, 99));
        assert_eq!(value, 99);
        assert!(matches!(event, Event::LeftOut(_, Masked::Load)), "{event:?}");
        let (value, event) = tester.observe_one(|| matrix.get(row, column));
        assert!(value == 0 && !event.access().in_range(), "{event:?}");
    }
}

#[test]
fn stores_into_matrices() {
    let tester = Tester::new(0, 64);
    let matrix = GlobalOut2::new(output::<u32>(0, 8), 2, 3, 4).unwrap();
    tester.observe_one(|| matrix.set(1u32, 2u32, 7));
    tester.observe_one(|| matrix.set_if(true, 0u32, 3u32, 8));
    tester.observe_one(|| matrix.set_if(false, 0u32, 0u32, 9));
    assert_eq!(stored(&tester)[..8], [0, 0, 0, 0, 0, 0, 7, 0]);
    let both = GlobalInOut2::new(in_out::<u32>(0, 8), 2, 3, 4).unwrap();
    assert_eq!(tester.observe_one(|| both.get(1u32, 2u32)).0, 7);
}

/// The launcher gets the whole window that a matrix lies in.
#[test]
fn matrices_show_their_windows() {
    let matrix = GlobalIn2::new(input::<u32>(16, 20), 3, 4, 8).unwrap();
    let mut seen = Vec::new();
    matrix.windows("matrix", &mut |name, window| seen.push((name, window.address, window.bytes)));
    assert_eq!(seen, [("matrix", GLOBAL + 16, 80)]);
    assert_ne!(GlobalIn2::<u32>::LAYOUT, GlobalIn2::<f32>::LAYOUT);
    assert_ne!(GlobalIn2::<u32>::LAYOUT, GlobalIn::<u32>::LAYOUT);
}
