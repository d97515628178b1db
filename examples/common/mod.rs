//! Code that the examples share.
//!
//! | file | contents |
//! |---|---|
//! | `program.rs` | command line, report and exit status |
//! | `file.rs` | output files |
//! | `picture.rs`, `jpeg.rs`, `profile.rs` | PNG and JPEG pictures, and their colour profiles |
//! | `sheet.rs`, `text.rs` | contact sheets of pictures |
//! | `chart.rs`, `scale.rs` | bar charts as SVG |
//! | `cells.rs` | pictures and animations of boards of the Game of Life |
//! | `patterns.rs`, `soup.rs` | their cells in generation 0 |
//! | `generation.rs` | the next generation by definition |
//! | `progress.rs`, `interrupt.rs` | long runs |
//! | `definition.rs` | filters by definition, to compare results with |
//! | `number.rs` | numbers in messages |
//! | `sigma.rs` | which standard deviations are valid |

// Not every example uses all of it.
#![allow(dead_code)]

pub(crate) mod cells;
pub(crate) mod chart;
pub(crate) mod definition;
pub(crate) mod file;
pub(crate) mod generation;
pub(crate) mod interrupt;
mod jpeg;
pub(crate) mod number;
pub(crate) mod patterns;
pub(crate) mod picture;
mod profile;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod scale;
pub(crate) mod sheet;
pub(crate) mod sigma;
pub(crate) mod soup;
mod text;
