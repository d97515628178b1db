//! Kernels that are loaded when first used, and can only be launched with their own arguments.

use super::Queue;
use super::driver::api;
use super::module::Loaded;
use crate::backend::gpu::Shape;
use crate::{Residency, Result};
use cuda_std::Entry;
use cuda_std::image::Module;
use cust::sys::CUfunction;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, OnceLock};

// Values of `CUfunction_attribute`.
const REGISTERS: i32 = 4;
const MOST_DYNAMIC_SHARED_BYTES: i32 = 8;

/// The kernel `E` on a device.
///
/// The type ties the entry point to its arguments: another kernel's do not compile.
pub(super) struct Kernel<E: Entry> {
    function: CUfunction,
    registers: u32,
    /// Holds the module that the function is in.
    _module: Arc<Loaded>,
    marker: PhantomData<fn(E)>,
}

// SAFETY: the function is a handle into a context, which any thread may use after making it current.
unsafe impl<E: Entry> Send for Kernel<E> {}
// SAFETY: as above; launching does not change the kernel.
unsafe impl<E: Entry> Sync for Kernel<E> {}

impl<E: Entry> Kernel<E> {
    /// Finds the kernel in `module`, whose images were compiled from the same sources as `E` (`Modules::get`).
    fn load(queue: &Queue, module: &'static Module) -> Result<Self> {
        assert_eq!(E::SOURCES, Some(slm_kernels::SOURCES), "a kernel of another crate");
        let module = queue.module(module)?;
        let function = queue.note(module.cuda.function(E::NAME))?;
        let most = queue.limits().shared.max_per_block as i32;
        // SAFETY: the function is alive as long as its module, which `module` holds.
        let code = unsafe { api::cuFuncSetAttribute(function, MOST_DYNAMIC_SHARED_BYTES, most) };
        queue.check("cuFuncSetAttribute", code)?;
        let mut registers = 0;
        // SAFETY: as above; writes one integer, which outlives the call.
        let code = unsafe { api::cuFuncGetAttribute(&mut registers, REGISTERS, function) };
        queue.check("cuFuncGetAttribute", code)?;
        Ok(Kernel { function, registers: registers.unsigned_abs(), _module: module, marker: PhantomData })
    }

    /// Enqueues the kernel.
    ///
    /// # Safety
    ///
    /// The windows in `args` stay valid until the kernel has ended ([`cuda_std::GlobalIn::from_raw_parts`]); the
    /// queue's lock is held, or this is all the work there is.
    pub(super) unsafe fn launch(
        &self,
        queue: &Queue,
        shape: Shape,
        args: &E::Args,
        constants: &E::Constants,
    ) -> Result<()> {
        let Shape { blocks, block: [x, y], shared_bytes } = shape;
        let erase = |parameter: *const c_void| parameter.cast_mut();
        let mut parameters = [erase(ptr::from_ref(args).cast()), erase(ptr::from_ref(constants).cast())];
        // SAFETY: the entry point has one parameter of each type, unless the second one has no size (`Entry`); the
        // driver copies them. The windows in them are the caller's promise, and nothing else in them is an address
        // (`Argument`).
        let code = unsafe {
            let (stream, none) = (queue.stream(), ptr::null_mut());
            api::cuLaunchKernel(
                self.function,
                blocks,
                1,
                1,
                x,
                y,
                1,
                shared_bytes,
                stream,
                parameters.as_mut_ptr(),
                none,
            )
        };
        queue.check("cuLaunchKernel", code)
    }

    /// How many blocks run on one multiprocessor at a time.
    fn blocks_per_multiprocessor(&self, queue: &Queue, shape: Shape) -> Result<u32> {
        queue.enter()?;
        let mut blocks = 0;
        let threads = (shape.block[0] * shape.block[1]) as i32;
        // SAFETY: writes one integer, which outlives the call.
        let code = unsafe {
            let shared_bytes = shape.shared_bytes as usize;
            api::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.function, threads, shared_bytes)
        };
        queue.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
        Ok(blocks.unsigned_abs())
    }
}

/// The kernel `E`, loaded when first used.
pub(super) struct OnDemand<E: Entry> {
    module: &'static Module,
    kernel: OnceLock<Kernel<E>>,
}

impl<E: Entry> OnDemand<E> {
    /// The kernel of that name in `module`.
    pub(super) fn new(module: &'static Module) -> Self {
        OnDemand { module, kernel: OnceLock::new() }
    }

    pub(super) fn get(&self, queue: &Queue) -> Result<&Kernel<E>> {
        if let Some(kernel) = self.kernel.get() {
            return Ok(kernel);
        }
        let kernel = Kernel::load(queue, self.module)?;
        // Another thread may have been faster; both are the same kernel.
        Ok(self.kernel.get_or_init(|| kernel))
    }
}

/// What can be asked of a kernel, whatever it is launched with.
pub(super) trait Facts {
    /// Its registers per thread; loads it.
    fn registers(&self, queue: &Queue) -> Result<u32>;
    /// How many blocks run on one multiprocessor at a time; loads it.
    fn blocks_per_multiprocessor(&self, queue: &Queue, shape: Shape) -> Result<u32>;

    /// How much of a multiprocessor a launch occupies; loads it.
    fn residency(&self, queue: &Queue, shape: Shape) -> Result<Residency> {
        let registers = self.registers(queue)?;
        let blocks = self.blocks_per_multiprocessor(queue, shape)?;
        let threads = f64::from(blocks * shape.block[0] * shape.block[1]);
        let occupancy = threads / f64::from(queue.limits().threads_per_multiprocessor);
        Ok(Residency { registers, blocks_per_multiprocessor: blocks, occupancy })
    }
}

impl<E: Entry> Facts for OnDemand<E> {
    fn registers(&self, queue: &Queue) -> Result<u32> {
        Ok(self.get(queue)?.registers)
    }

    fn blocks_per_multiprocessor(&self, queue: &Queue, shape: Shape) -> Result<u32> {
        self.get(queue)?.blocks_per_multiprocessor(queue, shape)
    }
}
