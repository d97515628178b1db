//! Operations on the CPU's cores.
//!
//! Every output is computed by one thread in a fixed order, so results do not depend on the number of threads.

mod filter1d;

pub(crate) use filter1d::{MultiplyAdd, filter1d};
