//! What only the host has.
//!
//! | file | contents |
//! |---|---|
//! | `borders.rs` | the exact borders of bins of equal width |
//! | `scale.rs` | scales for a range |
//! | `bins.rs` | rules for samples on the host, and how those of the device are made |
//! | `weight.rs` | the numbers of weights, and the sums of their multiples |
//! | `geometry.rs` | grid, block and shared memory for a problem's size |

mod bins;
mod borders;
mod geometry;
mod scale;
mod weight;

pub use bins::{ByValue, EdgeSlice, Guided};
pub use borders::Bordered;
pub use geometry::{Geometry, Kernel, MOST_PACKS, MOST_WEIGHTS, Memory, Tuning, WeighGeometry};
pub use scale::FromRange;
pub use weight::count_log2;
