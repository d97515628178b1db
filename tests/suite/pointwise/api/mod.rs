//! What pointwise operations promise, on devices that every machine has.

mod errors;
mod properties;
