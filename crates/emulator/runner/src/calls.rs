//! The kernels of `catalogue::calls` on a GPU: each in a process of its own, which is ended if it does not end.

use crate::{on_gpu, process};
use catalogue::calls::{self, CallVisitor, THREADS};
use catalogue::{Args, LEN, SHARED_BYTES};
use cuda_std::Entry;
use slm::emulator::Profile;
use slm::{Device, LaunchShape};
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a kernel writes on a device.
fn output<E: Entry<Args = Args, Constants = ()>>(device: &Device) -> Outcome<Vec<u32>> {
    let shape = LaunchShape::new([1, 1, 1], [THREADS, 1, 1]).shared_bytes(SHARED_BYTES.into());
    let [output, _] = on_gpu::launch::<E>(device, &(0..LEN).collect::<Vec<u32>>(), shape, true)?;
    Ok(output)
}

/// Compares the kernel of this name with the emulator's.
struct One<'a> {
    name: &'a str,
    outcome: Option<Outcome<()>>,
}

impl One<'_> {
    fn compare<E: Entry<Args = Args, Constants = ()>>() -> Outcome<()> {
        let there = output::<E>(&Device::open()?)?;
        let here = output::<E>(&Device::emulated(Profile::SM_90, 0))?;
        match here.iter().zip(&there).position(|(here, there)| here != there) {
            None => Ok(()),
            Some(t) => Err(format!("thread {t}: {} here, {} there", here[t], there[t]).into()),
        }
    }
}

impl CallVisitor for One<'_> {
    fn visit<E: Entry<Args = Args, Constants = ()>>(&mut self) {
        if self.name == E::NAME {
            self.outcome = Some(Self::compare::<E>());
        }
    }
}

/// Launches the kernel `name` and compares its results with the emulator's.
pub(crate) fn one(name: &str) -> Outcome<()> {
    let mut one = One { name, outcome: None };
    calls::visit(&mut one);
    one.outcome.ok_or_else(|| format!("there is no kernel {name}"))?
}

/// Has processes of this program launch each kernel.
struct All {
    failed: u32,
}

impl CallVisitor for All {
    fn visit<E: Entry<Args = Args, Constants = ()>>(&mut self) {
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

/// Launches every kernel.
pub(crate) fn all() -> Outcome<()> {
    let mut all = All { failed: 0 };
    calls::visit(&mut all);
    if all.failed == 0 { Ok(()) } else { Err(format!("{} kernels failed", all.failed).into()) }
}
