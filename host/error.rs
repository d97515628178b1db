//! Errors of this crate.

use crate::banks::BankError;
use crate::distributed::DistributedError;
#[cfg(feature = "dlpack")]
use crate::dlpack::DlpackError;
use crate::filter1d::Filter1dError;
use crate::filter2d::Filter2dError;
use crate::histogram::HistogramError;
use crate::life::LifeError;
#[cfg(feature = "image")]
use crate::pictures::PictureError;
use crate::pointwise::PointwiseError;
use crate::rank2d::RankError;
use crate::stream::StreamError;
use crate::transpose::TransposeError;
use slm_kernels::Misaligned;
use std::convert::Infallible;
use std::fmt;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason in [`Error::NoDevice`] if a driver has no GPU.
pub(crate) const NO_GPU: &str = "the driver finds no GPU";

/// An error as data: what was requested, and what is available.
///
/// | group | variants |
/// |---|---|
/// | opening a device | [`UnknownDevice`](Error::UnknownDevice), [`FeatureDisabled`](Error::FeatureDisabled), [`NoDevice`](Error::NoDevice), [`DeviceOrdinal`](Error::DeviceOrdinal), [`DeviceTooOld`](Error::DeviceTooOld), [`DeviceUnsupported`](Error::DeviceUnsupported), [`DriverTooOld`](Error::DriverTooOld) |
/// | invalid buffers and arrays | [`DeviceMismatch`](Error::DeviceMismatch), [`Length`](Error::Length), [`Range`](Error::Range), [`Shape`](Error::Shape), [`Axes`](Error::Axes), [`Pitch`](Error::Pitch), [`TooLarge`](Error::TooLarge), `Picture`, `Dlpack` |
/// | invalid descriptions of one operation | [`Filter1d`](Error::Filter1d), [`Filter2d`](Error::Filter2d), [`Rank`](Error::Rank), [`Histogram`](Error::Histogram), [`Transpose`](Error::Transpose), [`Pointwise`](Error::Pointwise), [`Banks`](Error::Banks), [`Life`](Error::Life) |
/// | streams, several devices | [`Stream`](Error::Stream), [`Distributed`](Error::Distributed) |
/// | lack of memory | [`OutOfDeviceMemory`](Error::OutOfDeviceMemory), [`OutOfHostMemory`](Error::OutOfHostMemory), [`SharedMemoryExceeded`](Error::SharedMemoryExceeded) |
/// | finding a kernel | [`KernelOnCpu`](Error::KernelOnCpu), [`KernelModule`](Error::KernelModule), [`KernelWithoutDigest`](Error::KernelWithoutDigest), [`KernelMissing`](Error::KernelMissing) |
/// | invalid launches | [`LaunchOutOfRange`](Error::LaunchOutOfRange), [`ForeignWindow`](Error::ForeignWindow), [`MisalignedWindow`](Error::MisalignedWindow) |
/// | failures of the device | below |
///
/// Errors that only one operation has are variants of an enum of that operation, such as [`Filter1dError`]. The variant here
/// wraps it, with the same text.
///
/// ```
/// use slm::{Device, Error, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::cpu();
/// let filter = Filter1d::correlate(&[1, 2, 1]).prepare(&device)?;
/// let (x, mut y) = (device.upload(&[1, 2, 3])?, device.zeroed(2)?);
/// let error = filter.apply_into(&x, &mut y).unwrap_err();
/// assert_eq!(error, Error::Length { what: "the output", expected: 3, actual: 2 });
/// assert_eq!(error.to_string(), "the length of the output is 2, but must be 3");
/// # Ok(())
/// # }
/// ```
///
/// # Failures of the device
///
/// The documentation of functions refers to these errors as *failures of the device*. They may come from earlier work. The contents of
/// outputs on the device are unspecified then: large ones take several launches, and a later launch may fail although the device works.
///
/// | device | errors |
/// |---|---|
/// | CUDA | [`Driver`](Error::Driver), [`DeviceLost`](Error::DeviceLost) |
/// | emulated | `FaultyKernel`, `UnwrittenOutput`, `UnorderedAccess`, `LaunchRefused`, `DeviceRunsCaller`; [`TooLarge`](Error::TooLarge) if the process runs out of buffer addresses |
/// | CPU | none |
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// `SLM_DEVICE`, or a name given to [`Device::named`](crate::Device::named), names no device.
    #[error(
        "no device is called '{value}': SLM_DEVICE, or the given name, must be auto, cpu, cuda, cuda:N, emulated, \
         emulated:PROFILE or emulated:PROFILE:SEED, where PROFILE is sm_75, sm_80, sm_90 or small"
    )]
    UnknownDevice {
        /// The name.
        value: String,
    },
    /// The device needs a feature of this crate that was not compiled.
    #[error("{device} needs the feature '{feature}' of the crate slm, and this program was built without it")]
    FeatureDisabled {
        /// The requested device.
        device: &'static str,
        /// The feature that provides it.
        feature: &'static str,
    },
    /// This machine has no CUDA driver, the driver cannot be loaded, or it finds no GPU.
    #[error("no CUDA device: {tried}")]
    NoDevice {
        /// Where the driver was looked for, with the results.
        tried: String,
    },
    /// There are fewer CUDA devices than requested.
    #[error("there is no CUDA device {ordinal}: the driver has {available}, numbered from 0")]
    DeviceOrdinal {
        /// The requested number.
        ordinal: usize,
        /// Number of devices.
        available: usize,
    },
    /// The device is older than the kernels support.
    #[error("the device {device} has compute capability {}.{}, but the kernels need at least {}.{}",
        actual.0, actual.1, required.0, required.1)]
    DeviceTooOld {
        /// Name of the device.
        device: String,
        /// Lowest compute capability that the kernels support.
        required: (u32, u32),
        /// Compute capability of the device.
        actual: (u32, u32),
    },
    /// The device lacks something that this crate requires.
    #[error("the device {device} lacks {lacks}")]
    DeviceUnsupported {
        /// Name of the device.
        device: String,
        /// What it lacks.
        lacks: &'static str,
    },
    /// The driver cannot load the kernels, or lacks something that this crate requires.
    #[error("the CUDA driver supports CUDA {}.{}, but {needed_for} needs CUDA {}.{} or later: update the driver",
        actual.0, actual.1, required.0, required.1)]
    DriverTooOld {
        /// Lowest version of CUDA that suffices.
        required: (u32, u32),
        /// Version that the driver supports.
        actual: (u32, u32),
        /// What needs the later version.
        needed_for: String,
    },

    /// The operands belong to [`Device`](crate::Device) handles that were opened apart, even if on the same device.
    #[error(
        "{operand} belongs to another device handle ({actual}) than the operation ({expected}): open the device once and \
         clone the handle"
    )]
    DeviceMismatch {
        /// The operand.
        operand: &'static str,
        /// Device of the operation.
        expected: String,
        /// Device of the operand.
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
    #[error("the length of {what} is {actual}, but must be {expected}")]
    Length {
        /// The sequence.
        what: &'static str,
        /// Required length.
        expected: usize,
        /// Actual length.
        actual: usize,
    },
    /// A range does not lie within a buffer or slice.
    #[error("the range {start}..{end} does not lie within a length of {len}")]
    Range {
        /// First position.
        start: usize,
        /// Position after the last one.
        end: usize,
        /// Length of the buffer or slice.
        len: usize,
    },
    /// An array has the wrong shape.
    #[error(
        "the shape of {what} is {} x {} (rows x columns), but must be {} x {}", actual[0], actual[1], expected[0],
        expected[1]
    )]
    Shape {
        /// The array.
        what: &'static str,
        /// Required rows and columns.
        expected: [usize; 2],
        /// Actual rows and columns.
        actual: [usize; 2],
    },
    /// An array has the wrong number of axes, or axes of wrong lengths.
    #[error("the axes of {what} have the lengths {actual:?}, but must have {expected:?}")]
    Axes {
        /// The array.
        what: &'static str,
        /// Required lengths.
        expected: Vec<usize>,
        /// Actual lengths.
        actual: Vec<usize>,
    },
    /// A row pitch is shorter than a row.
    #[error("a row pitch of {pitch} elements is less than the {columns} columns of a row")]
    Pitch {
        /// Columns of a row.
        columns: usize,
        /// Elements from the start of one row to the start of the next.
        pitch: usize,
    },
    /// A size cannot be represented.
    #[error("{what} is too large: {} exceeds {limit}", Product(*factors))]
    TooLarge {
        /// What has this size.
        what: &'static str,
        /// The size, as a product.
        factors: [u64; 2],
        /// The largest possible size.
        limit: u64,
    },

    /// An error that only one-dimensional filters have.
    #[error(transparent)]
    Filter1d(#[from] Filter1dError),
    /// An error that only two-dimensional filters have.
    #[error(transparent)]
    Filter2d(#[from] Filter2dError),
    /// An error that only rank filters have.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// An error that only histograms have.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    /// An error that only transpositions have.
    #[error(transparent)]
    Transpose(#[from] TransposeError),
    /// An error that only [pointwise operations](crate::pointwise) have.
    #[error(transparent)]
    Pointwise(#[from] PointwiseError),
    /// An error that only the functions of [`banks`](crate::banks) have.
    #[error(transparent)]
    Banks(#[from] BankError),
    /// An error that only the [Game of Life](crate::life) has.
    #[error(transparent)]
    Life(#[from] LifeError),
    /// An error that only operations on several devices have.
    #[error(transparent)]
    Distributed(#[from] DistributedError),
    /// A [stream](crate::stream) that ended early.
    #[error(transparent)]
    Stream(Box<StreamError>),
    /// An error that only functions for pictures of the crate `image` have.
    #[cfg(feature = "image")]
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// An error that only the exchange of tensors has.
    #[cfg(feature = "dlpack")]
    #[error(transparent)]
    Dlpack(#[from] DlpackError),

    /// The GPU has too little free memory.
    #[error("could not allocate {requested} bytes of device memory{}", Free(*available))]
    OutOfDeviceMemory {
        /// Requested bytes.
        requested: u64,
        /// Free bytes, with those that this process keeps for later allocations; `None` if the driver does not report them.
        available: Option<u64>,
    },
    /// The host has too little free memory for a buffer of the CPU, a result, or a copy on its way to a GPU.
    #[error("could not allocate {requested} bytes of host memory")]
    OutOfHostMemory {
        /// Requested bytes.
        requested: u64,
    },
    /// A kernel needs more shared memory than a block of the device can have.
    #[error("{kernel} needs {requested} bytes of shared memory per block, but the device has {available}")]
    SharedMemoryExceeded {
        /// The kernel.
        kernel: String,
        /// Required bytes per block.
        requested: u64,
        /// Maximum bytes per block.
        available: u64,
    },

    /// The CPU runs operations, but no kernels.
    #[error(
        "the CPU cannot run the kernel {kernel}: open a CUDA device or an emulated one (SLM_DEVICE=cuda or \
         SLM_DEVICE=emulated, with the feature 'cuda' or 'emulator' of the crate slm)"
    )]
    KernelOnCpu {
        /// The kernel.
        kernel: &'static str,
    },
    /// A compiled kernel module is missing, or is not the one that this program was built for. It was not loaded.
    #[error("the kernel module {module} cannot be used: {source}")]
    KernelModule {
        /// Name of the module.
        module: &'static str,
        /// Why it cannot be used.
        source: cuda_std::image::ModuleError,
    },
    /// The module of this kernel cannot be checked, because the kernel's crate does not list its sources.
    #[error(
        "{kernel} cannot be matched with compiled modules: call cuda_std::build::kernel_crate in the build script of its \
         crate"
    )]
    KernelWithoutDigest {
        /// The kernel.
        kernel: &'static str,
    },
    /// The module that should contain the kernel does not.
    #[error("the kernel module {module} has no kernel {kernel}")]
    KernelMissing {
        /// The kernel.
        kernel: &'static str,
        /// Name of the module.
        module: &'static str,
    },

    /// A dimension of the launch is 0, or exceeds the limit of the device or of a block of this kernel.
    #[error("{kernel} cannot be launched with {requested} {what}: the range is 1 to {available}")]
    LaunchOutOfRange {
        /// The kernel.
        kernel: &'static str,
        /// The quantity that is out of range.
        what: &'static str,
        /// Requested number.
        requested: u64,
        /// Largest possible number.
        available: u64,
    },
    /// An argument would let a kernel reach memory that its launch has not borrowed.
    #[error(
        "the argument '{argument}' of {kernel} is a window from elsewhere: create it with the Windows of this launch"
    )]
    ForeignWindow {
        /// The kernel.
        kernel: &'static str,
        /// The field of its arguments.
        argument: &'static str,
    },
    /// A window begins at an address that is misaligned for the kernel's accesses. Windows on whole buffers never do.
    #[error("a window begins at address {address}, but the kernel needs a multiple of {alignment} bytes")]
    MisalignedWindow {
        /// Address of its first byte.
        address: u64,
        /// Bytes per access.
        alignment: u64,
    },

    /// A call into the CUDA driver failed.
    #[error("{call} failed: {source}")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// The error that it returned.
        source: DriverError,
    },
    /// An earlier failure destroyed the device's context. Only a new process can use the device again.
    #[error("the device is lost: {call} failed with {source}; every further call fails until the process is restarted")]
    DeviceLost {
        /// The driver's function that noticed it.
        call: &'static str,
        /// The error that it returned.
        source: DriverError,
    },
    /// The emulator has found a fault in a kernel. Outputs that the operation has written by then are unreliable.
    #[cfg(feature = "emulator")]
    #[error("{} is faulty, as emulated:{}:{} shows: {}", report.kernel, report.profile, report.launch.seed,
        Findings(&report.findings))]
    FaultyKernel {
        /// Findings and counts of this launch.
        report: Box<emulator::Report>,
    },
    /// An operation has not written all of its output.
    #[cfg(feature = "emulator")]
    #[error("element {element} of the output on {device} was never written")]
    UnwrittenOutput {
        /// Name of the emulated device, as in `SLM_DEVICE`.
        device: String,
        /// The first unwritten element.
        element: usize,
    },
    /// A queue of an emulated device has accessed a buffer without waiting for another queue. This is a mistake of this library.
    #[cfg(feature = "emulator")]
    #[error("a queue of {device} accesses a buffer before the accesses of another queue have ended")]
    UnorderedAccess {
        /// Name of the emulated device, as in `SLM_DEVICE`.
        device: String,
    },
    /// The emulated device allows the launch, but the emulator cannot run it, for example for lack of memory, or because a field
    /// that the launch [must write whole](crate::LaunchShape::whole_outputs) is not an output.
    #[cfg(feature = "emulator")]
    #[error("{kernel} cannot be launched: {source}")]
    LaunchRefused {
        /// The kernel.
        kernel: &'static str,
        /// The reason.
        source: emulator::LaunchError,
    },
    /// A kernel uses the emulated device that runs it. The device is busy until the kernel has ended.
    #[cfg(feature = "emulator")]
    #[error(
        "a kernel cannot use {device}, the device that runs it: use another device, or wait until the kernel has ended"
    )]
    DeviceRunsCaller {
        /// Name of the emulated device, as in `SLM_DEVICE`.
        device: String,
    },
}

impl Error {
    /// Returns why an operation failed: the error within [`Stream`](Error::Stream) or [`Distributed`](Error::Distributed), which say how
    /// far it came, and other errors themselves.
    ///
    /// ```
    /// use slm::{Device, Error, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let filter = Filter1d::correlate(&[1i32, 1]).prepare(&Device::cpu())?;
    /// let ends_early = filter.stream(&[0u8; 3][..], std::io::sink()).run().unwrap_err();
    /// assert!(matches!(ends_early.root(), Error::Stream(_)));
    /// assert!(!matches!(ends_early.root(), Error::DeviceLost { .. }));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn root(&self) -> &Error {
        let within = match self {
            Error::Stream(error) => error.cause.error(),
            Error::Distributed(DistributedError::Incomplete { cause, .. }) => Some(&**cause),
            _ => None,
        };
        within.map_or(self, Error::root)
    }
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

/// Displays a product, without factors of 1.
struct Product([u64; 2]);

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [a, 1] | [1, a] => write!(f, "{a}"),
            [a, b] => write!(f, "{a} x {b}"),
        }
    }
}

/// Displays the number of free bytes, if it is known.
struct Free(Option<u64>);

impl fmt::Display for Free {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, ": {bytes} bytes are free"),
            None => Ok(()),
        }
    }
}

/// Displays all findings. There are few: one for each kind and source line.
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
    /// Number of the error, a `CUresult`.
    pub code: u32,
    /// Name of the error, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub name: String,
    /// Description by the driver.
    pub description: String,
}
