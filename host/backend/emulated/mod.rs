//! Emulated GPUs: kernels run on the CPU, and every access is examined.
//!
//! | file | what |
//! |---|---|
//! | `emulation.rs` | an emulator, and what it has found and counted so far |
//! | `memory.rs` | its memory |
//! | `kernel.rs` | a kernel that runs when it is launched |

mod emulation;
mod kernel;
mod memory;

pub(crate) use emulation::{Emulation, open};
use kernel::Kernel;
use memory::Memory;
