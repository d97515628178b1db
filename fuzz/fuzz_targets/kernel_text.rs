//! Texts of modules: PTX with its constants, and LLVM's code, in which copied operations are searched for.

#![no_main]

use cuda_std::image;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the builder uses more of it")]
#[path = "../../crates/cuda_builder/src"]
mod builder {
    pub(crate) mod convergence;
    pub(crate) mod line_directives;
    pub(crate) mod register_limits;
}

fuzz_target!(|text: &str| {
    let copies = builder::convergence::Copies::find(text);
    copies.warp_operations.iter().for_each(|copied| assert!(!copied.to_string().is_empty()));
    let ptx = builder::register_limits::limit(&builder::line_directives::remove(text));
    let ptx = builder::convergence::align_barriers(&ptx);
    let digest = image::digest(&ptx);
    assert_eq!(image::verify_text(&ptx, &digest), Ok(()));
    assert!(image::verify_text(&ptx, text).is_err());
});
