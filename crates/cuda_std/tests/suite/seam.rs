//! Every accessor calls the host's machine: the arguments of each call, and its results.

use crate::machine::{Event, GLOBAL, Tester, in_out, input, output};
use cuda_std::host::{Access, Masked, Space};
use cuda_std::{GlobalIn, Shared, Value};
use std::rc::Rc;

/// Four elements with different bits, whose highest bits are set to reveal a wrong extension.
trait Element: Value {
    const SAMPLES: [Self; 4];
    fn bits(self) -> u64;
    fn bytes(self) -> Vec<u8>;
}

macro_rules! elements {
    ($($t:ty, $unsigned:ty;)*) => {$(
        impl Element for $t {
            const SAMPLES: [Self; 4] = [
                <$t>::from_ne_bytes((0x8182_8384_8586_8788u64 as $unsigned).to_ne_bytes()),
                <$t>::from_ne_bytes((0x9192_9394_9596_9798u64 as $unsigned).to_ne_bytes()),
                <$t>::from_ne_bytes((0xa1a2_a3a4_a5a6_a7a8u64 as $unsigned).to_ne_bytes()),
                <$t>::from_ne_bytes((0xb1b2_b3b4_b5b6_b7b8u64 as $unsigned).to_ne_bytes()),
            ];
            fn bits(self) -> u64 {
                <$unsigned>::from_ne_bytes(self.to_ne_bytes()).into()
            }
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )*};
}
elements! {
    u8, u8;
    i8, u8;
    u16, u16;
    i16, u16;
    u32, u32;
    i32, u32;
    f32, u32;
    u64, u64;
    i64, u64;
    f64, u64;
}

/// Calls a generic function for every element type.
macro_rules! for_every {
    ($test:ident) => {
        for_every!($test: u8 i8 u16 i16 u32 i32 f32 u64 i64 f64)
    };
    ($test:ident: $($t:ty)*) => { $($test::<$t>();)* };
}

/// The expected access, except for its line.
struct Expected {
    space: Space,
    base: u64,
    index: u64,
    len: u64,
    elements: u32,
}

impl Expected {
    /// Returns an access to one element.
    fn one(space: Space, base: u64, index: u64, len: u64) -> Self {
        Expected { space, base, index, len, elements: 1 }
    }

    /// Checks a skipped access to a `u32` window, which may be so far out of range that its address wraps.
    #[track_caller]
    fn check_left_out_beyond(&self, event: &Event, masked: Masked) {
        let access = event.access();
        assert!(matches!(event, Event::LeftOut(_, actual) if *actual == masked) && !access.in_range(), "{event:?}");
        assert_eq!((access.space, access.base, access.index), (self.space, self.base, self.index));
        assert_eq!((access.len, access.elements, access.element_bytes), (self.len, self.elements, 4));
    }

    #[track_caller]
    fn check<T>(&self, access: &Access) {
        assert_eq!(access.space, self.space);
        assert_eq!((access.base, access.index, access.len), (self.base, self.index, self.len));
        assert_eq!((access.elements, access.element_bytes as usize), (self.elements, size_of::<T>()));
        assert_eq!(access.in_range(), self.index + u64::from(self.elements) <= self.len);
        assert_eq!(access.address(), self.base + self.index * size_of::<T>() as u64);
    }

    #[track_caller]
    fn check_load<T>(&self, event: &Event) {
        assert!(matches!(event, Event::Load(_)), "{event:?}");
        self.check::<T>(&event.access());
    }

    #[track_caller]
    fn check_left_out<T>(&self, event: &Event, masked: Masked) {
        assert!(matches!(event, Event::LeftOut(_, actual) if *actual == masked), "{event:?}");
        self.check::<T>(&event.access());
    }

    /// Checks a store of exactly these values.
    #[track_caller]
    fn check_store<T: Element>(&self, event: &Event, values: &[T]) {
        let Event::Store(access, bits) = event else { panic!("{event:?}") };
        self.check::<T>(access);
        let mut expected = [0; 16];
        expected.iter_mut().zip(values).for_each(|(bits, value)| *bits = value.bits());
        assert_eq!(*bits, expected);
    }
}

/// Returns a machine, and a window of 12 elements that begins at byte 32 of its shared memory.
fn shared<T: Element>() -> (Rc<Tester>, Shared<'static, T>) {
    let tester = Tester::new(256, 0);
    let (_, rest) = tester.arena().split::<u8>(17);
    let (window, _) = rest.split::<T>(12);
    (tester, window)
}

/// Returns the bytes of these elements.
fn bytes_of<T: Element>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|value| value.bytes()).collect()
}

/// Checks that `memory` has `values` from element `first` on, and zeros elsewhere.
#[track_caller]
fn check_bytes<T: Element>(memory: &[u8], first: usize, values: &[T]) {
    let (first, values) = (first * size_of::<T>(), bytes_of(values));
    assert_eq!(memory[first..first + values.len()], values[..]);
    let rest = memory[..first].iter().chain(&memory[first + values.len()..]);
    assert_eq!(rest.filter(|byte| **byte != 0).count(), 0, "neighbouring elements were written");
}

#[test]
fn shared_elements() {
    fn test<T: Element>() {
        let (tester, window) = shared::<T>();
        let [a, ..] = T::SAMPLES;
        let expected = Expected::one(Space::Shared, 32, 3, 12);
        let ((), event) = tester.observe_one(|| window.set(3, a));
        expected.check_store(&event, &[a]);
        check_bytes(&tester.shared.borrow()[32..], 3, &[a]);
        let (value, event) = tester.observe_one(|| window.get(3));
        expected.check_load::<T>(&event);
        assert_eq!(value.bits(), a.bits());
    }
    for_every!(test);
}

/// The machine gets the access, and decides what to do.
#[test]
fn shared_accesses_out_of_range_are_reported() {
    let (tester, window) = shared::<f32>();
    let (_, event) = tester.observe_one(|| window.get(12));
    Expected::one(Space::Shared, 32, 12, 12).check_load::<f32>(&event);
    let ((), event) = tester.observe_one(|| window.set_pack(10, [1.0; 4]));
    assert!(!event.access().in_range());
}

/// Returns a machine with the samples as elements 2 to 5 of a window that begins at byte 64.
fn global<T: Element>() -> Rc<Tester> {
    let tester = Tester::new(0, 256);
    let first = 64 + 2 * size_of::<T>();
    tester.put(first, bytes_of(&T::SAMPLES).into_iter().map(|byte| [byte]));
    tester
}

/// Loads from windows of both kinds and of both index types.
#[test]
fn global_loads() {
    fn test<T: Element>() {
        let tester = global::<T>();
        let bits = T::SAMPLES.map(T::bits);
        let (constant, both) = (input::<T>(64, 8), in_out::<T>(64, 8));
        macro_rules! loads {
            ($window:expr, $space:expr) => {
                let window = $window;
                let expected = |index| Expected::one($space, GLOBAL + 64, index, 8);
                let (value, event) = tester.observe_one(|| window.get(2));
                expected(2).check_load::<T>(&event);
                assert_eq!(value.bits(), bits[0]);
                let (value, event) = tester.observe_one(|| window.get_masked(2));
                expected(2).check_load::<T>(&event);
                assert_eq!(value.bits(), bits[0]);
                let (value, event) = tester.observe_one(|| window.get_or(3, T::SAMPLES[0]));
                expected(3).check_load::<T>(&event);
                assert_eq!(value.bits(), bits[1]);
                let (values, events) = tester.observe(|| window.get4_strided::<2>(1));
                assert_eq!(values.map(T::bits), [0, bits[1], bits[3], 0]);
                assert_eq!(events.len(), 4);
                for (k, event) in events.iter().enumerate() {
                    expected(1 + 2 * k as u64).check_load::<T>(event);
                }
            };
        }
        loads!(constant, Space::GlobalConstant);
        loads!(constant.at(0), Space::GlobalConstant);
        loads!(both, Space::Global);
        loads!(both.at(0), Space::Global);
    }
    for_every!(test);
}

/// Stores to windows of both kinds and of both index types.
#[test]
fn global_stores() {
    fn test<T: Element>() {
        let tester = Tester::new(0, 256);
        let [a, b, ..] = T::SAMPLES;
        macro_rules! stores {
            ($window:expr) => {
                let window = $window;
                let expected = |index| Expected::one(Space::Global, GLOBAL + 64, index, 8);
                let clear = || tester.global.borrow_mut().fill(0);
                clear();
                let ((), event) = tester.observe_one(|| window.set(7, a));
                expected(7).check_store(&event, &[a]);
                check_bytes(&tester.global.borrow()[64..], 7, &[a]);
                clear();
                let ((), event) = tester.observe_one(|| window.set_if(true, 1, b));
                expected(1).check_store(&event, &[b]);
                let ((), event) = tester.observe_one(|| window.set_if(false, 1, a));
                expected(1).check_left_out::<T>(&event, Masked::Store);
                check_bytes(&tester.global.borrow()[64..], 1, &[b]);
                clear();
                let ((), events) = tester.observe(|| window.set4_strided::<1>(3, T::SAMPLES));
                check_bytes(&tester.global.borrow()[64..], 3, &T::SAMPLES);
                assert_eq!(events.len(), 4);
                for (k, event) in events.iter().enumerate() {
                    expected(3 + k as u64).check_store(event, &[T::SAMPLES[k]]);
                }
            };
        }
        stores!(output::<T>(64, 8));
        stores!(output::<T>(64, 8).at(0));
        stores!(in_out::<T>(64, 8));
        stores!(in_out::<T>(64, 8).at(0));
    }
    for_every!(test);
}

/// The machine does not hold the constants. It gets every access to them, in range or not.
#[test]
fn constants_are_reported() {
    fn check(event: Event, index: u64, elements: u32) {
        assert!(matches!(event, Event::Constant(_)), "{event:?}");
        let expected = Expected { elements, ..Expected::one(Space::Constant, 0, index, 12) };
        expected.check::<f32>(&event.access());
    }
    let (tester, numbers) = (Tester::new(0, 0), std::array::from_fn(|k| k as f32));
    let constants = cuda_std::Constants::of(cuda_std::Table::<f32, 12>(numbers));
    let (values, event) = tester.observe_one(|| constants.pack::<2>(3));
    check(event, 6, 2);
    assert_eq!(values, [6.0, 7.0]);
    let (values, event) = tester.observe_one(|| constants.pack::<4>(2));
    check(event, 8, 4);
    assert_eq!(values, [8.0, 9.0, 10.0, 11.0]);
    let (values, event) = tester.observe_one(|| constants.pack::<2>(6));
    check(event, 12, 2);
    assert_eq!(values, [10.0, 11.0]);
    let (values, event) = tester.observe_one(|| constants.pack::<4>(u32::MAX));
    check(event, 4 * u64::from(u32::MAX), 4);
    assert_eq!(values, [8.0, 9.0, 10.0, 11.0]);
}

/// As on the device, unmasked loads return zeros and unmasked stores do nothing, but the machine gets the access.
#[test]
fn unmasked_accesses_out_of_range_are_reported() {
    let tester = Tester::new(0, 64);
    tester.global.borrow_mut().fill(0xff);
    for index in [4, 1 << 40, u64::MAX] {
        let (value, event) = tester.observe_one(|| input::<u32>(0, 4).get(index));
        assert_eq!(value, 0);
        assert!(!event.access().in_range());
        let ((), event) = tester.observe_one(|| output::<u32>(0, 4).set(index, 7));
        assert!(!event.access().in_range());
    }
    // Two of the four would be in range.
    let (values, event) = tester.observe_one(|| input::<u32>(0, 6).get_pack::<4>(4));
    assert_eq!(values, [0; 4]);
    assert!(!event.access().in_range());
    let ((), event) = tester.observe_one(|| output::<u32>(0, 6).set_pack(5, [1, 2]));
    assert!(!event.access().in_range());
    assert_eq!(*tester.global.borrow(), [0xff; 64]);
}

/// Masked forms skip the access, and report this to the machine.
#[test]
fn masked_accesses_out_of_range_are_left_out() {
    let tester = Tester::new(0, 64);
    tester.global.borrow_mut().fill(0xff);
    let window = in_out::<u32>(0, 6);
    let at = |index| Expected::one(Space::Global, GLOBAL, index, 6);
    for index in [6, 1 << 40, u64::MAX] {
        let (value, event) = tester.observe_one(|| window.get_or(index, 5));
        assert_eq!(value, 5);
        at(index).check_left_out_beyond(&event, Masked::Load);
        let ((), event) = tester.observe_one(|| window.set_if(true, index, 5));
        at(index).check_left_out_beyond(&event, Masked::Store);
        let (value, event) = tester.observe_one(|| window.get_masked(index));
        assert_eq!(value, 0);
        at(index).check_left_out_beyond(&event, Masked::Load);
        let (values, event) = tester.observe_one(|| window.get_pack_masked::<2>(index));
        assert_eq!(values, [0; 2]);
        Expected { elements: 2, ..at(index) }.check_left_out_beyond(&event, Masked::Load);
        let (values, event) = tester.observe_one(|| window.get_pack_masked::<4>(index));
        assert_eq!(values, [0; 4]);
        Expected { elements: 4, ..at(index) }.check_left_out_beyond(&event, Masked::Load);
        let (values, events) = tester.observe(|| window.get4_strided::<3>(index));
        assert_eq!((values, events.len()), ([0; 4], 4));
        for (k, event) in events.iter().enumerate() {
            at(index.saturating_add(3 * k as u64)).check_left_out_beyond(event, Masked::Load);
        }
    }
    // Two of the four would be in range.
    let (values, event) = tester.observe_one(|| window.get_pack_masked::<4>(4));
    assert!(matches!((values, event), ([0, 0, 0, 0], Event::LeftOut(_, Masked::Load))));
    let (values, events) = tester.observe(|| window.get4_strided::<3>(1));
    assert_eq!(values, [u32::MAX, u32::MAX, 0, 0]);
    let made = |events: &[Event]| events.iter().map(|event| !matches!(event, Event::LeftOut(..))).collect::<Vec<_>>();
    assert_eq!(made(&events), [true, true, false, false]);
    let (_, events) = tester.observe(|| window.at(2).set4_strided::<2>(1, [1, 2, 3, 4]));
    assert_eq!(made(&events), [true, true, false, false]);
    let words: Vec<u32> =
        tester.global.borrow().chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(words[..7], [u32::MAX, u32::MAX, u32::MAX, 1, u32::MAX, 2, u32::MAX]);
    assert!(words[7..].iter().all(|word| *word == u32::MAX));
}

#[test]
fn alignment_of_windows() {
    let aligned = |from: u64, elements| input::<u32>(from, 8).is_aligned(elements);
    assert_eq!([aligned(0, 4), aligned(16, 4), aligned(8, 4), aligned(4, 4)], [true, true, false, false]);
    assert_eq!([aligned(8, 2), aligned(4, 2), aligned(4, 1), aligned(4, 0)], [true, false, true, true]);
    let window = in_out::<f64>(16, 8);
    assert_eq!([0, 1, 2].map(|base| window.at(base).is_aligned(2)), [true, false, true]);
}

#[test]
fn parts_of_a_window() {
    let window = input::<u16>(8, 100);
    assert_eq!((window.len(), window.at(30).len(), window.at(30).first(7).len()), (100, 70, 7));
    assert_eq!(window.at(30).first(71).len(), 70);
    assert_eq!(
        [window.at(99).len(), window.at(100).len(), window.at(101).len(), window.at(u64::MAX).len()],
        [1, 0, 0, 0]
    );

    let tester = Tester::new(0, 256);
    assert_eq!(window.at(30).first(7).anchored().len(), 7);
    let (_, event) = tester.observe_one(|| window.at(30).first(7).get(6));
    Expected::one(Space::GlobalConstant, GLOBAL + 8 + 60, 6, 7).check_load::<u16>(&event);
    let (value, event) = tester.observe_one(|| window.at(30).first(7).get_or(7, 3));
    assert_eq!(value, 3);
    Expected::one(Space::GlobalConstant, GLOBAL + 8 + 60, 7, 7).check_left_out::<u16>(&event, Masked::Load);
}

#[test]
fn parts_as_other_elements() {
    let bytes = input::<u8>(8, 103).at(4);
    assert_eq!((bytes.cast::<u16>().len(), bytes.cast::<u32>().len(), bytes.cast::<i8>().len()), (49, 24, 99));
    assert_eq!(bytes.cast::<u64>().len(), 0, "a misaligned window has no elements");
    assert_eq!(input::<u64>(8, 1 << 31).at(0).cast::<u8>().len(), u32::MAX);

    let (_, event) = Tester::new(0, 256).observe_one(|| bytes.cast::<u32>().get(23));
    Expected::one(Space::GlobalConstant, GLOBAL + 12, 23, 24).check_load::<u32>(&event);
}

/// A part of a window has at most as many elements as its 32-bit index can count.
#[test]
fn parts_of_a_long_window() {
    let (base, len) = (1 << 33, 1 << 35);
    let window: GlobalIn<f32> = input(0, len);
    assert_eq!(window.at(base).len(), u32::MAX);
    assert_eq!(window.at(len - 5).len(), 5);
    let tester = Tester::new(0, 0);
    // The access is in range of the window, but far beyond this machine's memory. Only the recorded call matters.
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tester.observe(|| window.at(base).get(2))));
    assert!(result.is_err());
    let event = tester.log.borrow()[0];
    Expected::one(Space::GlobalConstant, GLOBAL + 4 * base, 2, u32::MAX.into()).check_load::<f32>(&event);
}

/// Accesses have the line of the accessor's call in the kernel.
#[test]
fn the_line_is_the_callers() {
    let tester = Tester::new(64, 64);
    let (window, _) = tester.arena().split::<f32>(4);
    let (_, event) = tester.observe_one(|| window.get(0));
    let line = line!() - 1;
    assert_eq!((event.at().line(), event.at().file()), (line, file!()));
    let (_, event) = tester.observe_one(|| input::<u8>(0, 1).get(0));
    let line = line!() - 1;
    assert_eq!((event.at().line(), event.at().file()), (line, file!()));
}

/// Widths that no lane can access do not panic.
#[test]
fn banks_of_any_width() {
    use cuda_std::host::banks::{Banks, WarpAccess};
    let addresses = std::array::from_fn(|lane| 1000 * lane as u64);
    for bytes in (0..300).chain([u32::MAX]) {
        for (load, banks) in [(true, Banks::NVIDIA), (false, Banks::NVIDIA), (true, Banks::new(1, 16).unwrap())] {
            let access = WarpAccess { lanes: u32::MAX, addresses: &addresses, bytes, load };
            let [all, fewest] = access.wavefronts(banks);
            assert!(all >= fewest && access.phases(banks).all(|phase| access.most_lanes(phase, banks) > 0), "{bytes}");
        }
        let same = WarpAccess { lanes: u32::MAX, addresses: &[0; 32], bytes, load: true };
        assert!(same.wavefronts(Banks::NVIDIA)[0] > 0);
    }
}
