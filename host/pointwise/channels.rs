//! Interleaved channels to planes, and back.

use super::function::ONLY_KERNEL;
use super::launcher::Launcher;
use super::lines::Lines;
use super::word::Word;
use super::{PointwiseElement, PointwiseError};
use crate::cpu::allocation;
use crate::cpu::parallel::for_chunks;
use crate::device::buffer::check_shape;
use crate::device::data::Elements;
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::device::on_device::{OnDevice, Task};
use crate::element::any::{BufferMut, BufferRef};
use crate::filter2d::MOST_CHANNELS;
use crate::plan::Planned;
use crate::{Buffer, Buffer2, Device, LaunchPlan, Plan, Result, Windows};
use cuda_std::Entry;
use ndarray::{Array3, ArrayView3};
use slm_kernels::pointwise::{MergeArgs, SplitArgs, pointwise_merge, pointwise_split};
use slm_kernels::signal::Kind;
use std::fmt;
use std::marker::PhantomData;

/// A change between interleaved channels, such as `rgbrgbrgb`, and planes, `rrr ggg bbb`, described but not yet bound to a
/// device.
///
/// Elements are copied, so NaNs keep their bits. On a device, interleaved pixels are a matrix whose columns are pixels times
/// channels, and planes are one below the other in a matrix whose rows are channels times rows.
///
/// ```
/// use slm::ndarray::array;
/// use slm::{Buffer2, Channels, Device};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let pixels = Buffer2::upload(&device, &array![[1, 2, 3, 4], [5, 6, 7, 8]])?;
/// let mut planes = Buffer2::zeroed(&device, 4, 2)?;
/// Channels::split(2).prepare(&device)?.apply_into(&pixels, &mut planes)?;
/// assert_eq!(planes.download()?, array![[1, 3], [5, 7], [2, 4], [6, 8]]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channels<T> {
    direction: Direction,
    elements: PhantomData<fn(T) -> T>,
}

/// The number of channels, and where they are in the input.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Split(usize),
    Merge(usize),
}

impl Direction {
    fn channels(self) -> usize {
        match self {
            Direction::Split(channels) | Direction::Merge(channels) => channels,
        }
    }
}

impl<T: PointwiseElement> Channels<T> {
    /// Returns the division of pixels with this number of interleaved channels into planes.
    #[must_use]
    pub fn split(channels: usize) -> Self {
        Channels { direction: Direction::Split(channels), elements: PhantomData }
    }

    /// Returns the union of this number of planes to interleaved channels.
    #[must_use]
    pub fn merge(channels: usize) -> Self {
        Channels { direction: Direction::Merge(channels), elements: PhantomData }
    }

    /// Binds the operation to a device: loads the kernel. Returns the prepared operation.
    ///
    /// # Errors
    ///
    /// * [`PointwiseError::Channels`] for no channels or more than 65,535.
    /// * On a GPU, the errors of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedChannels<T>> {
        let (channels, limit) = (self.direction.channels(), MOST_CHANNELS);
        if !(1..=limit).contains(&channels) {
            return Err(PointwiseError::Channels { channels, limit }.into());
        }
        let &Channels { direction, .. } = self;
        let on_device = OnDevice::new(device, || Ok(direction), |gpu| prepare(&gpu, direction, T::KIND))?;
        Ok(PreparedChannels { device: device.clone(), direction, on_device, elements: PhantomData })
    }
}

/// A [`Channels`] that is ready to run on its device, any number of times and from any thread.
pub struct PreparedChannels<T: PointwiseElement> {
    device: Device,
    direction: Direction,
    on_device: OnDevice<Direction, Box<dyn GpuChannels>>,
    elements: PhantomData<fn(T) -> T>,
}

/// The pixels of a problem. Positions and pitches are in elements.
#[derive(Clone, Copy, Debug)]
struct Picture {
    rows: usize,
    /// Pixels of a row.
    columns: usize,
    channels: usize,
    /// Row pitch of the interleaved pixels.
    pixel_pitch: usize,
    /// Row pitch of the planes.
    plane_pitch: usize,
}

impl Picture {
    /// Returns a picture without gaps, as a single row.
    fn row(columns: usize, channels: usize) -> Self {
        Picture { rows: 1, columns, channels, pixel_pitch: columns * channels, plane_pitch: columns }
    }

    fn len(&self) -> usize {
        self.rows * self.columns * self.channels
    }

    fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0
    }
}

impl<T: PointwiseElement> PreparedChannels<T> {
    /// Returns the device that the operation runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the planes, in an array of channels, rows and columns, of pixels in an array of rows, columns and channels;
    /// or the other way round.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Channels, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let merge = Channels::merge(3).prepare(&Device::open()?)?;
    /// let planes = array![[[1, 2]], [[3, 4]], [[5, 6]]];
    /// assert_eq!(merge.apply(&planes)?, array![[[1, 3, 5], [2, 4, 6]]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PointwiseError::ChannelAxis`] if the array has another number of channels.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<'a>(&self, input: impl Into<ArrayView3<'a, T>>) -> Result<Array3<T>> {
        let input = input.into();
        let (a, b, c) = input.dim();
        let (actual, columns, shape) = match self.direction {
            Direction::Split(_) => (c, a * b, (c, a, b)),
            Direction::Merge(_) => (a, b * c, (b, c, a)),
        };
        let expected = self.direction.channels();
        if actual != expected {
            return Err(PointwiseError::ChannelAxis { expected, actual }.into());
        }
        let (picture, input) = (Picture::row(columns, expected), Elements::Host(allocation::row_after_row(input)?));
        let output = self.on_device.apply(&self.device, &picture, [&input], picture.len())?;
        Ok(Array3::from_shape_vec(shape, output.into_vec()?).expect("an array with these axes exists"))
    }

    /// Changes a matrix of pixels to a matrix of planes, or the other way round, with any row pitches. Returns when the work is
    /// enqueued.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a matrix belongs to another handle.
    /// * [`PointwiseError::Division`] if the number of columns of pixels, or of rows of planes, is not a multiple of the
    ///   channels.
    /// * [`Error::Shape`] if the shape of `output` does not fit.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, input: &Buffer2<T>, output: &mut Buffer2<T>) -> Result<()> {
        self.device.check_owner("the input", input.buffer().device())?;
        self.device.check_owner("the output", output.buffer().device())?;
        let (mut picture, expected) = self.picture([input.rows(), input.columns()], input.pitch())?;
        check_shape("the output", expected, [output.rows(), output.columns()])?;
        match self.direction {
            Direction::Split(_) => picture.plane_pitch = output.pitch(),
            Direction::Merge(_) => picture.pixel_pitch = output.pitch(),
        }
        self.on_device.run(&picture, [input.buffer()], output.buffer_mut())
    }

    /// Returns the plan for the rows and columns of an input [matrix](Self::apply_into) without gaps. Arrays are changed as a single
    /// row.
    ///
    /// ```
    /// use slm::{Channels, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let split = Channels::<u8>::split(3).prepare(&Device::open()?)?;
    /// let plan = split.plan([1080, 3 * 1920])?;
    /// println!("{plan}");
    /// assert_eq!(plan.outputs, [3 * 1080, 1920]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`PointwiseError::Division`] as for [`apply_into`](Self::apply_into).
    pub fn plan(&self, shape: [usize; 2]) -> Result<Plan> {
        let (picture, outputs) = self.picture(shape, shape[1])?;
        let planned = match &self.on_device {
            OnDevice::Cpu(_) => Planned::on_cpu(),
            OnDevice::Gpu(_) if picture.is_empty() => Planned::nothing(),
            OnDevice::Gpu(gpu) => Planned::new(ONLY_KERNEL, [gpu.plan(&picture)]),
        };
        Ok(Plan::new(&self.device, (), &outputs, (), planned))
    }

    /// Returns the picture in an input matrix with this row pitch, and the shape of the output, which has no gaps.
    fn picture(&self, [rows, columns]: [usize; 2], pitch: usize) -> Result<(Picture, [usize; 2])> {
        let channels = self.direction.channels();
        let divided = |what, len: usize| match len.is_multiple_of(channels) {
            true => Ok(len / channels),
            false => Err(PointwiseError::Division { what, len, channels }),
        };
        // Without columns, the number of rows is not limited by memory.
        Ok(match self.direction {
            Direction::Split(_) => {
                let columns = divided("columns", columns)?;
                let picture = Picture { rows, columns, channels, pixel_pitch: pitch, plane_pitch: columns };
                (picture, [rows.saturating_mul(channels), columns])
            }
            Direction::Merge(_) => {
                let (rows, width) = (divided("rows", rows)?, columns.saturating_mul(channels));
                (Picture { rows, columns, channels, pixel_pitch: width, plane_pitch: pitch }, [rows, width])
            }
        })
    }
}

impl<T: PointwiseElement> Task<Direction, Box<dyn GpuChannels>, T, T> for Picture {
    fn on_cpu(&self, &direction: &Direction, [input]: [&[T]; 1], output: &mut [T]) -> Result<()> {
        match direction {
            _ if self.is_empty() => {}
            Direction::Split(_) => split(self, input, output),
            Direction::Merge(_) => merge(self, input, output),
        }
        Ok(())
    }

    fn on_gpu(&self, gpu: &Box<dyn GpuChannels>, [input]: [&Buffer<T>; 1], output: &mut Buffer<T>) -> Result<()> {
        if self.is_empty() { Ok(()) } else { gpu.run(self, T::buffer(input), T::buffer_mut(output)) }
    }
}

impl<T: PointwiseElement> fmt::Debug for PreparedChannels<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedChannels")
            .field("device", &self.device)
            .field("direction", &self.direction)
            .finish_non_exhaustive()
    }
}

/// Elements that are copied together, approximately, on one core.
const RUN: usize = 1 << 15;

fn split<T: Copy + Send + Sync>(picture: &Picture, pixels: &[T], planes: &mut [T]) {
    let &Picture { rows, columns, channels, pixel_pitch, plane_pitch } = picture;
    for_chunks(planes, plane_pitch, rows * channels, &|number, plane| {
        let (channel, row) = (number / rows, number % rows);
        let pixels = &pixels[row * pixel_pitch..][..columns * channels];
        for_chunks(&mut plane[..columns], RUN, usize::MAX, &|number, plane| {
            let pixels = &pixels[number * RUN * channels + channel..];
            for (to, from) in plane.iter_mut().zip(pixels.iter().step_by(channels)) {
                *to = *from;
            }
        });
    });
}

fn merge<T: Copy + Send + Sync>(picture: &Picture, planes: &[T], pixels: &mut [T]) {
    let &Picture { rows, columns, channels, pixel_pitch, plane_pitch } = picture;
    for_chunks(pixels, pixel_pitch, rows, &|row, pixels| {
        for_chunks(&mut pixels[..columns * channels], RUN * channels, usize::MAX, &|number, pixels| {
            for channel in 0..channels {
                let plane = &planes[(channel * rows + row) * plane_pitch + number * RUN..];
                for (to, from) in pixels[channel..].iter_mut().step_by(channels).zip(plane) {
                    *to = *from;
                }
            }
        });
    });
}

/// The operation on a GPU.
trait GpuChannels: Send + Sync {
    /// Runs for a picture that is not empty. Both buffers are on this device and have the type that was prepared for.
    fn run(&self, picture: &Picture, input: BufferRef<'_>, output: BufferMut<'_>) -> Result<()>;

    /// Returns the launches for a picture that is not empty.
    fn plan(&self, picture: &Picture) -> LaunchPlan;
}

fn prepare(gpu: &Gpu, direction: Direction, kind: Kind) -> Result<Box<dyn GpuChannels>> {
    match kind.bytes() {
        1 => prepare_as::<u8>(gpu, direction, kind),
        2 => prepare_as::<u16>(gpu, direction, kind),
        4 => prepare_as::<u32>(gpu, direction, kind),
        _ => prepare_as::<u64>(gpu, direction, kind),
    }
}

fn prepare_as<W: Word>(gpu: &Gpu, direction: Direction, kind: Kind) -> Result<Box<dyn GpuChannels>>
where
    pointwise_split<W>: for<'l> Entry<Args<'l> = SplitArgs<'l, W>, Constants = ()>,
    pointwise_merge<W>: for<'l> Entry<Args<'l> = MergeArgs<'l, W>, Constants = ()>,
{
    // The elements of a pixel are read and written.
    let bytes = 2 * direction.channels() as u64 * kind.bytes();
    Ok(match direction {
        Direction::Split(_) => {
            let kernel: Box<Splitting<W>> = Box::new(gpu.own_kernel::<pointwise_split<W>>()?);
            Box::new(Launcher::new(gpu, kernel, 1, bytes))
        }
        Direction::Merge(_) => {
            let kernel: Box<Merging<W>> = Box::new(gpu.own_kernel::<pointwise_merge<W>>()?);
            Box::new(Launcher::new(gpu, kernel, 1, bytes))
        }
    })
}

impl Picture {
    /// Returns the lines of pixels, and the pitches and channels as kernels see them. `prepare` has checked the channels.
    fn arguments(&self) -> (Lines<1>, [u64; 2], u32) {
        let lines =
            Lines { rows: self.rows, columns: self.columns, inputs: [self.pixel_pitch], output: self.plane_pitch };
        (lines, [self.pixel_pitch as u64, self.plane_pitch as u64], self.channels as u32)
    }
}

/// A kernel that separates channels.
type Splitting<W> = dyn for<'l> Launch<SplitArgs<'l, W>>;

/// A kernel that interleaves channels.
type Merging<W> = dyn for<'l> Launch<MergeArgs<'l, W>>;

impl<W: Word> GpuChannels for Launcher<Splitting<W>> {
    fn run(&self, picture: &Picture, input: BufferRef<'_>, output: BufferMut<'_>) -> Result<()> {
        let mut windows = Windows::new(&self.gpu);
        let (pixels, planes) = (W::input(&mut windows, input)?, W::output(&mut windows, output)?);
        let (lines, [pixel_pitch, plane_pitch], channels) = picture.arguments();
        self.run(&windows, &lines, |lines| SplitArgs { pixels, planes, lines, pixel_pitch, plane_pitch, channels })
    }

    fn plan(&self, picture: &Picture) -> LaunchPlan {
        self.plan(&picture.arguments().0)
    }
}

impl<W: Word> GpuChannels for Launcher<Merging<W>> {
    fn run(&self, picture: &Picture, input: BufferRef<'_>, output: BufferMut<'_>) -> Result<()> {
        let mut windows = Windows::new(&self.gpu);
        let (planes, pixels) = (W::input(&mut windows, input)?, W::output(&mut windows, output)?);
        let (lines, [pixel_pitch, plane_pitch], channels) = picture.arguments();
        self.run(&windows, &lines, |lines| MergeArgs { planes, pixels, lines, pixel_pitch, plane_pitch, channels })
    }

    fn plan(&self, picture: &Picture) -> LaunchPlan {
        self.plan(&picture.arguments().0)
    }
}

#[cfg(doc)]
use crate::Error;
