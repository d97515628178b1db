//! Counts of requests, wavefronts and sectors, for accesses with known costs. They do not depend on the order of the
//! threads.

mod lanes;

use cuda_std::host::Space;
use cuda_std::{Entry, GlobalIn, GlobalInOut, Ordering, arguments, kernel, thread, warp};
use emulator::{Action, Counts, Emulator, Launch, Problem, Profile, Report};

arguments! {
    /// Arguments of the kernels.
    pub struct Numbers<'l> {
        /// 4096 numbers: element `i` is `i`.
        pub input: GlobalIn<'l, u32>,
        /// 4096 zeros.
        pub output: GlobalInOut<'l, u32>,
        /// A parameter of the kernel.
        pub choice: u32,
    }
}

/// Runs a kernel in ten orders of the threads, checks that all reports have the same counts, and returns one of them.
#[track_caller]
fn run<E: for<'l> Entry<Args<'l> = Numbers<'l>, Constants = ()>>(
    profile: Profile,
    threads: u32,
    choice: u32,
) -> Report {
    let reports = (0..10).map(|seed| {
        let mut emulator = Emulator::new(profile);
        let numbers: Vec<u32> = (0..4096).collect();
        let (input, output) = (emulator.upload(&numbers), emulator.upload(&[0u32; 4096]));
        let args = Numbers { input: input.input(), output: output.in_out(), choice };
        let launch = Launch::new([1, 1, 1], [threads, 1, 1]).shared_bytes(1 << 15).seed(seed);
        let report = emulator.launch::<E>(launch, args, ()).expect("within the limits");
        assert!(report.is_clean(), "{report}");
        report
    });
    let reports: Vec<Report> = reports.collect();
    reports.iter().for_each(|report| assert_eq!(report.sites, reports[0].sites, "{report}"));
    reports.into_iter().next().expect("ten of them")
}

/// Returns the requests, lanes, wavefronts and bank conflicts of an action on shared memory.
#[track_caller]
fn shared(report: &Report, action: Action) -> [u64; 4] {
    let Counts { requests, lanes, wavefronts, .. } = report.counts(action, Some(Space::Shared));
    [requests, lanes, wavefronts, report.counts(action, Some(Space::Shared)).bank_conflicts()]
}

kernel! {
    /// Thread `t` stores element `t * choice`.
    pub fn strided<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(8192);
        tile.set(thread::thread_idx_x() * args.choice % 8192, 1);
    }
}

kernel! {
    /// Each thread stores a word, then adds to a word of its warp. The clock is read before, between and after.
    pub fn timed<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(8192);
        let t = thread::thread_idx_x();
        let begin = thread::clock();
        tile.set(t * args.choice % 8192, 0);
        thread::sync_threads();
        let middle = thread::clock();
        tile.add(t / 32 * args.choice % 8192, 1, Ordering::Relaxed);
        thread::sync_threads();
        let end = thread::clock();
        for (k, time) in (0..).zip([begin, middle, end]) {
            args.output.set(3 * u64::from(t) + k, time as u32);
        }
    }
}

/// The clock counts the passes of all warps of the block up to the last barrier.
#[test]
fn the_clock_counts_passes() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let (input, output) = (emulator.upload(&[0u32]), emulator.upload(&[0u32; 192]));
    let args = Numbers { input: input.input(), output: output.in_out(), choice: 16 };
    let launch = Launch::new([1, 1, 1], [64, 1, 1]).shared_bytes(1 << 15);
    let report = emulator.launch::<timed>(launch, args, ()).expect("within the limits");
    assert!(report.is_clean(), "{report}");
    let times = emulator.download(&output);
    // The minimum over all threads: another warp may have continued before a thread reads the clock.
    let first = |k| times.chunks(3).map(|times: &[u32]| times[k]).min();
    assert_eq!([0, 1, 2].map(first), [Some(0), Some(32), Some(96)], "{times:?}");
    assert!(times.chunks(3).all(|times| times[2] == 96), "{times:?}");
    assert_eq!(report.counts(Action::Atomic, Some(Space::Shared)).passes, 64);
}

kernel! {
    /// Waits for the clock to advance.
    pub fn waiting<'l>(_arena, _args: Numbers<'l>) {
        while thread::clock() == 0 {}
    }
}

/// The clock does not advance without accesses.
#[test]
fn waiting_for_the_clock_exhausts_the_budget() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let (input, output) = (emulator.upload(&[0u32]), emulator.upload(&[0u32]));
    let args = Numbers { input: input.input(), output: output.in_out(), choice: 0 };
    let launch = Launch::new([1, 1, 1], [1, 1, 1]).budget(1000);
    let report = emulator.launch::<waiting>(launch, args, ()).expect("within the limits");
    assert!(matches!(report.findings[0].problem, Problem::OutOfSteps { budget: 1000, .. }), "{report}");
}

#[test]
fn strides_in_shared_memory() {
    let stores = |profile, threads, stride| shared(&run::<strided>(profile, threads, stride), Action::Store);
    assert_eq!(stores(Profile::SM_80, 64, 1), [2, 64, 2, 0]);
    assert_eq!(stores(Profile::SM_80, 64, 2), [2, 64, 4, 2]);
    assert_eq!(stores(Profile::SM_80, 64, 33), [2, 64, 2, 0]);
    assert_eq!(stores(Profile::SM_80, 64, 32), [2, 64, 64, 62]);
    // A partial warp, and 16 banks.
    assert_eq!(stores(Profile::SM_80, 40, 32), [2, 40, 40, 38]);
    assert_eq!(stores(Profile::SMALL, 32, 1), [1, 32, 2, 0]);
    assert_eq!(stores(Profile::SMALL, 32, 2), [1, 32, 4, 2]);
}

kernel! {
    /// Each lane stores 16 bytes and loads them again. Lanes are `choice` times 16 bytes apart.
    pub fn fours<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(4096);
        let t = thread::thread_idx_x();
        tile.set_pack(4 * t * args.choice, [t; 4]);
        args.output.set(t.into(), tile.get_pack::<4>(4 * t * args.choice)[0]);
    }
}

#[test]
fn sixteen_bytes_are_served_by_quarters() {
    for (apart, wavefronts) in [(1, 4), (7, 4), (2, 8), (4, 16), (8, 32)] {
        let report = run::<fours>(Profile::SM_90, 32, apart);
        assert_eq!(shared(&report, Action::Store), [1, 32, wavefronts, wavefronts - 4], "{report}");
        assert_eq!(shared(&report, Action::Load), [1, 32, wavefronts, wavefronts - 4], "{report}");
    }
}

kernel! {
    /// All lanes load the same elements, more than a lane can be ahead of the others.
    pub fn broadcast<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(1024);
        let t = thread::thread_idx_x();
        for k in 0..1024 / 64 {
            tile.set(64 * k + t, t);
        }
        thread::sync_threads();
        let mut sum = 0;
        for k in 0..1000 {
            sum += tile.get(k);
        }
        args.output.set(t.into(), sum);
    }
}

#[test]
fn broadcasts_are_one_wavefront() {
    let report = run::<broadcast>(Profile::SM_80, 64, 0);
    assert_eq!(shared(&report, Action::Load), [2000, 64000, 2000, 0], "{report}");
    assert_eq!(report.counts(Action::Barrier, None).requests, 2);
}

kernel! {
    /// A histogram with `choice` bins.
    pub fn histogram<'l>(arena, args: Numbers<'l>) {
        let (bins, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        bins.set(t, 0);
        thread::sync_threads();
        for k in 0..100 {
            bins.fetch_add((t * 7 + k * k) % args.choice, 1, Ordering::Relaxed);
        }
    }
}

#[test]
fn atomic_operations_have_a_degree() {
    for (bins, degree) in [(1, 32), (2, 16), (32, 1)] {
        let report = run::<histogram>(Profile::SM_80, 64, bins);
        let counts = report.counts(Action::Atomic, Some(Space::Shared));
        assert_eq!((counts.requests, counts.lanes, counts.degree), (200, 6400, degree), "{report}");
        assert_eq!(counts.bank_conflicts(), 0, "{report}");
    }
}

kernel! {
    /// Thread `t` loads element `t * choice`.
    pub fn gather<'l>(_arena, args: Numbers<'l>) {
        let t = thread::thread_idx_x();
        args.output.set(t.into(), args.input.get(u64::from(t * args.choice)));
    }
}

#[test]
fn sectors_of_global_memory() {
    for (stride, sectors) in [(1, 8), (2, 16), (8, 64), (40, 64), (0, 2)] {
        let report = run::<gather>(Profile::SM_80, 64, stride);
        let loads = report.counts(Action::Load, Some(Space::GlobalConstant));
        assert_eq!((loads.requests, loads.lanes, loads.sectors), (2, 64, sectors), "{report}");
        assert_eq!(report.counts(Action::Store, Some(Space::Global)).sectors, 8);
    }
}

kernel! {
    /// A masked store that half of the lanes leave out, a masked load, and warp operations.
    pub fn masked<'l>(_arena, args: Numbers<'l>) {
        let t = thread::thread_idx_x();
        args.output.set_if(t.is_multiple_of(2), t.into(), 1);
        let _ = args.input.get_or(4000 + 4 * u64::from(t), 0);
        warp::sync_warp(warp::FULL);
        let _ = warp::ballot(warp::FULL, true);
    }
}

#[test]
fn accesses_left_out_are_counted_separately() {
    let report = run::<masked>(Profile::SM_80, 64, 0);
    let stores = report.counts(Action::Store, Some(Space::Global));
    assert_eq!((stores.requests, stores.lanes, stores.left_out), (2, 32, 32), "{report}");
    let loads = report.counts(Action::Load, Some(Space::GlobalConstant));
    assert_eq!((loads.requests, loads.lanes, loads.left_out), (1, 24, 40), "{report}");
    assert_eq!(report.counts(Action::SyncWarp, None).requests, 2);
    assert_eq!(report.counts(Action::Exchange, None).lanes, 64);
}

kernel! {
    /// Warp `w` stores `w + 1` times, with a stride of `choice` to the power of `w`.
    pub fn by_warp<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(8192);
        let (warp, lane) = (thread::thread_idx_x() / 32, thread::thread_idx_x() % 32);
        for k in 0..warp + 1 {
            tile.set(256 * (4 * warp + k) + lane * args.choice.pow(warp), k);
        }
    }
}

/// The counts of a warp are summed over all blocks.
#[test]
fn warps_are_counted_separately() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let (input, output) = (emulator.upload(&[0]), emulator.upload(&[0]));
    let args = Numbers { input: input.input(), output: output.in_out(), choice: 2 };
    let launch = |blocks, threads| Launch::new([blocks, 1, 1], [threads, 1, 1]).shared_bytes(1 << 15);
    let mut report = emulator.launch::<by_warp>(launch(5, 96), args, ()).unwrap();
    // Other launches may have more or fewer warps.
    report.add(emulator.launch::<by_warp>(launch(1, 128), args, ()).unwrap());
    report.add(emulator.launch::<by_warp>(launch(1, 32), args, ()).unwrap());
    let [site] = &report.sites[..] else { panic!("{report}") };
    let of = |counts: &Counts| [counts.requests, counts.lanes, counts.wavefronts];
    let warps: Vec<_> = site.warps.iter().map(of).collect();
    assert_eq!(warps, [[7, 224, 7], [12, 384, 24], [18, 576, 72], [4, 128, 32]], "{report}");
    let sum = site.warps.iter().copied().sum::<Counts>();
    assert_eq!((sum, sum.requests), (site.counts, 41), "{report}");
}

/// The table of a site has a row for each warp.
#[test]
fn warps_are_a_table() {
    let report = run::<strided>(Profile::SM_80, 40, 32);
    let text = report.sites[0].by_warp().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("{}  shared store, 4 bytes", report.sites[0].at));
    assert!(lines[1].starts_with("           requests      lanes"), "{text}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[2]), ["warp", "0", "1", "32", "32", "31"]);
    assert_eq!((words(lines[3]), lines.len()), (words("warp 1 1 8 8 7"), 4), "{text}");
}

kernel! {
    /// All warps wait at a barrier, and the second warp also waits for its lanes.
    pub fn waits<'l>(_arena, _args: Numbers<'l>) {
        thread::sync_threads();
        if thread::thread_idx_x() >= 32 {
            warp::sync_warp(warp::FULL);
        }
    }
}

#[test]
fn waits_are_counted_by_warp() {
    let report = run::<waits>(Profile::SM_80, 64, 0);
    let requests = |action| {
        let site = report.sites.iter().find(|site| site.action == action);
        site.map(|site| site.warps.iter().map(|counts| counts.requests).collect())
    };
    assert_eq!([requests(Action::Barrier), requests(Action::SyncWarp)], [Some(vec![1, 1]), Some(vec![0, 1])]);
}

/// The table of a report has a row for each site.
#[test]
fn a_report_is_a_table() {
    let text = run::<strided>(Profile::SM_80, 64, 2).to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "strided on sm_80: grid [1, 1, 1], block [64, 1, 1], 32768 bytes of shared memory, seed 0");
    assert_eq!(lines[1], "nothing found");
    assert!(lines[2].ends_with("requests      lanes   left out wavefronts  conflicts    sectors     degree"), "{text}");
    let words: Vec<&str> = lines[3].split_whitespace().collect();
    assert!(words[0].starts_with("crates/emulator/tests/suite/counts.rs:"), "{text}");
    assert_eq!(words[1..], ["shared", "store,", "4", "bytes", "2", "64", "4", "2"]);
}
