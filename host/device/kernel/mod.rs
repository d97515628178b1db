//! Launches kernels of the operations and of other crates from safe code.
//!
//! | file | contents |
//! |---|---|
//! | `windows.rs` | windows on buffers, in a kernel's arguments |
//! | `launch.rs` | kernels without the type of their entry point |
//! | `recent.rs` | a small cache |

mod launch;
mod recent;
mod windows;

pub(crate) use launch::{Launch, Loaded, OnDemand, WithConstants};
pub(crate) use recent::Recent;
pub use windows::Windows;

use crate::backend::{Kernel as _, Queue, cuda, emulated};
use crate::device::Engine;
use crate::device::launch::{LaunchShape, Residency};
use crate::{Device, Error, Result};
use cuda_std::Entry;
use cuda_std::image::Modules;
use std::fmt;

/// Maximum number of bytes of arguments and constants, which is the same for every GPU and driver. More do not compile:
///
/// ```compile_fail,E0080
/// # use cuda_std::image::Modules;
/// # use cuda_std::{GlobalOut, kernel};
/// # use slm::Device;
/// kernel! {
///     /// 16 bytes of arguments and 4096 bytes of constants.
///     pub fn much<'l>(_arena, args: GlobalOut<'l, f32>, table: Constants<f32, 1024>) {
///         args.set(0, table.pack::<2>(0)[0]);
///     }
/// }
/// # fn main() -> slm::Result<()> {
/// let kernel = Device::open()?.kernel::<much>(&Modules::NONE)?;
/// # Ok(())
/// # }
/// ```
const MOST_PARAMETER_BYTES: usize = 4096;

/// The kernel `E`, ready to be launched on its device any number of times and from any thread. [`Device::kernel`] returns it.
///
/// Kernels are written with `cuda_std` and compiled by `cuda_builder`. `examples/own_kernel` in the repository is a complete
/// crate with one.
///
/// ```
/// use cuda_std::image::Modules;
/// use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};
/// use slm::emulator::Profile;
/// use slm::{Device, LaunchShape};
///
/// arguments! {
///     /// Arguments of `scale`.
///     pub struct Scaling<'l> {
///         /// The samples.
///         pub input: GlobalIn<'l, f32>,
///         /// Receives the products.
///         pub output: GlobalOut<'l, f32>,
///         /// The factor.
///         pub factor: f32,
///     }
/// }
///
/// kernel! {
///     /// Thread `i` of the grid computes element `i`.
///     pub fn scale<'l>(_arena, args: Scaling<'l>) {
///         let i = thread::global_x();
///         args.output.set_if(i < args.output.len(), i, args.factor * args.input.get_or(i, 0.0));
///     }
/// }
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::emulated(Profile::SM_90, 0);
/// // A program with compiled kernels names its table here: `KERNELS`, which `cuda_std::include_kernels!()` defines.
/// let kernel = device.kernel::<scale>(&Modules::NONE)?;
/// let x = device.upload(&[1.0, 2.0, 3.0])?;
/// let mut y = device.zeroed(3)?;
/// kernel.launch(LaunchShape::new([1, 1, 1], [32, 1, 1]), |windows| Scaling {
///     input: windows.input(&x),
///     output: windows.output(&mut y),
///     factor: 10.0,
/// })?;
/// assert_eq!(y.download()?, [10.0, 20.0, 30.0]);
/// # Ok(())
/// # }
/// ```
///
/// Arguments of another type than the declared one do not compile:
///
/// ```compile_fail,E0308
/// # use cuda_std::image::Modules;
/// # use cuda_std::{GlobalOut, arguments, kernel, thread};
/// # use slm::{Device, LaunchShape};
/// arguments! {
///     /// Not the arguments of `fill`.
///     pub struct Other<'l> {
///         /// Some elements.
///         pub output: GlobalOut<'l, f32>,
///     }
/// }
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
/// # fn main() -> slm::Result<()> {
/// # let device = Device::open()?;
/// # let mut y = device.zeroed(3)?;
/// let kernel = device.kernel::<fill>(&Modules::NONE)?;
/// kernel.launch(LaunchShape::new([1, 1, 1], [32, 1, 1]), |windows| Other { output: windows.output(&mut y) })?;
/// # Ok(())
/// # }
/// ```
pub struct Kernel<E: Entry> {
    loaded: OnBackend<E>,
    device: Device,
}

/// The kernel on its backend. Not a `dyn Kernel<E>`, which would need a table of functions for each kernel and backend.
enum OnBackend<E: Entry> {
    Cuda(<cuda::Queue as Queue>::Kernel<E>),
    Emulated(<emulated::Emulation as Queue>::Kernel<E>),
}

impl<E: Entry> Kernel<E> {
    pub(crate) fn new(device: &Device, modules: &Modules) -> Result<Self> {
        const {
            let bytes = size_of::<E::Args<'static>>() + size_of::<E::Constants>();
            assert!(bytes <= MOST_PARAMETER_BYTES, "arguments and constants of a kernel must not exceed 4096 bytes");
        }
        Ok(Kernel { loaded: Self::load(device, modules)?, device: device.clone() })
    }

    fn load(device: &Device, modules: &Modules) -> Result<OnBackend<E>> {
        match device.engine() {
            Engine::Cpu => Err(Error::KernelOnCpu { kernel: E::NAME }),
            Engine::Cuda(queue) => queue.load(modules).map(OnBackend::Cuda),
            Engine::Emulated(emulation) => emulation.load(modules).map(OnBackend::Emulated),
        }
    }

    /// Returns the device that the kernel runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Launches the kernel with constants; otherwise as [`launch`](Self::launch).
    ///
    /// ```
    /// use cuda_std::{GlobalInOut, Table, arguments, kernel, thread};
    /// # use cuda_std::image::Modules;
    /// # use slm::emulator::Profile;
    /// # use slm::{Device, LaunchShape};
    ///
    /// arguments! {
    ///     /// Arguments of `evaluate`.
    ///     pub struct Evaluation<'l> {
    ///         /// Arguments of the polynomial, which its values replace.
    ///         pub x: GlobalInOut<'l, f32>,
    ///     }
    /// }
    ///
    /// kernel! {
    ///     /// Thread `i` of the grid evaluates a polynomial of the third degree at element `i`.
    ///     pub fn evaluate<'l>(_arena, args: Evaluation<'l>, coefficients: Constants<f32, 4>) {
    ///         let (i, [a, b, c, d]) = (thread::global_x(), coefficients.pack::<4>(0));
    ///         let x = args.x.get_or(i, 0.0);
    ///         args.x.set_if(i < args.x.len(), i, ((a * x + b) * x + c) * x + d);
    ///     }
    /// }
    ///
    /// # fn main() -> slm::Result<()> {
    /// # let device = Device::emulated(Profile::SM_90, 0);
    /// let kernel = device.kernel::<evaluate>(&Modules::NONE)?;
    /// let mut x = device.upload(&[1.0, 2.0])?;
    /// let shape = LaunchShape::new([1, 1, 1], [32, 1, 1]);
    /// kernel.launch_with(shape, &Table([1.0, 0.0, 0.0, 5.0]), |windows| Evaluation { x: windows.in_out(&mut x) })?;
    /// assert_eq!(x.download()?, [6.0, 13.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`launch`](Self::launch).
    pub fn launch_with<'b>(
        &self,
        shape: LaunchShape,
        constants: &E::Constants,
        args: impl for<'l> FnOnce(&mut Windows<'l, 'b>) -> E::Args<'l>,
    ) -> Result<()> {
        let mut windows = Windows::new(&self.device);
        // Called before the lock is taken, because the closure may launch kernels itself.
        let args = args(&mut windows);
        let _submission = self.device.submission_lock()?;
        self.launch_in(&windows, shape, &args, constants)
    }

    /// Launches the kernel with windows that `windows` has created. The caller holds the device's
    /// [submission lock](Device::submission_lock).
    pub(crate) fn launch_in(
        &self,
        windows: &Windows<'_, '_>,
        shape: LaunchShape,
        args: &E::Args<'_>,
        constants: &E::Constants,
    ) -> Result<()> {
        match &self.loaded {
            OnBackend::Cuda(kernel) => kernel.launch(&shape, windows.record(), args, constants),
            OnBackend::Emulated(kernel) => kernel.launch(&shape, windows.record(), args, constants),
        }
    }

    /// Returns the registers and the occupancy of a launch with the block and the shared memory of `shape`; `None` for an
    /// emulated device, which has no registers.
    ///
    /// # Errors
    ///
    /// * [`Error::LaunchOutOfRange`] or [`Error::SharedMemoryExceeded`] if the block exceeds a limit.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        match &self.loaded {
            OnBackend::Cuda(kernel) => kernel.residency(&shape),
            OnBackend::Emulated(kernel) => kernel.residency(&shape),
        }
    }
}

impl<E: Entry<Constants = ()>> Kernel<E> {
    /// Launches the kernel. `args` returns its arguments, with [`Windows`] on buffers. Returns when the kernel is enqueued;
    /// on an emulated device, when it has run. If the kernel fails while it runs, the next call that waits returns the
    /// error.
    ///
    /// The buffers are borrowed until the kernel is enqueued. Later uses of the buffers, including drops, are enqueued after
    /// it.
    ///
    /// # Errors
    ///
    /// Nothing is launched in these cases:
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device than the kernel.
    /// * [`Error::ForeignWindow`] if an argument contains a window that this launch has not created.
    /// * [`Error::LaunchOutOfRange`] or [`Error::SharedMemoryExceeded`] if `shape` exceeds a limit of the device, or of a block
    ///   of this kernel.
    /// * [Failures of the device](Error#failures-of-the-device), except `FaultyKernel` of an emulated device: there the kernel
    ///   has run.
    pub fn launch<'b>(
        &self,
        shape: LaunchShape,
        args: impl for<'l> FnOnce(&mut Windows<'l, 'b>) -> E::Args<'l>,
    ) -> Result<()> {
        self.launch_with(shape, &(), args)
    }
}

impl<E: Entry> Clone for Kernel<E> {
    fn clone(&self) -> Self {
        let loaded = match &self.loaded {
            OnBackend::Cuda(kernel) => OnBackend::Cuda(kernel.clone()),
            OnBackend::Emulated(kernel) => OnBackend::Emulated(kernel.clone()),
        };
        Kernel { loaded, device: self.device.clone() }
    }
}

impl<E: Entry> fmt::Debug for Kernel<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &E::NAME)
            .field("module", &E::MODULE)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}
