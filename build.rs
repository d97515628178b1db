//! Brings the compiled kernels to the library: built if a device compiler is there, otherwise the committed ones.

use cuda_builder::CudaBuilder;
use std::env;

/// The features of slm-kernels.
const MODULES: [&str; 9] = [
    "filter1d_simple_f32",
    "filter1d_simple_f64",
    "filter1d_simple_i32",
    "filter1d_rows_f32",
    "filter1d_rows_f64",
    "filter1d_rows_i32",
    "filter1d_columns_f32",
    "filter1d_columns_f64",
    "filter1d_columns_i32",
];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(cuda)");
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if env::var_os("CARGO_FEATURE_CUDA").is_none() || !linux {
        return;
    }
    println!("cargo::rustc-cfg=cuda");
    let kernels = env::var_os("DEP_SLM_KERNELS_DIR").expect("slm-kernels says where it is");
    let builder = MODULES.into_iter().fold(CudaBuilder::new(kernels), CudaBuilder::module);
    if let Err(error) = builder.build() {
        error.exit();
    }
}
