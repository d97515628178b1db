//! Rank filters: properties and errors.

mod errors;
mod properties;
