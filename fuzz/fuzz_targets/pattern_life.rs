//! Patterns in the formats Life 1.05 and 1.06.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::life::Pattern;
use slm_fuzz::written_is_read;

fuzz_target!(|text: &str| {
    match Pattern::from_life(text) {
        Ok(pattern) => written_is_read(&pattern),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
