//! Owned resources of the driver, released when dropped: contexts, streams, events, modules and pinned memory.
//!
//! Any thread may use them. Releasing a handle ignores the result: a failure belongs to earlier work, whose wait reports it.

use super::driver::check;
use crate::Result;
use crate::cpu::allocation;
use cuda_driver::api::{self, CUcontext, CUdevice, CUevent, CUfunction, CUmodule, CUstream};
use std::ffi::{CString, c_uint, c_void};
use std::ptr;
#[cfg(cust)]
use std::sync::Arc;

// Flags of `cuStreamCreate` and `cuStreamWaitEvent`.
const NON_BLOCKING: c_uint = 1;
const NO_FLAGS: c_uint = 0;

/// Whether an event records its time. The values are flags of `cuEventCreate`.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventTime {
    Recorded = 0,
    /// Recording such an event is faster.
    Ignored = 2,
}

/// Primary context of a device, which all its users in the process share.
pub(super) struct PrimaryContext {
    device: CUdevice,
    raw: CUcontext,
}

// SAFETY: a handle, which any thread may make current.
unsafe impl Send for PrimaryContext {}
// SAFETY: as above; a context can be current for several threads at once.
unsafe impl Sync for PrimaryContext {}

impl PrimaryContext {
    pub(super) fn retain(device: CUdevice) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: writes one handle, which outlives the call; the device exists.
        check("cuDevicePrimaryCtxRetain", unsafe { api::cuDevicePrimaryCtxRetain(&mut raw, device) })?;
        Ok(PrimaryContext { device, raw })
    }

    pub(super) fn raw(&self) -> CUcontext {
        self.raw
    }

    /// Makes the context current for the calling thread.
    pub(super) fn make_current(&self) -> Result<()> {
        // SAFETY: the context is retained as long as `self` lives.
        check("cuCtxSetCurrent", unsafe { api::cuCtxSetCurrent(self.raw) })
    }
}

impl Drop for PrimaryContext {
    fn drop(&mut self) {
        // SAFETY: retained once by `retain`.
        unsafe { api::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// The context that is current for this thread. It is current again when this is dropped.
#[cfg(feature = "dlpack")]
pub(crate) struct CurrentContext(CUcontext);

#[cfg(feature = "dlpack")]
impl CurrentContext {
    pub(super) fn of_thread() -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: writes one handle, which outlives the call.
        check("cuCtxGetCurrent", unsafe { api::cuCtxGetCurrent(&mut raw) })?;
        Ok(CurrentContext(raw))
    }
}

#[cfg(feature = "dlpack")]
impl Drop for CurrentContext {
    fn drop(&mut self) {
        // SAFETY: the thread's own context, or null for none. The driver refuses one that was destroyed meanwhile.
        unsafe { api::cuCtxSetCurrent(self.0) };
    }
}

/// Pinned host memory, aligned to a page.
pub(super) struct HostMemory(*mut c_void);

// SAFETY: memory of this handle alone, which any thread may use.
unsafe impl Send for HostMemory {}
// SAFETY: as above; the handle itself does not access the memory.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates this number of bytes, at least 1.
    pub(super) fn allocate(bytes: usize) -> Result<Self> {
        let mut address = ptr::null_mut();
        // SAFETY: writes one address, which outlives the call.
        check("cuMemAllocHost", unsafe { api::cuMemAllocHost_v2(&mut address, bytes) })?;
        Ok(HostMemory(address))
    }

    pub(super) fn address(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: allocated by `allocate` and freed once. No copy uses it any more, because each has ended when the call that began it
        // returns.
        unsafe { api::cuMemFreeHost(self.0) };
    }
}

/// A stream of a context.
pub(super) struct Stream {
    raw: CUstream,
    owner: Owner,
}

/// The owner of a stream, which destroys it.
enum Owner {
    /// The handle.
    Handle,
    /// The program, which shares its `Arc`. The last clone destroys the stream.
    #[cfg(cust)]
    Program { _stream: Arc<cust::stream::Stream> },
    /// Somebody else.
    #[cfg(feature = "dlpack")]
    Foreign,
}

// SAFETY: a handle into a context, which any thread may use after making it current.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver lets several threads enqueue work at once.
unsafe impl Sync for Stream {}

impl Stream {
    /// Returns a stream that does not synchronise with the legacy default stream.
    pub(super) fn new() -> Result<Self> {
        let mut stream = ptr::null_mut();
        // SAFETY: writes one handle, which outlives the call.
        check("cuStreamCreate", unsafe { api::cuStreamCreate(&mut stream, NON_BLOCKING) })?;
        Ok(Stream { raw: stream, owner: Owner::Handle })
    }

    /// Returns a handle to the stream of a program. The stream lives at least as long as this handle.
    #[cfg(cust)]
    pub(super) fn shared(stream: Arc<cust::stream::Stream>) -> Self {
        Stream { raw: stream.as_inner().cast(), owner: Owner::Program { _stream: stream } }
    }

    /// Returns the stream with this handle, which is 1 for the legacy default stream of the current context and 2 for the default
    /// stream of the calling thread.
    ///
    /// # Safety
    ///
    /// The stream must exist as long as the result.
    #[cfg(feature = "dlpack")]
    pub(super) unsafe fn foreign(handle: isize) -> Self {
        Stream { raw: ptr::without_provenance_mut(handle as usize), owner: Owner::Foreign }
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Makes later work of the stream wait for the event.
    pub(super) fn wait_for(&self, event: &Event) -> Result<()> {
        // SAFETY: both are alive. The driver keeps what it needs of the event if that is dropped before it is reached.
        check("cuStreamWaitEvent", unsafe { api::cuStreamWaitEvent(self.raw, event.0, NO_FLAGS) })
    }

    /// Returns the context that the stream was created in.
    pub(super) fn context(&self) -> Result<CUcontext> {
        let mut context = ptr::null_mut();
        // SAFETY: the stream is not destroyed before `self`; writes one handle, which outlives the call.
        check("cuStreamGetCtx", unsafe { api::cuStreamGetCtx(self.raw, &mut context) })?;
        Ok(context)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        match self.owner {
            // SAFETY: created by `new`, and not used any more.
            Owner::Handle => _ = unsafe { api::cuStreamDestroy_v2(self.raw) },
            #[cfg(cust)]
            Owner::Program { .. } => {}
            #[cfg(feature = "dlpack")]
            Owner::Foreign => {}
        }
    }
}

/// A position in a stream.
pub(super) struct Event(CUevent);

// SAFETY: a handle, which any thread may use after making its context current.
unsafe impl Send for Event {}
// SAFETY: as above; waiting for an event and reading its time does not change it.
unsafe impl Sync for Event {}

impl Event {
    /// Returns an event recorded after the work enqueued on `stream` so far.
    pub(super) fn record(stream: &Stream, time: EventTime) -> Result<Self> {
        let mut event = ptr::null_mut();
        // SAFETY: writes one handle, which outlives the call.
        check("cuEventCreate", unsafe { api::cuEventCreate(&mut event, time as c_uint) })?;
        let event = Event(event);
        // SAFETY: both are alive.
        check("cuEventRecord", unsafe { api::cuEventRecord(event.0, stream.raw()) })?;
        Ok(event)
    }

    /// Waits until the event is reached.
    pub(super) fn wait(&self) -> Result<()> {
        // SAFETY: the event is alive.
        check("cuEventSynchronize", unsafe { api::cuEventSynchronize(self.0) })
    }

    /// Returns the time from `start` to this event. Both must have been reached, and must record their times.
    pub(super) fn milliseconds_since(&self, start: &Event) -> Result<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: both are alive; writes one number, which outlives the call.
        check("cuEventElapsedTime", unsafe { api::cuEventElapsedTime(&mut milliseconds, start.0, self.0) })?;
        Ok(milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created by `record`, and not used any more.
        unsafe { api::cuEventDestroy_v2(self.0) };
    }
}

/// Compiled kernels in a context.
#[derive(Debug)]
pub(super) struct Module(CUmodule);

// SAFETY: a handle into a context, which any thread may use after making it current.
unsafe impl Send for Module {}
// SAFETY: as above; looking up a function does not change the module.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles `ptx` for the current context's device.
    ///
    /// # Safety
    ///
    /// Kernels of the PTX, launched with arguments of their own types, must be sound.
    pub(super) unsafe fn load(ptx: &str) -> Result<Self> {
        let mut text = allocation::reserved(ptx.len() + 1)?;
        text.extend_from_slice(ptx.as_bytes());
        // PTX contains no zero bytes. The driver refuses an empty text.
        let ptx = CString::new(text).unwrap_or_default();
        let mut module = ptr::null_mut();
        // SAFETY: reads a text that ends in zero and outlives the call; writes one handle.
        check("cuModuleLoadData", unsafe { api::cuModuleLoadData(&mut module, ptx.as_ptr().cast()) })?;
        Ok(Module(module))
    }

    /// Returns the kernel called `name`, usable for the life of the module.
    pub(super) fn function(&self, name: &str) -> Result<CUfunction> {
        // Names contain no zero bytes either, and no kernel has an empty name.
        let name = CString::new(name).unwrap_or_default();
        let mut function = ptr::null_mut();
        // SAFETY: reads a text that ends in zero and outlives the call; writes one handle.
        let code = unsafe { api::cuModuleGetFunction(&mut function, self.0, name.as_ptr()) };
        check("cuModuleGetFunction", code)?;
        Ok(function)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded by `load`; a `Function` of the module keeps it alive.
        unsafe { api::cuModuleUnload(self.0) };
    }
}
