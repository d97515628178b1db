//! What must not disturb other threads, or later work of the same one: panics of the program's closures, and refused requests.

use crate::common::{ensure, equal};
use crate::place::Place;
use libtest_mimic::Failed;
use slm::life::Pattern;
use slm::{Error, Filter1d, Life};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload of the panics.
struct Expected;

/// Panics without a message.
fn panic() -> ! {
    resume_unwind(Box::new(Expected))
}

/// Checks that a call passes on the panic of its closure.
fn panics<T>(what: &str, call: impl FnOnce() -> T) -> Result<(), Failed> {
    let is_passed_on = catch_unwind(AssertUnwindSafe(call)).is_err_and(|payload| payload.is::<Expected>());
    ensure(is_passed_on, || format!("{what}: a panic was not passed on"))
}

/// Panics in closures that the program gives to operations.
pub(crate) fn panicking(place: &Place<'_>) -> Result<(), Failed> {
    let device = place.queue();
    let samples = device.upload(&[1, 2, 3])?;
    let filter = Filter1d::correlate(&[1, 2, 3]).prepare(device)?;
    panics("time", || {
        device.time(|| -> slm::Result<()> {
            let _outputs = filter.apply(&samples)?;
            panic()
        })
    })?;
    let sum = Filter1d::correlate(&[1.0f32, 1.0, 1.0]).prepare(device)?;
    panics("stream", || sum.stream(&[0; 4000][..], io::sink()).memory(1).progress(|_| panic()).run())?;
    // It is not stable for long.
    let r_pentomino: Pattern = ".OO\nOO.\n.O.".parse()?;
    let mut board = Life::new(40, 40).prepare(device)?;
    board.place(&r_pentomino, 20, 20)?;
    panics("life", || board.run_until_stable_while(1000, |_| panic()))?;
    #[cfg(cuda)]
    launch(device)?;
    // What was in use while its closure panicked.
    equal(filter.apply(&samples)?.download()?, vec![8, 14, 8])?;
    board.step(1)?;
    equal(board.population()? > 0, true)?;
    place.leave((samples, filter, board));
    Ok(())
}

/// Panics in the closure that makes the arguments of a kernel.
#[cfg(cuda)]
fn launch(device: &slm::Device) -> Result<(), Failed> {
    use slm_kernels::filter1d::filter1d_global;
    use slm_kernels::signal::Same;
    mod modules {
        cuda_std::include_kernels!();
    }
    match device.kernel::<filter1d_global<Same<i32>>>(&modules::KERNELS) {
        Ok(kernel) => {
            let samples = device.upload(&[1])?;
            panics("launch", || {
                kernel.launch(slm::LaunchShape::new([1, 1, 1], [256, 1, 1]), |windows| {
                    windows.input(&samples);
                    panic()
                })
            })
        }
        // The CPU runs no kernels.
        Err(Error::KernelOnCpu { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Requests that are refused, for too much memory and for memory of the wrong size.
pub(crate) fn refused(place: &Place<'_>) -> Result<(), Failed> {
    let device = place.queue();
    let error = device.zeroed::<u8>(1 << 50).err();
    let is_out_of_memory = matches!(error, Some(Error::OutOfDeviceMemory { .. } | Error::OutOfHostMemory { .. }));
    ensure(is_out_of_memory, || format!("{error:?}"))?;
    let (samples, mut outputs) = (device.upload(&[1, 2, 3])?, place.queue().upload(&[7; 4])?);
    let filter = Filter1d::correlate(&[1, 1]).prepare(device)?;
    let error = Error::Length { what: "the output", expected: 3, actual: 4 };
    equal(filter.apply_into(&samples, &mut outputs), Err(error))?;
    equal(outputs.download()?, vec![7; 4])?;
    place.leave((samples, outputs));
    Ok(())
}
