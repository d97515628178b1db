//! Rules of Life: a rule that is read is written as a text that is the same rule.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::life::Rule;

fuzz_target!(|text: &str| {
    match text.parse::<Rule>() {
        Ok(rule) => assert_eq!(rule.to_string().parse::<Rule>(), Ok(rule)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
