//! Kernels on the host: the macros, the arena, and the installation of machines.

use crate::machine::{Event, GLOBAL, Tester, in_out, input, message_of, output};
use cuda_std::host::{Machine, Window, WindowKind, with};
use cuda_std::{
    Arena, Argument, Entry, GlobalIn, GlobalInOut, GlobalOut, Ordering, Shared, Table, arguments, fence, kernel, math,
    shared_bytes, thread, warp,
};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

arguments! {
    /// Arguments of `scale`.
    pub struct Scaling<'l, T: cuda_std::Value> {
        /// The elements to scale.
        pub input: GlobalIn<'l, T>,
        /// Receives the products.
        pub output: GlobalOut<'l, T>,
        /// Counts the threads that had an element.
        pub count: GlobalInOut<'l, u32>,
        /// The factor.
        pub factor: T,
        /// A number of another size.
        pub offset: u16,
    }
}

kernel! {
    /// Thread `i` of the grid computes element `i`.
    pub fn scale<'l>(_arena, args: Scaling<'l, f32>) {
        let i = thread::global_x();
        if i < args.input.len() {
            args.output.set(i + args.offset as u64, args.factor * args.input.get(i));
            args.count.fetch_add(0, 1, Ordering::Relaxed);
        }
    }
}

kernel! {
    /// A block of one thread reverses four elements through shared memory.
    pub fn reverse<'l>(arena, args: Scaling<'l, f32>) {
        let (window, _) = arena.split::<f32>(4);
        let mut i = 0;
        while i < 4 {
            window.set(i, args.input.get(i as u64));
            i += 1;
        }
        thread::sync_threads();
        while i > 0 {
            i -= 1;
            args.output.set(3 - i as u64, window.get(i));
        }
    }
}

kernel! {
    /// Thread `i` of the grid computes element `i`: its sample times the sum of a group of constants.
    pub fn weigh<'l>(_arena, args: Scaling<'l, f32>, weights: Constants<f32, 8>) {
        let i = thread::global_x();
        let [a, b] = weights.pack::<2>(i as u32);
        let [c, d, e, f] = weights.pack::<4>(args.offset as u32);
        args.output.set(i, args.input.get(i) * (a + b + c + d + e + f));
    }
}

/// Constants of element types.
pub(crate) trait Number: cuda_std::Value {
    /// The number one.
    const ONE: Self;
    /// The number of elements of a group.
    const GROUP: u32;
}

impl Number for f32 {
    const ONE: f32 = 1.0;
    const GROUP: u32 = 4;
}

impl Number for u16 {
    const ONE: u16 = 1;
    const GROUP: u32 = 8;
}

kernel! {
    for<T: Number, U: cuda_std::Value> {
        "mixed" { f32, u32 => f32_u32; u16, u64 => u16_u64; }
        "words" { u16, u32 => u16_u32; }
    }

    /// Thread `i` stores a one at `i`, and the sizes of both types after the group.
    pub fn describe<'l>(_arena, args: GlobalInOut<'l, T>) where registers <= { 24 + <T as Number>::GROUP as u8 } {
        const GROUP: u64 = <T as Number>::GROUP as u64;
        args.set(thread::global_x(), <T as Number>::ONE);
        args.cast::<u8>().unwrap().set(GROUP * size_of::<T>() as u64, (10 * size_of::<T>() + size_of::<U>()) as u8);
    }

    /// Stores a zero. Its table has 16 bytes.
    pub fn sum_up<'l>(_arena, args: GlobalInOut<'l, U>, table: Constants<T, { 16 / size_of::<T>() }>) {
        let _ = table.pack::<2>(0);
        args.set(0, U::default());
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// Returns a machine with four numbers, room for eight results after them, and a counter.
fn scaling(offset: u16) -> (Rc<Tester>, Scaling<'static, f32>) {
    let tester = Tester::new(16, 64);
    tester.put(0, [1.0f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes));
    let args = Scaling { input: input(0, 4), output: output(16, 8), count: in_out(48, 1), factor: 0.5, offset };
    (tester, args)
}

#[test]
fn a_kernel_runs_on_a_machine() {
    let (tester, args) = scaling(1);
    tester.launch::<scale>(3, 2, args, ());
    let memory = tester.global.borrow();
    assert_eq!(floats(&memory[16..48]), [0.0, 0.5, 1.0, 1.5, 2.0, 0.0, 0.0, 0.0]);
    assert_eq!(memory[48..52], [4, 0, 0, 0]);
}

#[test]
fn a_kernel_gets_the_blocks_shared_memory() {
    let (tester, args) = scaling(0);
    tester.launch::<reverse>(1, 1, args, ());
    assert_eq!(floats(&tester.global.borrow()[16..32]), [4.0, 3.0, 2.0, 1.0]);
    let log = tester.log.borrow();
    assert_eq!(log.iter().filter(|event| matches!(event, Event::SyncThreads(_))).count(), 1);
    assert!(log.iter().all(|event| event.at().file() == file!()));
}

#[test]
fn an_instance_is_compiled_for_its_types() {
    let tester = Tester::new(0, 64);
    tester.launch::<describe<f32, u32>>(1, 2, in_out(0, 8), ());
    assert_eq!(floats(&tester.global.borrow()[..8]), [1.0, 1.0]);
    assert_eq!(tester.global.borrow()[16], 44);
    tester.launch::<describe<u16, u64>>(1, 1, in_out(32, 16), ());
    assert_eq!(tester.global.borrow()[32..34], [1, 0]);
    assert_eq!(tester.global.borrow()[48], 28);
}

#[test]
fn instances_have_names_modules_and_constants_of_their_own() {
    fn of<E: Entry<Args<'static> = A, Constants = C>, A: Argument, C: Argument>() -> [&'static str; 2] {
        [E::NAME, E::MODULE]
    }
    assert_eq!(of::<describe<u16, u32>, GlobalInOut<u16>, ()>(), ["describe_u16_u32", "words"]);
    assert_eq!(of::<sum_up<f32, u32>, GlobalInOut<u32>, Table<f32, 4>>(), ["sum_up_f32_u32", "mixed"]);
    assert_eq!(of::<sum_up<u16, u64>, GlobalInOut<u64>, Table<u16, 8>>(), ["sum_up_u16_u64", "mixed"]);
    assert_ne!(sum_up::<u16, u64>::LAYOUT, sum_up::<u16, u32>::LAYOUT);
}

kernel! {
    /// Is in a module of another name than the library.
    pub fn elsewhere(_arena, _args: u32) in "other" {}
}

#[test]
fn a_kernel_is_in_the_module_of_the_library_unless_it_names_another() {
    assert_eq!([scale::MODULE, elsewhere::MODULE], [env!("CARGO_CRATE_NAME"), "other"]);
}

/// The constants of `weigh`. (The samples of `scaling` are 1, 2, 3 and 4.)
const WEIGHTS: Table<f32, 8> = Table([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]);

#[test]
fn a_kernel_gets_the_launchs_constants() {
    let (tester, args) = scaling(1);
    tester.launch::<weigh>(2, 2, args, WEIGHTS);
    let fours = 16.0 + 32.0 + 64.0 + 128.0;
    let expected = [3.0, 12.0, 48.0, 192.0].map(|twos| twos + fours);
    assert_eq!(
        floats(&tester.global.borrow()[16..32]),
        [expected[0], 2.0 * expected[1], 3.0 * expected[2], 4.0 * expected[3]]
    );
}

/// As on the device, a pack beyond the table is the table's last one. The access is reported to the machine.
#[test]
fn constants_beyond_the_table_are_its_last_ones() {
    let (tester, args) = scaling(2);
    tester.launch::<weigh>(1, 1, args, WEIGHTS);
    assert_eq!(floats(&tester.global.borrow()[16..20]), [1.0 + 2.0 + 16.0 + 32.0 + 64.0 + 128.0]);
    let log = tester.log.borrow();
    let beyond = log.iter().filter(|event| matches!(event, Event::Constant(access) if !access.in_range()));
    assert_eq!(beyond.map(|event| event.access().index).collect::<Vec<_>>(), [8]);
}

#[test]
fn an_entry_has_the_kernels_name_and_arguments() {
    fn name<E: Entry<Args<'static> = A, Constants = C>, A: Argument, C: Argument>() -> &'static str {
        E::NAME
    }
    assert_eq!(name::<scale, Scaling<f32>, ()>(), "scale");
    assert_eq!(name::<weigh, Scaling<f32>, Table<f32, 8>>(), "weigh");
    // No build script has computed a digest here, so this kernel cannot be launched on a device.
    assert_eq!(scale::SOURCES, None);
}

arguments! {
    /// Arguments in arguments.
    pub struct Twice<'l> {
        /// A number, which is not a window.
        pub number: u64,
        /// Some windows.
        pub inner: Scaling<'l, f64>,
        /// One more.
        pub bytes: GlobalIn<'l, u8>,
    }
}

/// The launcher gets all memory that the kernel can reach.
#[test]
fn arguments_show_their_windows() {
    let inner = Scaling { input: input(0, 3), output: output(64, 2), count: in_out(128, 1), factor: 1.0, offset: 0 };
    let mut seen = Vec::new();
    Twice { number: GLOBAL, inner, bytes: input(256, 5) }
        .windows("args", &mut |name, window| seen.push((name, window)));
    let window = |kind, first, bytes, element_bytes| Window { kind, address: GLOBAL + first, bytes, element_bytes };
    let expected = [
        ("input", window(WindowKind::In, 0, 24, 8)),
        ("output", window(WindowKind::Out, 64, 16, 8)),
        ("count", window(WindowKind::InOut, 128, 4, 4)),
        ("bytes", window(WindowKind::In, 256, 5, 1)),
    ];
    assert_eq!(seen, expected);

    seen.clear();
    input::<f32>(0, u64::MAX).windows("args", &mut |name, window| seen.push((name, window)));
    GlobalOut::<f32>::empty().windows("none", &mut |name, window| seen.push((name, window)));
    WEIGHTS.windows("table", &mut |name, window| seen.push((name, window)));
    let nothing = Window { kind: WindowKind::Out, address: 0, bytes: 0, element_bytes: 4 };
    assert_eq!(seen, [("args", window(WindowKind::In, 0, u64::MAX, 4)), ("none", nothing)]);
}

/// The layout is C's: in order, each field aligned.
#[test]
fn arguments_have_the_layout_of_c() {
    type Args = Scaling<'static, f64>;
    let offsets = [offset_of!(Args, input), offset_of!(Args, output), offset_of!(Args, count)];
    assert_eq!(offsets, [0, 16, 32]);
    assert_eq!([offset_of!(Args, factor), offset_of!(Args, offset), size_of::<Args>()], [48, 56, 64]);
    assert_eq!(size_of::<Scaling<f32>>(), 56);
}

#[test]
fn windows_begin_at_multiples_of_16_bytes() {
    let tester = Tester::new(112, 0);
    let (bytes, rest) = tester.arena().split::<u8>(17);
    let (empty, rest) = rest.split::<f64>(0);
    let (floats, rest) = rest.split::<f32>(5);
    let (words, rest) = rest.split::<u64>(6);
    assert_eq!([bytes.len(), empty.len(), floats.len(), words.len()], [17, 0, 5, 6]);
    let (_, events) = tester.observe(|| (bytes.get(0), floats.get(0), words.get(0)));
    assert_eq!(events.iter().map(|event| event.access().base).collect::<Vec<_>>(), [0, 32, 64]);
    // Nothing is left.
    assert_eq!(rest.split::<u8>(0).0.len(), 0);
}

#[test]
fn a_split_is_reported_with_its_bytes() {
    let tester = Tester::new(112, 0);
    let arena = tester.arena();
    let ((_, rest), event) = tester.observe_one(|| arena.split::<u8>(17));
    assert!(matches!(event, Event::Split(0, 32, _)), "{event:?}");
    let (_, event) = tester.observe_one(|| rest.split::<u64>(3));
    assert!(matches!(event, Event::Split(32, 32, _)), "{event:?}");
}

#[test]
fn the_host_counts_as_the_kernel_splits() {
    let bytes = [shared_bytes::<u8>(0), shared_bytes::<u8>(1), shared_bytes::<f32>(4), shared_bytes::<f32>(5)];
    assert_eq!(bytes, [0, 16, 16, 32]);
    assert_eq!(shared_bytes::<f64>(u32::MAX.into()), 8 * u64::from(u32::MAX) + 8);
}

#[test]
fn bytes_beyond_64_bits_saturate() {
    assert_eq!(shared_bytes::<u8>(u64::MAX - 31), u64::MAX - 31);
    assert_eq!([u64::MAX - 15, u64::MAX - 14, u64::MAX].map(shared_bytes::<u8>), [u64::MAX; 3]);
    assert_eq!([1 << 61, (1 << 61) + 1, u64::MAX].map(shared_bytes::<f64>), [u64::MAX; 3]);
}

#[test]
fn a_window_that_does_not_fit_ends_the_kernel_with_both_sizes() {
    let message = message_of(|| {
        let (_, rest) = Tester::new(100, 0).arena().split::<f32>(8);
        let _ = rest.split::<f64>(9);
    });
    assert_eq!(message, "a window of 80 bytes does not fit into the 68 bytes of shared memory that are left");
    let message = message_of(|| drop(Tester::new(64, 0).arena().split::<f64>(u32::MAX)));
    assert_eq!(message, "a window of 34359738368 bytes does not fit into the 64 bytes of shared memory that are left");
}

#[test]
fn reuse_is_a_barrier_and_gives_the_windows_memory_back() {
    let tester = Tester::new(96, 0);
    let (first, rest) = tester.arena().split::<f32>(8);
    let (second, _) = rest.split::<u8>(3);
    let (again, event) = tester.observe_one(|| second.reuse());
    assert!(matches!(event, Event::Reuse(32, 16, _)), "{event:?}");
    let (window, rest) = again.split::<u16>(8);
    let (_, event) = tester.observe_one(|| window.get(0));
    assert_eq!(event.access().base, 32);
    // The arena has the window's memory, without the rest after it. The first window still exists.
    assert!(message_of(AssertUnwindSafe(|| drop(rest.split::<u8>(1)))).contains("the 0 bytes"));
    assert_eq!(first.len(), 8);
}

#[test]
fn a_cast_window_has_the_same_memory() {
    let tester = Tester::new(96, 0);
    let (_, rest) = tester.arena().split::<f32>(8);
    let (pairs, _) = rest.split::<u64>(3);
    tester.observe_one(|| pairs.set(1, 5 << 32));
    let words = pairs.cast::<u32>();
    let (word, event) = tester.observe_one(|| words.get(3));
    assert_eq!((words.len(), word, event.access().base), (6, 5, 32));
    assert_eq!(words.cast::<u64>().cast::<u8>().cast::<u64>().len(), 3);
}

/// Two windows on the same bytes would need two arenas or two copies of a window.
#[test]
fn arenas_and_windows_cannot_be_copied() {
    trait AmbiguousIfClone<A> {
        fn is_not_clone() {}
    }
    impl<T> AmbiguousIfClone<()> for T {}
    struct Cloneable;
    impl<T: Clone> AmbiguousIfClone<Cloneable> for T {}
    // These lines do not compile for a type that is `Clone`, so neither for one that is `Copy`.
    <Arena as AmbiguousIfClone<_>>::is_not_clone();
    <Shared<f32> as AmbiguousIfClone<_>>::is_not_clone();
}

#[test]
fn without_a_machine_every_accessor_says_so() {
    let without: [fn(); 12] = [
        || _ = thread::thread_idx_x(),
        || thread::sync_threads(),
        || _ = input::<f32>(0, 4).get(0),
        || output::<f32>(0, 4).set(0, 1.0),
        || _ = in_out::<u32>(0, 4).fetch_add(0, 1, Ordering::Relaxed),
        || _ = warp::ballot(warp::FULL, true),
        || warp::sync_warp(warp::FULL),
        || _ = warp::mma_m8n8k16_s8(0, 0, [0, 0]),
        || _ = warp::mma_m16n8k32_u8([0; 4], [0; 2], [0; 4]),
        || _ = warp::lane(),
        || fence::fence_device(),
        || scale::run(scaling(0).1, ()),
    ];
    for work in without {
        assert_eq!(
            message_of(work),
            "this is GPU code: on the host it runs only inside a machine (cuda_std::host::with), and none is installed"
        );
    }
}

/// Returns a machine whose lane is its number.
fn numbered(lane: u32) -> Rc<dyn Machine> {
    let tester = Tester::new(0, 0);
    tester.lane.set(lane);
    tester
}

#[test]
fn machines_nest_and_are_restored() {
    let lanes = with(numbered(1), || {
        let before = warp::lane();
        let inner = with(numbered(2), warp::lane);
        [before, inner, warp::lane()]
    });
    assert_eq!(lanes, [1, 2, 1]);
    assert!(catch_unwind(warp::lane).is_err());
}

#[test]
fn machines_are_restored_after_a_panic() {
    let lane = with(numbered(1), || {
        let failed = catch_unwind(|| with(numbered(2), || panic!("in the kernel")));
        assert!(failed.is_err());
        warp::lane()
    });
    assert_eq!(lane, 1);
    assert!(catch_unwind(|| with(numbered(3), || panic!("in the kernel"))).is_err());
    assert!(catch_unwind(warp::lane).is_err());
}

/// Each OS thread has its own machine.
#[test]
fn machines_belong_to_threads() {
    with(numbered(1), || {
        let elsewhere = std::thread::spawn(|| (catch_unwind(warp::lane).is_err(), with(numbered(2), warp::lane)));
        assert_eq!(elsewhere.join().unwrap(), (true, 2));
        assert_eq!(warp::lane(), 1);
    });
}

/// The product's low half is lost if it is rounded before the sum.
#[test]
fn fma_rounds_once() {
    let (x, y) = (1.0 + f32::EPSILON, 1.0 + f64::EPSILON);
    assert_eq!(math::fma(x, x, -(x * x)), f32::EPSILON * f32::EPSILON);
    assert_eq!(math::fma(y, y, -(y * y)), f64::EPSILON * f64::EPSILON);
}

/// Windows with invalid addresses are harmless: only the machine uses the address.
#[test]
fn addresses_are_not_followed() {
    let tester = Tester::new(0, 8);
    let (value, event) = tester.observe_one(|| input::<f64>(0, 1).get(0));
    assert_eq!((value, event.access().address()), (0.0, GLOBAL));
}
