//! What operations on signals have in common, in one dimension and in two.
//!
//! | file | what |
//! |---|---|
//! | `types.rs` | the types of samples, weights, sums and outputs |
//! | `border.rs` | what a signal is outside its samples |
//! | `any.rs` | samples and outputs of types that are known at run time only |
//! | `line.rs` | a line of samples, continued beyond its ends, and its way to shared memory |

mod any;
mod border;
mod line;
mod types;

pub use any::{Accumulator, AnyIn, AnyOut, Kind};
pub use border::Border;
pub(crate) use line::{Every, Line};
pub use types::{Output, Same, Sample, Sum, Types, Weight};
