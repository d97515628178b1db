//! Patterns in the run-length encoding of Golly.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::life::Pattern;
use slm_fuzz::written_is_read;

fuzz_target!(|text: &str| {
    match Pattern::from_rle(text) {
        Ok(pattern) => written_is_read(&pattern),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
