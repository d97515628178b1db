//! Tests of the documented behaviour of transpositions, on devices that every machine has.

mod errors;
mod properties;
