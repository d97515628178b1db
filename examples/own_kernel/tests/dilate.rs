//! Compares the kernel with the definition: on emulated devices, which must find no fault, and on a GPU if there is one.

use cuda_std::image::Modules;
use cuda_std::{kernel, shared_bytes, thread};
use kernels::dilate::{BLOCK, Dilation};
use libtest_mimic::{Arguments, Failed, Trial};
use own_kernel::dilate;
use slm::emulator::Profile;
use slm::{Device, Error, LaunchShape};
use std::path::Path;
use std::process::Command;

/// The emulator runs the kernel fast only then.
const _: () = assert!(<kernels::dilate::dilate as cuda_std::Entry>::WITHOUT_STD);

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
        // Missing if this test has been copied to another machine.
        Trial::test("the_program_checks_itself", the_program_checks_itself)
            .with_ignored_flag(!Path::new(PROGRAM).exists()),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The program of `main.rs`.
const PROGRAM: &str = env!("CARGO_BIN_EXE_own-kernel");

/// Runs on the device of the environment, or on an emulated one instead of the CPU.
fn the_program_checks_itself() -> Result<(), Failed> {
    for (device, name) in [("cpu", "emulated sm_90"), ("emulated:small:7", "emulated small")] {
        let output = Command::new(PROGRAM).env("SLM_DEVICE", device).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let checked = said.contains(&format!("10000 samples dilated on {name}, every one checked"));
        assert!(output.status.success() && checked, "{output:?}");
    }
    Ok(())
}

/// The definition, one element at a time.
fn oracle(x: &[f32], radius: usize) -> Vec<f32> {
    let window = |i: usize| &x[i.saturating_sub(radius)..x.len().min(i + radius + 1)];
    let max = |max, x: &f32| if *x > max { *x } else { max };
    (0..x.len()).map(|i| window(i).iter().fold(f32::NEG_INFINITY, max)).collect()
}

/// Returns numbers in no order, including special values.
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
    /// `dilate` without the barrier after loading the tile.
    pub fn hasty<'l>(arena, args: Dilation<'l>) {
        let (t, radius) = (thread::thread_idx_x(), args.radius);
        let len = BLOCK + 2 * radius;
        let (tile, _) = arena.split::<f32>(len);
        let first = u64::from(thread::block_idx_x()) * u64::from(BLOCK);
        let mut s = t;
        while s < len {
            let i = (first + u64::from(s)).wrapping_sub(u64::from(radius));
            tile.set(s, args.input.get_or(i, f32::NEG_INFINITY));
            s += BLOCK;
        }

        let mut max = f32::NEG_INFINITY;
        for s in t..t + 2 * radius + 1 {
            let x = tile.get(s);
            max = if x > max { x } else { max };
        }
        let i = first + u64::from(t);
        args.output.set_if(i < args.output.len(), i, max);
    }
}

/// Whatever the order of the threads.
fn a_missing_barrier_is_found() -> Result<(), Failed> {
    const RADIUS: u32 = 2;
    for seed in 0..10 {
        let device = Device::emulated(Profile::SM_90, seed);
        let (input, mut output) = (device.upload(&samples(500))?, device.zeroed(500)?);
        let tile = shared_bytes::<f32>((BLOCK + 2 * RADIUS).into());
        let shape = LaunchShape::new([2, 1, 1], [BLOCK, 1, 1]).shared_bytes(tile);
        let result = device.kernel::<hasty>(&Modules::NONE)?.launch(shape, |windows| Dilation {
            input: windows.input(&input),
            output: windows.output(&mut output),
            radius: RADIUS,
        });
        let Err(error @ Error::FaultyKernel { .. }) = result else { panic!("{result:?}") };
        let text = error.to_string();
        assert!(text.starts_with(&format!("hasty is faulty, as emulated:sm_90:{seed} shows: data race: ")), "{text}");
        // `main` would show the second.
        for shown in [text, format!("{error:?}")] {
            assert!(tells_of_the_race(&shown), "{shown}");
        }
    }
    Ok(())
}

/// Whether a race comes first, with two threads and the lines of both.
fn tells_of_the_race(shown: &str) -> bool {
    let line = |code| include_str!("dilate.rs").lines().position(|line| line.contains(code)).unwrap() + 1;
    let places = ["tile.set(", "tile.get("].map(|code| format!(" at {}:{}:", file!(), line(code)));
    let Some((before, finding)) = shown.split_once("data race: ") else { return false };
    let finding = finding.lines().take(2).collect::<String>();
    !before.contains("uninitialised")
        && shown.contains("uninitialised: load of element")
        && finding.matches(" thread [").count() == 2
        && places.iter().all(|place| finding.contains(place))
}
