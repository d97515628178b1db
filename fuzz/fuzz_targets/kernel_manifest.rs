//! Manifests and sources of kernel crates, as their build script reads them.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the build script uses more of it")]
#[path = "../../crates/cuda_std/src/build"]
mod build {
    pub(crate) mod manifest;
    pub(crate) mod source;
    mod tokens;

    /// Reads a text in every way.
    pub(crate) fn read(text: &str) {
        let _ = manifest::Manifest::read(text).map(|manifest| manifest.library());
        let _ = manifest::package_name(text);
        let _ = source::says_no_std(text);
        if let Some(tokens) = tokens::tokens(text) {
            assert!(tokens.len() <= text.len());
        }
    }
}

fuzz_target!(|text: &str| build::read(text));
