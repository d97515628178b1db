//! Launches the kernels of `catalogue::calls` on a GPU, each in its own process, which is killed if it hangs.

use crate::{on_gpu, process};
use catalogue::calls::{self, CallVisitor, THREADS};
use catalogue::{Args, LEN, SHARED_BYTES};
use cuda_std::Entry;
use slm::emulator::Profile;
use slm::{Device, LaunchShape};
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Returns the output of a kernel on a device.
fn output<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(device: &Device) -> Outcome<Vec<u32>> {
    let shape = LaunchShape::new([1, 1, 1], [THREADS, 1, 1]).shared_bytes(SHARED_BYTES.into());
    let [output, _] = on_gpu::launch::<E>(device, &(0..LEN).collect::<Vec<u32>>(), shape, true)?;
    Ok(output)
}

/// Visitor that compares the results of the kernel `name` on a GPU and on the emulator.
struct One<'a> {
    name: &'a str,
    outcome: Option<Outcome<()>>,
}

impl One<'_> {
    fn compare<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>() -> Outcome<()> {
        let gpu = output::<E>(&Device::open()?)?;
        let emulated = output::<E>(&Device::emulated(Profile::SM_90, 0))?;
        match emulated.iter().zip(&gpu).position(|(emulated, gpu)| emulated != gpu) {
            None => Ok(()),
            Some(t) => Err(format!("thread {t}: {} emulated, {} on the GPU", emulated[t], gpu[t]).into()),
        }
    }
}

impl CallVisitor for One<'_> {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self) {
        if self.name == E::NAME {
            self.outcome = Some(Self::compare::<E>());
        }
    }
}

/// Launches the kernel `name` on the GPU and compares its results with the emulator's.
pub(crate) fn one(name: &str) -> Outcome<()> {
    let mut one = One { name, outcome: None };
    calls::visit(&mut one);
    one.outcome.ok_or_else(|| format!("there is no kernel {name}"))?
}

/// Visitor that launches each kernel in a process of this program.
struct All {
    failed: u32,
}

impl CallVisitor for All {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self) {
        let word = match process::run(&["call", E::NAME]) {
            Ok(Some(output)) if output.status.success() => "right",
            Ok(Some(_)) => "wrong",
            Ok(None) => "hangs",
            Err(_) => "not started",
        };
        self.failed += u32::from(word != "right");
        println!("{}\t{word}", E::NAME);
    }
}

/// Launches every kernel and prints a line for each.
pub(crate) fn all() -> Outcome<()> {
    let mut all = All { failed: 0 };
    calls::visit(&mut all);
    if all.failed == 0 { Ok(()) } else { Err(format!("{} kernels failed", all.failed).into()) }
}
