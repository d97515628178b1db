//! The cached result of the search for the driver.

use std::sync::OnceLock;

use crate::LoadError;

/// The CUDA driver, loaded for as long as the process lives.
#[derive(Debug)]
pub struct Driver {
    pub(crate) name: String,
    pub(crate) missing: Vec<&'static str>,
}

impl Driver {
    /// Returns the name under which the library was found, for instance `libcuda.so.1`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the functions of [`FUNCTIONS`](crate::FUNCTIONS) that this driver lacks, in ASCII order.
    ///
    /// A driver older than a function lacks it. A call of such a function returns `CUDA_ERROR_NOT_FOUND` (500).
    #[must_use]
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }
}

/// Returns the CUDA driver, after connecting the `cu*` functions of this crate to it.
///
/// The first call tries `libcuda.so.1`, `libcuda.so` and `/usr/lib/wsl/lib/libcuda.so.1`, in this order, and uses the first
/// library that loads, has `cuInit` and is not the stub library that CUDA toolkits contain for linking. Every later call
/// returns the same result at once. Any number of threads may call it at the same time; all but one wait for the first. The
/// only driver function that it calls is `cuDriverGetVersion`, to recognise a stub. The caller must call `cuInit`, which can
/// still fail, for instance on a machine without a GPU.
///
/// # Errors
///
/// Returns [`LoadError::NotFound`], with the cause for each name, if no name led to a driver. Returns
/// [`LoadError::UnsupportedPlatform`] if the program was compiled for a platform without support.
///
/// # Examples
///
/// ```
/// match cuda_driver::load() {
///     Ok(driver) => println!("found {}", driver.name()),
///     Err(error) => println!("continuing on the CPU: {error}"),
/// }
/// ```
pub fn load() -> Result<&'static Driver, &'static LoadError> {
    static RESULT: OnceLock<Result<Driver, LoadError>> = OnceLock::new();
    RESULT.get_or_init(search).as_ref()
}

#[cfg(supported)]
fn search() -> Result<Driver, LoadError> {
    crate::linux::load_first(crate::linux::NAMES)
}

#[cfg(not(supported))]
fn search() -> Result<Driver, LoadError> {
    Err(LoadError::UnsupportedPlatform)
}
