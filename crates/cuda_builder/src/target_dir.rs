//! The target folder of the nested cargo.

use std::path::{Path, PathBuf};

/// Returns the nested target folder for a build. `inside` is the build script's output folder, or a program that cargo
/// built.
///
/// It is in the target folder of that build, so that all profiles share it and `cargo clean` removes it. If there is no such
/// folder, it is `device` in `inside`.
pub(crate) fn nested(inside: &Path) -> PathBuf {
    let Some(found) = of_output(inside).or_else(|| inside.ancestors().skip(1).find(|dir| is_marked(dir))) else {
        return inside.join("device");
    };
    // With `--target`, each target has its own folder, which is marked too.
    let outer = found.parent().filter(|parent| is_marked(parent) && is_marked(found));
    outer.unwrap_or(found).join("slm-device")
}

/// Returns the target folder of an output folder `<target folder>/<profile>/build/<package>/out`. Newer versions of cargo
/// have one more folder before the last.
///
/// This works for unmarked target folders too: cargo marks only the folders that it creates.
fn of_output(out_dir: &Path) -> Option<&Path> {
    let is_build = |dir: &&Path| dir.file_name().is_some_and(|name| name == "build");
    let build = out_dir.ancestors().skip(2).take(2).find(is_build)?;
    (out_dir.file_name()? == "out").then_some(build.parent()?.parent()?)
}

fn is_marked(dir: &Path) -> bool {
    dir.join("CACHEDIR.TAG").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    #[test]
    fn profiles_and_targets_share_it() {
        let dir = TestDir::new("target_dir_shared");
        dir.write("target/CACHEDIR.TAG", "");
        dir.write("target/aarch64/CACHEDIR.TAG", "");
        for out in
            ["target/debug/build/slm-1/out", "target/release/build/slm-2/out", "target/aarch64/debug/build/s/out"]
        {
            assert_eq!(nested(&dir.path(out)), dir.path("target/slm-device"));
        }
    }

    #[test]
    fn a_target_folder_needs_no_mark() {
        for out in ["/t/debug/build/slm-1/out", "/t/release/build/slm/123/out"] {
            assert_eq!(nested(Path::new(out)), Path::new("/t/slm-device"));
        }
    }

    #[test]
    fn the_folder_of_a_program_is_found_by_its_mark() {
        let dir = TestDir::new("target_dir_program");
        dir.write("build/CACHEDIR.TAG", "");
        assert_eq!(nested(&dir.path("build/debug/build-kernels")), dir.path("build/slm-device"));
    }

    #[test]
    fn without_a_target_folder_it_is_in_the_output_folder() {
        // Not below the tests' own target folder, which is marked.
        assert_eq!(nested(Path::new("/nowhere/out")), Path::new("/nowhere/out/device"));
    }
}
