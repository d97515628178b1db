//! What can go wrong.

use std::fmt;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, as data: what was asked for, and what there is.
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
    /// The device cannot do something that this crate cannot do without.
    #[error("the device {device} lacks {lacks}")]
    DeviceUnsupported {
        /// The device's name.
        device: String,
        /// What it cannot do.
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
    #[error("{requested} bytes of the host's memory were asked for, and not so many are free")]
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
    /// An axis that an array does not have.
    #[error("there is no axis {axis}: the array has {dimensions} (numbered from 0)")]
    Axis {
        /// The axis asked for.
        axis: usize,
        /// How many there are.
        dimensions: usize,
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
    /// A filter without taps.
    #[error("a filter needs at least 1 tap, and this one has 0")]
    NoTaps,
    /// Elements without numbers.
    #[error("an element has at least 1 component, and this one has 0")]
    NoComponents,
    /// An element with more units than a GPU's threads can count.
    #[error(
        "elements of {bytes} bytes, in rows that units of {unit} bytes divide: a GPU transposes elements of up to {limit} \
        bytes there"
    )]
    ElementSize {
        /// The bytes of an element.
        bytes: u64,
        /// The bytes that threads move at a time.
        unit: u32,
        /// The most bytes that an element can have.
        limit: u64,
    },
    /// A number of bins that no histogram has.
    #[error("a histogram has 1 to {limit} bins, and not {bins}")]
    Bins {
        /// The bins asked for.
        bins: usize,
        /// The most that there can be.
        limit: usize,
    },
    /// A number of low bits that samples do not have.
    #[error("a histogram of low bits takes 1 to {limit} of them, and not {bits}")]
    LowBits {
        /// The bits asked for.
        bits: u32,
        /// The bits of a sample.
        limit: u32,
    },
    /// A range that has no inside. `f64` has all values of the element types exactly.
    #[error("the range of a histogram goes from a finite number to a larger one, and not from {} to {}",
        Number(*lower, *upper), Number(*upper, *lower))]
    Range {
        /// The lower end.
        lower: f64,
        /// The upper end.
        upper: f64,
    },
    /// Too few edges to have a bin between them.
    #[error("the bins of a histogram take at least 2 edges, and there are {edges}")]
    Edges {
        /// How many there are.
        edges: usize,
    },
    /// Edges that do not ascend, are equal or NaN.
    #[error("the edges of a histogram ascend, but edge {index} is {} and the next one {}",
        Number(*edge, *next), Number(*next, *edge))]
    EdgeOrder {
        /// The place of the first such edge, numbered from 0.
        index: usize,
        /// This edge.
        edge: f64,
        /// The one behind it.
        next: f64,
    },
    /// A number of channels to count that there are not, or none.
    #[error("a histogram counts at least 1 of its channels and at most all, and not {counted} of {channels}")]
    Channels {
        /// The channels there are.
        channels: usize,
        /// Those to be counted.
        counted: usize,
    },
    /// Samples of several channels that are not the same number for each.
    #[error("{samples} samples cannot be divided among {channels} channels")]
    Interleaving {
        /// The samples there are.
        samples: usize,
        /// The channels there are.
        channels: usize,
    },
    /// Banks of shared memory that there cannot be.
    #[error(
        "shared memory has 1 to 32 banks of 1 to 16 bytes, both powers of two and 16 bytes together at least, and not \
         {banks} of {bank_bytes}"
    )]
    Banks {
        /// The number of banks.
        banks: u32,
        /// The bytes of a bank's word.
        bank_bytes: u32,
    },
    /// A number of bytes that no lane moves at a time.
    #[error("a lane moves 1, 2, 4, 8 or 16 bytes at a time, and not {bytes}")]
    AccessWidth {
        /// The bytes.
        bytes: usize,
    },
    /// An atomic operation on a number of bytes that there is none for.
    #[error("an atomic operation takes 4 or 8 bytes, and not {bytes}")]
    AtomicWidth {
        /// The bytes that a lane would update.
        bytes: u32,
    },
    /// An access to measure that no lane makes.
    #[error("an access is measured with 1 to 32 lanes, and this one has 0")]
    NoLanes,
    /// An access to a part of an element.
    #[error("an access of {bytes} bytes is too narrow for elements of {element_bytes}")]
    NarrowAccess {
        /// The bytes that a lane moves.
        bytes: u32,
        /// The bytes of an element.
        element_bytes: u32,
    },
    /// An access to several elements that begins between two groups of so many.
    #[error("an access to {elements} elements cannot begin at column {column}, which is no multiple of {elements}")]
    TileAlignment {
        /// The first one's column, numbered from 0.
        column: u32,
        /// The elements that a lane accesses.
        elements: u32,
    },
    /// An access to elements that a tile does not have.
    #[error(
        "an access to {elements} elements from row {row}, column {column} on leaves the tile of {rows} x {columns} \
         (rows x columns)"
    )]
    OutsideTile {
        /// The row, numbered from 0.
        row: u32,
        /// The first one's column, numbered from 0.
        column: u32,
        /// The elements that a lane accesses.
        elements: u32,
        /// The tile's rows.
        rows: u32,
        /// The tile's columns.
        columns: u32,
    },
    /// A swizzle that would move elements out of their rows, or whose numbers have no meaning.
    #[error(
        "a swizzle with bits {bits}, base {base} and shift {shift} takes rows of a multiple of 2^(bits + base) elements, \
         and not of {stride}, with bits + base and shift below 32"
    )]
    Swizzle {
        /// The elements of a row.
        stride: u32,
        /// How many bits of the column are changed.
        bits: u32,
        /// The lowest one.
        base: u32,
        /// The lowest bit of the row that they depend on.
        shift: u32,
    },
    /// A layout that takes apart, or off their alignment, elements that are accessed together.
    #[error("the layout {layout} does not keep groups of {elements} elements together and aligned")]
    LayoutAlignment {
        /// The layout's formula.
        layout: String,
        /// The elements that a lane accesses.
        elements: u32,
    },
    /// A weight that cannot be added up.
    #[error("weights must be finite, and weight {index} is {weight}")]
    Weight {
        /// Its place, numbered from 0: the first such.
        index: usize,
        /// The weight.
        weight: f32,
    },
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
            None => f.write_str("not so many"),
        }
    }
}

/// Displays a number of an element type, without hundreds of digits; beside it stands another one of the same type. If
/// both are `f32`, a fraction has the digits that tell it from other `f32`: 0.1 and not 0.10000000149011612.
struct Number(f64, f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Number(number, beside) = self;
        let is_f32 = |x: f64| x.is_nan() || f64::from(x as f32) == x;
        let is_short = number == 0.0 || !number.is_finite() || (1e-5..1e16).contains(&number.abs());
        match (is_short, is_f32(number) && is_f32(beside)) {
            // Of a whole number all digits, even if fewer would tell it from other `f32`.
            (true, true) if number.fract() != 0.0 => write!(f, "{}", number as f32),
            (true, _) => write!(f, "{number}"),
            (false, true) => write!(f, "{:e}", number as f32),
            (false, false) => write!(f, "{number:e}"),
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
