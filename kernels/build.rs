//! Says where this crate is and which files its kernels are compiled from; and which operations are compiled.

use std::env;

/// What has a folder of its own, and begins the names of its modules.
const OPERATIONS: [&str; 4] = ["banks", "filter1d", "histogram", "transpose"];

fn main() -> std::io::Result<()> {
    // A module has the code of its own operation alone, so that it does not depend on the files of the others. The host
    // has all.
    println!("cargo::rustc-check-cfg=cfg(operation, values(\"{}\"))", OPERATIONS.join("\", \""));
    let on_host = env::var_os("CARGO_CFG_TARGET_OS").is_none_or(|os| os != "cuda");
    for operation in OPERATIONS {
        let feature = format!("CARGO_FEATURE_{}", operation.to_uppercase());
        let has_module = |name: &str| name == feature || name.starts_with(&format!("{feature}_"));
        if on_host || env::vars_os().any(|(name, _)| has_module(&name.to_string_lossy())) {
            println!("cargo::rustc-cfg=operation=\"{operation}\"");
        }
    }
    cuda_std::build::kernel_crate(&[])
}
