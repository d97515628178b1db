//! Code that the examples share.
//!
//! | file | contents |
//! |---|---|
//! | `program.rs` | command line, report and exit status |
//! | `file.rs` | output files |
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
