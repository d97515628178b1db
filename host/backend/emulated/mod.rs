//! Operations on an emulated GPU: the kernels run on the CPU, and every access is examined.
//!
//! | file | what |
//! |---|---|
//! | `emulation.rs` | an emulator, and what it has found and counted so far |
//! | `memory.rs` | its memory |
//! | `kernel.rs` | kernels of other crates |
//! | `filter1d.rs`, `histogram.rs` | one file per operation: the launches of `../gpu`, run at once |

mod emulation;
mod filter1d;
mod histogram;
mod kernel;
mod memory;

pub(crate) use emulation::Emulation;
pub(crate) use filter1d::Filter1d;
pub(crate) use histogram::histogram;
pub(crate) use kernel::Kernel;
pub(crate) use memory::Memory;
