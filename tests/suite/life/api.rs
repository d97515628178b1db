//! What rules and patterns promise, on every machine.

mod errors;
mod files;
mod rules;
