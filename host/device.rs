//! Devices: what runs the operations.

use crate::backend::{Queue, by_clock_of_host, cuda, emulated, number};
use crate::error::NO_GPU;
use crate::info::{Backend, DeviceInfo};
use crate::launch::QueueId;
use crate::{Error, Kernel, Result};
use cuda_std::Entry;
use cuda_std::image::Modules;
use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// A device and one queue of work on it.
///
/// Clones share the queue; opening a device again gives another one. A handle can be used from any thread.
///
/// All handles of this process on one GPU share its context: a module of kernels that one of them has loaded is there for
/// the others, and a [lost](Error::DeviceLost) device is lost for all. When the last of them and of what was made with them
/// is dropped, the modules are unloaded and the context is released.
///
/// On a CUDA device every call makes the device's primary context current for the calling thread and leaves it so, which
/// matters to programs that use CUDA otherwise too. Dropping the last handle does so, and then releases the context.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    queue: QueueId,
    info: DeviceInfo,
    /// Why a device that was opened automatically is not a GPU, in a few words.
    no_gpu: Option<String>,
}

/// What does a device's work.
#[derive(Clone)]
pub(crate) enum Engine {
    Cpu,
    Cuda(Arc<cuda::Queue>),
    Emulated(Arc<emulated::Emulation>),
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
    /// Upper and lower case are the same: `CPU` and `Cuda:0` are devices. The profiles are `sm_75`, `sm_80`, `sm_90` and
    /// `small`. [`DeviceInfo::selection`] tells why it is the device it is.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDevice`] for another value, what [`Device::cuda`] gives for a device named explicitly, and
    /// [`Error::FeatureDisabled`] for an emulated one if the program was built without the feature `emulator`.
    pub fn open() -> Result<Self> {
        let value = std::env::var_os("SLM_DEVICE").unwrap_or_default();
        Self::named(&value.to_string_lossy())
    }

    /// The device with a name as `SLM_DEVICE` can have it, in upper or lower case.
    ///
    /// # Errors
    ///
    /// As [`Device::open`].
    pub fn named(name: &str) -> Result<Self> {
        let lower = name.to_ascii_lowercase();
        let (kind, rest) = lower.split_once(':').map_or((&*lower, None), |(kind, rest)| (kind, Some(rest)));
        match (kind, rest) {
            ("" | "auto", None) => Some(Ok(Self::first_or_cpu())),
            ("cpu", None) => Some(Ok(Self::cpu_because("named".to_owned(), None))),
            ("cuda", rest) => number(rest.unwrap_or("0")).map(Self::cuda),
            ("emulated", rest) => emulated::open(rest.unwrap_or("sm_90"))
                .map(|opened| opened.map(|(emulation, info)| Self::new(Engine::Emulated(emulation), info))),
            _ => None,
        }
        .unwrap_or_else(|| Err(Error::UnknownDevice { value: name.to_owned() }))
    }

    pub(crate) fn new(engine: Engine, info: DeviceInfo) -> Self {
        Self::with_reason(engine, info, None)
    }

    fn with_reason(engine: Engine, info: DeviceInfo, no_gpu: Option<String>) -> Self {
        let queue = match &engine {
            Engine::Cpu => QueueId::new(),
            Engine::Cuda(queue) => queue.id(),
            Engine::Emulated(emulation) => emulation.id(),
        };
        Device { inner: Arc::new(Inner { engine, queue, info, no_gpu }) }
    }

    fn first_or_cpu() -> Self {
        Self::cuda(0).unwrap_or_else(|error| Self::cpu_because(error.to_string(), Some(in_a_few_words(&error))))
    }

    /// The CPU.
    #[must_use]
    pub fn cpu() -> Self {
        Self::cpu_because("asked for".to_owned(), None)
    }

    fn cpu_because(selection: String, no_gpu: Option<String>) -> Self {
        let info = DeviceInfo {
            backend: Backend::Cpu,
            name: "CPU".to_owned(),
            selection,
            compute_capability: None,
            processors: rayon::current_num_threads(),
            threads_per_multiprocessor: None,
            memory: None,
            shared_memory: None,
        };
        Self::with_reason(Engine::Cpu, info, no_gpu)
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

    /// The kernel `E` of another crate, looked for in the program's compiled modules: the table `KERNELS` that
    /// `cuda_std::include_kernels!` defines.
    ///
    /// On a CUDA device this loads the kernel's module, unless a handle on the same GPU has loaded it. An emulated device needs
    /// none: it runs the code that was compiled for the host. Arguments and constants of more than 4096 bytes
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

    /// The queue, which clones share.
    pub(crate) fn queue_id(&self) -> QueueId {
        self.inner.queue
    }

    /// Keeps other threads from enqueueing kernels until the guard is dropped, so that those of one operation follow each
    /// other, and readies a CUDA device for them. On other devices a launch has ended when it returns, so there is no guard.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`].
    pub(crate) fn submission_lock(&self) -> Result<Option<MutexGuard<'_, ()>>> {
        match self.engine() {
            Engine::Cpu => Ok(None),
            Engine::Cuda(queue) => queue.submission_lock(),
            Engine::Emulated(emulation) => emulation.submission_lock(),
        }
    }

    /// Whether both are the same handle, or clones of it.
    pub(crate) fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Returns an error if `operand` belongs to another handle.
    pub(crate) fn check_owner(&self, name: &'static str, operand: &Device) -> Result<()> {
        if self.is(operand) {
            return Ok(());
        }
        let (expected, actual) = (self.info().name.clone(), operand.info().name.clone());
        Err(Error::DeviceMismatch { operand: name, expected, actual })
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("info", self.info()).finish_non_exhaustive()
    }
}

/// Displays the device in a few words, as `CPU, 8 threads` or `CUDA device 0, NVIDIA H200`. For the CPU in place of a GPU that
/// was looked for, it adds why: `CPU, 8 threads (no CUDA driver)`. [`DeviceInfo::selection`] has the whole reason.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        match info.backend {
            Backend::Cpu => {
                let threads = if info.processors == 1 { "thread" } else { "threads" };
                write!(f, "CPU, {} {threads}", info.processors)?;
                self.inner.no_gpu.iter().try_for_each(|reason| write!(f, " ({reason})"))
            }
            Backend::Cuda => write!(f, "{}, {}", info.selection, info.name),
            Backend::Emulated => f.write_str(&info.name),
        }
    }
}

/// Returns why a GPU cannot be used, short where that is usual and nothing to repair.
fn in_a_few_words(error: &Error) -> String {
    match error {
        Error::NoDevice { tried } if tried == NO_GPU => "no GPU".to_owned(),
        Error::NoDevice { .. } => "no CUDA driver".to_owned(),
        Error::FeatureDisabled { feature, .. } => format!("built without the feature '{feature}'"),
        other => other.to_string(),
    }
}
