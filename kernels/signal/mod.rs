//! Common parts of operations on signals, in one dimension and in two.
//!
//! | file | contents |
//! |---|---|
//! | `types.rs` | the types of samples, weights, sums and outputs |
//! | `border.rs` | the continuation of a signal beyond its samples |
//! | `line.rs` | a line of samples: its continuation, and loads into shared memory |

mod border;
mod line;
mod types;

pub use border::Border;
pub(crate) use line::{Every, Line};
pub use types::{Output, Same, Sample, Sum, Types, Weight};
