//! What histograms promise, on devices that every machine has.

mod errors;
