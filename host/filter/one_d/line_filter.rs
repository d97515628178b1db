//! A filter of lines, bound to a device.

use super::algorithm::Method;
use super::details::PlannedLines;
use super::on_pictures::OnPictures;
use super::{Filter1dAlgorithm, Filter1dError, Lines, Taps};
use crate::device::data::{Elements, Target};
use crate::device::on_device::{OnDevice, Task};
use crate::{BufferSlice, BufferSliceMut, Device, Element, FilterSample, FilterWeight, Result};
use std::any::type_name;

/// A filter of lines on the CPU.
pub(crate) trait CpuLines<T>: Send + Sync {
    /// Filters lines into `outputs`. Elements between the lines stay unchanged. Returns an error if there is no memory for a
    /// piece; some outputs may be written then.
    fn run(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()>;

    fn plan(&self, lines: &Lines) -> Result<PlannedLines>;
}

/// A filter of lines on a GPU.
pub(crate) trait GpuLines<T: Element>: Send + Sync {
    /// Filters lines that are not empty, whose first sample is a multiple of [`PACK`](crate::filter::part::PACK) from that of whole lines. Both
    /// buffers are on this device.
    fn run(&self, lines: &Lines, samples: BufferSlice<'_, T>, outputs: BufferSliceMut<'_, T>) -> Result<()>;

    fn plan(&self, lines: &Lines) -> Result<PlannedLines>;
}

type OnCpu<T> = Box<dyn CpuLines<T>>;
type OnGpu<T> = Box<dyn GpuLines<T>>;

/// A filter by code for one type of samples, taps and outputs.
pub(crate) type OwnKernels<T> = OnDevice<OnCpu<T>, OnGpu<T>>;

/// A filter by code for one type, or by that for pictures of any types.
pub(super) enum LineFilter<S: FilterSample> {
    Own(OwnKernels<S>),
    Pictures(Box<OnPictures<S>>),
}

impl<T: FilterSample> Task<OnCpu<T>, OnGpu<T>, T, T> for Lines {
    fn on_cpu(&self, filter: &OnCpu<T>, [samples]: [&[T]; 1], outputs: &mut [T]) -> Result<()> {
        filter.run(self, samples, outputs)
    }

    fn on_gpu(
        &self,
        filter: &OnGpu<T>,
        [samples]: [BufferSlice<'_, T>; 1],
        outputs: BufferSliceMut<'_, T>,
    ) -> Result<()> {
        if self.is_empty() { Ok(()) } else { filter.run(self, samples, outputs) }
    }
}

impl<S: FilterSample> LineFilter<S> {
    pub(super) fn new<W: FilterWeight>(device: &Device, taps: &Taps<S, W>, method: Method) -> Result<Self> {
        let (Method { algorithm, .. }, stride) = (method, taps.reach.stride);
        if stride > 1 && algorithm != Filter1dAlgorithm::Auto {
            return Err(Filter1dError::NoStrides { algorithm, stride }.into());
        }
        let own = if taps.reach.channels == 1 { S::own_kernels(device, taps, method)? } else { None };
        Ok(match own {
            Some(filter) => LineFilter::Own(filter),
            None if method.algorithm == Filter1dAlgorithm::Fft => return Err(no_transforms(taps).into()),
            None if method.algorithm == Filter1dAlgorithm::TensorCore => return Err(not_on_tensor_cores(taps).into()),
            None => LineFilter::Pictures(Box::new(OnPictures::new(device, taps, method.algorithm)?)),
        })
    }

    /// Filters lines. Samples and outputs are long enough.
    pub(super) fn run(
        &self,
        device: &Device,
        lines: &Lines,
        samples: &Elements<'_, S>,
        outputs: Target<'_, S>,
    ) -> Result<()> {
        match self {
            LineFilter::Own(filter) => filter.run(device, lines, [samples], outputs),
            LineFilter::Pictures(_) if lines.is_empty() => Ok(()),
            LineFilter::Pictures(filter) => filter.run(lines, samples, outputs),
        }
    }

    pub(super) fn plan(&self, lines: &Lines) -> Result<PlannedLines> {
        match self {
            LineFilter::Own(OnDevice::Cpu(filter)) => filter.plan(lines),
            LineFilter::Own(OnDevice::Gpu(filter)) => filter.plan(lines),
            LineFilter::Pictures(filter) => filter.plan(lines),
        }
    }
}

/// Returns the error of a filter that transforms cannot compute.
pub(super) fn no_transforms<S: FilterSample, W: FilterWeight>(taps: &Taps<S, W>) -> Filter1dError {
    Filter1dError::NoTransforms { sample: type_name::<S>(), tap: W::NAME, channels: taps.reach.channels }
}

/// Returns the error of a filter that tensor cores cannot compute.
pub(super) fn not_on_tensor_cores<S: FilterSample, W: FilterWeight>(taps: &Taps<S, W>) -> Filter1dError {
    Filter1dError::NotOnTensorCores { sample: type_name::<S>(), tap: W::NAME, channels: taps.reach.channels }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter1d;

    #[test]
    fn pictures_are_for_channels_and_for_types_without_kernels() {
        fn is_own<S: FilterSample, W: FilterWeight>(filter: &Filter1d<S, W>) -> bool {
            let filter = LineFilter::new(&Device::cpu(), &filter.described().unwrap(), Method::default());
            matches!(filter, Ok(LineFilter::Own(_)))
        }
        let sum = Filter1d::correlate(&[1, 1, 1]);
        assert!(is_own(&sum) && is_own(&sum.clone().stride(2)));
        assert!(is_own(&Filter1d::correlate(&[0.5f32])) && is_own(&Filter1d::correlate(&[0.5f64])));
        assert!(!is_own(&sum.clone().channels(2)) && !is_own(&sum.samples::<u8>()));
        assert!(!is_own(&Filter1d::correlate(&[0.5f64]).samples::<f32>()));
    }

    #[cfg(feature = "emulator")]
    #[test]
    fn unwritten_outputs_are_errors() {
        let device = Device::emulated(emulator::Profile::SMALL, 0);
        let taps = Filter1d::correlate(&[1, 1, 1]).described().unwrap();
        let lines = Lines::single(&taps.reach, 4).unwrap();
        let filter = LineFilter::new(&device, &taps, Method::default()).unwrap();
        let samples = Elements::Host(vec![1, 2, 3, 4].into());
        let run = |len| {
            let mut outputs = vec![0; len];
            filter.run(&device, &lines, &samples, Target::Host(&mut outputs)).map(|()| outputs)
        };
        assert_eq!(run(4), Ok(vec![3, 6, 9, 7]));
        let device = "emulated:small:0".to_owned();
        assert_eq!(run(5), Err(crate::Error::UnwrittenOutput { device, element: 4 }));
    }
}
