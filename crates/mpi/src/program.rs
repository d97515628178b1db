//! A program of all ranks.

use crate::{MpiTransport, device};
use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;
use slm::distributed::Devices;
use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Runs a program in all ranks, and returns its exit code: the whole of `main`.
///
/// `program` gets the members of all ranks, of which its own is [local](Devices::local). The device of a rank:
///
/// | `SLM_DEVICE` | device |
/// |---|---|
/// | `auto`, or not set | as `cuda`; the CPU if there is no GPU or the program was built without the feature `cuda` of `slm` |
/// | `cuda` | a GPU of the node: the first rank on the node gets the first one, and so on in turn |
/// | any other value of [`Device::open`](slm::Device::open) | that device, in all ranks |
///
/// If the MPI library [knows CUDA](slm::distributed::Transport::takes_gpu_memory), it gets the memory of GPUs. With `SLM_MPI_MEMORY=host`, what
/// they exchange goes through the host: Open MPI 4 says that it knows CUDA also when its parameter `opal_cuda_support` is 0.
///
/// If `program` returns an error or panics in one rank, the message is printed with the rank, and the job ends with a failure: other
/// ranks may wait for this one.
///
/// Messages between ranks pass only in the thread that calls this function. Distributed operations return
/// [`TransportError`](slm::distributed::TransportError) in others. The MPI library ends with this function, and cannot start again in
/// the same process.
pub fn run<E: Display>(program: impl FnOnce(&Devices) -> Result<(), E>) -> ExitCode {
    // Only this thread calls MPI, and the CPU computes in others.
    let Some((universe, threads)) = mpi::initialize_with_threading(Threading::Funneled) else {
        say("error: this process has initialised MPI before");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    if threads < Threading::Funneled {
        abort(&world, &"the MPI library does not allow threads");
    }
    let through_host = through_host(env::var_os(MEMORY)).unwrap_or_else(|value| {
        abort(&world, &format!("{MEMORY} is '{value}', but must be auto or host"));
    });
    let devices = match catch_unwind(AssertUnwindSafe(|| devices(&world, through_host))) {
        Ok(Ok(devices)) => devices,
        Ok(Err(error)) => abort(&world, &error),
        Err(_) => abort(&world, &"a panic"),
    };
    // A panic must not get to `universe`, which would wait for the other ranks. Nor do `devices` end with it, because that takes the
    // other ranks too.
    match catch_unwind(AssertUnwindSafe(|| program(&devices))) {
        Ok(Ok(())) => {
            // At its end, MPI closes what it has opened of the memory of GPUs. So their contexts end after it.
            drop(universe);
            drop(devices);
            ExitCode::SUCCESS
        }
        Ok(Err(error)) => abort(&world, &error),
        Err(_) => abort(&world, &"a panic"),
    }
}

/// Says whether what GPUs exchange goes through the host.
const MEMORY: &str = "SLM_MPI_MEMORY";

/// Returns whether it does, or the value that does not say so.
fn through_host(value: Option<OsString>) -> Result<bool, String> {
    let value = value.unwrap_or_default().to_string_lossy().into_owned();
    match &*value.to_ascii_lowercase() {
        "host" => Ok(true),
        "" | "auto" => Ok(false),
        _ => Err(value),
    }
}

fn devices(world: &SimpleCommunicator, through_host: bool) -> slm::Result<Devices> {
    let on_node = world.split_shared(world.rank());
    let number = usize::try_from(on_node.rank()).unwrap_or(0);
    let transport = MpiTransport::new(world);
    let transport = if through_host { transport.through_host() } else { transport };
    Devices::with_transport(device::of_rank(number)?, transport)
}

/// Prints the reason and ends all ranks.
fn abort(world: &SimpleCommunicator, reason: &dyn Display) -> ! {
    // MPI ends the process without it.
    let _ = io::stdout().flush();
    say(&format!("error in rank {} of {}: {reason}", world.rank(), world.size()));
    world.abort(1)
}

/// Prints a line. There may be nobody to read it.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_two_names() {
        let of = |value: &str| through_host(Some(value.into()));
        assert_eq!([through_host(None), of(""), of("auto"), of("HOST")], [Ok(false), Ok(false), Ok(false), Ok(true)]);
        assert_eq!(of("gpu"), Err("gpu".to_owned()));
    }
}
