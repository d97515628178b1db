//! Kernels that can only be launched with their own arguments.

use super::driver::is_not_found;
use super::module::Loaded;
use super::queue::Queue;
use crate::device::launch::{LaunchLimits, LaunchShape, Residency, VisitWindows, WindowRecord, windows_of};
use crate::{Error, Result, backend};
use cuda_driver::api::{self, CUfunction};
use cuda_std::Entry;
use cuda_std::image::{Module, ModuleError, Modules, verify_kernel};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

// Values of `CUfunction_attribute`.
const MOST_THREADS: i32 = 0;
const REGISTERS: i32 = 4;
const MOST_DYNAMIC_SHARED_BYTES: i32 = 8;

/// The kernel `E` on a device.
///
/// The type ties the entry point to its arguments: arguments of another kernel do not compile.
pub(crate) struct Kernel<E: Entry> {
    function: Arc<Function>,
    marker: PhantomData<fn(E)>,
}

impl<E: Entry> Clone for Kernel<E> {
    fn clone(&self) -> Self {
        Kernel { function: self.function.clone(), marker: PhantomData }
    }
}

impl<E: Entry> Kernel<E> {
    /// Returns the kernel from its module, which must be compiled from the same sources as `E` and with the same arguments.
    pub(super) fn load(queue: &Arc<Queue>, modules: &Modules) -> Result<Self> {
        let function = Function::load(queue, modules.of::<E>(), &Identity::of::<E>());
        function.map(|function| Kernel { function, marker: PhantomData })
    }
}

impl<E: Entry> backend::Kernel<E> for Kernel<E> {
    fn launch(
        &self,
        shape: &LaunchShape,
        windows: &WindowRecord,
        args: &E::Args<'_>,
        constants: &E::Constants,
    ) -> Result<()> {
        let visit_windows = windows_of::<E>(args, constants);
        let parameters = [ptr::from_ref(args).cast(), ptr::from_ref(constants).cast()];
        // SAFETY: the entry point has one parameter of each type that has a size (`Entry`, whose digests of sources and layout
        // `load` has compared). `windows_of` reports every window of both, and nothing else in them is an address
        // (`Argument`).
        unsafe { self.function.launch(shape, windows, &visit_windows, parameters) }
    }

    fn residency(&self, shape: &LaunchShape) -> Result<Option<Residency>> {
        self.function.residency(shape)
    }
}

/// An entry point, without its type.
struct Identity {
    name: &'static str,
    module: &'static str,
    sources: Option<&'static str>,
    /// [`verify_kernel`] for this entry point.
    verify: fn(&str) -> std::result::Result<(), ModuleError>,
}

impl Identity {
    fn of<E: Entry>() -> Self {
        Identity { name: E::NAME, module: E::MODULE, sources: E::SOURCES, verify: verify_kernel::<E> }
    }
}

/// Entry point of a kernel on a device, without the types of its arguments, so that its code is compiled once for all
/// kernels.
struct Function {
    name: &'static str,
    function: CUfunction,
    registers: u32,
    limits: LaunchLimits,
    /// Keeps the function's module loaded. Dropped before `queue`, which owns the context.
    _module: Arc<Loaded>,
    queue: Arc<Queue>,
}

// SAFETY: the function is a handle into a context, which any thread may use after making it current.
unsafe impl Send for Function {}
// SAFETY: as above; launching does not change the kernel.
unsafe impl Sync for Function {}

impl Function {
    /// Returns the kernel from its module, which must be compiled from the same sources and with the same arguments. An error in
    /// place of the module is returned, unless the kernel has no digest.
    fn load(
        queue: &Arc<Queue>,
        module: std::result::Result<&'static Module, ModuleError>,
        kernel: &Identity,
    ) -> Result<Arc<Self>> {
        let &Identity { name, sources, .. } = kernel;
        let wrong = |source| Error::KernelModule { module: kernel.module, source };
        let sources = sources.ok_or(Error::KernelWithoutDigest { kernel: name })?;
        let loaded = queue.module(module.map_err(wrong)?, sources)?;
        let missing = |error| match is_not_found(&error) {
            true => Error::KernelMissing { kernel: name, module: kernel.module },
            false => error,
        };
        let function = queue.note(loaded.cuda.function(name)).map_err(missing)?;
        (kernel.verify)(loaded.text).map_err(wrong)?;
        let mut limits = queue.limits().launch;
        // SAFETY: the function is alive as long as its module, which `loaded` holds.
        let code =
            unsafe { api::cuFuncSetAttribute(function, MOST_DYNAMIC_SHARED_BYTES, limits.shared.max_per_block as i32) };
        queue.check("cuFuncSetAttribute", code)?;
        let get = |attribute| {
            let mut value = 0;
            // SAFETY: as above; writes one integer, which outlives the call.
            let code = unsafe { api::cuFuncGetAttribute(&mut value, attribute, function) };
            queue.check("cuFuncGetAttribute", code).map(|()| value.unsigned_abs())
        };
        // A kernel with many registers has a lower limit than the device.
        limits.threads = limits.threads.min(get(MOST_THREADS)?);
        let registers = get(REGISTERS)?;
        Ok(Arc::new(Function { name, function, registers, limits, _module: loaded, queue: queue.clone() }))
    }

    /// Enqueues the kernel if it can reach only what `windows` has handed out. The caller holds the queue's
    /// [submission lock](backend::Queue::submission_lock).
    ///
    /// # Safety
    ///
    /// `parameters` must point to values of the types of the kernel's arguments and constants. `visit_windows` must report every
    /// window in them, with its address, size and kind, and nothing else in them may be an address.
    unsafe fn launch(
        &self,
        shape: &LaunchShape,
        windows: &WindowRecord,
        visit_windows: VisitWindows<'_>,
        parameters: [*const c_void; 2],
    ) -> Result<()> {
        windows.check(self.name, self.queue.id(), visit_windows)?;
        // SAFETY: the caller vouches for the parameters. `WindowRecord::check` has found each window among those that `windows` has
        // handed out for this queue. Before, the queue has waited for earlier accesses of others to their buffers, and their order has
        // noted this one (`Windows`). The buffers are borrowed as long as `windows` lives, exclusively unless the window is a
        // `GlobalIn`.
        unsafe { self.enqueue(shape, parameters) }
    }

    /// Enqueues the kernel. The caller holds the queue's [submission lock](backend::Queue::submission_lock).
    ///
    /// # Safety
    ///
    /// `parameters` must point to values of the types of the kernel's arguments and constants. The windows in them must be on
    /// memory of this kernel's context that is borrowed during the call. The memory's
    /// [`AccessOrder`](crate::device::order::AccessOrder) must know of the launch, so that later writes and frees wait for the
    /// kernel. The memory of a [`GlobalIn`](cuda_std::GlobalIn) must not be writable through another window.
    unsafe fn enqueue(&self, shape: &LaunchShape, parameters: [*const c_void; 2]) -> Result<()> {
        self.limits.check(self.name, shape)?;
        // The casts are exact: the check has compared the numbers with 32-bit limits.
        let ([x, y, z], shared_bytes) = (shape.grid.map(|blocks| blocks as u32), shape.shared_bytes as u32);
        let [block_x, block_y, block_z] = shape.block;
        let mut parameters = parameters.map(<*const c_void>::cast_mut);
        // SAFETY: the parameters match the entry point, and the caller vouches for the memory that they refer to; the driver
        // copies them.
        let code = unsafe {
            api::cuLaunchKernel(
                self.function,
                x,
                y,
                z,
                block_x,
                block_y,
                block_z,
                shared_bytes,
                self.queue.stream(),
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        self.queue.check("cuLaunchKernel", code)
    }

    /// Returns the occupancy of a launch, by its block size and shared memory. The driver computes it from the loaded function,
    /// so no cache is needed. It is never `None`.
    fn residency(&self, shape: &LaunchShape) -> Result<Option<Residency>> {
        self.limits.check_block(self.name, shape)?;
        self.queue.enter()?;
        let threads: u32 = shape.block.iter().product();
        let mut blocks = 0;
        // SAFETY: writes one integer, which outlives the call.
        let code = unsafe {
            let shared_bytes = shape.shared_bytes as usize;
            api::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.function, threads as i32, shared_bytes)
        };
        self.queue.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
        let blocks = blocks.unsigned_abs();
        let occupancy = f64::from(blocks * threads) / f64::from(self.queue.limits().threads_per_multiprocessor);
        Ok(Some(Residency { registers: self.registers, blocks_per_multiprocessor: blocks, occupancy }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::modules::KERNELS;
    use cuda_std::digest::Digest;
    use slm_kernels::filter1d::filter1d_global;
    use slm_kernels::signal::Same;

    type Intact = filter1d_global<Same<i32>>;

    /// The entry that `kernel!` would declare for the same kernel with other arguments, or in another module.
    enum Forged<const MISPLACED: bool> {}

    // SAFETY: no module has a kernel with this layout.
    unsafe impl<const MISPLACED: bool> Entry for Forged<MISPLACED> {
        type Args<'l> = ();
        type Constants = ();
        const NAME: &'static str = Intact::NAME;
        const MODULE: &'static str = if MISPLACED { "filter1d_rows_i32" } else { Intact::MODULE };
        const SOURCES: Option<&'static str> = Intact::SOURCES;
        const LAYOUT: Digest = Digest::of(b"");
        const WITHOUT_STD: bool = false;
        fn run((): (), (): ()) {}
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn another_kernel_is_refused() {
        let (queue, _) = super::super::open(0).unwrap();
        let kernel = "filter1d_global_i32";
        let error = Kernel::<Forged<false>>::load(&queue, &KERNELS).err();
        let [expected, actual] = [Digest::of(b""), Intact::LAYOUT].map(|digest| digest.to_string());
        let source = ModuleError::OtherKernel { kernel, expected, actual: Some(actual) };
        assert_eq!(error, Some(Error::KernelModule { module: "filter1d_simple_i32", source }));
        let error = Kernel::<Forged<true>>::load(&queue, &KERNELS).err();
        assert_eq!(error, Some(Error::KernelMissing { kernel, module: "filter1d_rows_i32" }));
        assert!(Kernel::<Intact>::load(&queue, &KERNELS).is_ok());
    }
}
