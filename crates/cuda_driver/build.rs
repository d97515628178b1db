//! Decides whether the platform is supported and, if it is, writes an empty `libcuda.a` for the feature `link`.
//!
//! Other crates of a program may ask for `-lcuda`, as `cust_raw` does. The functions are defined in `src/trampolines.rs`, so
//! the library can be empty. Cargo searches folders inside `OUT_DIR` before all others, so the linker finds the empty
//! archive where no toolkit is installed, and before the stub library where one is.

use std::path::PathBuf;
use std::{env, fs, io};

/// An archive without members: the magic bytes that begin every `.a` file, and nothing else.
const EMPTY_ARCHIVE: &[u8] = b"!<arch>\n";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(supported)");
    if is_supported() {
        println!("cargo::rustc-cfg=supported");
    }
    if is_supported() && env::var_os("CARGO_FEATURE_LINK").is_some() {
        let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
        fs::write(folder.join("libcuda.a"), EMPTY_ARCHIVE)?;
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
    Ok(())
}

/// Returns whether the trampolines can be assembled for the target.
fn is_supported() -> bool {
    let target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    target("OS") == "linux"
        && target("POINTER_WIDTH") == "64"
        && ["x86_64", "aarch64"].contains(&target("ARCH").as_str())
}
