//! Devices, which run the operations.

use crate::backend::{Queue, cuda, emulated, number};
use crate::device::info::{Backend, DeviceInfo};
use crate::device::launch::QueueId;
use crate::error::NO_GPU;
use crate::{Error, Kernel, Result};
use cuda_std::Entry;
use cuda_std::image::Modules;
use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// A device and one queue of work on it.
///
/// Clones share the queue; [`queue`](Self::queue) returns a handle with another one. A handle can be used from any thread.
///
/// ```
/// # fn main() -> slm::Result<()> {
/// let device = slm::Device::open()?; // a GPU if there is one, otherwise the CPU
/// println!("{device}: {}", device.info().selection);
/// let buffer = device.upload(&[1, 2, 3])?;
/// assert_eq!(buffer.download()?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Queues
///
/// Work of one queue runs in the order of the calls. Work of several queues can run at the same time. A [`Buffer`](crate::Buffer)
/// can be used with all queues of its device, also by operations that are prepared for another of them. If accesses could be
/// mixed up, a queue waits: before it reads a buffer that another queue has written, and before it writes or frees one that another
/// queue has read or written. It then waits for all work that the other queue has at that time. So results are those of one queue.
///
/// Create a few queues and keep them: a buffer keeps the queues that have used it since it was written, also when their handles were
/// dropped. When the last use of a queue ends, the thread that ends it waits for the work of the queue.
///
/// ```
/// use slm::{Device, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let other = device.queue()?;
/// let sum = Filter1d::correlate(&[1, 1, 1]);
/// let (first, second) = (sum.prepare(&device)?, sum.prepare(&other)?);
/// let x = device.upload(&[1, 2, 3, 4])?;
/// let y = first.apply(&x)?; // runs in one queue
/// let z = second.apply(&y)?; // runs in the other queue, after it
/// assert_eq!(z.download()?, [9, 18, 22, 16]);
/// # Ok(())
/// # }
/// ```
///
/// Opening a device again is different: buffers of one opened device cannot be used with the other.
///
/// # CUDA contexts
///
/// All handles of a process on one GPU share its primary context. A kernel module that one handle has loaded is loaded for
/// all, and a [lost](Error::DeviceLost) device is lost for all. The modules are unloaded and the context is released when the
/// last handle, and everything created with one, is dropped.
///
/// Every call on a CUDA device makes the primary context current for the calling thread and leaves it current. This matters
/// to programs that also use CUDA directly. Dropping the last handle does the same before it releases the context.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    queue: QueueId,
    /// The first queue of the opened device. All of its queues share memory.
    first_queue: QueueId,
    info: DeviceInfo,
    /// Short reason why a device that was opened automatically is not a GPU.
    no_gpu: Option<String>,
}

/// The part of the crate that does a device's work.
#[derive(Clone)]
pub(crate) enum Engine {
    Cpu,
    Cuda(Arc<cuda::Queue>),
    Emulated(Arc<emulated::Emulation>),
}

impl Engine {
    /// Returns whether both are the same queue. The CPU needs only one.
    pub(crate) fn is(&self, other: &Engine) -> bool {
        match (self, other) {
            (Engine::Cpu, Engine::Cpu) => true,
            (Engine::Cuda(queue), Engine::Cuda(other)) => Arc::ptr_eq(queue, other),
            (Engine::Emulated(queue), Engine::Emulated(other)) => Arc::ptr_eq(queue, other),
            _ => false,
        }
    }

    /// Lets copies of this queue read the memory of the other one's device directly, if they can. Returns whether they can.
    pub(crate) fn access(&self, other: &Engine) -> Result<bool> {
        match (self, other) {
            (Engine::Cpu, Engine::Cpu) => Ok(true),
            (Engine::Cuda(queue), Engine::Cuda(other)) => queue.access(other),
            (Engine::Emulated(queue), Engine::Emulated(other)) => queue.access(other),
            _ => Ok(false),
        }
    }

    /// Makes later work of this queue wait for the work that `other` has now. It may be of another device of the same backend.
    pub(crate) fn wait_for(&self, other: &Engine) -> Result<()> {
        match (self, other) {
            (Engine::Cuda(queue), Engine::Cuda(other)) if !Arc::ptr_eq(queue, other) => queue.wait_for(other),
            (Engine::Emulated(queue), Engine::Emulated(other)) if !Arc::ptr_eq(queue, other) => queue.wait_for(other),
            _ => Ok(()),
        }
    }

    /// Returns whether the device has failed for good: it does no work any more.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Engine::Cpu => false,
            Engine::Cuda(queue) => queue.is_lost(),
            Engine::Emulated(queue) => queue.is_lost(),
        }
    }

    /// Waits for all work of the queue.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match self {
            Engine::Cpu => Ok(()),
            Engine::Cuda(queue) => queue.synchronize(),
            Engine::Emulated(queue) => queue.synchronize(),
        }
    }

    /// Gives memory back that the device keeps for later calls.
    fn release_unused_memory(&self) -> Result<()> {
        match self {
            Engine::Cpu => Ok(()),
            Engine::Cuda(queue) => queue.release_unused_memory(),
            Engine::Emulated(queue) => queue.release_unused_memory(),
        }
    }
}

impl Device {
    /// Returns the device that the environment variable `SLM_DEVICE` names.
    ///
    /// | value | device |
    /// |---|---|
    /// | `auto`, or not set | the first CUDA device; the CPU if there is none |
    /// | `cpu` | the CPU |
    /// | `cuda`, `cuda:N` | CUDA device 0, or `N`; an error if there is none |
    /// | `emulated` | `emulated:sm_90:0` |
    /// | `emulated:P`, `emulated:P:S` | an emulated GPU with profile `P` and seed `S`; the default seed is 0 |
    ///
    /// Upper and lower case are the same: `CPU` and `Cuda:0` are valid. The profiles are `sm_75`, `sm_80`, `sm_90` and
    /// `small`. [`DeviceInfo::selection`] gives the reason for the choice.
    ///
    /// # Errors
    ///
    /// * [`Error::UnknownDevice`] for any other value.
    /// * The errors of [`Device::cuda`] for a CUDA device that is named explicitly.
    /// * [`Error::FeatureDisabled`] for an emulated device if the program was built without the feature `emulator`.
    pub fn open() -> Result<Self> {
        let value = std::env::var_os("SLM_DEVICE").unwrap_or_default();
        Self::named(&value.to_string_lossy())
    }

    /// Returns the device called `name`: one of the values of `SLM_DEVICE` in [`Device::open`], in upper or lower case.
    ///
    /// # Errors
    ///
    /// The errors of [`Device::open`].
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
        Device { inner: Arc::new(Inner { engine, queue, first_queue: queue, info, no_gpu }) }
    }

    /// Returns a handle with another queue on the same device, with the same memory and modules.
    ///
    /// On the CPU and on emulated devices, work is done when its call returns. An emulated device checks that queues wait for each
    /// other as on a GPU.
    ///
    /// # Errors
    ///
    /// [Failures of the device](Error#failures-of-the-device).
    pub fn queue(&self) -> Result<Self> {
        let (engine, queue) = match self.engine() {
            Engine::Cpu => (Engine::Cpu, QueueId::new()),
            Engine::Cuda(queue) => queue.another().map(|queue| (Engine::Cuda(queue.clone()), queue.id()))?,
            Engine::Emulated(queue) => queue.another().map(|queue| (Engine::Emulated(queue.clone()), queue.id()))?,
        };
        let Inner { first_queue, info, no_gpu, .. } = &*self.inner;
        let inner = Inner { engine, queue, first_queue: *first_queue, info: info.clone(), no_gpu: no_gpu.clone() };
        Ok(Device { inner: Arc::new(inner) })
    }

    fn first_or_cpu() -> Self {
        Self::cuda(0).unwrap_or_else(|error| Self::cpu_because(error.to_string(), Some(in_a_few_words(&error))))
    }

    /// Returns the CPU as a device.
    #[must_use]
    pub fn cpu() -> Self {
        Self::cpu_because("requested".to_owned(), None)
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
            l2_cache: None,
            shared_memory: None,
        };
        Self::with_reason(Engine::Cpu, info, no_gpu)
    }

    /// Returns CUDA device number `ordinal`, counted from 0.
    ///
    /// # Errors
    ///
    /// * [`Error::FeatureDisabled`] if the program was built without the feature `cuda`.
    /// * [`Error::NoDevice`] without a driver or GPU, and on platforms other than Linux on x86-64 and aarch64.
    /// * [`Error::DeviceOrdinal`] if there are fewer devices.
    /// * [`Error::DeviceTooOld`], [`Error::DeviceUnsupported`] or [`Error::DriverTooOld`] if the device or driver lacks
    ///   something that the kernels need.
    /// * [Failures of the device](Error#failures-of-the-device), for example if another process uses it exclusively.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        let (queue, info) = cuda::open(ordinal)?;
        Ok(Self::new(Engine::Cuda(queue), info))
    }

    /// Returns an emulated GPU: kernels run on the CPU, and every access is checked, which takes about 100 ns.
    ///
    /// A kernel with a race, a wrong access or a missing barrier makes the operation [fail](Error::FaultyKernel). The costs of
    /// the kernel's accesses are [counted](Self::emulation_reports). Unordered writes of the same value to the same element
    /// are also a race, unless the launch [allows](crate::LaunchShape::allow_same_value_writes) them.
    ///
    /// Results are valid for the code paths that ran. A fault on a path that these data do not take is not found.
    ///
    /// If the program is built with `panic = "abort"`, a kernel that panics or [never ends](crate::LaunchShape::steps) is not
    /// an error: it ends the process, after a message with the finding.
    ///
    /// The order of blocks and threads depends on `seed`, and every launch starts with it again. The same seed reproduces the
    /// order, and reports name it.
    ///
    /// The device has 256 MiB of memory. A buffer takes more host memory than its size, because accesses are recorded: 4 times
    /// its size for `f32` that kernels read and 14 times for `f32` that they write, 10 and 50 times for bytes.
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

    /// Returns the findings and counts of an emulated device since it was opened, or since the last
    /// [`reset_emulation_reports`](Self::reset_emulation_reports): one report per kernel, for all of its launches together.
    /// They are valid for the code paths that ran. Other devices have no reports.
    ///
    /// # Panics
    ///
    /// If called by a kernel that this device runs.
    #[cfg(feature = "emulator")]
    #[must_use]
    pub fn emulation_reports(&self) -> Vec<emulator::Report> {
        match &self.inner.engine {
            Engine::Emulated(emulation) => emulation.reports().unwrap_or_else(|error| panic!("{error}")),
            _ => Vec::new(),
        }
    }

    /// Discards the findings and counts of an emulated device.
    ///
    /// # Panics
    ///
    /// If called by a kernel that this device runs.
    #[cfg(feature = "emulator")]
    pub fn reset_emulation_reports(&self) {
        if let Engine::Emulated(emulation) = &self.inner.engine {
            emulation.reset_reports().unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// Returns all devices of this machine: the CPU first, then the CUDA devices that can be opened.
    #[must_use]
    pub fn all() -> Vec<Self> {
        // A device can be too old, or another process can use it exclusively. The next one may still open.
        let cuda = (0..cuda::device_count()).filter_map(|ordinal| Self::cuda(ordinal).ok());
        std::iter::once(Self::cpu()).chain(cuda).collect()
    }

    /// Returns the properties of the device.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.inner.info
    }

    /// Waits until all work of this handle and its clones is done.
    ///
    /// # Errors
    ///
    /// [Failures of the device](Error#failures-of-the-device) while that work ran.
    pub fn synchronize(&self) -> Result<()> {
        self.engine().synchronize()
    }

    /// Waits for the work of this handle and its clones, and gives device memory that is not in use back to the driver, for other processes.
    ///
    /// A CUDA device keeps the memory of dropped buffers and of calls for later ones, because to get it from the driver again takes longer
    /// than most operations. Other allocations of this process can use it, also those outside of this crate. All handles on a GPU share what
    /// it keeps. It is given back when the last handle, and everything created with one, is dropped. Memory that was freed in another queue
    /// may be kept until that is [waited for](Self::synchronize). Other devices keep nothing.
    ///
    /// # Errors
    ///
    /// [Failures of the device](Error#failures-of-the-device).
    pub fn release_unused_memory(&self) -> Result<()> {
        self.engine().release_unused_memory()
    }

    /// Returns the result of `work`, and the time that the device took for the work enqueued by it with this handle and its clones.
    /// Waits for that work. A CUDA device measures with its own clock, other devices with the host's clock.
    ///
    /// ```
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let transpose = Transpose::new(2, 2).prepare(&device)?;
    /// let (x, mut y) = (device.upload(&[1, 2, 3, 4])?, device.zeroed(4)?);
    /// let ((), time) = device.time(|| transpose.apply_into(&x, &mut y))?;
    /// println!("{time:?}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of `work`, and [failures of the device](Error#failures-of-the-device), also while the work ran.
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
        let start = self.mark()?;
        let result = work()?;
        let end = self.mark()?;
        Ok((result, start.elapsed_until(&end)?))
    }

    /// Returns the kernel `E` of another crate. `modules` are the program's compiled modules: the table `KERNELS` that
    /// `cuda_std::include_kernels!` defines.
    ///
    /// On a CUDA device this loads the kernel's module, unless a handle on the same GPU has already loaded it. An emulated
    /// device needs no module: it runs the code that was compiled for the host. More than 4096 bytes of arguments and
    /// constants do not compile.
    ///
    /// ```
    /// # use cuda_std::image::Modules;
    /// # use cuda_std::{GlobalOut, arguments, kernel, thread};
    /// # use slm::{Device, Error};
    /// # arguments! {
    /// #     /// Arguments of `fill`.
    /// #     pub struct Filling<'l> {
    /// #         /// Some elements.
    /// #         pub output: GlobalOut<'l, f32>,
    /// #     }
    /// # }
    /// # kernel! {
    /// #     /// Thread `i` of the grid writes element `i`.
    /// #     pub fn fill<'l>(_arena, args: Filling<'l>) {
    /// #         args.output.set(thread::global_x(), 1.0);
    /// #     }
    /// # }
    /// // `fill` is a kernel; `Kernel` has a complete example.
    /// let error = Device::cpu().kernel::<fill>(&Modules::NONE).unwrap_err();
    /// assert_eq!(error, Error::KernelOnCpu { kernel: "fill" });
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::KernelOnCpu`] on the CPU.
    /// * [`Error::KernelModule`] on a CUDA device if the kernel's module is missing, or was compiled from other sources or with
    ///   other arguments.
    /// * [`Error::KernelWithoutDigest`] on a CUDA device if the kernel's crate does not list its sources.
    /// * [`Error::KernelMissing`] if the module does not contain the kernel.
    /// * [`Error::DeviceTooOld`] or [`Error::DriverTooOld`] if the module has no image that they can run.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn kernel<E: Entry>(&self, modules: &Modules) -> Result<Kernel<E>> {
        Kernel::new(self, modules)
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Returns the identity of the queue, which clones share.
    pub(crate) fn queue_id(&self) -> QueueId {
        self.inner.queue
    }

    /// Keeps other threads from enqueueing kernels until the guard is dropped, so that the kernels of one operation run one
    /// after another, and prepares a CUDA device for launches. Returns `None` for other devices, where a launch has ended when
    /// it returns.
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

    /// Returns whether both are queues of the same opened device, which share its memory.
    pub(crate) fn shares_memory_with(&self, other: &Device) -> bool {
        self.inner.first_queue == other.inner.first_queue
    }

    /// Returns an error if `operand` belongs to another device.
    pub(crate) fn check_owner(&self, name: &'static str, operand: &Device) -> Result<()> {
        if self.shares_memory_with(operand) {
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

/// Displays a short description, such as `CPU, 8 threads` or `CUDA device 0, NVIDIA H200`. If [`Device::open`] looked for a GPU
/// and chose the CPU, a short reason follows: `CPU, 8 threads (no CUDA driver)`. [`DeviceInfo::selection`] has the full reason.
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

/// Returns the reason why a GPU cannot be used. It is short in the usual cases, which need no repair.
fn in_a_few_words(error: &Error) -> String {
    match error {
        Error::NoDevice { tried } if tried == NO_GPU => "no GPU".to_owned(),
        Error::NoDevice { .. } => "no CUDA driver".to_owned(),
        Error::FeatureDisabled { feature, .. } => format!("built without the feature '{feature}'"),
        other => other.to_string(),
    }
}
