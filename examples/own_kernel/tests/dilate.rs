//! The kernel against the definition: on emulated devices, where nothing may be found, and on a GPU if there is one.

use cuda_std::image::Module;
use cuda_std::{kernel, thread};
use kernels::dilate::{BLOCK, Dilation};
use libtest_mimic::{Arguments, Failed, Trial};
use own_kernel::dilate;
use slm::emulator::{Problem, Profile};
use slm::{Device, Error, LaunchShape};

fn main() {
    let required = std::env::var_os("SLM_REQUIRE_CUDA").is_some_and(|value| value == "1");
    let on_cuda = match Device::cuda(0) {
        Ok(device) => Trial::test("on_cuda", move || check(&device)),
        Err(error) => {
            eprintln!("the test on a GPU is ignored: {error}");
            Trial::test("on_cuda", || Err(error.into())).with_ignored_flag(!required)
        }
    };
    let trials = vec![
        on_cuda,
        Trial::test("on_emulated_devices", on_emulated_devices),
        Trial::test("a_radius_too_large", a_radius_too_large),
        Trial::test("a_missing_barrier_is_found", a_missing_barrier_is_found),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The definition, one element at a time.
fn oracle(x: &[f32], radius: usize) -> Vec<f32> {
    let window = |i: usize| &x[i.saturating_sub(radius)..x.len().min(i + radius + 1)];
    let max = |max, x: &f32| if *x > max { *x } else { max };
    (0..x.len()).map(|i| window(i).iter().fold(f32::NEG_INFINITY, max)).collect()
}

/// Numbers in no order, some of them special.
fn samples(len: usize) -> Vec<f32> {
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0];
    let number = |i: usize| (i * 7919 % 10_007) as f32 - 5000.0;
    (0..len).map(|i| if i % 23 == 1 { special[i / 23 % 5] } else { number(i) }).collect()
}

/// No samples, one, an odd number, a tile and one more or less, several tiles; radii beyond a tile and beyond all samples.
fn check(device: &Device) -> Result<(), Failed> {
    let tile = BLOCK as usize;
    for len in [0, 1, 7, tile - 1, tile, tile + 1, 3 * tile + 5] {
        for radius in [0, 1, 8, 300] {
            let x = samples(len);
            let bits = |y: Vec<f32>| y.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            if bits(dilate(device, &x, radius)?) != bits(oracle(&x, radius as usize)) {
                return Err(format!("{len} samples and radius {radius} on {device}").into());
            }
        }
    }
    Ok(())
}

fn on_emulated_devices() -> Result<(), Failed> {
    for (seed, profile) in (0..).zip(Profile::ALL) {
        let device = Device::emulated(profile, seed);
        check(&device)?;
        for report in device.emulation_reports() {
            assert!(report.is_clean() && report.bank_conflicts() == 0, "{report}");
        }
    }
    Ok(())
}

fn a_radius_too_large() -> Result<(), Failed> {
    let error = dilate(&Device::emulated(Profile::SM_90, 0), &[1.0], u32::MAX).unwrap_err();
    let (kernel, requested) = ("dilate".to_owned(), 4 * (256 + 2 * u64::from(u32::MAX) + 2));
    assert_eq!(error, Error::SharedMemoryExceeded { kernel, requested, available: 227 << 10 });
    Ok(())
}

kernel! {
    /// As `dilate` with a radius of 1, but that nobody waits for the tile.
    pub fn hasty(arena, args: Dilation) {
        let (tile, _) = arena.split::<f32>(BLOCK);
        let (t, i) = (thread::thread_idx_x(), thread::global_x());
        tile.set(t, args.input.get_or(i, f32::NEG_INFINITY));
        let (left, right) = (tile.get(t.saturating_sub(1)), tile.get((t + 1).min(BLOCK - 1)));
        args.output.set_if(i < args.output.len(), i, left.max(right).max(tile.get(t)));
    }
}

/// Whatever the order of the threads.
fn a_missing_barrier_is_found() -> Result<(), Failed> {
    static HASTY: Module = Module::without_images("hasty");
    for seed in 0..10 {
        let device = Device::emulated(Profile::SM_90, seed);
        let (input, mut output) = (device.upload(&samples(500))?, device.zeroed(500)?);
        let shape = LaunchShape::new([2, 1, 1], [BLOCK, 1, 1]).shared_bytes(4 * u64::from(BLOCK));
        let result = device.kernel::<hasty>(&HASTY)?.launch(shape, |windows| Dilation {
            input: windows.input(&input),
            output: windows.output(&mut output),
            radius: 1,
        });
        let Err(Error::FaultyKernel { report }) = result else { panic!("{result:?}") };
        assert!(report.findings.iter().any(|finding| matches!(finding.problem, Problem::Race { .. })), "{report}");
    }
    Ok(())
}
