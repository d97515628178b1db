//! What rules, patterns and boards promise, on every machine.

mod errors;
mod files;
mod properties;
mod rules;
