//! Where the nested cargo works.

use std::path::{Path, PathBuf};

/// The nested target folder for a build whose files are at `inside`, an output folder or a program that cargo made.
///
/// It lies in the target folder of that build, so that all its profiles share it and `cargo clean` removes it. If
/// there is no such folder it is beside `inside`.
pub(crate) fn nested(inside: &Path) -> PathBuf {
    let is_target = |dir: &Path| dir.join("CACHEDIR.TAG").is_file();
    let Some(found) = inside.ancestors().skip(1).find(|dir| is_target(dir)) else {
        return inside.join("device");
    };
    // With `--target` the folder of each target is marked as well.
    let outer = found.parent().filter(|parent| is_target(parent));
    outer.unwrap_or(found).join("slm-device")
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
        for out in [
            "target/debug/build/slm-1/out",
            "target/release/build/slm-2/out",
            "target/aarch64/debug/build/s/out",
        ] {
            assert_eq!(nested(&dir.path(out)), dir.path("target/slm-device"));
        }
    }

    #[test]
    fn it_is_beside_the_output_without_a_target_folder() {
        // Not below the tests' own target folder, which is marked.
        assert_eq!(
            nested(Path::new("/nowhere/out")),
            Path::new("/nowhere/out/device")
        );
    }
}
