//! Brings the compiled kernels to the library: built if a device compiler is there, otherwise the committed ones.

use cuda_builder::CudaBuilder;
use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(cuda)");
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if env::var_os("CARGO_FEATURE_CUDA").is_none() || !linux {
        return;
    }
    println!("cargo::rustc-cfg=cuda");
    let kernels = env::var_os("DEP_SLM_KERNELS_DIR").expect("slm-kernels says where it is");
    let modules = CudaBuilder::new(kernels).module("filter1d_f32").module("filter1d_f64").module("filter1d_i32");
    if let Err(error) = modules.build() {
        error.exit();
    }
}
