//! The Game of Life, and other rules of its kind: rules, patterns, and the files that contain them.
//!
//! ```
//! use slm::life::{Pattern, Rule};
//!
//! # fn main() -> slm::Result<()> {
//! let blinker: Pattern = "x = 3, y = 1, rule = 23/3\n3o!".parse()?;
//! assert_eq!(blinker.rule(), Some(Rule::CONWAY));
//! # Ok(())
//! # }
//! ```

mod error;
mod pattern;
mod rule;

pub use error::LifeError;
pub use pattern::Pattern;
pub use rule::Rule;
