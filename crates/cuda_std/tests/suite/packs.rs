//! Packs of every element type and every length, in every memory.

use crate::machine::{Event, GLOBAL, Tester, in_out, input, output};
use cuda_std::host::{Access, Masked, Space, from_bits, to_bits};
use cuda_std::{Bf16, Constants, F16, Table, Value};

/// Calls `$test::<T, N>()` for every type and every number of elements that a pack can have.
macro_rules! for_every_pack {
    ($test:ident) => {
        for_every_pack!($test: [u8 i8] [1 2 4 8 16], [u16 i16 F16 Bf16] [1 2 4 8], [u32 i32 f32] [1 2 4], [u64 i64 f64] [1 2]);
    };
    ($test:ident: $([$($t:ty)*] $lengths:tt),*) => {$($( for_every_pack!(@ $test $t $lengths); )*)*};
    (@ $test:ident $t:ty [$($n:literal)*]) => {$( $test::<$t, $n>(); )*};
}

/// Returns different elements, whose highest bits are set to reveal a wrong extension.
fn elements<T: Value, const N: usize>() -> [T; N] {
    std::array::from_fn(|k| from_bits(0x8182_8384_8586_8788 + 0x0101_0101_0101_0101 * k as u64))
}

fn bits<T: Value, const N: usize>(values: [T; N]) -> [u64; N] {
    values.map(to_bits)
}

/// Returns the bytes of the elements.
fn bytes<T: Value>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|value| to_bits(*value).to_le_bytes()[..size_of::<T>()].to_vec()).collect()
}

/// Checks that an access moves all elements of a pack, at element `index` of a window of `len` elements.
#[track_caller]
fn check<T, const N: usize>(access: Access, space: Space, [index, len]: [u64; 2]) {
    assert_eq!((access.space, access.index, access.len), (space, index, len));
    assert_eq!((access.elements as usize, access.element_bytes as usize), (N, size_of::<T>()));
    assert_eq!(access.in_range(), index.checked_add(N as u64).is_some_and(|end| end <= len));
}

#[track_caller]
fn check_store<T: Value, const N: usize>(event: Event, place: [u64; 2], space: Space) {
    let Event::Store(access, stored) = event else { panic!("{event:?}") };
    check::<T, N>(access, space, place);
    assert_eq!(stored[..N], bits(elements::<T, N>()));
}

#[test]
fn shared_packs() {
    fn test<T: Value, const N: usize>() {
        let tester = Tester::new(256, 0);
        let (window, _) = tester.arena().split::<T>(4 * N as u32);
        let place = [2 * N as u64, 4 * N as u64];
        let ((), event) = tester.observe_one(|| window.set_pack(2 * N as u32, elements::<T, N>()));
        check_store::<T, N>(event, place, Space::Shared);
        let first = 2 * N * size_of::<T>();
        assert_eq!(tester.shared.borrow()[first..first + N * size_of::<T>()], bytes(&elements::<T, N>()));
        assert!(tester.shared.borrow()[..first].iter().all(|byte| *byte == 0));
        let (values, event) = tester.observe_one(|| window.get_pack::<N>(2 * N as u32));
        assert!(matches!(event, Event::Load(access) if access.is_aligned()), "{event:?}");
        check::<T, N>(event.access(), Space::Shared, place);
        assert_eq!(bits(values), bits(elements::<T, N>()));
    }
    for_every_pack!(test);
}

#[test]
fn global_packs() {
    fn test<T: Value, const N: usize>() {
        let (tester, len) = (Tester::new(0, 256), 4 * N as u64);
        let (read, both, written) = (input::<T>(64, len), in_out::<T>(64, len), output::<T>(64, len));
        let ((), event) = tester.observe_one(|| written.set_pack(N as u64, elements::<T, N>()));
        check_store::<T, N>(event, [N as u64, len], Space::Global);
        let first = 64 + N * size_of::<T>();
        assert_eq!(tester.global.borrow()[first..first + N * size_of::<T>()], bytes(&elements::<T, N>()));
        macro_rules! loads {
            ($window:expr, $space:expr, $place:expr, $($load:ident $(($outside:expr))?),*) => {$(
                let (values, event) = tester.observe_one(|| $window.$load::<N>($place $(, $outside)?));
                assert!(matches!(event, Event::Load(_)), "{event:?}");
                let (index, len): (u64, u64) = ($place.into(), $window.len().into());
                check::<T, N>(event.access(), $space, [index, len]);
                assert_eq!(bits(values), bits(elements::<T, N>()));
            )*};
        }
        loads!(read, Space::GlobalConstant, N as u64, get_pack, get_pack_masked, get_pack_or(T::default()));
        loads!(both, Space::Global, N as u64, get_pack, get_pack_masked, get_pack_or(T::default()));
        loads!(read.at(N as u64), Space::GlobalConstant, 0u32, get_pack, get_pack_masked, get_pack_or(T::default()));

        tester.global.borrow_mut().fill(0);
        let ((), event) = tester.observe_one(|| both.at(1).set_pack_if(true, N as u32 - 1, elements::<T, N>()));
        check_store::<T, N>(event, [N as u64 - 1, len - 1], Space::Global);
        let (_, event) = tester.observe_one(|| both.set_pack_if(false, 0, elements::<T, N>()));
        assert!(matches!(event, Event::LeftOut(_, Masked::Store)), "{event:?}");
        let (_, event) = tester.observe_one(|| both.set_pack_masked(false, 0, elements::<T, N>()));
        assert!(matches!(event, Event::LeftOut(_, Masked::Store)), "{event:?}");
        assert_eq!(tester.global.borrow()[first..first + N * size_of::<T>()], bytes(&elements::<T, N>()));

        tester.global.borrow_mut().fill(0);
        let ((), event) = tester.observe_one(|| both.at(1).set_pack_masked(true, N as u32 - 1, elements::<T, N>()));
        check_store::<T, N>(event, [N as u64 - 1, len - 1], Space::Global);
        assert_eq!(tester.global.borrow()[first..first + N * size_of::<T>()], bytes(&elements::<T, N>()));
    }
    for_every_pack!(test);
}

/// All elements of a pack are moved or none, and the machine gets the call. `_or` and `_if` keep the elements inside the
/// window.
#[test]
fn packs_partly_out_of_range() {
    fn test<T: Value, const N: usize>() {
        let (tester, len) = (Tester::new(0, 256), 2 * N as u64 - 1);
        tester.global.borrow_mut()[..].fill(0x55);
        let (outside, before) = (elements::<T, N>()[0], from_bits::<T>(0x5555_5555_5555_5555));
        for index in [N as u64, 2 * N as u64, 1 << 40, u64::MAX] {
            let place = [index, len];
            let (values, event) = tester.observe_one(|| input::<T>(0, len).get_pack::<N>(index));
            assert!(matches!(event, Event::Load(_)), "{event:?}");
            check::<T, N>(event.access(), Space::GlobalConstant, place);
            assert_eq!(bits(values), [0; N]);
            let (values, event) = tester.observe_one(|| input::<T>(0, len).get_pack_masked::<N>(index));
            assert!(matches!(event, Event::LeftOut(_, Masked::Load)), "{event:?}");
            assert_eq!(bits(values), [0; N]);
            let ((), event) = tester.observe_one(|| output::<T>(0, len).set_pack(index, elements::<T, N>()));
            check_store::<T, N>(event, place, Space::Global);
            let ((), event) =
                tester.observe_one(|| output::<T>(0, len).set_pack_masked(true, index, elements::<T, N>()));
            assert!(matches!(event, Event::LeftOut(_, Masked::Store)), "{event:?}");
            let (values, events) = tester.observe(|| input::<T>(0, len).get_pack_or::<N>(index, outside));
            let mut expected = [to_bits(outside); N];
            if index == N as u64 {
                expected[..N - 1].fill(to_bits(before));
            }
            assert_eq!((bits(values), events.len()), (expected, 1 + N));
        }
        assert!(tester.global.borrow().iter().all(|byte| *byte == 0x55));
        tester.observe(|| output::<T>(0, len).set_pack_if(true, N as u64, elements::<T, N>()));
        let (kept, all) = ((2 * N - 1) * size_of::<T>(), bytes(&elements::<T, N>()));
        assert_eq!(tester.global.borrow()[N * size_of::<T>()..kept], all[..(N - 1) * size_of::<T>()]);
        assert!(tester.global.borrow()[kept..].iter().all(|byte| *byte == 0x55));
    }
    for_every_pack!(test);
}

/// The machine gets misaligned accesses as such. The forms that keep elements move them one by one.
#[test]
fn misaligned_packs() {
    let tester = Tester::new(0, 256);
    for index in 0..16 {
        let ((), event) = tester.observe_one(|| in_out::<u8>(32, 64).set_pack(index, [1; 16]));
        assert_eq!(event.access().is_aligned(), index == 0);
        let (_, events) = tester.observe(|| in_out::<u16>(32, 64).get_pack_or::<8>(index, 0));
        assert_eq!(events.len(), if index % 8 == 0 { 1 } else { 9 });
        assert_eq!(events[0].access().address(), GLOBAL + 32 + 2 * index);
    }
}

#[test]
fn packs_of_constants() {
    fn test<T: Value, const N: usize>() {
        let tester = Tester::new(0, 0);
        let constants = Constants::of(Table(elements::<T, 32>()));
        let last = 32 / N as u32 - 1;
        for (k, from) in [(0, 0), (1, 1), (last, last), (last + 1, last), (u32::MAX, last)] {
            let (values, event) = tester.observe_one(|| constants.pack::<N>(k));
            assert!(matches!(event, Event::Constant(_)), "{event:?}");
            check::<T, N>(event.access(), Space::Constant, [u64::from(k) * N as u64, 32]);
            assert_eq!(bits(values), bits(elements::<T, 32>())[from as usize * N..][..N]);
        }
    }
    for_every_pack!(test);
}
