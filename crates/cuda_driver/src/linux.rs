//! Opens the driver's library and connects the trampolines to it.

use std::error::Error;
use std::ffi::{c_int, c_void};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::{Attempt, Driver, FUNCTIONS, Failure, LoadError, trampolines};

/// The names to try. Every driver installs the first. The second exists where the development link was installed. The third
/// is outside the loader's path in some distributions under WSL.
pub(crate) const NAMES: &[&str] = &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"];

/// `CUDA_ERROR_STUB_LIBRARY`, which every function of a stub returns.
const STUB_LIBRARY: c_int = 34;

/// Connects the trampolines to the first library of `names` that is a driver.
pub(crate) fn load_first(names: &[&str]) -> Result<Driver, LoadError> {
    let mut attempts = Vec::new();
    for &name in names {
        match open(name) {
            Ok(library) => {
                return Ok(Driver { name: name.to_owned(), missing: connect(library) });
            }
            Err(failure) => attempts.push(Attempt { name: name.to_owned(), failure }),
        }
    }
    Err(LoadError::NotFound { attempts })
}

/// Returns a library that has `cuInit` and is not a stub.
fn open(name: &str) -> Result<Library, Failure> {
    // SAFETY: these names belong to the system's CUDA driver, which every program that links with it loads in the same way.
    // Its initialisers have no preconditions.
    let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| Failure::NotLoaded(message(name, &error)))?;
    match find(&library, "cuInit") {
        None => Err(Failure::LacksInit),
        Some(_) if is_stub(&library) => Err(Failure::Stub),
        Some(_) => Ok(library),
    }
}

/// Returns whether the library is a stub for linking. Stubs in the loader's path must not hide a driver.
fn is_stub(library: &Library) -> bool {
    type GetVersion = unsafe extern "C" fn(*mut c_int) -> c_int;
    let mut version = 0;
    // SAFETY: a driver's function of this name has this signature and may be called before `cuInit`; it writes one integer,
    // which outlives the call. A stub's function ignores its arguments.
    unsafe { library.get::<GetVersion>("cuDriverGetVersion").is_ok_and(|get| get(&raw mut version) == STUB_LIBRARY) }
}

/// Returns the loader's own message, if it has one, without the name that it may begin with.
fn message(name: &str, error: &libloading::Error) -> String {
    let message = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    match message.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")) {
        Some(rest) => rest.to_owned(),
        None => message,
    }
}

/// Fills the table from `library`, and returns the functions that it lacks.
fn connect(library: Library) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for (index, name) in FUNCTIONS.iter().enumerate() {
        let function = find(&library, name).unwrap_or_else(|| {
            missing.push(*name);
            trampolines::not_found as *mut c_void
        });
        // SAFETY: `function` is the driver's function of this name, or `not_found`, which may replace any of them. The
        // library is forgotten below, so it stays loaded and the address stays valid.
        unsafe { trampolines::connect(index, function) };
    }
    std::mem::forget(library);
    missing
}

/// Returns the address of a function of `library`, or `None` if it has no such function.
fn find(library: &Library, name: &str) -> Option<*mut c_void> {
    // SAFETY: the symbol is only taken as an address; it is neither read nor called here.
    let symbol = unsafe { library.get::<*mut c_void>(name) }.ok()?;
    Some(symbol.as_raw_ptr()).filter(|address| !address.is_null())
}

#[cfg(test)]
mod tests;
