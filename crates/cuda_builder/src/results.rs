//! Results of a build.

use crate::Arch;
use std::path::PathBuf;

/// Origin of modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The committed files of the kernel crate.
    Committed,
    /// There are no modules ([`Mode::None`](crate::Mode::None)).
    None,
    /// Compiled now, at least some of them; the others are committed files that the same compiler made.
    Built {
        /// The compiler and its version.
        compiler: String,
    },
}

/// A module, compiled for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// The module's name.
    pub module: String,
    /// Target that it was compiled for.
    pub arch: Arch,
    /// The PTX.
    pub text: String,
    /// File with the PTX.
    pub file: PathBuf,
}

/// Result of [`CudaBuilder::build`](crate::CudaBuilder::build).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Built {
    /// Images of all modules. Modules are in the order in which they were added, or sorted by name if none was added. The
    /// targets of each are in ascending order.
    pub images: Vec<Image>,
    /// Origin of the modules.
    pub origin: Origin,
    /// The file that `cuda_std::include_kernels!` includes.
    pub include: PathBuf,
}

/// Result of [`CudaBuilder::commit`](crate::CudaBuilder::commit).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The compiled modules, and the list of them.
    pub files: Vec<PathBuf>,
    /// Removed files of modules and targets that no longer exist.
    pub removed: Vec<PathBuf>,
    /// Warnings of the kernels.
    pub warnings: Vec<String>,
}
