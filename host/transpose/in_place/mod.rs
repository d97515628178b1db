//! Transposing in place.

mod cpu;
mod exchange;
mod gpu;
mod steps;

use super::{Matrices, Plan, TransposeAlgorithm, TransposeElement};
use crate::buffer::{check_length, check_shape};
use crate::on_device::OnDevice;
use crate::{Buffer, Buffer2, Device, Element, Result, allocation};
use cpu::CpuTransposeInPlace;
use gpu::GpuTransposeInPlace;
use ndarray::{ArrayViewMut, Dimension};
use std::fmt;

/// A [`Transpose`](crate::Transpose) in place that is ready to run on its device, any number of times and from any thread.
pub struct PreparedTransposeInPlace<T: Element> {
    device: Device,
    pub(super) matrices: Matrices,
    on_device: OnDevice<CpuTransposeInPlace, Box<GpuTransposeInPlace<T>>>,
}

impl<T: TransposeElement> PreparedTransposeInPlace<T> {
    pub(super) fn new(device: &Device, matrices: Matrices) -> Result<Self> {
        matrices.check::<T>()?;
        let on_cpu = || Ok(CpuTransposeInPlace::new(&matrices));
        let on_gpu = |gpu| GpuTransposeInPlace::new(&gpu, &matrices).map(Box::new);
        let on_device = OnDevice::new(device, on_cpu, on_gpu)?;
        Ok(PreparedTransposeInPlace { device: device.clone(), matrices, on_device })
    }

    /// Returns the device that the transposition runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Transposes all matrices in `data`. Returns when the work is enqueued.
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
    /// The data are unchanged after these errors:
    ///
    /// * [`Error::DeviceMismatch`] if the buffer belongs to another handle.
    /// * [`Error::Length`] if it does not have matrices · rows · columns · components numbers.
    /// * [`Error::OutOfHostMemory`] on the CPU.
    ///
    /// After a [failure of the device](Error#failures-of-the-device) the data may be in any order.
    pub fn apply(&self, data: &mut Buffer<T>) -> Result<()> {
        self.device.check_owner("the data", data.device())?;
        check_length("the data", self.matrices.len(), data.len())?;
        T::run_in_place(self, data, self.matrices.pitches()[0])
    }

    /// Transposes all matrices in `data`, which has the rows of all matrices below each other. Returns when the work is
    /// enqueued.
    ///
    /// Afterwards `data` has the shape of the transposed matrices. Square matrices keep their row pitch, and the gaps between
    /// rows are not accessed. Other matrices first lose their gaps: rows are copied on the device, part by part, through
    /// temporary memory for a sixteenth of the matrix or for one row. Their row pitch becomes the number of columns of `data`.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let mut square = Buffer2::upload_pitched(&device, array![[1, 2], [3, 4]].view(), 3)?;
    /// Transpose::new(2, 2).prepare_in_place(&device)?.apply_buffer2(&mut square)?;
    /// assert_eq!((square.download()?, square.pitch()), (array![[1, 3], [2, 4]], 3));
    ///
    /// let mut wide = Buffer2::upload_pitched(&device, array![[1, 2, 3], [4, 5, 6]].view(), 8)?;
    /// Transpose::new(2, 3).prepare_in_place(&device)?.apply_buffer2(&mut wide)?;
    /// assert_eq!((wide.download()?, wide.pitch()), (array![[1, 4], [2, 5], [3, 6]], 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The data are unchanged after these errors:
    ///
    /// * [`Error::DeviceMismatch`] if the matrix belongs to another handle.
    /// * [`Error::Shape`] if it does not have matrices · rows rows of columns · components numbers.
    /// * The errors of [`Device::kernel`] on a GPU: the row pitch may require another kernel, which is loaded on first use.
    ///
    /// After [`Error::OutOfDeviceMemory`], or [`Error::OutOfHostMemory`] on the CPU, the matrix may have lost its gaps. After a
    /// [failure of the device](Error#failures-of-the-device) the data may be in any order.
    pub fn apply_buffer2(&self, data: &mut Buffer2<T>) -> Result<()> {
        self.device.check_owner("the data", data.buffer().device())?;
        check_shape("the data", self.matrices.shape(), [data.rows(), data.columns()])?;
        if self.matrices.are_square() {
            let pitch = data.pitch();
            // Elements of a single row do not move, for any pitch.
            return if data.rows() <= 1 { Ok(()) } else { T::run_in_place(self, data.buffer_mut(), pitch) };
        }
        data.close_gaps()?;
        T::run_in_place(self, data.buffer_mut(), self.matrices.pitches()[0])?;
        let shape = self.matrices.transposed_shape();
        data.reshape(shape, shape[1]);
        Ok(())
    }

    /// Transposes matrices in an array of the host. The array may have any number of dimensions and any strides.
    ///
    /// The elements are read and written in row-major order, with the last index changing fastest, independent of their order
    /// in memory. So a square matrix is transposed. Another matrix keeps the shape of its array, which then contains the
    /// elements of the result in row-major order. The CPU transposes contiguous row-major arrays in place, and a GPU transposes
    /// a copy on the device. Other arrays need a further copy on the host.
    ///
    /// ```
    /// use slm::ndarray::{Array2, array, s};
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let mut picture = array![[1, 2, 7], [3, 4, 8]];
    /// let square = Transpose::new(2, 2).prepare_in_place(&device)?;
    /// square.apply_array(picture.slice_mut(s![.., ..2]))?;
    /// assert_eq!(picture, array![[1, 3, 7], [2, 4, 8]]);
    ///
    /// Transpose::new(2, 3).prepare_in_place(&device)?.apply_array(picture.view_mut())?;
    /// let picture = picture.into_shape_with_order((3, 2)).expect("as many elements");
    /// assert_eq!(picture, array![[1, 2], [3, 4], [7, 8]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The data are unchanged after an error.
    ///
    /// * [`Error::Shape`] unless the first axes of `data` have matrices · rows rows, and the other axes columns · components
    ///   numbers.
    /// * [`Error::Length`] for an array with at most one axis that does not have all numbers.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_array<D: Dimension>(&self, mut data: ArrayViewMut<'_, T, D>) -> Result<()> {
        self.check_axes(data.shape())?;
        if let Some(data) = data.as_slice_mut() {
            return T::run_in_place_on_host(self, data);
        }
        let mut copy = allocation::row_after_row(data.view())?.into_owned();
        T::run_in_place_on_host(self, &mut copy)?;
        data.iter_mut().zip(copy).for_each(|(element, transposed)| *element = transposed);
        Ok(())
    }
}

impl<T: Element> PreparedTransposeInPlace<T> {
    /// Returns an error unless the first axes of an array are the rows of all matrices, and the other axes a row. A single axis
    /// must have all numbers.
    fn check_axes(&self, axes: &[usize]) -> Result<()> {
        if axes.len() < 2 {
            return check_length("the data", self.matrices.len(), axes.iter().product());
        }
        let split_at = |axis| [&axes[..axis], &axes[axis..]].map(|axes| axes.iter().product());
        let expected = self.matrices.shape();
        let actual = (1..axes.len()).map(split_at).find(|shape| *shape == expected).unwrap_or(split_at(1));
        check_shape("the data", expected, actual)
    }

    /// Returns the plan. Its [algorithm](Plan::algorithm) has no meaning for transpositions in place.
    ///
    /// ```
    /// use slm::emulator::Profile;
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let transpose = Transpose::<f32>::new(300, 200).prepare_in_place(&Device::emulated(Profile::SM_90, 0))?;
    /// let plan = transpose.plan();
    /// assert!(plan.launches.iter().all(|launch| launch.kernel == "transpose_permute_u32"));
    /// println!("{plan}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn plan(&self) -> Plan {
        let reason = ["cpu", "the CPU has a single implementation"];
        match &self.on_device {
            OnDevice::Cpu(_) => {
                Plan::without_launch(&self.device, TransposeAlgorithm::Auto, &self.matrices, size_of::<T>(), reason)
            }
            OnDevice::Gpu(transpose) => transpose.plan(),
        }
    }

    /// Transposes the matrices in `data`, which is on the device. Only square matrices may have gaps between rows.
    pub(super) fn run(&self, data: &mut Buffer<T>, pitch: usize) -> Result<()> {
        match &self.on_device {
            OnDevice::Cpu(transpose) => transpose.run(data.storage_mut().cpu_mut(), pitch),
            OnDevice::Gpu(transpose) if pitch == self.matrices.pitches()[0] => transpose.run(data),
            OnDevice::Gpu(transpose) => transpose.run_pitched(data, pitch),
        }
    }

    /// Transposes the matrices in `data`, which is on the host.
    pub(super) fn run_on_host(&self, data: &mut [T]) -> Result<()> {
        match &self.on_device {
            OnDevice::Cpu(transpose) => transpose.run(data, self.matrices.pitches()[0]),
            OnDevice::Gpu(transpose) => {
                let mut buffer = self.device.upload(data)?;
                transpose.run(&mut buffer)?;
                buffer.download_into(data)
            }
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
