//! Common parts of operations on signals, in one dimension and in two.
//!
//! | file | contents |
//! |---|---|
//! | `types.rs` | the types of samples, weights, sums and outputs |
//! | `border.rs` | the continuation of a signal beyond its samples |
//! | `line.rs` | a line of samples: its continuation, and loads into shared memory |
//! | `window.rs` | neighbouring sums and their samples in registers |
//! | `numbered.rs` | enums that kernels receive as numbers |
//! | `any.rs` | samples and outputs of types that are known at run time only |

mod any;
mod border;
mod line;
mod numbered;
mod types;
mod window;

pub use any::{Accumulator, AnyIn, AnyOut, Kind, OfSample};
pub(crate) use any::{kinds, with_kind};
pub use border::Border;
pub(crate) use line::{Every, Line};
pub(crate) use numbered::numbered;
pub use types::{Output, Same, Sample, Sum, Types, Weight};
pub(crate) use window::Window;
