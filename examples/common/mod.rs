//! What the examples share.
//!
//! | file | what |
//! |---|---|
//! | `program.rs` | the way from the command line to the exit status |
//! | `file.rs` | files that are written whole, and not over others |
//! | `picture.rs`, `jpeg.rs` | PNG and JPEG pictures |
//! | `chart.rs`, `scale.rs` | bar charts as SVG |

// Not every example uses all of it.
#![allow(dead_code)]

pub(crate) mod chart;
pub(crate) mod file;
mod jpeg;
pub(crate) mod picture;
pub(crate) mod program;
mod scale;
