//! Single kernels, launched like those of other crates. The kernel is one of `slm-kernels`, whose modules are available.

use super::{Failed, Trial, ensure, equal, same, shared_trial};
use crate::common::Random;
use cuda_std::image::{Module, ModuleError, Modules};
use cuda_std::{Entry, GlobalIn, GlobalInOut, GlobalOut, kernel, thread};
use modules::KERNELS;
use slm::{Buffer, Device, Error, Filter1d, Kernel, LaunchShape};
use slm_kernels::filter1d::{Args, Halo, filter1d_global, filter1d_tile};
use slm_kernels::signal::{Border, Same};
use slm_test_support::lengthened;

mod modules {
    cuda_std::include_kernels!();
}

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("kernels::launches", launches),
        shared_trial("kernels::a_kernel_outlives_its_device", a_kernel_outlives_its_device),
        shared_trial("kernels::windows_of_other_launches", windows_of_other_launches),
        shared_trial("kernels::buffers_of_another_handle", buffers_of_another_handle),
        shared_trial("kernels::launches_over_the_limits", launches_over_the_limits),
        shared_trial("kernels::residency", residency),
        shared_trial("kernels::wrong_modules", wrong_modules),
    ]
}

const SAMPLES: usize = 1000;
const SHAPE: LaunchShape = LaunchShape::new([4, 1, 1], [256, 1, 1]);

/// Returns the arguments of `filter1d_global_i32` for one line with zeros outside.
fn arguments<'l>(
    input: GlobalIn<'l, i32>,
    taps: GlobalIn<'l, i32>,
    output: GlobalInOut<'l, i32>,
) -> Args<'l, Same<i32>> {
    Args {
        input,
        output,
        taps,
        samples: SAMPLES as u64,
        outputs: SAMPLES as u64,
        lines: 1,
        start: -2,
        input_step: 1,
        input_line: SAMPLES as u64,
        output_step: 1,
        output_line: SAMPLES as u64,
        outside: 0,
        border: Border::Constant as u32,
        halo: Halo::Cooperative as u32,
        tiles: 1,
        tap_count: 5,
        stride: 1,
        phases: 1,
        entries: 5,
        resume: 0,
    }
}

/// A kernel, its samples and taps, and the expected outputs.
struct Fixture {
    kernel: Kernel<filter1d_global<Same<i32>>>,
    x: Buffer<i32>,
    taps: Buffer<i32>,
    y: Buffer<i32>,
    expected: Vec<i32>,
}

impl Fixture {
    fn new(device: &Device) -> slm::Result<Self> {
        let (x, taps) = (Random::new(1).values(SAMPLES), Random::new(2).values::<i32>(5));
        Ok(Fixture {
            kernel: device.kernel(&KERNELS)?,
            x: device.upload(&x)?,
            taps: device.upload(&taps)?,
            y: device.zeroed(SAMPLES)?,
            expected: Filter1d::correlate(&taps).prepare(&Device::cpu())?.apply(&x)?,
        })
    }

    fn launch(&mut self, shape: LaunchShape) -> slm::Result<()> {
        let Fixture { kernel, x, taps, y, .. } = self;
        kernel.launch(shape, |windows| arguments(windows.input(x), windows.input(taps), windows.in_out(y)))
    }

    /// Checks that the kernel has not run yet, and that it runs now.
    fn still_works(&mut self) -> Result<(), Failed> {
        same(&self.y.download()?, &[0; SAMPLES])?;
        self.launch(SHAPE)?;
        same(&self.y.download()?, &self.expected)
    }
}

fn launches(device: &Device) -> Result<(), Failed> {
    let mut fixture = Fixture::new(device)?;
    fixture.still_works()?;
    // Another shape, with more shared memory than a block has by default.
    fixture.y.upload(&[0; SAMPLES])?;
    fixture.launch(LaunchShape::new([17, 1, 1], [64, 1, 1]).shared_bytes(60_000))?;
    same(&fixture.y.download()?, &fixture.expected)?;
    // Buffers that are dropped at once are freed after the work.
    for _ in 0..100 {
        let Fixture { kernel, taps, y, expected, .. } = &mut fixture;
        let x = device.upload(&Random::new(1).values::<i32>(SAMPLES))?;
        kernel.launch(SHAPE, |windows| arguments(windows.input(&x), windows.input(taps), windows.in_out(y)))?;
        drop(x);
        let _other = device.zeroed::<i32>(SAMPLES)?;
        same(&y.download()?, expected)?;
    }
    Ok(())
}

/// Launches a kernel without the shared memory that it needs. It ends, and with it the device for this process, but nothing else.
pub(super) fn lose_the_device() -> Result<(), Failed> {
    let device = Device::cuda(0)?;
    let mut fixture = Fixture::new(&device)?;
    let filter = Filter1d::correlate(&[1, 1]).prepare(&device)?;
    fixture.still_works()?;
    let Fixture { x, taps, y, .. } = &mut fixture;
    let tile: Kernel<filter1d_tile<Same<i32>>> = device.kernel(&KERNELS)?;
    tile.launch(SHAPE, |windows| arguments(windows.input(x), windows.input(taps), windows.in_out(y)))?;
    let outcomes = [
        device.synchronize(),
        fixture.launch(SHAPE),
        fixture.y.download().map(|_| ()),
        device.upload(&[1]).map(|_| ()),
        filter.apply(&[1, 2, 3]).map(|_| ()),
        Device::cuda(0).and_then(|device| device.upload(&[1])).map(|_| ()),
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        ensure(matches!(outcome, Err(Error::DeviceLost { .. })), || format!("call {number}: {outcome:?}"))?;
    }
    equal(Filter1d::correlate(&[1, 1]).prepare(&Device::cpu())?.apply(&[1, 2, 3])?.len(), 3)
}

fn a_kernel_outlives_its_device(_device: &Device) -> Result<(), Failed> {
    let mut fixture = Fixture::new(&Device::cuda(0)?)?;
    fixture.still_works()?;
    let Fixture { kernel, x, .. } = fixture;
    drop(x);
    equal(kernel.clone().device().synchronize(), Ok(()))
}

fn windows_of_other_launches(device: &Device) -> Result<(), Failed> {
    let mut fixture = Fixture::new(device)?;
    let foreign = |argument| Err(Error::ForeignWindow { kernel: "filter1d_global_i32", argument }) as slm::Result<()>;
    let (mut freed, mut alive) = (GlobalIn::empty(), GlobalInOut::empty());
    let temporary = device.upload(&[1; SAMPLES])?;
    let Fixture { kernel, x, taps, y, .. } = &mut fixture;
    kernel.launch(SHAPE, |windows| {
        (freed, alive) = (lengthened::input(windows.input(&temporary)), lengthened::in_out(windows.in_out(x)));
        arguments(GlobalIn::empty(), GlobalIn::empty(), GlobalInOut::empty())
    })?;
    drop(temporary);
    let stale = kernel.launch(SHAPE, |windows| arguments(freed, windows.input(taps), windows.in_out(y)));
    equal(stale, foreign("input"))?;
    let read = kernel.launch(SHAPE, |windows| arguments(windows.input(x), windows.input(taps), alive));
    equal(read, foreign("output"))?;
    fixture.still_works()
}

fn buffers_of_another_handle(device: &Device) -> Result<(), Failed> {
    let (mut ours, mut theirs) = (Fixture::new(device)?, Fixture::new(&Device::cuda(0)?)?);
    let name = device.info().name.clone();
    std::mem::swap(&mut ours.taps, &mut theirs.taps);
    let error = Error::DeviceMismatch { operand: "an input", expected: name.clone(), actual: name };
    equal(ours.launch(SHAPE), Err(error))?;
    std::mem::swap(&mut ours.taps, &mut theirs.taps);
    // A launch within a launch, with the arguments of the outer one.
    let Fixture { kernel, x, taps, y, .. } = &mut ours;
    let mut inner = Ok(());
    kernel.launch(SHAPE, |windows| {
        let args = arguments(windows.input(x), windows.input(taps), windows.in_out(y));
        inner = theirs.kernel.launch(SHAPE, |_| args);
        arguments(GlobalIn::empty(), GlobalIn::empty(), GlobalInOut::empty())
    })?;
    equal(inner, Err(Error::ForeignWindow { kernel: "filter1d_global_i32", argument: "input" }))?;
    ours.still_works()?;
    theirs.still_works()
}

fn launches_over_the_limits(device: &Device) -> Result<(), Failed> {
    let mut fixture = Fixture::new(device)?;
    let shared = device.info().shared_memory.ok_or("a GPU has shared memory")?;
    let kernel = "filter1d_global_i32";
    // Limits of all current GPUs (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
    let cases = [
        (LaunchShape { grid: [0, 1, 1], ..SHAPE }, "blocks along x", 0, (1 << 31) - 1),
        (LaunchShape { grid: [1 << 31, 1, 1], ..SHAPE }, "blocks along x", 1 << 31, (1 << 31) - 1),
        (LaunchShape { grid: [1, 65_536, 1], ..SHAPE }, "blocks along y", 65_536, 65_535),
        (LaunchShape { grid: [1, 1, 1 << 40], ..SHAPE }, "blocks along z", 1 << 40, 65_535),
        (LaunchShape { block: [1025, 1, 1], ..SHAPE }, "threads per block along x", 1025, 1024),
        (LaunchShape { block: [1, 1, 65], ..SHAPE }, "threads per block along z", 65, 64),
        (LaunchShape { block: [32, 33, 1], ..SHAPE }, "threads per block", 1056, 1024),
    ];
    for (shape, what, requested, available) in cases {
        equal(fixture.launch(shape), Err(Error::LaunchOutOfRange { kernel, what, requested, available }))?;
    }
    let (requested, available) = (shared.max_per_block + 1, shared.max_per_block);
    let exceeded = Error::SharedMemoryExceeded { kernel: kernel.to_owned(), requested, available };
    equal(fixture.launch(SHAPE.shared_bytes(requested)), Err(exceeded))?;
    fixture.still_works()?;
    fixture.launch(SHAPE.shared_bytes(available))?;
    same(&fixture.y.download()?, &fixture.expected)
}

fn residency(device: &Device) -> Result<(), Failed> {
    let Fixture { kernel, .. } = Fixture::new(device)?;
    let maximum = device.info().shared_memory.ok_or("a GPU has shared memory")?.max_per_block;
    let full = kernel.residency(SHAPE)?.ok_or("a GPU knows it")?;
    ensure((1..=255).contains(&full.registers) && full.occupancy > 0.0 && full.occupancy <= 1.0, || {
        format!("{full:?}")
    })?;
    let alone = kernel.residency(SHAPE.shared_bytes(maximum))?.ok_or("a GPU knows it")?;
    equal((alone.blocks_per_multiprocessor, alone.registers), (1, full.registers))?;
    ensure(alone.occupancy < full.occupancy, || format!("{alone:?}, {full:?}"))?;
    let (what, requested, available) = ("threads per block along x", 0, 1024);
    let error = Error::LaunchOutOfRange { kernel: "filter1d_global_i32", what, requested, available };
    equal(kernel.residency(LaunchShape { block: [0, 1, 1], ..SHAPE }), Err(error))
}

kernel! {
    /// A kernel in no module, of a crate without a digest.
    pub fn nowhere<'l>(_arena, args: GlobalOut<'l, u32>) {
        args.set(thread::global_x(), 1);
    }
}

fn wrong_modules(device: &Device) -> Result<(), Failed> {
    let error = device.kernel::<nowhere>(&KERNELS).err();
    equal(error, Some(Error::KernelWithoutDigest { kernel: "nowhere" }))?;
    let module = <filter1d_global<Same<i32>>>::MODULE;
    let others: Vec<Module> = KERNELS.iter().filter(|other| other.name() != module).copied().collect();
    let included = others.iter().map(Module::name).collect();
    let others = Modules::new(others.leak());
    // Before and after the right module has been loaded.
    for _ in 0..2 {
        for (modules, source) in [
            (Modules::NONE, ModuleError::NoModules),
            (others, ModuleError::MissingModule { included: Vec::clone(&included) }),
        ] {
            let error = device.kernel::<filter1d_global<Same<i32>>>(&modules).err();
            equal(error, Some(Error::KernelModule { module, source }))?;
        }
        Fixture::new(device)?.still_works()?;
    }
    Ok(())
}
