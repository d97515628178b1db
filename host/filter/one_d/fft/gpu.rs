//! Fourier transforms on CUDA and emulated GPUs.

use super::kernels::{FftKernel, FftKernels, Loaded};
use super::spectrum::{at, conjugate_spectrum, twiddles};
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::filter1d::line_filter::GpuLines;
use crate::filter1d::{Lines, Taps};
use crate::plan::Planned;
use crate::{Buffer, BufferSlice, BufferSliceMut, FilterSample, LaunchPlan, LaunchShape, Result, Windows};
use cuda_std::{GlobalIn, GlobalInOut};
use slm_kernels::filter1d::Orientation;
use slm_kernels::filter1d::fft::{FftArgs, FftGeometry, FftPart, TWIDDLES};
use slm_kernels::signal::Border;

/// Most steps of a thread for a part of the taps: loads, stores and exchanges of up to 32 points.
const STEPS_PER_PART: u64 = 1 << 10;

/// A filter by Fourier transforms on a GPU.
pub(crate) struct GpuFft<T: FftKernels + FilterSample> {
    gpu: Gpu,
    kernel: FftKernel<T>,
    loaded: Loaded<T>,
    geometry: FftGeometry,
    border: Border,
    outside: T,
    spectra: Buffer<T>,
    twiddles: Buffer<T>,
    /// Why these kernels were chosen.
    reason: &'static str,
}

/// Windows on the buffers of a filter.
struct FftWindows<'l, T: FftKernels> {
    input: GlobalIn<'l, T>,
    output: GlobalInOut<'l, T>,
    spectra: GlobalIn<'l, T>,
    twiddles: GlobalIn<'l, T>,
}

impl<T: FftKernels + FilterSample + Into<f64>> GpuFft<T> {
    /// Loads the kernel and uploads the spectra of the taps.
    ///
    /// # Errors
    ///
    /// [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) if a block cannot have the points of a transform.
    pub(crate) fn new(gpu: &Gpu, taps: &Taps<T>, reason: &'static str) -> Result<Self> {
        let count = taps.taps.len();
        let kernel = *T::WHOLE.iter().find(|kernel| kernel.has_room(count, gpu.shared)).unwrap_or(&T::PARTS);
        let geometry = kernel.geometry(count);
        gpu.shared.check(kernel.name, geometry.shared_bytes)?;
        let mut factors: Vec<T> = allocation::reserved(2 * TWIDDLES)?;
        factors.extend(twiddles(kernel.points).flat_map(|factor| [factor.re, factor.im]).map(T::of));
        Ok(GpuFft {
            loaded: kernel.load(gpu)?,
            spectra: gpu.upload(&spectra(&taps.taps, &kernel, &geometry)?)?,
            twiddles: gpu.upload(&factors)?,
            gpu: gpu.clone(),
            kernel,
            geometry,
            border: taps.border,
            outside: taps.outside,
            reason,
        })
    }

    fn shape(&self, part: &FftPart) -> LaunchShape {
        let FftGeometry { threads, shared_bytes, parts, .. } = self.geometry;
        LaunchShape::new([part.blocks.into(), 1, 1], [threads, 1, 1])
            .shared_bytes(shared_bytes)
            .steps(u64::from(threads) * u64::from(parts) * STEPS_PER_PART)
    }

    fn launches(&self, lines: &Lines) -> impl Iterator<Item = FftPart> {
        self.geometry.launches(lines.lines as u64, lines.outputs as u64)
    }

    /// Returns the arguments of a launch.
    fn args<'l>(&self, windows: &FftWindows<'l, T>, lines: &Lines, part: &FftPart) -> FftArgs<'l, T> {
        let steps = |pitch: usize| match lines.orientation {
            Orientation::Rows => [1, pitch as u64],
            Orientation::Columns => [pitch as u64, 1],
        };
        let ([input_step, input_line], [output_step, output_line]) =
            (steps(lines.input_pitch), steps(lines.output_pitch));
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
            outside: self.outside,
            border: self.border as u32,
            lines: part.lines,
            segments: part.segments,
            across: u32::from(lines.orientation == Orientation::Columns),
            step: self.geometry.step,
            parts: self.geometry.parts,
            taps_per_part: self.geometry.taps_per_part,
        }
    }
}

impl<T: FftKernels + FilterSample + Into<f64>> GpuLines<T> for GpuFft<T> {
    fn run(&self, lines: &Lines, samples: BufferSlice<'_, T>, outputs: BufferSliceMut<'_, T>) -> Result<()> {
        let mut windows = Windows::new(&self.gpu);
        let (spectra, twiddles) = (windows.input(&self.spectra), windows.input(&self.twiddles));
        let (input, output) = (windows.input_slice(samples), windows.in_out_slice(outputs));
        let of_call = FftWindows { input, output, spectra, twiddles };
        let _submission = self.gpu.submission_lock()?;
        self.launches(lines).try_for_each(|part| {
            self.loaded.launch(&windows, self.shape(&part), self.args(&of_call, lines, &part), &())
        })
    }

    fn plan(&self, lines: &Lines) -> Result<Planned> {
        let [samples, outputs, parts] =
            [lines.samples, lines.outputs, self.geometry.parts as usize].map(|count| count as u64);
        let elements = samples.saturating_mul(parts).saturating_add(outputs).saturating_mul(lines.lines as u64);
        let launch = self.launches(lines).next().map(|part| {
            let shape = self.shape(&part);
            LaunchPlan {
                times: (lines.lines as u64).div_ceil(part.lines.into()),
                moved_bytes: elements.saturating_mul(size_of::<T>() as u64),
                ..self.gpu.launch_plan(self.kernel.name, shape, self.loaded.residency(shape))
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
    let (points, frequencies) = (kernel.points, kernel.frequencies());
    let mut spectra = allocation::reserved(2 * points * geometry.parts as usize)?;
    for part in taps.chunks(geometry.taps_per_part as usize) {
        let half = conjugate_spectrum(part.iter().map(|&tap| tap.into()), points)?;
        for &frequency in &frequencies {
            let number = at(&half, points, frequency);
            spectra.extend([number.re, number.im].map(T::of));
        }
    }
    Ok(spectra)
}
