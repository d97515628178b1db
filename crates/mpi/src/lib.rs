//! Distributed operations of [`slm`] over MPI: each rank is a process with one member of [`Devices`](slm::distributed::Devices), on one
//! machine or on many.
//!
//! ```
//! use slm::distributed::Devices;
//! use slm::{Filter2d, Histogram};
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     slm_mpi::run(program)
//! }
//!
//! fn program(devices: &Devices) -> slm::Result<()> {
//!     let mut picture = devices.zeroed::<f32>(400, 300)?; // each rank has some of the rows
//!     for (member, _) in devices.local() {
//!         let rows = picture.rows(member); // such as those to read from a file
//!         let Some(mut part) = picture.part_mut(member) else { continue };
//!         part.upload(&vec![0.5; rows.len() * 300])?;
//!     }
//!     // Ranks exchange the rows at the ends of their parts, and counts.
//!     let blurred = Filter2d::<f32, f32>::gaussian(2.5).prepare_on(devices)?.apply(&picture)?;
//!     let counts = Histogram::even(10, 0.0f32..1.0).prepare_on(devices)?.apply(&blurred)?;
//!     if devices.get(0).is_some() {
//!         println!("{} ranks: {:?}", devices.len(), counts.bins()?);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! `mpirun -n 4 program` starts it on one machine, `srun -N 8 --ntasks-per-node=4 --gpus-per-task=1 --kill-on-bad-exit
//! program` on a cluster with Slurm.
//! Without either, it is one rank. `program` also runs on the GPUs of one process: `program(&Devices::all()?)`.
//!
//! All ranks call the same distributed operations in the same order, with the same descriptions and sizes. If MPI itself fails, it ends the
//! job: no error is returned.
//!
//! What GPUs exchange goes through the host, unless the MPI library [knows CUDA](slm::distributed::Transport::takes_gpu_memory): then it gets
//! the memory of the GPUs, and finds the way itself.
//!
//! | item | purpose |
//! |---|---|
//! | [`run`] | a whole program: starts and ends MPI, opens a device, ends the job after a failure |
//! | [`MpiTransport`] | for programs that use MPI for other things too, or for a part of the ranks |

mod device;
mod gpu;
mod program;
mod transport;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use mpi;
pub use program::run;
pub use transport::MpiTransport;
