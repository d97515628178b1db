//! A filter bound to a device.

use super::{Algorithm, FilterElement, Lines, Plan, Taps};
use crate::allocation;
use crate::backend::cpu;
#[cfg(cuda)]
use crate::backend::cuda;
#[cfg(feature = "emulator")]
use crate::backend::emulated;
use crate::buffer::{Storage, extent};
use crate::device::Engine;
use crate::{Buffer, Buffer2, Device, Error, Result};
use ndarray::{Array2, ArrayView2};
use std::fmt;

/// A [`Filter1d`](crate::Filter1d) that is ready to run on its device, as often as wanted and from any thread.
pub struct PreparedFilter1d<T: FilterElement> {
    device: Device,
    taps: Taps<T>,
    algorithm: Algorithm,
    bound: Bound<T>,
}

/// The part on the device.
enum Bound<T: FilterElement> {
    Cpu(Taps<T>),
    #[cfg(cuda)]
    Cuda(Box<cuda::Filter1d<T>>),
    #[cfg(feature = "emulator")]
    Emulated(emulated::Filter1d<T>),
}

impl<T: FilterElement> PreparedFilter1d<T> {
    pub(super) fn new(device: &Device, taps: Taps<T>, algorithm: Algorithm) -> Result<Self> {
        taps.check()?;
        let bound = match device.engine() {
            Engine::Cpu => Bound::Cpu(taps.clone()),
            #[cfg(cuda)]
            Engine::Cuda(queue) => Bound::Cuda(Box::new(cuda::Filter1d::new(queue, &taps, algorithm)?)),
            #[cfg(feature = "emulator")]
            Engine::Emulated(emulation) => Bound::Emulated(emulated::Filter1d::new(emulation, &taps, algorithm)?),
        };
        Ok(PreparedFilter1d { device: device.clone(), taps, algorithm, bound })
    }

    /// The device that it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The number of outputs for `samples` samples.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if that is more than `usize::MAX`.
    pub fn output_len(&self, samples: usize) -> Result<usize> {
        self.taps.outputs(samples)
    }

    /// The rows and columns that filtering a matrix of `shape` along `axis` gives.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`], and [`Error::TooLarge`] if a line would have more than `usize::MAX` outputs.
    pub fn output_shape(&self, shape: [usize; 2], axis: usize) -> Result<[usize; 2]> {
        let (_, outputs) = Lines::of_matrix(&self.taps, shape, shape[1], axis)?;
        Ok(outputs)
    }

    /// The filtered samples.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`], and failures of the device.
    pub fn apply(&self, samples: &[T]) -> Result<Vec<T>> {
        let lines = Lines::single(&self.taps, samples.len())?;
        self.run_on_host(&lines, samples, lines.outputs)
    }

    /// Filters a buffer into another one; returns when the work is enqueued.
    ///
    /// ```
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let sum = Filter1d::correlate(&[1, 1, 1]).prepare(&device)?;
    /// let x = device.upload(&[1, 2, 3, 4])?;
    /// let mut y = device.zeroed(sum.output_len(x.len())?)?;
    /// sum.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, [3, 6, 9, 7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMismatch`] if a buffer belongs to another handle, [`Error::Length`] if `outputs` is not
    /// [`output_len`](Self::output_len) long, and failures of the device. [`Error::OutOfHostMemory`] on the CPU, and
    /// some outputs may then be written.
    pub fn apply_into(&self, samples: &Buffer<T>, outputs: &mut Buffer<T>) -> Result<()> {
        let lines = Lines::single(&self.taps, samples.len())?;
        if outputs.len() != lines.outputs {
            return Err(Error::Length { what: "the output", expected: lines.outputs, actual: outputs.len() });
        }
        self.run(&lines, samples, outputs)
    }

    /// The matrix with every line along `axis` filtered: axis 0 runs down the columns, axis 1 along the rows, as
    /// `axis` of SciPy's `correlate1d`.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] for another axis; [`Error::SharedMemoryExceeded`] if the algorithm asked for needs more than
    /// the device has; otherwise as [`apply`](Self::apply).
    pub fn apply_axis(&self, samples: ArrayView2<'_, T>, axis: usize) -> Result<Array2<T>> {
        let (rows, columns) = samples.dim();
        let (lines, shape) = Lines::of_matrix(&self.taps, [rows, columns], columns, axis)?;
        let len = extent(shape[0], shape[1], shape[1])?;
        let outputs = self.run_on_host(&lines, &allocation::row_after_row(samples)?, len)?;
        Ok(Array2::from_shape_vec(shape, outputs).expect("`extent` has checked the shape"))
    }

    /// Filters every line along `axis` of a matrix into another one; returns when the work is enqueued.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if `outputs` has not the shape of the result; otherwise as
    /// [`apply_into`](Self::apply_into) and [`apply_axis`](Self::apply_axis).
    pub fn apply_axis_into(&self, samples: &Buffer2<T>, axis: usize, outputs: &mut Buffer2<T>) -> Result<()> {
        let shape = [samples.rows(), samples.columns()];
        let (mut lines, expected) = Lines::of_matrix(&self.taps, shape, samples.pitch(), axis)?;
        let actual = [outputs.rows(), outputs.columns()];
        if actual != expected {
            return Err(Error::Shape { what: "the output", expected, actual });
        }
        lines.output_pitch = outputs.pitch();
        self.run(&lines, samples.buffer(), outputs.buffer_mut())
    }

    /// How `samples` samples would be filtered; the plan for none if [`output_len`](Self::output_len) would fail.
    #[must_use]
    pub fn plan(&self, samples: usize) -> Plan {
        let lines = Lines::single(&self.taps, samples).or_else(|_| Lines::single(&self.taps, 0));
        let lines = lines.expect("no samples are not too many");
        self.plan_lines(&lines)
    }

    /// How the lines along `axis` of a matrix of `shape` (rows, columns) would be filtered.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`], [`Error::TooLarge`].
    pub fn plan_axis(&self, shape: [usize; 2], axis: usize) -> Result<Plan> {
        let (lines, _) = Lines::of_matrix(&self.taps, shape, shape[1], axis)?;
        Ok(self.plan_lines(&lines))
    }

    fn plan_lines(&self, lines: &Lines) -> Plan {
        match &self.bound {
            Bound::Cpu(_) => Plan::cpu(&self.device, self.algorithm, lines),
            #[cfg(cuda)]
            Bound::Cuda(filter) => filter.plan(&self.device, lines),
            #[cfg(feature = "emulator")]
            Bound::Emulated(filter) => filter.plan(&self.device, lines),
        }
    }

    fn run_on_host(&self, lines: &Lines, samples: &[T], len: usize) -> Result<Vec<T>> {
        match &self.bound {
            Bound::Cpu(taps) => {
                let mut outputs = allocation::filled(T::default(), len)?;
                cpu::filter1d(taps, lines, samples, &mut outputs)?;
                Ok(outputs)
            }
            #[cfg(cuda)]
            Bound::Cuda(_) => {
                let samples = self.device.upload(samples)?;
                let mut outputs = self.device.zeroed(len)?;
                self.run(lines, &samples, &mut outputs)?;
                outputs.download()
            }
            #[cfg(feature = "emulator")]
            Bound::Emulated(filter) => filter.run_on_host(lines, samples, len),
        }
    }

    fn run(&self, lines: &Lines, samples: &Buffer<T>, outputs: &mut Buffer<T>) -> Result<()> {
        self.device.check_owner("the input", samples.device())?;
        self.device.check_owner("the output", outputs.device())?;
        match (&self.bound, samples.storage(), outputs.storage_mut()) {
            (Bound::Cpu(taps), Storage::Cpu(samples), Storage::Cpu(outputs)) => {
                cpu::filter1d(taps, lines, samples, outputs)
            }
            #[cfg(cuda)]
            (Bound::Cuda(filter), Storage::Cuda(samples), Storage::Cuda(outputs)) => {
                filter.run(lines, samples, outputs)
            }
            #[cfg(feature = "emulator")]
            (Bound::Emulated(filter), Storage::Emulated(samples), Storage::Emulated(outputs)) => {
                filter.run(lines, samples, outputs)
            }
            #[cfg(gpu)]
            _ => unreachable!("operations and buffers of one device are of one kind"),
        }
    }
}

impl<T: FilterElement> fmt::Debug for PreparedFilter1d<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedFilter1d")
            .field("device", &self.device)
            .field("taps", &self.taps)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
