//! Transposing in place.

// | file | contents |
// |---|---|
// | `choose.rs` | the choice of a method |
// | `tiles.rs`, `exchange.rs` | square matrices |
// | `chunks.rs` | matrices whose rows and columns have a large common divisor |
// | `permutations.rs` | all other matrices |
// | `permuting.rs` | copies of parts, which several methods use |
// | `launches.rs` | what methods have in common |
// | `gpu.rs` | the chosen method on a GPU |
// | `steps.rs`, `cpu.rs` | permutations of parts, and their use on the CPU |
mod choose;
mod chunks;
mod cpu;
mod exchange;
mod gpu;
mod launches;
mod permutations;
mod permuting;
mod steps;
mod tiles;

use super::{Matrices, TransposeElement};
use crate::cpu::allocation;
use crate::device::buffer::{check_length, check_shape};
use crate::device::on_device::{OnDevice, aligned};
use crate::plan::Planned;
use crate::{Buffer, Buffer2, BufferSliceMut, Device, Element, Plan, Result};
use cpu::CpuTransposeInPlace;
use gpu::GpuTransposeInPlace;
use ndarray::{Array, ArrayViewMut, ArrayViewMut1, Dimension};
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

    /// Transposes all matrices in `data`, which has the rows of all matrices below each other.
    ///
    /// | data | afterwards |
    /// |---|---|
    /// | `&mut Buffer` | has the elements of the transposed matrices, row after row |
    /// | `&mut Buffer2` | has the shape of the transposed matrices |
    /// | `&mut [T]`, `ArrayViewMut` | has the elements of the transposed matrices in row-major order, and the same shape |
    /// | `&mut ImageBuffer` of the crate `image` | has the width and height of the transposed picture, whose pixels are elements |
    ///
    /// On buffers, this returns when the work is enqueued. Square matrices keep their row pitch, and the gaps between
    /// rows are not accessed. Other matrices first lose their gaps: rows are copied on the device, part by part, through
    /// temporary memory for a sixteenth of the matrix or for one row. Their row pitch becomes the number of columns of `data`.
    ///
    /// An array may have any number of dimensions and any strides. Its elements are read and written in row-major order, with the last
    /// index changing fastest, independent of their order in memory; so a square matrix is transposed. The CPU transposes contiguous
    /// row-major elements in place, and a GPU transposes a copy on the device. Other arrays need a further copy on the host.
    ///
    /// ```
    /// use slm::ndarray::{array, s};
    /// use slm::{Buffer2, Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let transpose = Transpose::new(2, 3).prepare_in_place(&device)?;
    /// let mut data = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// transpose.apply(&mut data)?;
    /// assert_eq!(data.download()?, [1, 4, 2, 5, 3, 6]);
    ///
    /// let mut wide = Buffer2::upload_pitched(&device, &array![[1, 2, 3], [4, 5, 6]], 8)?;
    /// transpose.apply(&mut wide)?;
    /// assert_eq!((wide.download()?, wide.pitch()), (array![[1, 4], [2, 5], [3, 6]], 2));
    ///
    /// let mut picture = array![[1, 2, 7], [3, 4, 8]];
    /// let square = Transpose::new(2, 2).prepare_in_place(&device)?;
    /// square.apply(picture.slice_mut(s![.., ..2]))?;
    /// assert_eq!(picture, array![[1, 3, 7], [2, 4, 8]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The data are unchanged after these errors:
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::Length`] if a slice, a buffer or an array with at most one axis does not have matrices · rows · columns · components
    ///   numbers, and [`Error::Shape`] if a matrix does not have matrices · rows rows of columns · components numbers. The first axes of
    ///   an array have the rows, and the others the numbers.
    /// * `PictureError::Channels` if pixels do not have as many channels as elements have components, and [`Error::TooLarge`] if a picture
    ///   cannot have the rows of all transposed matrices.
    /// * The errors of [`Device::kernel`] on a GPU: the row pitch may require another kernel, which is loaded on first use.
    /// * [`Error::OutOfHostMemory`] on the CPU, and [`Error::OutOfDeviceMemory`] for data on the host.
    ///
    /// After lack of memory, a matrix on a device may have lost its gaps. After a
    /// [failure of the device](Error#failures-of-the-device), data on a device may be in any order.
    pub fn apply(&self, data: impl InPlace<T>) -> Result<()> {
        data.transpose(self)
    }

    fn apply_to_slice(&self, data: BufferSliceMut<'_, T>) -> Result<()> {
        self.device.check_owner("the data", data.device())?;
        check_length("the data", self.matrices.len(), data.len())?;
        T::run_in_place(self, data, self.matrices.pitches()[0])
    }

    fn apply_to_matrix(&self, data: &mut Buffer2<T>) -> Result<()> {
        self.device.check_owner("the data", data.buffer().device())?;
        check_shape("the data", self.matrices.shape(), [data.rows(), data.columns()])?;
        if self.matrices.are_square() {
            let pitch = data.pitch();
            // Elements of a single row do not move, for any pitch.
            return if data.rows() <= 1 { Ok(()) } else { T::run_in_place(self, data.buffer_mut().into(), pitch) };
        }
        data.close_gaps()?;
        T::run_in_place(self, data.buffer_mut().into(), self.matrices.pitches()[0])?;
        let shape = self.matrices.transposed_shape();
        data.reshape(shape, shape[1]);
        Ok(())
    }

    fn apply_to_array<D: Dimension>(&self, mut data: ArrayViewMut<'_, T, D>) -> Result<()> {
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

/// Data that are transposed in place: `&mut Buffer`, `&mut Buffer2`, `&mut [T]`, `&mut [T; N]`, `&mut Vec`, `&mut Array` and `ArrayViewMut` of `ndarray`, and
/// `&mut ImageBuffer` of the crate `image`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `TransposeIn` in their generic code")]
pub trait InPlace<T: TransposeElement>: TransposeIn<T> {}

/// Transposing data of some form.
pub(super) trait TransposeIn<T: Element> {
    fn transpose(self, transpose: &PreparedTransposeInPlace<T>) -> Result<()>;
}

macro_rules! in_place {
    ($($data:ty, [$($parameters:tt)*], |$transpose:ident, $variable:ident| $run:expr;)*) => {$(
        impl<T: TransposeElement, $($parameters)*> InPlace<T> for $data {}
        impl<T: TransposeElement, $($parameters)*> TransposeIn<T> for $data {
            fn transpose(self, $transpose: &PreparedTransposeInPlace<T>) -> Result<()> {
                let $variable = self;
                $run
            }
        }
    )*};
}
in_place! {
    &mut Buffer<T>, [], |transpose, data| transpose.apply_to_slice(data.into());
    &mut BufferSliceMut<'_, T>, [], |transpose, data| transpose.apply_to_slice(data.reborrow());
    &mut Buffer2<T>, [], |transpose, data| transpose.apply_to_matrix(data);
    &mut [T], [], |transpose, data| transpose.apply_to_array(ArrayViewMut1::from(data));
    &mut [T; N], [const N: usize], |transpose, data| transpose.apply_to_array(ArrayViewMut1::from(&mut data[..]));
    &mut Vec<T>, [], |transpose, data| transpose.apply_to_array(ArrayViewMut1::from(&mut data[..]));
    ArrayViewMut<'_, T, D>, [D: Dimension], |transpose, data| transpose.apply_to_array(data);
    &mut Array<T, D>, [D: Dimension], |transpose, data| transpose.apply_to_array(data.view_mut());
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

    /// Returns the plan. Launches of one kernel with equal grids are one entry, also if other kernels are launched in between: columns
    /// are permuted part by part, with two launches for each part.
    ///
    /// ```
    /// use slm::emulator::Profile;
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let transpose = Transpose::<f32>::new(300, 200).prepare_in_place(&Device::emulated(Profile::SM_90, 0))?;
    /// let plan = transpose.plan()?;
    /// assert!(plan.reason.starts_with("rows and columns have a large common divisor"));
    /// println!("{plan}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn plan(&self) -> Result<Plan> {
        let planned = match &self.on_device {
            OnDevice::Cpu(_) => Planned::on_cpu(),
            OnDevice::Gpu(transpose) => transpose.plan()?,
        };
        Ok(Plan::new(&self.device, (), &self.matrices.transposed_shape(), (), planned))
    }

    /// Transposes the matrices in `data`, which is on the device. Only square matrices may have gaps between rows.
    pub(super) fn run(&self, data: BufferSliceMut<'_, T>, pitch: usize) -> Result<()> {
        let without_gaps = pitch == self.matrices.pitches()[0];
        match &self.on_device {
            OnDevice::Cpu(transpose) => transpose.run(data.into_cpu(), pitch),
            OnDevice::Gpu(transpose) if without_gaps => aligned(data, |data| transpose.run(data)),
            OnDevice::Gpu(transpose) => aligned(data, |data| transpose.run_pitched(data, pitch)),
        }
    }

    /// Transposes the matrices in `data`, which is on the host.
    pub(super) fn run_on_host(&self, data: &mut [T]) -> Result<()> {
        match &self.on_device {
            OnDevice::Cpu(transpose) => transpose.run(data, self.matrices.pitches()[0]),
            OnDevice::Gpu(transpose) => {
                let mut buffer = self.device.upload(data)?;
                transpose.run((&mut buffer).into())?;
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
