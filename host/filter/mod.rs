//! Filters, and what those of one and of two dimensions share.
//!
//! | file | contents |
//! |---|---|
//! | `one_d/`, `two_d/` | the operations: `slm::filter1d` and `slm::filter2d` |
//! | `rank/` | ranks: `slm::rank2d` |
//! | `rank_line/` | ranks of lines: `slm::rank1d` |
//! | `morphology/` | what is made of extremes: `slm::morphology2d` |
//! | `boundary.rs` | samples outside, and the range of outputs |
//! | `gaussian.rs`, `generated.rs` | weights of named filters |
//! | `origin.rs` | which weight is at an output's own place |
//! | `settings.rs` | what descriptions share |
//! | `fold.rs` | weights that meet the same samples |
//! | `part.rs` | parts of outputs, and the samples that they depend on |
//! | `signal.rs` | types of samples and weights |

pub(crate) mod boundary;
pub(crate) mod fold;
pub(crate) mod gaussian;
pub(crate) mod generated;
pub mod morphology;
pub mod one_d;
pub(crate) mod origin;
pub(crate) mod part;
pub mod rank;
pub mod rank_line;
pub(crate) mod settings;
pub(crate) mod signal;
pub mod two_d;
