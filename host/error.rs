//! What can go wrong.

use crate::banks::BankError;
use crate::filter1d::FilterError;
use crate::histogram::HistogramError;
use crate::transpose::TransposeError;
use slm_kernels::Misaligned;
use std::convert::Infallible;
use std::fmt;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What [`Error::NoDevice`] says of a driver without a GPU.
pub(crate) const NO_GPU: &str = "the driver finds no GPU";

/// What went wrong, as data: what was asked for, and what there is.
///
/// Errors that operations have in common are variants of this enum. Errors of one operation are variants of an enum beside
/// that operation, such as [`FilterError`]; this one wraps it, with the same text.
///
/// # Failures of the device
///
/// What the documentation of functions calls so is, on a GPU, [`Driver`](Error::Driver) or
/// [`DeviceLost`](Error::DeviceLost), of earlier work as well. On an emulated device it is `FaultyKernel`, `LaunchRefused` or
/// `UnwrittenOutput`, or [`TooLarge`](Error::TooLarge) once the process has had more buffers than addresses tell apart. The
/// CPU has none.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// `SLM_DEVICE` has a value that names no device.
    #[error(
        "no device is called '{value}': SLM_DEVICE, or a name given otherwise, can be auto, cpu, cuda, cuda:N, emulated, \
         emulated:PROFILE or emulated:PROFILE:SEED, with a profile of sm_75, sm_80, sm_90 and small"
    )]
    UnknownDevice {
        /// The variable's value.
        value: String,
    },
    /// The device needs a part of this crate that was not compiled.
    #[error("{device} needs the feature '{feature}' of the crate slm, which this program was built without")]
    FeatureDisabled {
        /// The device asked for.
        device: &'static str,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// There is no CUDA driver on this machine, it cannot be loaded, or it finds no GPU.
    #[error("no CUDA device: {tried}")]
    NoDevice {
        /// Where the driver was looked for, and what came of it.
        tried: String,
    },
    /// There are fewer CUDA devices.
    #[error("there is no CUDA device {ordinal}: the driver has {available} (numbered from 0)")]
    DeviceOrdinal {
        /// The number asked for.
        ordinal: usize,
        /// How many devices there are.
        available: usize,
    },
    /// The device is older than the kernels.
    #[error("the device {device} has compute capability {}.{}, and the kernels need {}.{} at least",
        actual.0, actual.1, required.0, required.1)]
    DeviceTooOld {
        /// The device's name.
        device: String,
        /// The least compute capability there are kernels for.
        required: (u32, u32),
        /// The device's compute capability.
        actual: (u32, u32),
    },
    /// The device lacks something that the call cannot do without.
    #[error("the device {device} lacks {lacks}")]
    DeviceUnsupported {
        /// The device's name.
        device: String,
        /// What it lacks.
        lacks: &'static str,
    },
    /// The driver cannot load the kernels or lacks what this crate needs of it.
    #[error("the CUDA driver supports CUDA {}.{}, and {needed_for} takes a newer one (CUDA {}.{} or later)",
        actual.0, actual.1, required.0, required.1)]
    DriverTooOld {
        /// The first version of CUDA that would do.
        required: (u32, u32),
        /// The version that the driver supports.
        actual: (u32, u32),
        /// What takes a newer one.
        needed_for: String,
    },
    /// A compiled kernel module that is not the one this program was built for. It was not loaded.
    #[error("the kernel module {module} cannot be used: {source}")]
    KernelModule {
        /// The module's name.
        module: &'static str,
        /// What is wrong with it.
        source: cuda_std::image::ImageError,
    },
    /// A kernel whose module cannot be checked, because its crate does not list its sources.
    #[error(
        "{kernel} cannot be matched with compiled modules: the build script of its crate has to call \
         cuda_std::build::kernel_crate"
    )]
    KernelWithoutDigest {
        /// The kernel.
        kernel: &'static str,
    },
    /// A kernel that is not in the module that it was looked for in.
    #[error("the kernel module {module} has no kernel {kernel}")]
    KernelMissing {
        /// The kernel.
        kernel: &'static str,
        /// The module's name.
        module: &'static str,
    },
    /// The CPU runs operations, and no kernels.
    #[error(
        "the CPU cannot run the kernel {kernel}: open a CUDA device or an emulated one (SLM_DEVICE=cuda or \
         SLM_DEVICE=emulated, with the feature 'cuda' or 'emulator' of the crate slm)"
    )]
    KernelOnCpu {
        /// The kernel.
        kernel: &'static str,
    },
    /// A launch of no threads, or of more than the device, or a block of this kernel, can have.
    #[error("{kernel} cannot be launched with {requested} {what}: there can be 1 to {available}")]
    LaunchOutOfRange {
        /// The kernel.
        kernel: &'static str,
        /// What is asked for.
        what: &'static str,
        /// How much of it.
        requested: u64,
        /// The most there can be.
        available: u64,
    },
    /// An argument that would let a kernel reach memory which its launch has not borrowed.
    #[error("the argument '{argument}' of {kernel} is a window that this launch has not handed out")]
    ForeignWindow {
        /// The kernel.
        kernel: &'static str,
        /// The field of its arguments.
        argument: &'static str,
    },
    /// A window that begins where the kernel's accesses cannot. No operation makes one of whole buffers.
    #[error("a window begins at address {address}, and the kernel needs a multiple of {alignment} bytes")]
    MisalignedWindow {
        /// The address of its first byte.
        address: u64,
        /// The bytes of an access.
        alignment: u64,
    },
    /// A call into the CUDA driver failed.
    #[error("{call} failed: {source}")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// What it returned.
        source: DriverError,
    },
    /// The device is in a state that only a new process gets out of: an earlier failure destroyed its context.
    #[error("the device is lost: {call} failed with {source}; every further call fails")]
    DeviceLost {
        /// The driver's function that noticed.
        call: &'static str,
        /// What it returned.
        source: DriverError,
    },
    /// A kernel needs more shared memory than a block of the device can have.
    #[error("{kernel} needs {requested} bytes of shared memory per block, and the device has {available}")]
    SharedMemoryExceeded {
        /// The kernel.
        kernel: String,
        /// The bytes it needs.
        requested: u64,
        /// The bytes there are.
        available: u64,
    },
    /// The GPU has not enough free memory.
    #[error("{requested} bytes of the device's memory were asked for, and {} are free", OrUnknown(*available))]
    OutOfDeviceMemory {
        /// The bytes asked for.
        requested: u64,
        /// The bytes that were free; `None` where the driver does not say.
        available: Option<u64>,
    },
    /// The machine has not enough free memory, which the CPU's buffers, results on the host and copies on the way to
    /// a GPU are in.
    #[error("could not allocate {requested} bytes of host memory")]
    OutOfHostMemory {
        /// The bytes asked for.
        requested: u64,
    },
    /// A size that cannot be represented.
    #[error("{what} is too large: {} exceeds {limit}", Product(*factors))]
    TooLarge {
        /// What would have this size.
        what: &'static str,
        /// The size, as a product.
        factors: [u64; 2],
        /// The largest possible one.
        limit: u64,
    },
    /// Operands that belong to different [`Device`](crate::Device) handles.
    #[error("{operand} belongs to another handle ({actual}) than the operation ({expected})")]
    DeviceMismatch {
        /// Which operand.
        operand: &'static str,
        /// The operation's device.
        expected: String,
        /// The operand's device.
        actual: String,
    },
    /// Something of `cust` that belongs to another CUDA context than the device. Only the feature `cust` leads to this error.
    #[error(
        "{operand} does not belong to the primary CUDA context of {device}, which cust::context::Context::new returns for \
         this GPU"
    )]
    ForeignContext {
        /// What belongs to another context.
        operand: &'static str,
        /// The device's name.
        device: String,
    },
    /// A sequence has the wrong length.
    #[error("{what} has {actual} elements, and {expected} are needed")]
    Length {
        /// Which sequence.
        what: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        actual: usize,
    },
    /// An array has the wrong shape.
    #[error("{what} is {} x {} (rows x columns), and {} x {} is needed", actual[0], actual[1], expected[0], expected[1])]
    Shape {
        /// Which array.
        what: &'static str,
        /// The rows and columns it must have.
        expected: [usize; 2],
        /// The rows and columns it has.
        actual: [usize; 2],
    },
    /// A row pitch is shorter than a row.
    #[error("a row pitch of {pitch} elements is less than the {columns} columns of a row")]
    Pitch {
        /// The columns of a row.
        columns: usize,
        /// The elements from one row to the next.
        pitch: usize,
    },
    /// The emulator has found something wrong with a kernel. What the operation has written by then is not to be
    /// relied on.
    #[cfg(feature = "emulator")]
    #[error("{} is faulty, as emulated:{}:{} shows: {}", report.kernel, report.profile, report.launch.seed,
        Findings(&report.findings))]
    FaultyKernel {
        /// What was found and counted in this launch.
        report: Box<emulator::Report>,
    },
    /// An operation has left a part of its output as it was.
    #[cfg(feature = "emulator")]
    #[error("nothing has written element {element} of the output on {device}")]
    UnwrittenOutput {
        /// The emulated device's name, as `SLM_DEVICE` can have it.
        device: String,
        /// The first element that was not written.
        element: usize,
    },
    /// A launch that the emulated device allows, and the emulator cannot run, as for want of memory.
    #[cfg(feature = "emulator")]
    #[error("{kernel} cannot be launched: {source}")]
    LaunchRefused {
        /// The kernel.
        kernel: &'static str,
        /// Why not.
        source: emulator::LaunchError,
    },
    /// A kernel uses the emulated device that runs it, which is not free before the kernel has ended.
    #[cfg(feature = "emulator")]
    #[error(
        "a kernel cannot use {device}, the device that runs it: launch on another one, or when the kernel has ended"
    )]
    DeviceRunsCaller {
        /// The emulated device's name, as `SLM_DEVICE` can have it.
        device: String,
    },
    /// An error that only filters have.
    #[error(transparent)]
    Filter1d(#[from] FilterError),
    /// An error that only histograms have.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    /// An error that only transpositions have.
    #[error(transparent)]
    Transpose(#[from] TransposeError),
    /// An error that only the functions of [`banks`](crate::banks) have.
    #[error(transparent)]
    Banks(#[from] BankError),
}

impl From<Misaligned> for Error {
    fn from(Misaligned { address, alignment }: Misaligned) -> Self {
        Error::MisalignedWindow { address, alignment }
    }
}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Displays a product, without the factor 1.
struct Product([u64; 2]);

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [a, 1] | [1, a] => write!(f, "{a}"),
            [a, b] => write!(f, "{a} x {b}"),
        }
    }
}

/// Displays a number that may not be known.
struct OrUnknown(Option<u64>);

impl fmt::Display for OrUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("an unknown number"),
        }
    }
}

/// Displays all findings: they are few, one for each kind and place in the source.
#[cfg(feature = "emulator")]
struct Findings<'a>(&'a [emulator::Finding]);

#[cfg(feature = "emulator")]
impl fmt::Display for Findings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else { return f.write_str("nothing found") };
        first.fmt(f)?;
        others.iter().try_for_each(|finding| write!(f, "\nand {finding}"))
    }
}

/// An error of the CUDA driver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} ({code}): {description}")]
pub struct DriverError {
    /// The number, `CUresult`.
    pub code: u32,
    /// Its name, as `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub name: String,
    /// The driver's description.
    pub description: String,
}
