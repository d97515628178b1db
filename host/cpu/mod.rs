//! What operations on the CPU share.
//!
//! | file | contents |
//! |---|---|
//! | `allocation.rs` | memory of the host, where a lack of it is an error |
//! | `parallel.rs` | threads |
//! | `vector.rs`, `multiply_add.rs` | instructions of the processor |

pub(crate) mod allocation;
pub(crate) mod multiply_add;
pub(crate) mod parallel;
pub(crate) mod vector;
