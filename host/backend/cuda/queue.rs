//! One stream of a device's context.

use super::context::Context;
use super::handle::{Event, EventTime, Stream};
use super::module::Loaded;
use super::properties::Limits;
use crate::device::info::DeviceInfo;
use crate::device::launch::QueueId;
use crate::{Error, Result};
use cuda_driver::api::{self, CUstream};
use cuda_std::image::Module;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The stream with all work of one [`Device`](crate::Device) handle.
pub(crate) struct Queue {
    id: QueueId,
    // Dropped in this order, with the context current (`Drop`).
    stream: Stream,
    context: Arc<Context>,
    submission: Mutex<()>,
}

impl Queue {
    pub(super) fn open(ordinal: usize) -> Result<(Self, DeviceInfo)> {
        let context = Context::of(ordinal)?;
        context.enter()?;
        let stream = context.note(Stream::new())?;
        Ok(Self::new(context, stream))
    }

    /// Returns the queue of work on `stream`, which was created in `context`.
    pub(super) fn new(context: Arc<Context>, stream: Stream) -> (Self, DeviceInfo) {
        let info = context.info().clone();
        (Queue { id: QueueId::new(), stream, context, submission: Mutex::new(()) }, info)
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn id(&self) -> QueueId {
        self.id
    }

    /// [`Context::enter`].
    pub(super) fn enter(&self) -> Result<()> {
        self.context.enter()
    }

    /// [`Context::make_current`].
    pub(super) fn make_current(&self) -> Result<()> {
        self.context.make_current()
    }

    /// [`Context::check`].
    pub(super) fn check(&self, call: &'static str, code: i32) -> Result<()> {
        self.context.check(call, code)
    }

    /// [`Context::note`].
    pub(super) fn note<T>(&self, result: Result<T>) -> Result<T> {
        self.context.note(result)
    }

    pub(super) fn stream(&self) -> CUstream {
        self.stream.raw()
    }

    pub(super) fn limits(&self) -> &Limits {
        self.context.limits()
    }

    /// [`Context::module`].
    pub(super) fn module(&self, module: &'static Module, sources: &'static str) -> Result<Arc<Loaded>> {
        self.context.module(module, sources)
    }

    /// Keeps other threads from enqueueing kernels until the guard is dropped.
    pub(super) fn submission_lock(&self) -> Result<MutexGuard<'_, ()>> {
        // The lock guards no data, so a panic of another thread has not damaged anything.
        let guard = self.submission.lock().unwrap_or_else(PoisonError::into_inner);
        self.enter()?;
        Ok(guard)
    }

    /// Waits for all work of the stream, even if the device is lost. The context must be current.
    pub(super) fn wait(&self) -> Result<()> {
        // SAFETY: the stream lives as long as `self`.
        self.check("cuStreamSynchronize", unsafe { api::cuStreamSynchronize(self.stream()) })
    }

    /// Returns another stream of the context.
    pub(super) fn another(&self) -> Result<Self> {
        self.enter()?;
        let stream = self.note(Stream::new())?;
        Ok(Self::new(self.context.clone(), stream).0)
    }

    /// Makes later work of this stream wait for the work that `other` has now.
    pub(super) fn wait_for(&self, other: &Self) -> Result<()> {
        if Arc::ptr_eq(&self.context, &other.context) {
            return self.order(&other.stream, &self.stream);
        }
        let waits = self.wait_for_another_context(other);
        // Also after an error: the caller may go on if the other device is lost.
        self.enter()?;
        waits
    }

    /// As [`wait_for`](Self::wait_for), and leaves any of the two contexts current.
    fn wait_for_another_context(&self, other: &Self) -> Result<()> {
        other.enter()?;
        let event = other.note(Event::record(&other.stream, EventTime::Ignored))?;
        self.enter()?;
        let mut waits = self.stream.wait_for(&event);
        if let Err(Error::DeviceLost { .. }) = waits {
            // The failure may be that of either device. This one says of itself whether it is its own.
            self.wait()?;
            waits = other.note(waits);
        }
        // The event is destroyed in its own context.
        let _ = other.context.make_current();
        drop(event);
        waits
    }

    /// Makes later work of `second` wait for the work that `first` has now. `first` is a stream of this queue's context.
    fn order(&self, first: &Stream, second: &Stream) -> Result<()> {
        self.enter()?;
        let event = self.note(Event::record(first, EventTime::Ignored))?;
        self.note(second.wait_for(&event))
    }

    /// Returns whether an earlier failure has destroyed the context.
    pub(super) fn is_lost(&self) -> bool {
        self.context.is_lost()
    }

    /// Makes later work of `stream`, which may be of another context, wait for the work that this queue has now.
    #[cfg(feature = "dlpack")]
    pub(super) fn precede(&self, stream: &Stream) -> Result<()> {
        self.order(&self.stream, stream)
    }

    /// As [`precede`](Self::precede) for the stream of a queue, which may be of another device.
    #[cfg(feature = "dlpack")]
    pub(super) fn precede_queue(&self, other: &Self) -> Result<()> {
        self.precede(&other.stream)
    }

    /// Makes later work of this queue wait for the work that `stream`, which is of the same context, has now.
    #[cfg(feature = "dlpack")]
    pub(super) fn follow(&self, stream: &Stream) -> Result<()> {
        self.order(stream, &self.stream)
    }

    /// Returns a mark after the work enqueued so far.
    pub(super) fn mark(self: &Arc<Self>) -> Result<Mark> {
        self.enter()?;
        let event = self.note(Event::record(&self.stream, EventTime::Recorded))?;
        Ok(Mark { event, queue: self.clone() })
    }
}

/// An event whose time is recorded, with what it needs to exist.
pub(crate) struct Mark {
    // Dropped in this order, with the context current (`Drop`).
    event: Event,
    queue: Arc<Queue>,
}

impl Mark {
    /// Returns the time until `end`, which has the same context, or zero if `end` was reached first. Waits until both are reached.
    pub(super) fn elapsed_until(&self, end: &Mark) -> Result<Duration> {
        let queue = &self.queue;
        queue.enter()?;
        queue.note(self.event.wait())?;
        queue.note(end.event.wait())?;
        let milliseconds = queue.note(end.event.milliseconds_since(&self.event))?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds).max(0.0) / 1e3))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // The fields are dropped next, and destroying the event needs the context. A failure cannot be reported any more.
        let _ = self.queue.context.make_current();
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The fields are dropped next, and destroying the stream needs the context. No buffer or operation uses this queue any
        // more, but their work may still run, with kernels of the context's modules. A failure cannot be reported any more.
        let _ = self.context.make_current();
        let _ = self.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::super::handle;
    use super::*;
    use crate::device::Engine;
    use crate::{Device, Error, Filter1d};
    use slm_kernels::filter1d::filter1d_global;
    use slm_kernels::signal::Same;
    use std::ptr;

    /// Runs a kernel that fails, on the device's stream.
    fn fail(device: &Device) {
        let Engine::Cuda(queue) = device.engine() else { panic!("a GPU") };
        let ptx = ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry fail() { trap; }\n";
        let (stream, none) = (queue.stream(), ptr::null_mut());
        // SAFETY: a kernel without arguments, whose module lives until the work is done.
        let code = unsafe {
            let module = handle::Module::load(ptx).unwrap();
            let function = module.function("fail").unwrap();
            let code = api::cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, ptr::null_mut(), none);
            std::mem::forget(module);
            code
        };
        assert_eq!(code, 0);
    }

    /// Runs in a separate process, which loses its GPU.
    fn lose() {
        let device = Device::cuda(0).unwrap();
        let mut buffer = device.upload(&[1.0f32, 2.0, 3.0]).unwrap();
        let mut output = device.zeroed(3).unwrap();
        let filter = Filter1d::correlate(&[1.0f32]).prepare(&device).unwrap();
        device.synchronize().unwrap();
        fail(&device);
        let lost = device.synchronize().unwrap_err();
        assert!(
            matches!(&lost, Error::DeviceLost { call: "cuStreamSynchronize", source } if source.code != 0),
            "{lost}"
        );
        let later = [
            device.synchronize().err(),
            device.upload(&[1]).err(),
            device.zeroed::<i32>(7).err(),
            device.time(|| Ok(())).err(),
            buffer.download().err(),
            buffer.upload(&[4.0, 5.0, 6.0]).err(),
            output.copy_from(&buffer).err(),
            filter.apply_into(&buffer, &mut output).err(),
            filter.apply(&[1.0]).err(),
            Filter1d::correlate(&[1.0f32]).prepare(&device).err(),
            device.own_kernel::<filter1d_global<Same<f64>>>().err(),
        ];
        assert!(later.iter().all(|error| error.as_ref() == Some(&lost)), "{later:?}");
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn all_calls_after_the_loss_of_a_device_fail() {
        const CHILD: &str = "SLM_TEST_LOSES_THE_DEVICE";
        if std::env::var_os(CHILD).is_some() {
            return lose();
        }
        let name = "backend::cuda::queue::tests::all_calls_after_the_loss_of_a_device_fail";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", name, "--include-ignored"]).env(CHILD, "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}
