//! Builds a program that uses `cust`, with several linkers, with and without a toolkit, and checks that it does not need
//! `libcuda` to start.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::{fs, io, thread};

use cuda_driver::FUNCTIONS;

const PROFILES: [(&str, &str); 2] = [("dev", "debug"), ("release", "release")];
const LINKERS: [&str; 2] = ["bfd", "lld"];

/// The tests run one after another: they write the same stub and the same package, and build in one folder, so that code that
/// does not depend on the toolkit is compiled once.
static FOLDERS: Mutex<()> = Mutex::new(());

#[test]
fn without_a_toolkit() {
    let _lock = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let root = folder("no-toolkit");
    fs::create_dir_all(root.join("lib64")).expect("a folder");
    build_all(&root, check);
}

/// Without the feature `link`, a crate that asks for `libcuda` gets the functions that this crate does not define from
/// there.
#[test]
fn other_functions_come_from_libcuda() {
    let _lock = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(stub) = compile_stub() else { return };
    let root = folder("other-functions");
    fs::copy(&stub, root.join("libcuda.so")).expect("a copy of the stub");
    fs::copy(&stub, root.join("libcuda.so.1")).expect("a copy of the stub");
    let dependencies = format!("slm-cuda-driver = {{ path = {:?} }}", env!("CARGO_MANIFEST_DIR"));
    let package = write_package(&folder("other-package"), &dependencies, include_str!("fixture/src/other.rs"));
    let target = folder("target");
    build(&package, &target, &root, "dev", "bfd");
    let output = text(&run(Command::new(target.join("debug/linkage")).env("LD_LIBRARY_PATH", &root)));
    assert_eq!(output, "3 from this crate, 34 from the library\n");
}

#[test]
fn with_a_toolkit() {
    let _lock = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(stub) = compile_stub() else { return };
    let root = folder("toolkit");
    for place in ["lib64/libcuda.so", "lib64/stubs/libcuda.so", "driver/libcuda.so.1"] {
        let place = root.join(place);
        fs::create_dir_all(place.parent().expect("it has a folder")).expect("a folder");
        fs::copy(&stub, place).expect("a copy of the stub");
    }
    build_all(&root, |program| {
        check(program);
        // A stub in place of a driver is rejected. If the machine has a driver, the next name may lead to it.
        let path = Some(("LD_LIBRARY_PATH", root.join("driver")));
        let output = text(&run(Command::new(program).envs(path)));
        assert!(output == "no driver\n" || cuda_driver::load().is_ok(), "{output}");
    });
}

/// Checks a program, however it was linked.
fn check(program: &Path) {
    let output = text(&run(&mut Command::new(program)));
    match cuda_driver::load() {
        Ok(_) => assert!(["no device\n", "kernel wrote 7\n"].contains(&output.as_str()), "{output}"),
        Err(_) => assert_eq!(output, "no driver\n"),
    }
    if !exists("readelf") {
        return println!("skipped the dynamic section: there is no readelf");
    }
    let dynamic = text(&run(Command::new("readelf").args(["-dW", "--dyn-syms"]).arg(program)));
    assert!(dynamic.contains("NEEDED"), "{dynamic}");
    assert!(!dynamic.contains("libcuda"), "{dynamic}");
    assert!(FUNCTIONS.iter().all(|name| !dynamic.contains(name)), "{dynamic}");
}

/// Builds the program in all profiles with all linkers, and checks each. The profiles are built at the same time, because
/// Cargo keeps them separate and one build does not use all cores. The linkers run one after another, because each program
/// replaces the last one.
fn build_all(toolkit: &Path, check: impl Fn(&Path) + Sync) {
    let dependencies = format!(
        r#"
        cust = {{ version = "=0.3.2", default-features = false, features = ["bytemuck"] }}
        slm-cuda-driver = {{ path = {:?}, features = ["link"] }}
        "#,
        env!("CARGO_MANIFEST_DIR")
    );
    let package = write_package(&folder("package"), &dependencies, include_str!("fixture/src/main.rs"));
    let target = folder("target");
    let linkers: Vec<_> = LINKERS.into_iter().filter(|linker| is_linker(linker)).collect();
    let build_with_all = |profile: &str, folder: &Path| {
        for linker in &linkers {
            build(&package, &target, toolkit, profile, linker);
            check_functions_of_cust(&folder.join("deps"));
            check(&folder.join("linkage"));
        }
    };
    thread::scope(|scope| {
        for (profile, folder) in PROFILES {
            let (folder, build_with_all) = (target.join(folder), &build_with_all);
            scope.spawn(move || build_with_all(profile, &folder));
        }
    });
}

fn is_linker(name: &str) -> bool {
    let found = exists(&format!("ld.{name}"));
    if !found {
        println!("skipped {name}: there is no ld.{name}");
    }
    found
}

/// Writes the package of the program, and returns the path of its manifest. Its `[workspace]` table keeps Cargo from
/// searching for a workspace in parent folders.
fn write_package(root: &Path, dependencies: &str, source: &str) -> PathBuf {
    let manifest = format!(
        r#"
        [package]
        name = "linkage"
        version = "0.0.0"
        edition = "2024"

        [dependencies]
        {dependencies}

        [workspace]
        "#
    );
    fs::create_dir_all(root.join("src")).expect("a folder");
    fs::write(root.join("src/main.rs"), source).expect("a file");
    fs::write(root.join("Cargo.toml"), manifest).expect("a file");
    root.join("Cargo.toml")
}

/// Builds the program. Uses the network only if a dependency has not been downloaded yet.
fn build(manifest: &Path, target: &Path, toolkit: &Path, profile: &str, linker: &str) {
    let cargo = |offline: Option<&str>| {
        let mut command = Command::new(env!("CARGO"));
        // Incrementally, this crate's library has many object files in the profile `dev`. Only then do the programs show which of
        // them the linker takes.
        for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_INCREMENTAL"] {
            command.env_remove(variable);
        }
        command.env("CUDA_LIBRARY_PATH", toolkit);
        command.env("CARGO_PROFILE_DEV_DEBUG", "0"); // Nothing here is debugged.
        command.args(["rustc", "--quiet", "--profile", profile, "--manifest-path"]).arg(manifest);
        command.arg("--target-dir").arg(target).args(offline).arg("--");
        command.args(linker_arguments(linker)).arg("-L").arg(toolkit);
        command
    };
    if !cargo(Some("--offline")).output().is_ok_and(|output| output.status.success()) {
        run(&mut cargo(None));
    }
}

/// Returns arguments for the compiler. They are passed for the program only, so the dependencies are compiled once for all
/// linkers.
fn linker_arguments(linker: &str) -> Vec<String> {
    let mut arguments = vec![format!("-Clink-arg=-fuse-ld={linker}")];
    if cfg!(target_arch = "x86_64") {
        arguments.push("-Clinker-features=-lld".to_owned()); // The compiler's own choice of a linker.
    }
    arguments
}

/// Checks that every driver function that `cust` calls is one of this crate's.
fn check_functions_of_cust(dependencies: &Path) {
    if !exists("nm") {
        return println!("skipped the functions of cust: there is no nm");
    }
    let files = fs::read_dir(dependencies).expect("the folder of the dependencies").flatten();
    let libraries = files.map(|file| file.path()).filter(|path| is_library_of_cust(path));
    let output = text(&run(Command::new("nm").arg("-u").args(libraries)));
    let words: BTreeSet<_> = output.split_whitespace().filter(|word| is_driver_function(word)).collect();
    assert!(words.contains("cuInit"), "{output}");
    for name in words {
        assert!(FUNCTIONS.contains(&name), "cust calls {name}");
    }
}

fn is_library_of_cust(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.starts_with("libcust-") && name.ends_with(".rlib")
}

fn is_driver_function(word: &str) -> bool {
    word.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Compiles a stub library with all functions of a driver, as toolkits contain for linking. Returns `None` if there is no C
/// compiler.
fn compile_stub() -> Option<PathBuf> {
    if !exists("cc") {
        println!("skipped: there is no cc to compile a stub with");
        return None;
    }
    let (source, library) = (folder("stub").join("stub.c"), folder("stub").join("libcuda.so"));
    let names = FUNCTIONS.iter().chain(&["cuOther"]);
    let functions: String = names.map(|name| format!("int {name}(void) {{ return 34; }}\n")).collect();
    fs::write(&source, functions).expect("a source file");
    let options = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o"];
    run(Command::new("cc").args(options).arg(&library).arg(&source));
    Some(library)
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).expect("a folder");
    path
}

fn exists(program: &str) -> bool {
    let result = Command::new(program).arg("--version").output();
    !matches!(result, Err(error) if error.kind() == io::ErrorKind::NotFound)
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{message}", output.status);
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
