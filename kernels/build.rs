//! Passes the crate's location and the list of kernel sources to dependents; selects the operation in device builds.

use std::env;

fn main() -> std::io::Result<()> {
    // A module contains only the code of its own operation, so that it does not depend on the files of the others. The
    // name of its feature begins with the name of the operation.
    println!("cargo::rustc-check-cfg=cfg(operation, values(any()))");
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().to_lowercase();
        if let Some(feature) = name.strip_prefix("cargo_feature_") {
            println!("cargo::rustc-cfg=operation=\"{}\"", feature.split('_').next().unwrap_or(feature));
        }
    }
    cuda_std::build::kernel_crate(&[])
}
