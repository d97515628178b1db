//! The search and the trampolines, with small libraries that the tests compile.
//!
//! There is one table per process, so one test takes it through all its states.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, ptr};

use super::*;
use crate::api::{cuDriverGetVersion, cuInit, cuLaunchKernel, cuMemGetInfo_v2};

/// A driver with three functions. `cuLaunchKernel` has arguments of all kinds, more than fit into registers.
const DRIVER: &str = "
int cuInit(unsigned flags) { return flags; }
int cuDriverGetVersion(int *version) { *version = 12345; return 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra)
{
    return f && gx == 1 && gy == 2 && gz == 3 && bx == 4 && by == 5 && bz == 6 && shared == 7
        && stream == f && !parameters && (void *)extra == f ? 42 : -1;
}
";

/// A library that is not a driver.
const OTHER: &str = "int cuDriverGetVersion(int *version) { *version = 1; return 0; }";

/// A stub library, which toolkits contain for linking.
const STUB: &str = "int cuInit(void) { return 34; } int cuDriverGetVersion(void) { return 34; }";

const MISSING_FILE: &str = "/nonexistent/libcuda.so.1";

/// A folder of this process, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("cuda_driver_{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }

    /// Compiles a shared library and returns its path.
    fn compile(&self, name: &str, source: &str) -> String {
        let library = self.0.join(format!("{name}.so"));
        compile(&library, &self.0.join(format!("{name}.c")), source);
        library.to_str().expect("a path in UTF-8").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn compile(library: &Path, file: &Path, source: &str) {
    fs::write(file, source).expect("a source file");
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(library).arg(file).status();
    assert!(status.expect("cc was found before").success(), "cc failed for {}", file.display());
}

fn version() -> (i32, i32) {
    let mut version = 0;
    // SAFETY: the function takes one pointer to an `int`, which outlives the call.
    let code = unsafe { cuDriverGetVersion(&raw mut version) };
    (code, version)
}

fn memory() -> (i32, usize) {
    let (mut free, mut total) = (9, 9);
    // SAFETY: the function takes two pointers to `size_t`, which outlive the call.
    let code = unsafe { cuMemGetInfo_v2(&raw mut free, &raw mut total) };
    (code, free + total)
}

fn init(flags: u32) -> i32 {
    // SAFETY: the function has no preconditions.
    unsafe { cuInit(flags) }
}

fn launch() -> i32 {
    let address = ptr::without_provenance_mut::<c_void>(16);
    // SAFETY: neither the function of the test driver nor its replacements dereference the pointers.
    unsafe { cuLaunchKernel(address.cast(), 1, 2, 3, 4, 5, 6, 7, address.cast(), ptr::null_mut(), address.cast()) }
}

/// `cuInit` is not called, because it would load the machine's driver, if there is one.
fn assert_not_initialized() {
    assert_eq!((version(), memory(), launch()), ((3, 0), (3, 18), 3));
}

#[test]
fn functions_follow_the_state_of_the_table() {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("skipped: there is no cc to compile a driver with");
        return;
    }
    let folder = Folder::new();
    let (driver, other) = (folder.compile("driver", DRIVER), folder.compile("other", OTHER));
    let stub = folder.compile("stub", STUB);

    assert_not_initialized();
    let error = load_first(&[MISSING_FILE, &other, &stub]).expect_err("none is a driver");
    assert_attempts(&error, &other, &stub);
    assert_not_initialized();

    let loaded = load_first(&[MISSING_FILE, &other, &stub, &driver]).expect("the last is a driver");
    assert_eq!(loaded.name(), driver);
    assert_eq!(loaded.missing().len(), FUNCTIONS.len() - 3);
    assert!(loaded.missing().contains(&"cuMemGetInfo_v2"));
    assert_eq!((init(0), init(77), version()), (0, 77, (0, 12345)));
    assert_eq!(launch(), 42);
    assert_eq!(memory(), (500, 18));
}

fn assert_attempts(error: &LoadError, other: &str, stub: &str) {
    let LoadError::NotFound { attempts } = error else { panic!("{error:?}") };
    let names: Vec<_> = attempts.iter().map(|attempt| attempt.name.as_str()).collect();
    assert_eq!(names, [MISSING_FILE, other, stub]);
    assert!(matches!(&attempts[0].failure, Failure::NotLoaded(text) if text.contains("No such file")));
    assert_eq!(error.to_string().matches(MISSING_FILE).count(), 1, "{error}");
    assert_eq!((&attempts[1].failure, &attempts[2].failure), (&Failure::LacksInit, &Failure::Stub));
}
