//! Says where this crate is and which files its kernels are compiled from; for the device, which operation is compiled.

use std::env;

fn main() -> std::io::Result<()> {
    // A module has the code of its own operation alone, so that it does not depend on the files of the others: the name of
    // its feature begins with the operation's.
    println!("cargo::rustc-check-cfg=cfg(operation, values(any()))");
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().to_lowercase();
        if let Some(feature) = name.strip_prefix("cargo_feature_") {
            println!("cargo::rustc-cfg=operation=\"{}\"", feature.split('_').next().unwrap_or(feature));
        }
    }
    cuda_std::build::kernel_crate(&[])
}
