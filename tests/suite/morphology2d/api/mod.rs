//! Morphology: properties and errors.

mod errors;
mod properties;
