//! Launches the catalogue on a GPU.

use catalogue::probes::{Probe, ProbeVisitor};
use catalogue::{Args, Case, CaseVisitor, LEN, SHARED_BYTES, visit_cases, visit_probes};
use cuda_std::Entry;
use slm::{Buffer, Device, LaunchShape, Result};
use std::error::Error;

// Includes the static `KERNELS`, the table of the compiled modules, which build.rs writes.
cuda_std::include_kernels!();

/// Launches a kernel on a device with new buffers. Returns the output and the result.
pub(crate) fn launch<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(
    device: &Device,
    input: &[u32],
    shape: LaunchShape,
    right: bool,
) -> Result<[Vec<u32>; 2]> {
    let zeroed = || device.zeroed(LEN as usize);
    let (input, mut output, mut zeros, mut result) = (device.upload(input)?, zeroed()?, zeroed()?, zeroed()?);
    device.kernel::<E>(&KERNELS)?.launch(shape, |windows| Args {
        input: windows.input(&input),
        output: windows.in_out(&mut output),
        zeros: windows.in_out(&mut zeros),
        result: windows.output(&mut result),
        right: right.into(),
    })?;
    Ok([output.download()?, result.download()?])
}

/// A device, and the buffers of the kernels.
struct Gpu {
    device: Device,
    input: Buffer<u32>,
    output: Buffer<u32>,
    zeros: Buffer<u32>,
    result: Buffer<u32>,
}

impl Gpu {
    fn open() -> Result<Self> {
        let device = Device::open()?;
        let numbers: Vec<u32> = (0..LEN).collect();
        let input = device.upload(&numbers)?;
        let zeroed = || device.zeroed(LEN as usize);
        let (output, zeros, result) = (zeroed()?, zeroed()?, zeroed()?);
        Ok(Gpu { device, input, output, zeros, result })
    }

    /// Launches a kernel and waits until it has ended.
    fn launch<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(
        &mut self,
        blocks: u32,
        threads: u32,
        right: bool,
    ) -> Result<()> {
        let shape = LaunchShape::new([blocks.into(), 1, 1], [threads, 1, 1]).shared_bytes(SHARED_BYTES.into());
        self.device.kernel::<E>(&KERNELS)?.launch(shape, |windows| Args {
            input: windows.input(&self.input),
            output: windows.in_out(&mut self.output),
            zeros: windows.in_out(&mut self.zeros),
            result: windows.output(&mut self.result),
            right: right.into(),
        })?;
        self.device.synchronize()
    }
}

/// Visitor that launches the case `name`.
struct OneCase<'a> {
    gpu: Gpu,
    name: &'a str,
    right: bool,
    result: Option<Result<()>>,
}

impl CaseVisitor for OneCase<'_> {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, case: &Case) {
        if case.name == self.name {
            self.result = Some(self.gpu.launch::<E>(case.blocks, case.threads, self.right));
        }
    }
}

/// Launches the case `name`, or its twin if `right` is true.
pub(crate) fn case(name: &str, right: bool) -> std::result::Result<(), Box<dyn Error>> {
    let mut one = OneCase { gpu: Gpu::open()?, name, right, result: None };
    visit_cases(&mut one);
    one.result.ok_or_else(|| format!("there is no case {name}"))??;
    println!("launched {name}");
    Ok(())
}

/// Visitor that launches all probes until one fails.
struct AllProbes {
    gpu: Gpu,
    result: Result<()>,
}

impl ProbeVisitor for AllProbes {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, probe: &Probe) {
        if self.result.is_ok() {
            self.result = self.gpu.launch::<E>(1, probe.threads, false);
        }
    }
}

/// Launches every probe.
pub(crate) fn probes() -> std::result::Result<(), Box<dyn Error>> {
    let mut all = AllProbes { gpu: Gpu::open()?, result: Ok(()) };
    visit_probes(&mut all);
    Ok(all.result?)
}
