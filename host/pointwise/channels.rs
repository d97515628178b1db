//! Interleaved channels to planes, and back.

use super::function::ONLY_KERNEL;
use super::launcher::Launcher;
use super::lines::Lines;
use super::word::Word;
use super::{ChannelsInput, PointwiseElement, PointwiseError};
use crate::cpu::parallel::for_chunks;
use crate::device::data::{self, Elements, Target};
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::device::on_device::{OnDevice, Task};
use crate::element::any::{BufferMut, BufferRef};
use crate::filter::part::{Divided, Part};
use crate::filter2d::MOST_CHANNELS;
#[cfg(feature = "image")]
use crate::pictures::PictureError;
use crate::plan::Planned;
use crate::stream::in_memory::{self, Layout, takes_parts};
use crate::{BufferSlice, BufferSliceMut, Device, Input, LaunchPlan, Output, Plan, Result, Windows};
use cuda_std::Entry;
use slm_kernels::pointwise::{MergeArgs, SplitArgs, pointwise_merge, pointwise_split};
use slm_kernels::signal::Kind;
use std::fmt;
use std::marker::PhantomData;

/// A change between interleaved channels, such as `rgbrgbrgb`, and planes, `rrr ggg bbb`, described but not yet bound to a
/// device.
///
/// Elements are copied, so NaNs keep their bits. In a matrix, the rows of pixels have columns times channels, and planes are one below
/// the other.
///
/// ```
/// use slm::ndarray::array;
/// use slm::{Buffer2, Channels, Device};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let pixels = Buffer2::upload(&device, &array![[1, 2, 3, 4], [5, 6, 7, 8]])?;
/// let planes = Channels::split(2).prepare(&device)?.apply(&pixels)?;
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
pub(super) struct Picture {
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
        Picture { rows: 1, columns, channels, pixel_pitch: columns.saturating_mul(channels), plane_pitch: columns }
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

    /// Returns the planes of pixels, or the pixels of planes, in the form of the input:
    ///
    /// | input | pixels | planes |
    /// |---|---|---|
    /// | an array with three axes | rows, columns and channels | channels, rows and columns |
    /// | an array with two axes, a [`Buffer2`] | rows, columns times channels | channels times rows, columns |
    /// | a slice, a [`Buffer`](crate::Buffer), an array with one axis: a single row | columns times channels | channels times columns |
    /// | a picture of `image`: pictures of `Luma` instead of arrays with two axes | see below | as arrays with two axes |
    ///
    /// A picture with one channel is the matrix of its subpixels. [`Channels::split`] also divides pictures whose pixels have the
    /// channels. The other way round, pixels are the matrix as a picture of `Luma`, which is wider than the planes. Pixels of another
    /// type are made from a matrix by `Buffer2::download_image`.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Channels, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let merge = Channels::merge(3).prepare(&Device::open()?)?;
    /// assert_eq!(merge.apply(&array![[[1, 2]], [[3, 4]], [[5, 6]]])?, array![[[1, 3, 5], [2, 4, 6]]]);
    /// assert_eq!(merge.apply(&array![[1, 2], [3, 4], [5, 6]])?, array![[1, 3, 5, 2, 4, 6]]);
    /// assert_eq!(merge.apply(&[1, 2, 3, 4, 5, 6])?, [1, 3, 5, 2, 4, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PointwiseError::ChannelAxis`] if an array with three axes has another number of channels, and
    ///   [`PointwiseError::Dimensions`] for an array with other than 1 to 3 axes.
    /// * [`PointwiseError::Division`] if the number of columns of pixels, of rows of planes, or of elements of a single row, is not a
    ///   multiple of the channels.
    /// * `PictureError::Channels` for a picture whose pixels have several channels, unless they are divided and have as many channels as
    ///   the operation.
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<I: ChannelsInput<T>>(&self, input: I) -> Result<I::Output> {
        input.changed(self)
    }

    /// Returns the planes or the pixels in the form of an input that has its channels as an axis or in rows.
    pub(super) fn apply_in_form<I: Input<T>>(&self, input: &I) -> Result<I::Output> {
        let (picture, axes) = self.picture(&input.shape().axes)?;
        data::apply(("the input", input), &axes, &self.device, |input, output| self.run(picture, input, output))
    }

    /// Returns the planes or the pixels of a picture in these elements, which have no gaps unless they are a matrix.
    pub(super) fn run(&self, mut picture: Picture, input: &Elements<'_, T>, output: Target<'_, T>) -> Result<()> {
        if takes_parts(&self.device, input, &output) {
            return in_memory::run_with_layouts(self, self.layouts(), input, output);
        }
        let pitch = self.input_pitch(&mut picture);
        *pitch = input.pitch(*pitch);
        let pitch = self.output_pitch(&mut picture);
        *pitch = output.pitch(*pitch);
        self.on_device.run(&self.device, &picture, [input], output)
    }

    /// Returns where the elements of a pixel are, without gaps: in the input, and in the output.
    pub(crate) fn layouts(&self) -> [Layout; 2] {
        let (pixels, planes) = (Layout::Row, Layout::Column { cell: 1 });
        match self.direction {
            Direction::Split(_) => [pixels, planes],
            Direction::Merge(_) => [planes, pixels],
        }
    }

    /// Returns an error unless pictures of the crate `image` may have pixels with this number of channels. Those with one are matrices.
    #[cfg(feature = "image")]
    pub(super) fn check_pixels(&self, actual: usize) -> Result<()> {
        let (operation, expected) = match self.direction {
            Direction::Split(channels) => ("the division into planes", channels),
            Direction::Merge(_) => ("the union of planes", 1),
        };
        match actual == 1 || actual == expected {
            true => Ok(()),
            false => Err(PictureError::Channels { operation, expected, actual }.into()),
        }
    }

    /// Changes pixels to planes, or the other way round, into any [`Output`]: of a matrix with any row pitches, or of a single row. If
    /// that is on a device, this returns when the work is enqueued.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`PointwiseError::Division`] as for [`apply`](Self::apply).
    /// * [`Error::Length`], [`Error::Shape`] or [`Error::Axes`] if the shape of `output` does not fit.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`]: data on the host are uploaded for a GPU, and arrays that are not in
    ///   row-major order are copied.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, input: impl Input<T>, output: &mut (impl Output<T> + ?Sized)) -> Result<()> {
        let (picture, axes) = self.picture(&input.shape().axes)?;
        output.check_axes("the output", &axes)?;
        data::apply_into(("the input", &input), output, &self.device, |input, output| self.run(picture, input, output))
    }

    /// Returns the plan for an input of this shape, without gaps, which is as for [`apply`](Self::apply).
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
    /// The errors of [`apply`](Self::apply) for the shape.
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan> {
        let (picture, outputs) = self.picture(shape.as_ref())?;
        let planned = match &self.on_device {
            OnDevice::Cpu(_) => Planned::on_cpu(),
            OnDevice::Gpu(_) if picture.is_empty() => Planned::nothing(),
            OnDevice::Gpu(gpu) => Planned::new(ONLY_KERNEL, [gpu.plan(&picture)]),
        };
        Ok(Plan::new(&self.device, (), &outputs, (), planned))
    }

    /// Returns the picture in an input with these axes and without gaps, and the axes of the output.
    pub(super) fn picture(&self, axes: &[usize]) -> Result<(Picture, Vec<usize>)> {
        match *axes {
            [len] => {
                let columns = self.divided("elements", len)?;
                Ok((Picture::row(columns, self.direction.channels()), vec![len]))
            }
            [rows, columns] => self.picture_of_matrix([rows, columns]),
            [a, b, c] => self.picture_of_array([a, b, c]),
            _ => Err(PointwiseError::Dimensions { dimensions: axes.len() }.into()),
        }
    }

    /// Returns the picture in an array with an axis of channels, and the axes of the output. All rows are a single one.
    fn picture_of_array(&self, [a, b, c]: [usize; 3]) -> Result<(Picture, Vec<usize>)> {
        let (actual, pixels, outputs) = match self.direction {
            Direction::Split(_) => (c, a.saturating_mul(b), [c, a, b]),
            Direction::Merge(_) => (a, b.saturating_mul(c), [b, c, a]),
        };
        let expected = self.direction.channels();
        if actual != expected {
            return Err(PointwiseError::ChannelAxis { expected, actual }.into());
        }
        Ok((Picture::row(pixels, expected), outputs.to_vec()))
    }

    /// Returns the picture in a matrix, and the axes of the output.
    fn picture_of_matrix(&self, [rows, columns]: [usize; 2]) -> Result<(Picture, Vec<usize>)> {
        let channels = self.direction.channels();
        // Without columns, the number of rows is not limited by memory.
        Ok(match self.direction {
            Direction::Split(_) => {
                let (pixel_pitch, columns) = (columns, self.divided("columns", columns)?);
                let picture = Picture { rows, columns, channels, pixel_pitch, plane_pitch: columns };
                (picture, vec![rows.saturating_mul(channels), columns])
            }
            Direction::Merge(_) => {
                let (rows, pixel_pitch) = (self.divided("rows", rows)?, columns.saturating_mul(channels));
                (Picture { rows, columns, channels, pixel_pitch, plane_pitch: columns }, vec![rows, pixel_pitch])
            }
        })
    }

    /// Returns the part of a length for each channel.
    fn divided(&self, what: &'static str, len: usize) -> Result<usize> {
        let channels = self.direction.channels();
        match len.is_multiple_of(channels) {
            true => Ok(len / channels),
            false => Err(PointwiseError::Division { what, len, channels }.into()),
        }
    }

    fn input_pitch<'a>(&self, picture: &'a mut Picture) -> &'a mut usize {
        match self.direction {
            Direction::Split(_) => &mut picture.pixel_pitch,
            Direction::Merge(_) => &mut picture.plane_pitch,
        }
    }

    fn output_pitch<'a>(&self, picture: &'a mut Picture) -> &'a mut usize {
        match self.direction {
            Direction::Split(_) => &mut picture.plane_pitch,
            Direction::Merge(_) => &mut picture.pixel_pitch,
        }
    }
}

/// Parts are pixels.
impl<T: PointwiseElement> Divided<T, T> for PreparedChannels<T> {
    fn device(&self) -> &Device {
        &self.device
    }

    fn widths(&self) -> [usize; 2] {
        [self.direction.channels(); 2]
    }

    fn run(&self, part: &Part, input: &Elements<'_, T>, output: Target<'_, T>) -> Result<()> {
        let picture = Picture::row(part.len(), self.direction.channels());
        self.on_device.run(&self.device, &picture, [input], output)
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

    fn on_gpu(
        &self,
        gpu: &Box<dyn GpuChannels>,
        [input]: [BufferSlice<'_, T>; 1],
        output: BufferSliceMut<'_, T>,
    ) -> Result<()> {
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
use crate::{Buffer2, Error};
