//! Brings the kernel modules to the library, and to its tests: built if a device compiler is there, otherwise the committed
//! ones; none without CUDA.

use cuda_builder::CudaBuilder;
use std::env;

fn main() {
    // `cuda`: the CUDA backend is there. `cust`: so is interop with `cust`. `gpu`: some backend that runs kernels is there.
    println!("cargo::rustc-check-cfg=cfg(cuda, cust, gpu)");
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let cuda = has("CUDA") && is_supported();
    if cuda || has("EMULATOR") {
        println!("cargo::rustc-cfg=gpu");
    }
    if cuda {
        println!("cargo::rustc-cfg=cuda");
        if has("CUST") {
            println!("cargo::rustc-cfg=cust");
        }
    }
    let kernels = env::var_os("DEP_SLM_KERNELS_DIR").expect("slm-kernels says where it is");
    // Emulated devices run the host's code of a kernel, and need no module.
    CudaBuilder::new(kernels).images(cuda).build().unwrap_or_else(|error| error.exit());
}

/// Whether `cuda_driver` supports the target. Cargo.toml has the same condition.
fn is_supported() -> bool {
    let target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    target("OS") == "linux"
        && target("POINTER_WIDTH") == "64"
        && ["x86_64", "aarch64"].contains(&target("ARCH").as_str())
}
