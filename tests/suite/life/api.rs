//! What rules, patterns and boards promise, on every machine.

mod errors;
mod files;
mod oracle;
mod properties;
mod rules;
