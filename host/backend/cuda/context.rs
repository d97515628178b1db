//! Contexts of this process, one per GPU in use: their modules and memory, and the state that all streams share.

use super::driver::check;
use super::handle::PrimaryContext;
use super::module::{Loaded, Modules};
use super::places::Places;
use super::pool::Pool;
use super::properties::{self, Limits};
use super::staging::Staging;
use crate::device::info::DeviceInfo;
use crate::error::NO_GPU;
use crate::{Error, Result};
use cuda_driver::api::CUcontext;
use cuda_std::image::Module;
use std::sync::{Arc, OnceLock, Weak};

/// Contexts by device number.
///
/// Weak references, so that a context is dropped with its last queue. Then its modules are unloaded and the driver's context
/// is released. Opening the device again creates a new context.
static CONTEXTS: Places<usize, Weak<Context>> = Places::new();

/// The primary context of a device, with its loaded modules and its memory.
pub(super) struct Context {
    // Dropped in this order, with the context current (`Drop`).
    modules: Modules,
    pool: Pool,
    staging: Staging,
    primary: PrimaryContext,
    lost: OnceLock<Error>,
    limits: Limits,
    info: DeviceInfo,
    ordinal: usize,
}

impl Context {
    /// Returns the context of device `ordinal`, which all its users share.
    pub(super) fn of(ordinal: usize) -> Result<Arc<Self>> {
        let available = properties::count()?;
        if available == 0 {
            return Err(Error::NoDevice { tried: NO_GPU.to_owned() });
        }
        if ordinal >= available {
            return Err(Error::DeviceOrdinal { ordinal, available });
        }
        CONTEXTS.with(ordinal, |place| match place.upgrade() {
            Some(context) => Ok(context),
            None => {
                let context = Arc::new(Self::open(ordinal)?);
                *place = Arc::downgrade(&context);
                Ok(context)
            }
        })
    }

    fn open(ordinal: usize) -> Result<Self> {
        let device = properties::device(ordinal)?;
        let info = properties::describe(device, ordinal)?;
        let limits = properties::limits(device, &info)?;
        let primary = PrimaryContext::retain(device)?;
        let pool = Pool::new(ordinal)?;
        Ok(Context {
            modules: Modules::default(),
            pool,
            staging: Staging::default(),
            primary,
            lost: OnceLock::new(),
            limits,
            info,
            ordinal,
        })
    }

    /// Returns the number of the context's device.
    pub(super) fn ordinal(&self) -> usize {
        self.ordinal
    }

    pub(super) fn raw(&self) -> CUcontext {
        self.primary.raw()
    }

    /// Returns the pool of the device's memory.
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Returns the pinned memory that small results pass through.
    pub(super) fn staging(&self) -> &Staging {
        &self.staging
    }

    /// Makes the context current for this thread and leaves it current. Called before every call into the driver.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`] if an earlier failure has destroyed the context.
    pub(super) fn enter(&self) -> Result<()> {
        if let Some(lost) = self.lost.get() {
            return Err(lost.clone());
        }
        self.note(self.make_current())
    }

    /// As [`enter`](Self::enter), to release resources even if the device is lost.
    pub(super) fn make_current(&self) -> Result<()> {
        self.primary.make_current()
    }

    /// Returns the result of the driver's function `call`. Records the error if the device is lost.
    pub(super) fn check(&self, call: &'static str, code: i32) -> Result<()> {
        self.note(check(call, code))
    }

    /// Returns `result`. Records the error if the device is lost.
    pub(super) fn note<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error @ Error::DeviceLost { .. }) = &result {
            // The error of the first thread is kept.
            let _ = self.lost.set(error.clone());
        }
        result
    }

    /// Returns whether an earlier failure has destroyed the context.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Returns the module compiled from these sources, loaded on first use and kept for the life of the context.
    pub(super) fn module(&self, module: &'static Module, sources: &'static str) -> Result<Arc<Loaded>> {
        self.enter()?;
        self.note(self.modules.get(module, sources, &self.limits.device, self.limits.capability))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The fields are dropped next, and unloading modules needs the context. The queues have waited for their work. A
        // failure cannot be reported any more.
        let _ = self.make_current();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::modules::KERNELS;
    use slm_kernels::filter1d::filter1d_register_rows;
    use slm_kernels::signal::Same;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    #[ignore = "needs a GPU"]
    fn a_device_has_one_context_and_each_module_once() {
        const THREADS: usize = 8;
        let [f32s, i32s] =
            [KERNELS.of::<filter1d_register_rows<Same<f32>>>(), KERNELS.of::<filter1d_register_rows<Same<i32>>>()];
        let modules = [f32s.unwrap(), i32s.unwrap()];
        let barrier = Barrier::new(THREADS);
        let load = |thread: usize| {
            barrier.wait();
            let context = Context::of(0).unwrap();
            let loaded = context.module(modules[thread % 2], slm_kernels::SOURCES).unwrap();
            (context, loaded)
        };
        let loaded: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || load(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (thread, (context, module)) in loaded.iter().enumerate() {
            assert!(Arc::ptr_eq(context, &loaded[0].0) && Arc::ptr_eq(module, &loaded[thread % 2].1));
        }
        assert!(!Arc::ptr_eq(&loaded[0].1, &loaded[1].1));
    }
}
