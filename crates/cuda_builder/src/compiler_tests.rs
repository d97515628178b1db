#![cfg(unix)]

use super::*;
use crate::test_dir::TestDir;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Mutex, MutexGuard};

/// Lets one test at a time write programs and start them. A program cannot be started while it is open for writing, and a
/// process that another thread is just starting inherits the open file.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|error| error.into_inner())
}

/// Contents of a fake toolchain.
struct Toolchain {
    cargo: bool,
    core: Option<&'static str>,
    flags: bool,
}

const SOURCES: &str = "lib/rustlib/src/rust/library/core/Cargo.toml";
const PREBUILT: &str = "lib/rustlib/nvptx64-nvidia-cuda/lib/libcore.rlib";
const COMPLETE: Toolchain = Toolchain { cargo: true, core: Some(SOURCES), flags: true };

impl Toolchain {
    /// Writes the toolchain to the folder `name` in `dir`. Returns its compiler.
    fn make(&self, dir: &TestDir, name: &str) -> PathBuf {
        let root = dir.path(name);
        let probe = if self.flags { "exit 0" } else { "echo 'error: unknown flag' >&2; exit 1" };
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in\n\
             '--print sysroot') echo '{}' ;;\n\
             -vV) printf 'rustc 1.99.0 ({name})\\nhost: x\\nLLVM version: 23.0.0\\n' ;;\n\
             *) {probe} ;;\nesac\n",
            root.display()
        );
        let rustc = dir.write(format!("{name}/bin/rustc"), &script);
        fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
        if self.cargo {
            dir.write(format!("{name}/bin/cargo"), "");
        }
        if let Some(core) = self.core {
            dir.write(format!("{name}/{core}"), "");
        }
        rustc
    }
}

fn search(dir: &TestDir) -> Search {
    Search { explicit: None, toolchains: Some(dir.path("toolchains")), system: dir.path("system/bin/rustc") }
}

fn tried(error: BuildError) -> Vec<Rejected> {
    match error {
        BuildError::NoCompiler { tried } => tried,
        other => panic!("{other}"),
    }
}

#[test]
fn the_latest_complete_nightly_is_taken() {
    let _alone = alone();
    let dir = TestDir::new("compiler_nightly");
    COMPLETE.make(&dir, "system");
    COMPLETE.make(&dir, "toolchains/stable-x86_64");
    COMPLETE.make(&dir, "toolchains/nightly-2026-01-01-x86_64");
    let expected = COMPLETE.make(&dir, "toolchains/nightly-2026-05-25-x86_64");
    Toolchain { core: None, ..COMPLETE }.make(&dir, "toolchains/nightly-x86_64");
    let compiler = search(&dir).find().unwrap();
    assert_eq!(compiler.rustc, expected);
    assert_eq!(compiler.cargo, expected.with_file_name("cargo"));
    assert_eq!(compiler.core, Core::Sources);
    assert_eq!(compiler.version, "rustc 1.99.0 (toolchains/nightly-2026-05-25-x86_64), LLVM 23.0.0");
}

#[test]
fn a_prebuilt_core_is_second_to_its_sources() {
    let _alone = alone();
    let dir = TestDir::new("compiler_prebuilt");
    Toolchain { core: Some(PREBUILT), ..COMPLETE }.make(&dir, "toolchains/nightly-x86_64");
    assert_eq!(search(&dir).find().unwrap().core, Core::Prebuilt);
    dir.write(Path::new("toolchains/nightly-x86_64").join(SOURCES), "");
    assert_eq!(search(&dir).find().unwrap().core, Core::Sources);
}

#[test]
fn the_systems_compiler_is_the_last() {
    let _alone = alone();
    let dir = TestDir::new("compiler_system");
    Toolchain { core: None, ..COMPLETE }.make(&dir, "toolchains/nightly-x86_64");
    let system = COMPLETE.make(&dir, "system");
    assert_eq!(search(&dir).find().unwrap().rustc, system);
}

#[test]
fn tried_compilers_are_reported_with_the_reason() {
    let _alone = alone();
    let dir = TestDir::new("compiler_none");
    Toolchain { flags: false, ..COMPLETE }.make(&dir, "toolchains/nightly-a");
    Toolchain { cargo: false, ..COMPLETE }.make(&dir, "toolchains/nightly-b");
    Toolchain { core: None, ..COMPLETE }.make(&dir, "toolchains/nightly-c");
    let tried = tried(search(&dir).find().unwrap_err());
    let reasons: Vec<_> = tried.iter().map(|rejected| rejected.reason.as_str()).collect();
    assert_eq!(reasons[0], "it has neither the sources of the standard library nor the target nvptx64-nvidia-cuda");
    assert_eq!(reasons[1], "there is no cargo in its folder");
    assert!(reasons[2].ends_with("failed: error: unknown flag"), "{}", reasons[2]);
    assert!(reasons[3].starts_with("it cannot be started"), "{}", reasons[3]);
    assert_eq!(tried[3].path, dir.path("system/bin/rustc"));
}

#[test]
fn the_users_choice_has_no_substitute() {
    let _alone = alone();
    let dir = TestDir::new("compiler_explicit");
    COMPLETE.make(&dir, "system");
    let chosen = COMPLETE.make(&dir, "chosen");
    let explicit = |rustc: &Path| Search { explicit: Some(rustc.to_owned()), ..search(&dir) };
    assert_eq!(explicit(&chosen).find().unwrap().rustc, chosen);
    let error = explicit(&dir.path("absent")).find().unwrap_err();
    assert!(matches!(error, BuildError::UnusableCompiler(_)));
    assert!(error.to_string().starts_with("SLM_DEVICE_RUSTC cannot compile for the device: "));
}

#[test]
fn a_proxy_is_replaced_by_its_toolchains_compiler() {
    let _alone = alone();
    let dir = TestDir::new("compiler_proxy");
    let real = COMPLETE.make(&dir, "real");
    let proxy = dir.write("proxy", &fs::read_to_string(&real).unwrap());
    fs::set_permissions(&proxy, fs::Permissions::from_mode(0o755)).unwrap();
    let explicit = Search { explicit: Some(proxy), ..search(&dir) };
    assert_eq!(explicit.find().unwrap().rustc, real);
}

#[test]
fn only_what_exists_is_watched() {
    let _alone = alone();
    let dir = TestDir::new("compiler_watched");
    assert!(search(&dir).watched().is_empty());
    let components = dir.write("toolchains/nightly-x86_64/lib/rustlib/components", "");
    let hashes = dir.write("update-hashes/nightly-x86_64", "").with_file_name("");
    let watched = search(&dir).watched();
    assert_eq!(watched, [hashes, components]);
}
