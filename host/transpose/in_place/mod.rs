//! Transposing in place.

mod cpu;
mod gpu;
mod steps;

use super::{Matrices, Plan, TransposeAlgorithm, TransposeElement};
use crate::buffer::check_length;
use crate::{Buffer, Device, Element, Result};
use std::fmt;

/// A [`Transpose`](crate::Transpose) in place that is ready to run on its device, as often as wanted and from any thread.
pub struct PreparedTransposeInPlace<T: Element> {
    device: Device,
    matrices: Matrices,
    on_device: OnDevice<T>,
}

/// A transposition in place on a device of some kind.
enum OnDevice<T: Element> {
    Cpu(cpu::TransposeInPlace),
    Gpu(Box<gpu::TransposeInPlace<T>>),
}

impl<T: Element> OnDevice<T> {
    fn new(device: &Device, matrices: &Matrices) -> Result<Self> {
        Ok(match device.info().shared_memory {
            None => OnDevice::Cpu(cpu::TransposeInPlace::new(matrices)),
            Some(shared) => OnDevice::Gpu(Box::new(gpu::TransposeInPlace::new(device, shared, matrices)?)),
        })
    }
}

impl<T: TransposeElement> PreparedTransposeInPlace<T> {
    pub(super) fn new(device: &Device, matrices: Matrices) -> Result<Self> {
        matrices.check::<T>()?;
        let on_device = OnDevice::new(device, &matrices)?;
        Ok(PreparedTransposeInPlace { device: device.clone(), matrices, on_device })
    }

    /// The device that it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Transposes all matrices in `data`; returns when the work is enqueued.
    ///
    /// ```
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let mut data = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// Transpose::new(2, 3).prepare_in_place(&device)?.apply(&mut data)?;
    /// assert_eq!(data.download()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMismatch`] if the buffer belongs to another handle, [`Error::Length`] unless it has matrices · rows ·
    /// columns · components numbers, and [`Error::OutOfHostMemory`] on the CPU: nothing has changed then. [Failures of the
    /// device](Error#failures-of-the-device), after which the data may be in disorder.
    pub fn apply(&self, data: &mut Buffer<T>) -> Result<()> {
        self.device.check_owner("the data", data.device())?;
        check_length("the data", self.matrices.len(), data.len())?;
        T::run_in_place(self, data)
    }
}

impl<T: Element> PreparedTransposeInPlace<T> {
    /// How it is done. The [algorithm](Plan::algorithm) means nothing here.
    ///
    /// ```
    /// use slm::emulator::Profile;
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let transpose = Transpose::new(300, 200).prepare_in_place::<f32>(&Device::emulated(Profile::SM_90, 0))?;
    /// let plan = transpose.plan();
    /// assert!(plan.launches.iter().all(|launch| launch.kernel == "transpose_permute_u32"));
    /// println!("{plan}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn plan(&self) -> Plan {
        let reason = ["cpu", "the CPU has one way to transpose in place"];
        match &self.on_device {
            OnDevice::Cpu(_) => {
                Plan::without_launch(&self.device, TransposeAlgorithm::Auto, &self.matrices, size_of::<T>(), reason)
            }
            OnDevice::Gpu(transpose) => transpose.plan(),
        }
    }

    /// Transposes the matrices in `data`, which is on the device.
    pub(super) fn run(&self, data: &mut Buffer<T>) -> Result<()> {
        match &self.on_device {
            OnDevice::Cpu(transpose) => transpose.run(data),
            OnDevice::Gpu(transpose) => transpose.run(data),
        }
    }
}

impl<T: Element> fmt::Debug for PreparedTransposeInPlace<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedTransposeInPlace")
            .field("device", &self.device)
            .field("matrices", &self.matrices)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::Error;
