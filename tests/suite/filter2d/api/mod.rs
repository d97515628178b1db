//! What two-dimensional filters promise, on devices that every machine has.

mod errors;
mod properties;
mod weights;
