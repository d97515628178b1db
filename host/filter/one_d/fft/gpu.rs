//! Fourier transforms on CUDA and emulated GPUs.

use super::kernels::{FftKernel, FftKernels, Loaded};
use super::spectrum::{at, conjugate_spectrum, transform_of, twiddles};
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::device::info::SharedMemory;
use crate::device::kernel::OnDemand;
use crate::filter1d::details::{Accuracy, Filter1dMethod, Filtering, PlannedLines, operations_of_transforms};
use crate::filter1d::element::Number;
use crate::filter1d::line_filter::GpuLines;
use crate::filter1d::time::{duration, of_transforms};
use crate::filter1d::{Lines, Taps};
use crate::plan::Planned;
use crate::{Buffer, BufferSlice, BufferSliceMut, FilterSample, LaunchPlan, LaunchShape, Result, Windows};
use cuda_std::{GlobalIn, GlobalInOut};
use slm_kernels::filter1d::Orientation;
use slm_kernels::filter1d::fft::{FftArgs, FftGeometry, FftPart, TWIDDLES};

/// Most steps of a thread for a part of the taps: loads, stores and exchanges of up to 32 points.
const STEPS_PER_PART: u64 = 1 << 10;

/// Time of a part of the taps in a block that transforms its segments for one part after another, in picoseconds.
const SERIAL_PART: f64 = 2e6;

/// A filter by Fourier transforms on a GPU.
pub(super) struct GpuFft<T: FftKernels + FilterSample> {
    gpu: Gpu,
    taps: Taps<T>,
    /// The kernels that can filter with these taps, at least one.
    transforms: Vec<Transform<T>>,
    /// Why transforms were chosen.
    reason: &'static str,
}

/// Transforms of one number of points.
struct Transform<T: FftKernels + FilterSample> {
    kernel: FftKernel<T>,
    geometry: FftGeometry,
    on_gpu: OnDemand<OnGpu<T>>,
}

/// A kernel, and its numbers on a GPU.
struct OnGpu<T: FftKernels + FilterSample> {
    loaded: Loaded<T>,
    spectra: Buffer<T>,
    twiddles: Buffer<T>,
}

/// Windows on the buffers of a filter.
struct FftWindows<'l, T: FftKernels> {
    input: GlobalIn<'l, T>,
    output: GlobalInOut<'l, T>,
    spectra: GlobalIn<'l, T>,
    twiddles: GlobalIn<'l, T>,
}

/// Returns the time of a filter with this number of taps, in picoseconds, or `None` if no kernel can compute it.
pub(super) fn time<T: FftKernels + Number>(shared: SharedMemory, taps: usize, lines: &Lines) -> Option<f64> {
    let times = T::candidates(taps, shared).map(|(kernel, geometry)| time_of_kernel(&kernel, &geometry, lines));
    of_transforms::<T>(times.min_by(f64::total_cmp)?, lines)
}

/// Returns the time of the transforms of these lines if memory is not waited for, in picoseconds.
fn time_of_kernel<T: FftKernels>(kernel: &FftKernel<T>, geometry: &FftGeometry, lines: &Lines) -> f64 {
    let of_points = kernel.time * geometry.points(lines.lines as u64, lines.outputs as u64) as f64;
    of_points.max(SERIAL_PART * f64::from(geometry.parts - 1))
}

impl<T: FftKernels + FilterSample + Into<f64>> GpuFft<T> {
    /// Loads the kernel for long lines, and uploads the spectra of the taps.
    ///
    /// # Errors
    ///
    /// [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) if a block cannot have the points of a transform.
    pub(super) fn new(gpu: &Gpu, taps: &Taps<T>, reason: &'static str) -> Result<Self> {
        let count = taps.taps.len();
        let transform = |(kernel, geometry)| Transform { kernel, geometry, on_gpu: OnDemand::default() };
        let transforms: Vec<_> = T::candidates(count, gpu.shared).map(transform).collect();
        if transforms.is_empty() {
            gpu.shared.check(T::PARTS.name, T::PARTS.geometry(count).shared_bytes)?;
        }
        let filter = GpuFft { gpu: gpu.clone(), taps: taps.clone(), transforms, reason };
        let long = Lines { lines: 1, outputs: 1 << 30, ..Lines::single(&taps.reach, 1 << 30)? };
        filter.on_gpu(filter.choose(&long))?;
        Ok(filter)
    }

    /// Returns the transforms that take the least time for these lines.
    fn choose(&self, lines: &Lines) -> &Transform<T> {
        let time = |transform: &&Transform<T>| time_of_kernel(&transform.kernel, &transform.geometry, lines);
        let shortest = self.transforms.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
        shortest.expect("`new` has found one")
    }

    fn on_gpu<'a>(&self, transform: &'a Transform<T>) -> Result<&'a OnGpu<T>> {
        transform.on_gpu.get(|| {
            let Transform { kernel, geometry, .. } = transform;
            let mut factors: Vec<T> = allocation::reserved(2 * TWIDDLES)?;
            factors.extend(twiddles(kernel.points).flat_map(|factor| [factor.re, factor.im]).map(T::of));
            Ok(OnGpu {
                loaded: kernel.load(&self.gpu)?,
                spectra: self.gpu.upload(&spectra(&self.taps.taps, kernel, geometry)?)?,
                twiddles: self.gpu.upload(&factors)?,
            })
        })
    }

    /// Returns the arguments of a launch.
    fn args<'l>(
        &self,
        geometry: &FftGeometry,
        windows: &FftWindows<'l, T>,
        lines: &Lines,
        part: &FftPart,
    ) -> FftArgs<'l, T> {
        let [input_step, input_line] = lines.steps(lines.input_pitch);
        let [output_step, output_line] = lines.steps(lines.output_pitch);
        FftArgs {
            input: windows.input.slice(part.first_line * input_line, u64::MAX),
            output: windows.output.slice(part.first_line * output_line, u64::MAX),
            spectra: windows.spectra,
            twiddles: windows.twiddles,
            samples: lines.samples as u64,
            outputs: lines.outputs as u64,
            start: lines.start,
            input_step,
            input_line,
            output_step,
            output_line,
            outside: self.taps.outside,
            border: self.taps.border as u32,
            lines: part.lines,
            segments: part.segments,
            across: u32::from(lines.orientation == Orientation::Columns),
            step: geometry.step,
            parts: geometry.parts,
            taps_per_part: geometry.taps_per_part,
        }
    }
}

fn shape(geometry: &FftGeometry, part: &FftPart) -> LaunchShape {
    let &FftGeometry { threads, shared_bytes, parts, .. } = geometry;
    LaunchShape::new([part.blocks.into(), 1, 1], [threads, 1, 1])
        .shared_bytes(shared_bytes)
        .steps(u64::from(threads) * u64::from(parts) * STEPS_PER_PART)
}

impl<T: FftKernels + Number + Into<f64>> GpuLines<T> for GpuFft<T> {
    fn run(&self, lines: &Lines, samples: BufferSlice<'_, T>, outputs: BufferSliceMut<'_, T>) -> Result<()> {
        let transform = self.choose(lines);
        let (geometry, on_gpu) = (&transform.geometry, self.on_gpu(transform)?);
        let mut windows = Windows::new(&self.gpu);
        let (spectra, twiddles) = (windows.input(&on_gpu.spectra), windows.input(&on_gpu.twiddles));
        let (input, output) = (windows.input_slice(samples), windows.in_out_slice(outputs));
        let of_call = FftWindows { input, output, spectra, twiddles };
        let _submission = self.gpu.submission_lock()?;
        geometry.launches(lines.lines as u64, lines.outputs as u64).try_for_each(|part| {
            let args = self.args(geometry, &of_call, lines, &part);
            on_gpu.loaded.launch(&windows, shape(geometry, &part), args, &())
        })
    }

    fn plan(&self, lines: &Lines) -> Result<PlannedLines> {
        let transform = self.choose(lines);
        let Transform { kernel, geometry, .. } = transform;
        let time = of_transforms::<T>(time_of_kernel(kernel, geometry, lines), lines);
        let details = Filtering {
            method: Filter1dMethod::Transforms { points: kernel.points },
            // Each point has those of two segments.
            operations: operations_of_transforms(
                geometry.points(lines.lines as u64, lines.outputs as u64) / 2,
                kernel.points,
            ),
            predicted: time.filter(|_| !lines.is_empty()).map(duration),
            accuracy: Accuracy::of_transforms::<T>(kernel.points, geometry.parts),
        };
        Ok(PlannedLines { planned: self.planned(transform, lines)?, details })
    }
}

impl<T: FftKernels + FilterSample + Into<f64>> GpuFft<T> {
    fn planned(&self, transform: &Transform<T>, lines: &Lines) -> Result<Planned> {
        let (geometry, on_gpu) = (&transform.geometry, self.on_gpu(transform)?);
        let [count, samples, outputs] = [lines.lines, lines.samples, lines.outputs].map(|count| count as u64);
        let elements = samples.saturating_mul(geometry.parts.into()).saturating_add(outputs).saturating_mul(count);
        let launch = geometry.launches(count, outputs).next().map(|part| {
            let shape = shape(geometry, &part);
            LaunchPlan {
                times: count.div_ceil(part.lines.into()),
                moved_bytes: elements.saturating_mul(size_of::<T>() as u64),
                ..self.gpu.launch_plan(transform.kernel.name, shape, on_gpu.loaded.residency(shape))
            }
        });
        Ok(if launch.is_none() { Planned::nothing() } else { Planned::new(self.reason, launch) })
    }
}

/// Returns the spectra of all parts of the taps, in the kernel's order.
fn spectra<T: FftKernels + FilterSample + Into<f64>>(
    taps: &[T],
    kernel: &FftKernel<T>,
    geometry: &FftGeometry,
) -> Result<Vec<T>> {
    let (points, frequencies, transform) = (kernel.points, kernel.frequencies()?, transform_of(kernel.points)?);
    let mut spectra = allocation::reserved(2 * points * geometry.parts as usize)?;
    for part in taps.chunks(geometry.taps_per_part as usize) {
        let half = conjugate_spectrum(&*transform, part.iter().map(|&tap| tap.into()))?;
        for &frequency in &frequencies {
            let number = at(&half, points, frequency);
            spectra.extend([number.re, number.im].map(T::of));
        }
    }
    Ok(spectra)
}
