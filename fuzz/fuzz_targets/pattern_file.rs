//! Files of patterns, as the examples read them: any format, any encoding, compressed or not.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm_fuzz::{in_file, written_is_read};

#[path = "../../examples/common"]
mod common {
    pub(crate) mod patterns;
}

fuzz_target!(|input: &[u8]| {
    // The first byte says which name the file has.
    let Some((first, bytes)) = input.split_first() else { return };
    let extension = ["rle", "cells", "lif", "rle.gz", "txt"][usize::from(*first) % 5];
    match in_file(extension, bytes, common::patterns::read) {
        Ok(pattern) => written_is_read(&pattern),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
