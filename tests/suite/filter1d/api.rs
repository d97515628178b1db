//! Tests of filters on devices that every machine has.

mod errors;
mod generated;
mod oracle;
mod properties;
