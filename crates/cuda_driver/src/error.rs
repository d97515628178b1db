//! Errors of loading the driver.

use std::error::Error;
use std::fmt;

/// Reason why the CUDA driver could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// No name led to a driver.
    NotFound {
        /// Failed attempts, in order.
        attempts: Vec<Attempt>,
    },
    /// The program was compiled for a platform on which this crate cannot load a driver.
    UnsupportedPlatform,
}

/// A failed attempt to load the driver under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// The file name or path that was given to the system's loader.
    pub name: String,
    /// Reason for the failure.
    pub failure: Failure,
}

/// Reason why a library was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The system's loader failed with this message.
    NotLoaded(String),
    /// The library was loaded, but it has no function `cuInit`: it is not a CUDA driver.
    LacksInit,
    /// The library was loaded, but it is the stub library of a CUDA toolkit, whose functions do nothing.
    Stub,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { attempts } => {
                f.write_str("no CUDA driver found")?;
                let separators = [": "].into_iter().chain(std::iter::repeat("; "));
                attempts.iter().zip(separators).try_for_each(|(attempt, separator)| write!(f, "{separator}{attempt}"))
            }
            Self::UnsupportedPlatform => {
                f.write_str("the CUDA driver can be loaded only on 64-bit Linux on x86-64 and aarch64")
            }
        }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded(message) => f.write_str(message),
            Self::LacksInit => f.write_str("loaded, but it has no function cuInit"),
            Self::Stub => f.write_str("loaded, but it is a toolkit's stub for linking"),
        }
    }
}

impl Error for LoadError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(name: &str, failure: Failure) -> Attempt {
        Attempt { name: name.to_owned(), failure }
    }

    #[test]
    fn not_found_lists_every_attempt() {
        let error = LoadError::NotFound {
            attempts: vec![
                attempt("libcuda.so.1", Failure::NotLoaded("no such file".to_owned())),
                attempt("libcuda.so", Failure::LacksInit),
                attempt("/lib/libcuda.so.1", Failure::Stub),
            ],
        };
        assert_eq!(
            error.to_string(),
            "no CUDA driver found: libcuda.so.1 (no such file); \
             libcuda.so (loaded, but it has no function cuInit); \
             /lib/libcuda.so.1 (loaded, but it is a toolkit's stub for linking)"
        );
    }

    #[test]
    fn unsupported_platform_names_the_supported_ones() {
        assert_eq!(
            LoadError::UnsupportedPlatform.to_string(),
            "the CUDA driver can be loaded only on 64-bit Linux on x86-64 and aarch64"
        );
    }
}
