//! Tests of the documented behaviour of histograms, on devices that every machine has.

mod errors;
mod single_precision;
