//! Devices: what runs the operations.

use crate::allocation;
use crate::backend::{Memory, Queue, cuda, emulated};
use crate::buffer::{Buffer, Storage};
use crate::{Element, Error, Kernel, Result};
use cuda_std::Entry;
use cuda_std::image::Modules;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// A device and one queue of work on it.
///
/// Clones share the queue; opening a device again gives another one. A handle can be used from any thread.
///
/// On a CUDA device every call makes the device's primary context current for the calling thread and leaves it so, which
/// matters to programs that use CUDA otherwise too.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    info: DeviceInfo,
}

/// What does a device's work.
#[derive(Clone)]
pub(crate) enum Engine {
    Cpu,
    Cuda(Arc<cuda::Queue>),
    Emulated(Arc<emulated::Emulation>),
}

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// The CPU, all its cores.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// An emulated GPU: kernels run on the CPU, and are examined.
    Emulated,
}

/// What is known of a device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// What kind of device it is.
    pub backend: Backend,
    /// Its name.
    pub name: String,
    /// Why it is this one.
    pub selection: String,
    /// Compute capability, major and minor, of a CUDA device.
    pub compute_capability: Option<(u32, u32)>,
    /// Multiprocessors of a GPU (an emulated one has one), worker threads of the CPU.
    pub processors: usize,
    /// The device's own memory in bytes; `None` for the CPU, which uses the machine's.
    pub memory: Option<u64>,
    /// The shared memory of a GPU.
    pub shared_memory: Option<SharedMemory>,
}

/// The on-chip memory that the threads of a block share. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMemory {
    /// What a block can have without asking for more.
    pub default_per_block: u64,
    /// What a block can have at the most.
    pub max_per_block: u64,
    /// What the blocks that run on one multiprocessor have together.
    pub per_multiprocessor: u64,
    /// Banks; lanes of a warp that meet in one bank at different words wait for each other.
    pub banks: u32,
    /// The bytes of a bank's word.
    pub bank_bytes: u32,
}

impl SharedMemory {
    /// The most threads that a CUDA block can have.
    const MOST_THREADS: u64 = 1024;

    /// How many threads fit into a block if each needs `bytes_per_thread` of shared memory: 1024 at the most, which
    /// is the hardware's limit.
    ///
    /// ```
    /// let shared = slm::SharedMemory {
    ///     default_per_block: 48 << 10,
    ///     max_per_block: 64 << 10,
    ///     per_multiprocessor: 64 << 10,
    ///     banks: 32,
    ///     bank_bytes: 4,
    /// };
    /// assert_eq!(shared.max_threads_per_block(512), 128);
    /// assert_eq!(shared.max_threads_per_block(0), 1024);
    /// ```
    #[must_use]
    pub fn max_threads_per_block(&self, bytes_per_thread: u64) -> u64 {
        self.max_per_block.checked_div(bytes_per_thread).unwrap_or(Self::MOST_THREADS).min(Self::MOST_THREADS)
    }

    /// Whether a block of `kernel` can have `requested` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::SharedMemoryExceeded`] with both sizes if not.
    ///
    /// ```
    /// # let shared = slm::SharedMemory { default_per_block: 49152, max_per_block: 131072,
    /// #     per_multiprocessor: 131072, banks: 32, bank_bytes: 4 };
    /// let error = shared.check("my kernel", 656_384).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "my kernel needs 656384 bytes of shared memory per block, and the device has 131072"
    /// );
    /// ```
    pub fn check(&self, kernel: &str, requested: u64) -> Result<()> {
        if requested <= self.max_per_block {
            return Ok(());
        }
        Err(Error::SharedMemoryExceeded { kernel: kernel.to_owned(), requested, available: self.max_per_block })
    }
}

impl Device {
    /// The device that the environment variable `SLM_DEVICE` names.
    ///
    /// | value | device |
    /// |---|---|
    /// | `auto`, or not set | the first CUDA device; if there is none, the CPU |
    /// | `cpu` | the CPU |
    /// | `cuda`, `cuda:N` | CUDA device 0, or `N`; an error if there is none |
    /// | `emulated` | `emulated:sm_90:0` |
    /// | `emulated:P`, `emulated:P:S` | an emulated GPU with the profile `P` and the seed `S`, 0 if not given |
    ///
    /// The profiles are `sm_75`, `sm_80`, `sm_90` and `small`. [`DeviceInfo::selection`] tells why it is the device it is.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDevice`] for another value, what [`Device::cuda`] gives for a device named explicitly, and
    /// [`Error::FeatureDisabled`] for an emulated one if the program was built without the feature `emulator`.
    pub fn open() -> Result<Self> {
        let value = std::env::var_os("SLM_DEVICE").unwrap_or_default();
        Self::named(&value.to_string_lossy())
    }

    /// The device with a name as `SLM_DEVICE` can have it.
    ///
    /// # Errors
    ///
    /// As [`Device::open`].
    pub fn named(name: &str) -> Result<Self> {
        let (kind, rest) = name.split_once(':').map_or((name, None), |(kind, rest)| (kind, Some(rest)));
        match (kind, rest) {
            ("" | "auto", None) => Some(Ok(Self::first_or_cpu())),
            ("cpu", None) => Some(Ok(Self::cpu_because("named".to_owned()))),
            ("cuda", rest) => number(rest.unwrap_or("0")).map(Self::cuda),
            ("emulated", rest) => emulated::open(rest.unwrap_or("sm_90"))
                .map(|opened| opened.map(|(emulation, info)| Self::new(Engine::Emulated(emulation), info))),
            _ => None,
        }
        .unwrap_or_else(|| Err(Error::UnknownDevice { value: name.to_owned() }))
    }

    fn new(engine: Engine, info: DeviceInfo) -> Self {
        Device { inner: Arc::new(Inner { engine, info }) }
    }

    fn first_or_cpu() -> Self {
        Self::cuda(0).unwrap_or_else(|error| Self::cpu_because(error.to_string()))
    }

    /// The CPU.
    #[must_use]
    pub fn cpu() -> Self {
        Self::cpu_because("asked for".to_owned())
    }

    fn cpu_because(selection: String) -> Self {
        let info = DeviceInfo {
            backend: Backend::Cpu,
            name: "CPU".to_owned(),
            selection,
            compute_capability: None,
            processors: rayon::current_num_threads(),
            memory: None,
            shared_memory: None,
        };
        Self::new(Engine::Cpu, info)
    }

    /// CUDA device number `ordinal`, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] without a driver or GPU, [`Error::DeviceOrdinal`] if there are fewer,
    /// [`Error::DeviceTooOld`], [`Error::DeviceUnsupported`] and [`Error::DriverTooOld`], and [failures of the
    /// device](Error#failures-of-the-device), as where another process has it for itself. [`Error::FeatureDisabled`] if the
    /// program was built without the feature `cuda`; with it on another platform than Linux on x86-64 or aarch64
    /// [`Error::NoDevice`].
    pub fn cuda(ordinal: usize) -> Result<Self> {
        let (queue, info) = cuda::open(ordinal)?;
        Ok(Self::new(Engine::Cuda(queue), info))
    }

    /// An emulated GPU: kernels run on the CPU, and every access is examined, which takes some 100 ns. A kernel with a
    /// race, a wrong access or a missing barrier makes the operation [fail](Error::FaultyKernel), and what its accesses
    /// would cost is [counted](Self::emulation_reports). Threads that write the same value to the same place without order
    /// race, too, unless the launch [allows](crate::LaunchShape::allow_same_value_writes) that.
    ///
    /// All this holds for the paths that ran: a fault that these data do not lead to is not found.
    ///
    /// In a program that is built with `panic = "abort"`, a kernel that panics or [waits for ever](crate::LaunchShape::steps)
    /// is no error, but ends the process, which says what was found.
    ///
    /// The order of blocks and threads depends on the `seed`, with which every launch begins anew; the same one gives the
    /// same order again, and reports name it.
    ///
    /// The device has 256 MiB. A buffer takes more of the host's memory, for what is remembered of accesses: of `f32` 4 times
    /// its size where kernels read it and 14 times where they write it, of single bytes 10 and 50 times.
    ///
    /// ```
    /// use slm::emulator::Profile;
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::emulated(Profile::SM_90, 0); // or SLM_DEVICE=emulated:sm_90:0
    /// let sum = Filter1d::correlate(&[1, 1, 1]).prepare(&device)?;
    /// assert_eq!(sum.apply(&[1, 2, 3, 4])?, [3, 6, 9, 7]);
    /// for report in device.emulation_reports() {
    ///     println!("{report}");
    ///     assert_eq!((report.kernel, report.bank_conflicts()), ("filter1d_register_rows_i32", 0));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "emulator")]
    #[must_use]
    pub fn emulated(profile: emulator::Profile, seed: u64) -> Self {
        let emulation = emulated::Emulation::new(profile, seed);
        let info = emulation.info();
        Self::new(Engine::Emulated(Arc::new(emulation)), info)
    }

    /// What an emulated device has found and counted since it was opened, or since the last
    /// [`reset_emulation_reports`](Self::reset_emulation_reports): one report for each kernel, of all its launches
    /// together. It holds for the paths that ran. Other devices have none.
    ///
    /// # Panics
    ///
    /// In a kernel that the device runs.
    #[cfg(feature = "emulator")]
    #[must_use]
    pub fn emulation_reports(&self) -> Vec<emulator::Report> {
        match &self.inner.engine {
            Engine::Emulated(emulation) => emulation.reports().unwrap_or_else(|error| panic!("{error}")),
            _ => Vec::new(),
        }
    }

    /// Forgets what an emulated device has found and counted so far.
    ///
    /// # Panics
    ///
    /// In a kernel that the device runs.
    #[cfg(feature = "emulator")]
    pub fn reset_emulation_reports(&self) {
        if let Engine::Emulated(emulation) = &self.inner.engine {
            emulation.reset_reports().unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// Every device of this machine: the CPU first, then the CUDA devices that can be opened.
    #[must_use]
    pub fn all() -> Vec<Self> {
        // One may be too old, or another process has it for itself: the next one may do.
        let cuda = (0..cuda::device_count()).filter_map(|ordinal| Self::cuda(ordinal).ok());
        std::iter::once(Self::cpu()).chain(cuda).collect()
    }

    /// What is known of the device.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.inner.info
    }

    /// Waits until all work of this handle and its clones is done.
    ///
    /// # Errors
    ///
    /// What failed while it ran: [failures of the device](Error#failures-of-the-device).
    pub fn synchronize(&self) -> Result<()> {
        match &self.inner.engine {
            Engine::Cpu => Ok(()),
            Engine::Cuda(queue) => queue.synchronize(),
            Engine::Emulated(emulation) => emulation.synchronize(),
        }
    }

    /// How long the device takes for what `work` enqueues on this handle, and what `work` returned. Waits for it. A CUDA
    /// device measures with its own clock, the others with that of the host.
    ///
    /// # Errors
    ///
    /// Those of `work`, and [failures of the device](Error#failures-of-the-device), be it while it ran.
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
        match &self.inner.engine {
            Engine::Cpu => by_clock_of_host(work),
            Engine::Cuda(queue) => queue.time(work),
            Engine::Emulated(emulation) => emulation.time(work),
        }
    }

    /// A buffer with a copy of `data`, made when this returns: after the work that was enqueued before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`] on the CPU, and [failures of the
    /// device](Error#failures-of-the-device).
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>> {
        let storage = match &self.inner.engine {
            Engine::Cpu => Storage::Cpu(allocation::copied(data)?),
            Engine::Cuda(queue) => Storage::Cuda(Memory::upload(queue, data)?),
            Engine::Emulated(emulation) => Storage::Emulated(Memory::upload(emulation, data)?),
        };
        Ok(Buffer::new(self, storage))
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for more than `isize::MAX` bytes, [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`] on the
    /// CPU and for an emulated device, and [failures of the device](Error#failures-of-the-device).
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        check_size::<T>(len)?;
        let storage = match &self.inner.engine {
            Engine::Cpu => Storage::Cpu(allocation::filled(T::default(), len)?),
            Engine::Cuda(queue) => Storage::Cuda(Memory::zeroed(queue, len)?),
            Engine::Emulated(emulation) => Storage::Emulated(Memory::zeroed(emulation, len)?),
        };
        Ok(Buffer::new(self, storage))
    }

    /// A buffer of `len` elements, each of which a kernel writes before anything reads it: of unspecified contents on a GPU.
    /// An emulated device knows which have been written; see [`Buffer::download_written`].
    ///
    /// # Errors
    ///
    /// As [`zeroed`](Self::zeroed).
    pub(crate) fn unwritten<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        check_size::<T>(len)?;
        let storage = match &self.inner.engine {
            Engine::Cpu => Storage::Cpu(allocation::filled(T::default(), len)?),
            Engine::Cuda(queue) => Storage::Cuda(Memory::unwritten(queue, len)?),
            Engine::Emulated(emulation) => Storage::Emulated(Memory::unwritten(emulation, len)?),
        };
        Ok(Buffer::new(self, storage))
    }

    /// The kernel `E` of another crate, looked for in the program's compiled modules: the table `KERNELS` that
    /// `cuda_std::include_kernels!` defines.
    ///
    /// On a CUDA device this loads the kernel's module, unless an earlier kernel of this handle was in it. An emulated device
    /// needs none: it runs the code that was compiled for the host. Arguments and constants of more than 4096 bytes
    /// do not compile.
    ///
    /// ```
    /// # use cuda_std::image::Modules;
    /// # use cuda_std::{GlobalOut, arguments, kernel, thread};
    /// # use slm::{Device, Error};
    /// # arguments! {
    /// #     /// What `fill` takes.
    /// #     pub struct Filling {
    /// #         /// Some elements.
    /// #         pub output: GlobalOut<f32>,
    /// #     }
    /// # }
    /// # kernel! {
    /// #     /// Thread `i` of the grid writes element `i`.
    /// #     pub fn fill(_arena, args: Filling) {
    /// #         args.output.set(thread::global_x(), 1.0);
    /// #     }
    /// # }
    /// // `fill` is a kernel: `Kernel` has a whole example.
    /// let error = Device::cpu().kernel::<fill>(&Modules::NONE).unwrap_err();
    /// assert_eq!(error, Error::KernelOnCpu { kernel: "fill" });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::KernelOnCpu`] on the CPU. On a CUDA device [`Error::KernelModule`] and [`Error::KernelWithoutDigest`] unless
    /// the kernel's module is there and was compiled from the kernel's own sources, with the same arguments,
    /// [`Error::KernelMissing`] if it is without the kernel, [`Error::DeviceTooOld`] and [`Error::DriverTooOld`] if none of its images will do, and
    /// [failures of the device](Error#failures-of-the-device).
    pub fn kernel<E: Entry>(&self, modules: &Modules) -> Result<Kernel<E>> {
        Kernel::new(self, modules)
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Keeps other threads from enqueueing kernels until the guard is dropped, so that those of one operation follow each
    /// other, and readies a CUDA device for them. On other devices a launch has ended when it returns, so there is no guard.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`].
    pub(crate) fn turn(&self) -> Result<Option<MutexGuard<'_, ()>>> {
        match self.engine() {
            Engine::Cpu => Ok(None),
            Engine::Cuda(queue) => queue.turn(),
            Engine::Emulated(emulation) => emulation.turn(),
        }
    }

    /// Whether both are the same handle, or clones of it.
    pub(crate) fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// An error unless `operand` belongs to this handle.
    pub(crate) fn check_owner(&self, name: &'static str, operand: &Device) -> Result<()> {
        if self.is(operand) {
            return Ok(());
        }
        let (expected, actual) = (self.info().name.clone(), operand.info().name.clone());
        Err(Error::DeviceMismatch { operand: name, expected, actual })
    }
}

/// An error unless there can be a buffer of `len` elements.
fn check_size<T>(len: usize) -> Result<()> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
    let factors = [len as u64, size_of::<T>() as u64];
    bytes.map(drop).ok_or(Error::TooLarge { what: "a buffer", factors, limit: isize::MAX as u64 })
}

/// How long `work` takes, if it has done everything when it returns, and what it returned.
pub(crate) fn by_clock_of_host<R>(work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}

/// The number that `digits` are; no sign, as `parse` would take.
pub(crate) fn number<N: FromStr>(digits: &str) -> Option<N> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("info", self.info()).finish_non_exhaustive()
    }
}

impl fmt::Display for Device {
    /// The device in a few words; [`DeviceInfo::selection`] tells why it is this one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        match info.backend {
            Backend::Cpu => write!(f, "CPU, {} threads", info.processors),
            Backend::Cuda => write!(f, "{}, {}", info.selection, info.name),
            Backend::Emulated => f.write_str(&info.name),
        }
    }
}
