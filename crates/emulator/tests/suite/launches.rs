//! Launches: limits of the device, and indices of the threads.

use cuda_std::{GlobalOut, arguments, kernel, thread};
use emulator::{Emulator, Launch, LaunchError, Limit, Profile};

arguments! {
    /// Arguments of `who` and `constants`.
    pub struct Place<'l> {
        /// One element for each thread.
        pub output: GlobalOut<'l, u32>,
    }
}

kernel! {
    /// Each thread writes its indices.
    pub fn who<'l>(_arena, args: Place<'l>) {
        let (x, y, z) = (thread::thread_idx_x(), thread::thread_idx_y(), thread::thread_idx_z());
        let (bx, by, bz) = (thread::block_idx_x(), thread::block_idx_y(), thread::block_idx_z());
        let block = (bz * thread::grid_dim_y() + by) * thread::grid_dim_x() + bx;
        let t = (z * thread::block_dim_y() + y) * thread::block_dim_x() + x;
        let threads = thread::block_dim_x() * thread::block_dim_y() * thread::block_dim_z();
        args.output.set((block * threads + t).into(), x | y << 4 | z << 8 | bx << 12 | by << 16 | bz << 20);
    }
}

#[test]
fn every_thread_of_every_block_runs_once() {
    let mut emulator = Emulator::new(Profile::SM_75);
    let output = emulator.allocate(3 * 4 * 2 * 5 * 7 * 3);
    let launch = Launch::new([3, 4, 2], [5, 7, 3]);
    let report = emulator.launch::<who>(launch, Place { output: output.output() }, ()).unwrap();
    // A thread that ran twice would cause a race.
    assert!(report.is_clean(), "{report}");
    let expected =
        (0..2u32).flat_map(|bz| (0..4).flat_map(move |by| (0..3).map(move |bx| bx << 12 | by << 16 | bz << 20)));
    let expected = expected.flat_map(|block| {
        (0..3u32).flat_map(move |z| (0..7).flat_map(move |y| (0..5).map(move |x| block | x | y << 4 | z << 8)))
    });
    assert_eq!(emulator.download(&output), expected.collect::<Vec<u32>>());
}

fn refusal(profile: Profile, launch: Launch) -> LaunchError {
    let mut emulator = Emulator::new(profile);
    let output = emulator.allocate(1);
    emulator.launch::<who>(launch, Place { output: output.output() }, ()).expect_err("more than is allowed")
}

#[test]
fn the_limits_of_the_device() {
    let one = Launch::new([1; 3], [1; 3]);
    let cases = [
        (Launch { grid: [1 << 31, 1, 1], ..one }, "a launch of 2147483648 blocks along x; sm_75 allows 2147483647"),
        (Launch { grid: [1, 65536, 1], ..one }, "a launch of 65536 blocks along y; sm_75 allows 65535"),
        (Launch { grid: [1, 1, 65536], ..one }, "a launch of 65536 blocks along z; sm_75 allows 65535"),
        (Launch { block: [1025, 1, 1], ..one }, "a launch of 1025 threads of a block along x; sm_75 allows 1024"),
        (Launch { block: [1, 1025, 1], ..one }, "a launch of 1025 threads of a block along y; sm_75 allows 1024"),
        (Launch { block: [1, 1, 65], ..one }, "a launch of 65 threads of a block along z; sm_75 allows 64"),
        (Launch { block: [32, 33, 1], ..one }, "a launch of 1056 threads of a block; sm_75 allows 1024"),
        (Launch::new([1; 3], [u32::MAX; 3]), "a launch of 4294967295 threads of a block along x; sm_75 allows 1024"),
        (one.shared_bytes(65537), "a launch of 65537 bytes of shared memory of a block; sm_75 allows 65536"),
        (Launch { block: [0, 1, 1], ..one }, "a launch of 0 threads of a block along x"),
        (Launch { grid: [1, 0, 1], ..one }, "a launch of 0 blocks along y"),
    ];
    for (launch, text) in cases {
        assert_eq!(refusal(Profile::SM_75, launch).to_string(), text);
    }
    let shared = refusal(Profile::SM_80, one.shared_bytes(164 << 10));
    let expected =
        LaunchError::TooMuch { limit: Limit::SharedBytes, requested: 164 << 10, most: 163 << 10, profile: "sm_80" };
    assert_eq!(shared, expected);
}

kernel! {
    /// Has more bytes of parameters than the device allows.
    pub fn constants<'l>(_arena, args: Place<'l>, table: Constants<u32, 1024>) {
        let [a, _] = table.pack::<2>(0);
        args.output.set(0, a);
    }
}

#[test]
fn too_many_parameters() {
    let mut emulator = Emulator::new(Profile::SM_90);
    let output = emulator.allocate(1);
    let table = cuda_std::Table([0; 1024]);
    let error = emulator.launch::<constants>(Launch::new([1; 3], [1; 3]), Place { output: output.output() }, table);
    assert_eq!(error.unwrap_err().to_string(), "a launch of 4112 bytes of parameters; sm_90 allows 4096");
    // The emulator is unchanged.
    assert_eq!(emulator.first_unwritten(&output), Some(0));
}

#[test]
#[should_panic = "the buffer has been freed, or is another emulator's"]
fn buffers_belong_to_their_emulator() {
    let buffer = Emulator::new(Profile::SM_90).upload(&[1u32]);
    let _ = Emulator::new(Profile::SM_90).download(&buffer);
}

/// Windows on a whole buffer, and on a part of it.
#[test]
fn windows_on_buffers() {
    let buffer = Emulator::new(Profile::SM_90).upload(&[1u32; 10]);
    assert_eq!([buffer.len() as u64, buffer.input().len(), buffer.in_out().len(), buffer.output().len()], [10; 4]);
    assert_eq!([4, 11].map(|first| buffer.input().slice(first, u64::MAX).len()), [6, 0]);
}

/// Emulators are independent of each other and can be moved to other threads.
#[test]
fn emulators_work_side_by_side() {
    let work = |n: u32| {
        let mut emulator = Emulator::new(Profile::SM_90);
        let output = emulator.allocate(n as usize);
        let launch = Launch::new([1, 1, 1], [n, 1, 1]);
        let run = move || {
            let report = emulator.launch::<who>(launch, Place { output: output.output() }, ()).unwrap();
            (report.is_clean(), emulator.download(&output).len())
        };
        (n, std::thread::spawn(run))
    };
    for (n, thread) in [32, 100, 1024].map(work) {
        assert_eq!(thread.join().unwrap(), (true, n as usize));
    }
}
