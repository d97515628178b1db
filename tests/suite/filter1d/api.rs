//! What filters promise, on devices that every machine has.

mod errors;
mod oracle;
mod properties;
