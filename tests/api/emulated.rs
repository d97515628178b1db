//! Emulated devices as devices: what they say of themselves, have and refuse. Results are the matter of the suite
//! `filter1d`.

use slm::banks::Accumulation;
use slm::emulator::{Action, Profile, Space};
use slm::filter1d::{Filter1dAlgorithm, HaloLoad, PreparedFilter1d};
use slm::{Backend, Device, Error, Filter1d, Histogram, Transpose};
use std::collections::BTreeSet;

/// The sum of each sample and its two neighbours.
fn sum_of_three(device: &Device) -> PreparedFilter1d<i32> {
    Filter1d::correlate(&[1, 1, 1]).prepare(device).unwrap()
}

/// The small one has 64 KiB of shared memory.
#[test]
fn too_much_shared_memory() {
    let device = Device::emulated(Profile::SMALL, 0);
    let tile = Filter1d::correlate(&vec![1; 20_000]).algorithm(Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative));
    let kernel = "filter1d_tile_i32".to_owned();
    // All taps, and 256 samples and a halo, rounded up to 16 bytes.
    let requested = 4 * (20_000 + 20_256);
    assert_eq!(tile.prepare(&device).err(), Some(Error::SharedMemoryExceeded { kernel, requested, available: 65_536 }));
    assert_eq!(sum_of_three(&device).apply(&[1, 2, 3]), Ok(vec![3, 6, 5]));
}

/// None has more than 256 MiB of its own.
#[test]
fn too_much_memory() {
    let device = Device::emulated(Profile::SM_90, 0);
    let mut buffer = device.upload(&[1u64, 2, 3, 4]).unwrap();
    let error = |requested| Some(Error::OutOfDeviceMemory { requested, available: Some((256 << 20) - 32) });
    assert_eq!(device.zeroed::<f64>(1 << 25).err(), error(1 << 28));
    assert_eq!(device.zeroed::<u8>(isize::MAX as usize).err(), error(isize::MAX as u64));
    buffer.upload(&[5, 6, 7, 8]).unwrap();
    let mut copy = device.zeroed(4).unwrap();
    copy.copy_from(&buffer).unwrap();
    assert_eq!(copy.download(), Ok(vec![5, 6, 7, 8]));
}

#[test]
fn buffers_of_another_handle() {
    let (emulated, cpu) = (Device::emulated(Profile::SM_75, 1), Device::cpu());
    let [mut output, input] = [&emulated, &cpu].map(|device| device.upload(&[1, 2, 3]).unwrap());
    let (expected, actual) = ("emulated sm_75".to_owned(), "CPU".to_owned());
    let error = |operand| Err(Error::DeviceMismatch { operand, expected: expected.clone(), actual: actual.clone() });
    assert_eq!(output.copy_from(&input), error("the source"));
    assert_eq!(sum_of_three(&emulated).apply_into(&input, &mut output), error("the input"));
    assert_eq!(output.download(), Ok(vec![1, 2, 3]));
}

/// What an emulated device says, and that reports are of what was asked for.
#[test]
fn an_emulated_device() {
    let device = Device::named("emulated:sm_80:12").unwrap();
    let info = device.info();
    assert_eq!(
        (info.backend, &*info.name, &*info.selection),
        (Backend::Emulated, "emulated sm_80", "emulated:sm_80:12")
    );
    assert_eq!((device.to_string(), info.processors, info.compute_capability), (info.name.clone(), 1, None));
    let shared = info.shared_memory.unwrap();
    assert_eq!((shared.default_per_block, shared.max_per_block, shared.banks), (48 << 10, 163 << 10, 32));
    let filter = sum_of_three(&device);
    let plan = filter.plan([1000]).unwrap();
    assert_eq!((&*plan.kernels().join(", "), plan.launches[0].residency), ("filter1d_register_rows_i32", None));
    assert!(device.emulation_reports().is_empty());
    let ((), _) = device.time(|| filter.apply(&[1; 1000]).map(drop)).unwrap();
    device.synchronize().unwrap();
    let [report] = &device.emulation_reports()[..] else { panic!() };
    assert_eq!((&*plan.kernels().join(", "), report.profile, report.launch.seed), (report.kernel, "sm_80", 12));
    let grid = report.launch.grid.map(u64::from);
    assert_eq!((grid, report.launch.block), (plan.launches[0].grid, plan.launches[0].block));
    device.reset_emulation_reports();
    assert!(device.emulation_reports().is_empty() && Device::cpu().emulation_reports().is_empty());
}

/// A launch counts 2 GiB of samples. None, one launch, one sample more, and more than there can be.
#[test]
fn plans_of_histograms() {
    let device = Device::emulated(Profile::SM_90, 0);
    let bytes = Histogram::bytes().prepare(&device).unwrap();
    let launches = |samples| bytes.plan([samples]).unwrap().launches.first().map_or(0, |launch| launch.times);
    let all = (usize::MAX as u64).div_ceil(1 << 31);
    assert_eq!([0, 1 << 31, (1 << 31) + 1, usize::MAX].map(launches), [0, 1, 2, all]);
    let numbers = Histogram::even(1 << 20, 0.0f64..1.0).prepare(&device).unwrap();
    assert_eq!(numbers.plan([usize::MAX]).unwrap().launches[0].times, 8 * all);
    // And 2^30 weights: a single launch in one pass, or more in each of two passes.
    let weighings = |samples| {
        let plan = numbers.weighted_plan([samples]).unwrap();
        plan.launches.iter().map(|launch| launch.times).collect::<Vec<_>>()
    };
    let all = (usize::MAX as u64).div_ceil(1 << 30);
    assert_eq!(weighings(1 << 30), [1]);
    assert_eq!([(1 << 30) + 1, usize::MAX].map(weighings), [2, all].map(|times| vec![times; 2]));
}

#[test]
fn threads_share_an_emulated_device() {
    let device = Device::emulated(Profile::SM_90, 0);
    let filter = sum_of_three(&device);
    std::thread::scope(|scope| {
        for k in 0..4 {
            let filter = &filter;
            scope.spawn(move || assert_eq!(filter.apply(&[k, 1, 2]), Ok(vec![k + 1, k + 3, 3])));
        }
    });
    assert_eq!(device.emulation_reports()[0].launches, 4);
}

/// Operations whose blocks may have more to do than any kernel may say how much that is; other numbers of taps and
/// iterations only go by the same formulas.
#[test]
fn launches_know_their_steps() {
    let device = Device::emulated(Profile::SM_90, 0);
    let taps = [1i32; 4001];
    let filter = Filter1d::correlate(&taps).algorithm(Filter1dAlgorithm::GlobalMemory).prepare(&device).unwrap();
    assert_eq!(filter.apply(&[1; 256]), Ok(vec![256; 256]));
    Accumulation { stride: 1, iterations: 1000, factor: 1 }.run(&device).unwrap();
    let budgets: Vec<_> = device.emulation_reports().iter().map(|report| report.launch.budget).collect();
    // Of the taps, 511 meet samples, and two are the sums of those that meet none.
    assert_eq!(budgets, [Some(256 * (2 * (511 + 2) + 2)), Some(32 * (3 * 1000 + 16))]);
}

/// Global accesses to contiguous lines are coalesced: a warp's store of 32 neighbouring floats is four sectors, and its load
/// five at the most, if it begins inside one.
#[test]
fn contiguous_lines_are_coalesced() {
    let device = Device::emulated(Profile::SM_90, 0);
    let filter = Filter1d::correlate(&[1.0f32; 9]).algorithm(Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative));
    filter.prepare(&device).unwrap().apply(&[1.0; 2048]).unwrap();
    let [report] = &device.emulation_reports()[..] else { panic!() };
    let stores = report.counts(Action::Store, Some(Space::Global));
    assert_eq!((stores.requests, stores.lanes, stores.sectors), (64, 2048, 256), "{report}");
    let loads = report.counts(Action::Load, Some(Space::GlobalConstant));
    assert!(loads.sectors <= 5 * loads.requests, "{report}");
}

/// Square matrices in one launch, others in as many as they have parts; what is launched is what was planned.
#[test]
fn plans_of_transpositions_in_place() {
    let device = Device::emulated(Profile::SM_90, 0);
    // Bytes that each method reads and writes, in copies of the matrices: tiles are swapped; columns are permuted through other memory,
    // rows are not; squares are transposed, then moved.
    let square = (40, 40, vec!["transpose_swap_packed_2"], 1.0..=1.0);
    // All panels are equally wide here, and their launches have one entry for each kernel.
    let [rotate, gather, shuffle] = ["transpose_rotate_u16", "transpose_gather_u16", "transpose_shuffle_u16"];
    let permuted = (48, 36, vec![rotate, gather, shuffle], 5.0..=5.0);
    let without_rotation = (49, 36, vec![shuffle, rotate, gather], 3.0..=3.0);
    let chunks = ["transpose_swap_packed_2", "transpose_save_chunks", "transpose_rotate_chunks"];
    let moved = (192, 128, chunks.to_vec(), 1.9..=2.1);
    for (rows, columns, kernels, copies) in [square, permuted, without_rotation, moved] {
        let transpose = Transpose::<u16>::new(rows, columns).batch(3).prepare_in_place(&device).unwrap();
        let plan = transpose.plan().unwrap();
        let mut data = device.upload(&vec![7u16; 3 * rows * columns]).unwrap();
        device.reset_emulation_reports();
        transpose.apply(&mut data).unwrap();
        assert_eq!(plan.kernels(), kernels, "{plan}");
        let reports = device.emulation_reports();
        for report in &reports {
            let planned = plan.launches.iter().filter(|launch| launch.kernel == report.kernel);
            let times: u64 = planned.map(|launch| launch.times).sum();
            assert_eq!((report.kernel, report.launches), (report.kernel, times), "{plan}");
        }
        let names: BTreeSet<_> = plan.kernels().into_iter().collect();
        assert_eq!(names.len(), reports.len(), "{plan}");
        let moved: u64 = plan.launches.iter().map(|launch| launch.moved_bytes).sum();
        let once = (2 * 2 * 3 * rows * columns) as f64;
        assert!(copies.contains(&(moved as f64 / once)), "{plan}");
        assert_eq!(plan.to_string().lines().count(), 4 + plan.launches.len(), "{plan}");
    }
    for (rows, columns) in [(1, 5), (0, 5)] {
        let nothing = Transpose::<f64>::new(rows, columns).prepare_in_place(&device).unwrap().plan().unwrap();
        assert_eq!(nothing.launches, []);
    }
    assert_eq!(Transpose::<u8>::new(2, 3).prepare_in_place(&Device::cpu()).unwrap().plan().unwrap().launches, []);
}
