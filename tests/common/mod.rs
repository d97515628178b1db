//! Shared parts of test programs and operations: trials on all devices, random numbers, and parsers for PTX and sources.

// Not every test program uses everything, and `pub` is shorter than `pub(crate)`.
#![allow(dead_code, unreachable_pub, unused_imports)]

pub mod coverage;
pub mod declarations;
pub mod driver;
pub mod emulated;
pub mod golden;
pub mod selection;
pub mod sources;

mod checks;
mod folder;
mod trials;

pub use checks::{ensure, equal, same};
pub use folder::Folder;
pub use slm_test_support::random::{Draw, Random, SEED};
pub use slm_test_support::{numbers, ptx};
pub use trials::{Test, is_cuda, is_emulated, is_slow, on_cuda, on_every_backend, on_profiles};

/// Makes the repository's root the current folder, because all paths of the tests are relative to it. Cargo starts tests in
/// the folder of their package; without Cargo they are started in the root.
pub fn enter_repository() {
    const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");
    if std::env::var_os("CARGO_MANIFEST_DIR").is_some_and(|folder| folder == PACKAGE) {
        std::env::set_current_dir(std::path::Path::new(PACKAGE).join("..")).expect("the repository is there");
    }
}
