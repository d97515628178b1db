//! The environment of child processes.
//!
//! Cargo describes the host build to a build script in variables. Most of them would affect a nested cargo or rustc: it
//! would compile for the wrong target, with the host's flags, or wait for the outer job server. So none of them is passed
//! on, except those for the user's folders and the network.

use std::env;
use std::path::Path;
use std::process::Command;

/// Returns a command that starts `program` without the outer cargo's variables.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        if is_outer(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    // The kernels use unstable features, also with a stable compiler.
    command.env("RUSTC_BOOTSTRAP", "1");
    command
}

fn is_outer(name: &str) -> bool {
    const KEPT: [&str; 6] =
        ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "RUSTUP_"];
    const PREFIXES: [&str; 4] = ["CARGO", "__CARGO", "RUST", "DEP_"];
    const NAMES: [&str; 9] =
        ["MAKEFLAGS", "MFLAGS", "OUT_DIR", "TARGET", "HOST", "PROFILE", "OPT_LEVEL", "DEBUG", "NUM_JOBS"];
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let chooses_toolchain = name.starts_with("RUSTUP_TOOLCHAIN");
    NAMES.contains(&name) || chooses_toolchain || (starts(&PREFIXES) && !starts(&KEPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_describes_the_host_build_is_removed() {
        for name in [
            "CARGO",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_MAKEFLAGS",
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_MANIFEST_DIR",
            "RUSTC",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
            "MAKEFLAGS",
            "TARGET",
            "DEP_SLM_KERNELS_DIR",
        ] {
            assert!(is_outer(name), "{name}");
        }
    }

    #[test]
    fn what_describes_the_machine_stays() {
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "CARGO_HTTP_PROXY",
            "CARGO_NET_OFFLINE",
            "CARGO_REGISTRIES_CRATES_IO_PROTOCOL",
            "https_proxy",
            "SLM_KERNELS",
        ] {
            assert!(!is_outer(name), "{name}");
        }
    }
}
