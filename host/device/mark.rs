//! Marks in queues, for times.

use crate::backend::{Queue, cuda, emulated};
use crate::device::Engine;
use crate::{Device, Result};
use std::fmt;
use std::time::{Duration, Instant};

/// A position in a queue of work: behind the work that was enqueued before [`Device::mark`].
///
/// ```
/// use slm::{Device, Transpose};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let transpose = Transpose::new(2, 2).prepare(&device)?;
/// let (x, mut y) = (device.upload(&[1, 2, 3, 4])?, device.zeroed(4)?);
/// let start = device.mark()?;
/// transpose.apply_into(&x, &mut y)?;
/// let end = device.mark()?;
/// println!("{:?}", start.elapsed_until(&end)?);
/// # Ok(())
/// # }
/// ```
pub struct Mark {
    device: Device,
    position: Position,
}

enum Position {
    Cpu(Instant),
    Cuda(<cuda::Queue as Queue>::Mark),
    Emulated(<emulated::Emulation as Queue>::Mark),
}

impl Device {
    /// Returns a mark behind all work that was enqueued so far with this handle and its clones. Does not wait.
    ///
    /// # Errors
    ///
    /// [Failures of the device](crate::Error#failures-of-the-device).
    pub fn mark(&self) -> Result<Mark> {
        let position = match self.engine() {
            Engine::Cpu => Position::Cpu(Instant::now()),
            Engine::Cuda(queue) => Position::Cuda(queue.mark()?),
            Engine::Emulated(queue) => Position::Emulated(queue.mark()?),
        };
        Ok(Mark { device: self.clone(), position })
    }
}

impl Mark {
    /// Returns the time from this mark to `later`, or zero if `later` was reached first. Waits until both are reached. They may be in
    /// different queues of one device. A CUDA device measures with its own clock, with a resolution of about half a microsecond;
    /// other devices measure with the host's clock.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`](crate::Error::DeviceMismatch) if the marks belong to different devices.
    /// * [Failures of the device](crate::Error#failures-of-the-device) while the work before the marks ran.
    pub fn elapsed_until(&self, later: &Mark) -> Result<Duration> {
        self.device.check_owner("the later mark", &later.device)?;
        match (&self.position, &later.position) {
            (Position::Cpu(start), Position::Cpu(end)) => Ok(end.saturating_duration_since(*start)),
            (Position::Cuda(start), Position::Cuda(end)) => cuda::Queue::elapsed(start, end),
            (Position::Emulated(start), Position::Emulated(end)) => emulated::Emulation::elapsed(start, end),
            _ => unreachable!("marks of one device have the same kind"),
        }
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mark").field("device", &self.device).finish_non_exhaustive()
    }
}
