//! The list of a kernel crate's committed modules, `ptx/index.toml`.

#![no_main]

// The names that the files of the builder expect in their crate.
use cuda_builder::{Arch, BuildError};
use index::Index;
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cuda_builder/src/index.rs"]
mod index;

#[allow(dead_code, reason = "the builder uses more of it")]
#[path = "../../crates/cuda_builder/src/module_names.rs"]
mod module_names;

fuzz_target!(|text: &str| {
    if let Ok(index) = Index::parse(text) {
        let rendered = index.render();
        let read = Index::parse(&rendered).map(|index| index.render());
        assert_eq!(read.as_ref(), Ok(&rendered));
    }
});
