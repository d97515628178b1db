//! Matrices that are not square, in place: every way to permute them, with units and elements of all sizes.

use super::oracle::{Bits, Matrices};
use super::{SUITE, matrices_in_place};
use crate::common::{ensure, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::emulator::{Action, Profile, Report, Space};
use slm::{Backend, Device, Transpose};

/// Rows, columns and matrices. Their greatest common divisors are 1, 2, 3, 7, 12, 32, 64 and the smaller side.
const SHAPES: [[usize; 3]; 14] = [
    [129, 40, 1],
    [40, 129, 2],
    [257, 66, 1],
    [66, 256, 1],
    [2, 3, 5],
    [2, 64, 2],
    [64, 2, 2],
    [57, 6, 1],
    [35, 21, 2],
    [36, 48, 3],
    [96, 160, 1],
    [160, 96, 2],
    [128, 192, 1],
    [63, 126, 1],
];

/// Rows and columns of bytes whose rows are as long as the shared memory of compute capability 7.5 and 9.0, and one byte longer.
const LONG_ROWS: [[usize; 2]; 4] = [[3, 64 << 10], [3, (64 << 10) + 1], [3, 227 << 10], [2, (227 << 10) + 1]];

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("transpose::emulated::long_rows_in_place", long_rows_on_a_small_device),
        Trial::test("transpose::emulated::conflicts_of_permutations", conflicts_of_permutations),
    ];
    trials.extend(on_every_backend(SUITE, "plans_of_many_in_place", plans_of_many));
    trials.extend(of_type::<u8>("u8", &[1, 3, 16]));
    trials.extend(of_type::<u16>("u16", &[1, 5]));
    trials.extend(of_type::<u32>("u32", &[1, 2, 9]));
    trials.extend(of_type::<u64>("u64", &[1, 3, 16]));
    trials.extend(
        on_every_backend(SUITE, "long_rows_in_place", long_rows)
            .into_iter()
            .filter(|trial| !trial.name().contains("::emulated::")),
    );
    trials
}

/// More matrices than memory can have, in so many launches that counting them one by one would take hours.
fn plans_of_many(device: &Device) -> Result<(), Failed> {
    for ([rows, columns], bytes) in [([3, 3], 144), ([2, 3], 96)] {
        let transpose = Transpose::<u16>::new(rows, columns).components(8).batch(1 << 49).prepare_in_place(device)?;
        let launches = transpose.plan()?.launches;
        let moved: u64 = launches.iter().map(|launch| launch.moved_bytes).sum();
        let is_cpu = device.info().backend == Backend::Cpu;
        ensure(is_cpu || moved >= bytes << 49, || format!("{rows} x {columns}: {launches:?}"))?;
        equal(launches.is_empty(), is_cpu)?;
    }
    Ok(())
}

fn of_type<T: Bits>(name: &str, components: &[usize]) -> Vec<Trial> {
    let of_components = |&components: &usize| {
        let name = format!("{name}::components_{components}::oblong_in_place");
        on_every_backend(SUITE, &name, move |device| of_every_shape::<T>(device, components))
    };
    components.iter().flat_map(of_components).collect()
}

fn of_every_shape<T: Bits>(device: &Device, components: usize) -> Result<(), Failed> {
    for [rows, columns, count] in SHAPES {
        // Emulated accesses are slow.
        if is_slow(device) && rows * columns * count * components > 60_000 {
            continue;
        }
        of_shape::<T>(device, [rows, columns, count, components])?;
    }
    Ok(())
}

fn of_shape<T: Bits>(device: &Device, shape: [usize; 4]) -> Result<(), Failed> {
    let [rows, columns, count, components] = shape;
    let input = Matrices::<T>::new([count * rows, columns * components], 0, 1);
    matrices_in_place(device, shape, &input).map_err(|e| format!("{shape:?}: {e}"))?;
    Ok(())
}

fn long_rows(device: &Device) -> Result<(), Failed> {
    LONG_ROWS.iter().try_for_each(|&[rows, columns]| of_shape::<u8>(device, [rows, columns, 1, 1]))
}

/// Rows that fit into shared memory are shuffled there; longer ones through other memory.
fn long_rows_on_a_small_device() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_75, 0);
    for ([rows, columns], kernel) in LONG_ROWS.into_iter().zip(["transpose_shuffle_u8", "transpose_permute_u8"]) {
        let plan = Transpose::<u8>::new(rows, columns).prepare_in_place(&device)?.plan()?;
        ensure(plan.kernels().contains(&kernel), || plan.to_string())?;
        of_shape::<u8>(&device, [rows, columns, 1, 1])?;
    }
    Ok(())
}

/// Checks the documented bank conflicts: none where columns are rotated by different numbers of rows, and none where shuffled rows of
/// whole words are read.
fn conflicts_of_permutations() -> Result<(), Failed> {
    let reports = |numbers: usize, rows, columns| -> Result<Vec<Report>, Failed> {
        let device = Device::emulated(Profile::SM_90, 0);
        let mut data = device.zeroed::<u8>(rows * columns * numbers)?;
        Transpose::new(rows, columns).components(numbers).prepare_in_place(&device)?.apply(&mut data)?;
        Ok(device.emulation_reports())
    };
    for bytes in [1, 2, 4] {
        for report in reports(bytes, 131, 130)?.iter().filter(|report| report.kernel.starts_with("transpose_rotate")) {
            equal((report.kernel, report.bank_conflicts()), (report.kernel, 0))?;
        }
    }
    for (rows, columns) in [(131, 130), (130, 131), (301, 7), (65, 1024), (1025, 1024)] {
        let all = reports(4, rows, columns)?;
        let Some(shuffle) = all.iter().find(|report| report.kernel == "transpose_shuffle_u32") else {
            return Err(format!("{rows} x {columns}: not shuffled").into());
        };
        let loads = shuffle.counts(Action::Load, Some(Space::Shared));
        equal((rows, columns, loads.bank_conflicts()), (rows, columns, 0))?;
    }
    Ok(())
}
