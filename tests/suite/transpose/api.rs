//! What transpositions promise, on devices that every machine has.

mod errors;
mod properties;
