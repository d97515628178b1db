//! Counting samples in bins.
//!
//! | file | what |
//! |---|---|
//! | `countable.rs` | the element types |
//! | `bins.rs` | which bin a sample belongs to, on the host as well |
//! | `weight.rs` | weights as whole numbers, on the host as well |

mod bins;
mod countable;
mod weight;

#[cfg(not(target_os = "cuda"))]
pub use bins::EdgeSlice;
pub use bins::{BYTE_VALUES, Binning, ByValue, Edges, Even, LowBits, OUTSIDE};
pub use countable::{Countable, Ratio};
pub use weight::Quantum;
