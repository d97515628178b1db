//! What operations on signals have in common, in one dimension and in two.
//!
//! | file | what |
//! |---|---|
//! | `types.rs` | the types of samples, weights, sums and outputs |
//! | `border.rs` | what a signal is outside its samples |
//! | `line.rs` | a line of samples, continued beyond its ends, and its way to shared memory |

mod border;
mod line;
mod types;

pub use border::Border;
pub(crate) use line::{Every, Line};
pub use types::{Output, Same, Sample, Sum, Types, Weight};
