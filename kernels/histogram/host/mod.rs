//! What only the host has.
//!
//! | file | contents |
//! |---|---|
//! | `borders.rs` | the exact borders of bins of equal width |
//! | `scale.rs` | scales for a range |
//! | `bins.rs` | rules for samples on the host, and how those of the device are made |
//! | `words.rs` | ranges of integers of 32 bits |
//! | `weight.rs` | the numbers of weights, and the sums of their multiples |
//! | `geometry.rs` | grid, block and shared memory for a problem's size |

mod bins;
mod borders;
mod geometry;
mod scale;
mod weight;
mod words;

pub use bins::{ByValue, EdgeSlice, Estimated};
pub use borders::Bordered;
pub use geometry::{Geometry, KernelFamily, LaunchConstants, MOST_PACKS, MOST_WEIGHTS, SharedLimits, WeighGeometry};
pub use scale::FromRange;
pub use weight::count_log2;
