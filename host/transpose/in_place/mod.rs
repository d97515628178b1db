//! Transposing in place.

mod cpu;
mod gpu;
mod steps;

use super::check_shape;
use super::{Matrices, Plan, TransposeAlgorithm, TransposeElement};
use crate::buffer::check_length;
use crate::{Buffer, Buffer2, Device, Element, Result, allocation};
use ndarray::{ArrayViewMut, Dimension};
use std::fmt;

/// A [`Transpose`](crate::Transpose) in place that is ready to run on its device, any number of times and from any thread.
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
    /// The data are unchanged in these cases:
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

    /// Transposes matrices whose rows stand one under the other in `data`; returns when the work is enqueued.
    ///
    /// Afterwards `data` has the rows and columns of the transposed matrices. Square matrices stay where they are, with
    /// their row pitch, and gaps between rows are not touched. Other matrices lose their gaps first, so that the row pitch
    /// becomes that of matrices without: rows are copied on the device, part by part, by way of memory for a sixteenth
    /// of the matrix, or a row.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let mut square = Buffer2::upload_pitched(&device, array![[1, 2], [3, 4]].view(), 3)?;
    /// Transpose::new(2, 2).prepare_in_place(&device)?.apply_matrix(&mut square)?;
    /// assert_eq!((square.download()?, square.pitch()), (array![[1, 3], [2, 4]], 3));
    ///
    /// let mut wide = Buffer2::upload_pitched(&device, array![[1, 2, 3], [4, 5, 6]].view(), 8)?;
    /// Transpose::new(2, 3).prepare_in_place(&device)?.apply_matrix(&mut wide)?;
    /// assert_eq!((wide.download()?, wide.pitch()), (array![[1, 4], [2, 5], [3, 6]], 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMismatch`] if the matrix belongs to another handle, [`Error::Shape`] unless it has matrices · rows rows of
    /// columns · components numbers, and on a GPU what [`Device::kernel`] gives, where gaps may take another kernel, loaded on
    /// first use: nothing has changed then. [`Error::OutOfDeviceMemory`], and [`Error::OutOfHostMemory`] on the CPU: then the matrix
    /// may have lost its gaps. [Failures of the device](Error#failures-of-the-device), after which the data may be in disorder.
    pub fn apply_matrix(&self, data: &mut Buffer2<T>) -> Result<()> {
        self.device.check_owner("the data", data.buffer().device())?;
        check_shape("the data", self.matrices.shape(), [data.rows(), data.columns()])?;
        if self.matrices.are_square() {
            let pitch = data.pitch();
            // Elements of one row do not move, whatever their pitch.
            return if data.rows() <= 1 { Ok(()) } else { T::run_in_place(self, data.buffer_mut(), pitch) };
        }
        data.close_gaps()?;
        T::run_in_place(self, data.buffer_mut(), self.matrices.pitches()[0])?;
        let shape = self.matrices.transposed_shape();
        data.reshape(shape, shape[1]);
        Ok(())
    }

    /// Transposes matrices of the host in their array, which may have any number of dimensions and any strides.
    ///
    /// The elements are taken row after row, with the last index changing fastest, whatever their order in memory, and the
    /// result stands in the same order. So a square matrix is transposed; another one keeps its shape here, and its elements
    /// are those of the result row after row. Arrays that lie in that order are transposed where they are, by a GPU in a copy
    /// on the device; others by way of another copy.
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
    /// [`Error::Length`] unless `data` has matrices · rows · columns · components numbers, [`Error::OutOfDeviceMemory`],
    /// [`Error::OutOfHostMemory`], and [failures of the device](Error#failures-of-the-device). Nothing has changed then.
    pub fn apply_array<D: Dimension>(&self, mut data: ArrayViewMut<'_, T, D>) -> Result<()> {
        check_length("the data", self.matrices.len(), data.len())?;
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
    /// Returns the plan. Its [algorithm](Plan::algorithm) has no meaning here.
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
        let reason = ["cpu", "the CPU has one way to transpose in place"];
        match &self.on_device {
            OnDevice::Cpu(_) => {
                Plan::without_launch(&self.device, TransposeAlgorithm::Auto, &self.matrices, size_of::<T>(), reason)
            }
            OnDevice::Gpu(transpose) => transpose.plan(),
        }
    }

    /// Transposes the matrices in `data`, which is on the device. The row pitch is that of rows without gaps, unless matrices
    /// are square.
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
