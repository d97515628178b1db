//! Tests of filters on devices that every machine has.

mod errors;
mod oracle;
mod properties;
