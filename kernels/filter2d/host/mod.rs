//! What only the host has: from a problem's size to grid, block and shared memory.
//!
//! | file | contents |
//! |---|---|
//! | `geometry.rs` | kernels with a block for each tile |
//! | `bands.rs` | kernels that go down bands of rows |
//! | `passes.rs` | more for the kernel of two passes |
//! | `strips.rs` | the kernel of boxes |

mod bands;
mod geometry;
mod passes;
mod strips;

pub use bands::{BandPart, Bands};
pub use geometry::{DirectKernel, DirectPart, Filter2dProblem, Geometry};
pub use passes::passes_places;
pub use strips::{NoStrips, Strips};
