//! Transpositions on CUDA and emulated GPUs, by [`Kernel`](crate::Kernel) and [`Windows`].

use super::choose::{Choice, choose};
use super::kernels::{load, shape};
use super::tuning::TransposeTuning;
use super::{Matrices, TransposeAlgorithm};
use crate::device::gpu::Gpu;
use crate::device::kernel::{Launch, Recent};
use crate::plan::Planned;
use crate::{BufferSlice, BufferSliceMut, Element, LaunchPlan, Result, Windows};
use slm_kernels::cast;
use slm_kernels::transpose::{Geometry, TransposeKernel, Work};
use std::sync::Arc;

/// A transposition on a GPU.
pub(crate) struct GpuTranspose {
    gpu: Gpu,
    tuning: TransposeTuning,
    matrices: Matrices,
    algorithm: TransposeAlgorithm,
    /// Kernels for the most recent pitches. Other pitches may need another kernel.
    ready: Recent<[usize; 2], Ready>,
    kernels: Recent<TransposeKernel, Arc<dyn for<'l> Launch<Work<'l>>>>,
}

/// A loaded kernel for a pair of row pitches, and the reason for it.
#[derive(Clone)]
struct Ready {
    choice: Choice,
    geometry: Geometry,
    launch: Arc<dyn for<'l> Launch<Work<'l>>>,
}

impl GpuTranspose {
    pub(crate) fn new<T: Element>(gpu: &Gpu, matrices: &Matrices, algorithm: TransposeAlgorithm) -> Result<Self> {
        let (gpu, tuning, matrices) = (gpu.clone(), TransposeTuning::new(gpu.info()), *matrices);
        let (ready, kernels) = (Recent::default(), Recent::default());
        let transpose = GpuTranspose { gpu, tuning, matrices, algorithm, ready, kernels };
        if !transpose.matrices.is_empty() {
            transpose.ready::<T>(transpose.matrices.pitches())?;
        }
        Ok(transpose)
    }

    /// Returns the loaded kernel for the given row pitches, in numbers of type `T`.
    fn ready<T: Element>(&self, pitches: [usize; 2]) -> Result<Ready> {
        self.ready.get(pitches, || {
            let problem = self.matrices.problem::<T>(pitches)?;
            let choice = choose(&problem, self.algorithm, &self.tuning);
            let geometry = Geometry::new(choice.kernel, &problem, &self.tuning.launches);
            let launch = self.kernels.get(choice.kernel, || load(&self.gpu, choice.kernel))?;
            self.gpu.shared.check(launch.name(), geometry.shared_bytes)?;
            Ok(Ready { choice, geometry, launch })
        })
    }

    fn launch_plan<T: Element>(&self, ready: &Ready) -> Option<LaunchPlan> {
        let shape = shape(&ready.geometry, ready.geometry.parts().next()?.grid);
        Some(LaunchPlan {
            times: ready.geometry.launches(),
            moved_bytes: self.matrices.moved_bytes::<T>(),
            ..self.gpu.launch_plan(ready.launch.name(), shape, ready.launch.residency(shape))
        })
    }
}

impl GpuTranspose {
    pub(crate) fn run<T: Element>(
        &self,
        input: BufferSlice<'_, T>,
        output: BufferSliceMut<'_, T>,
        pitches: [usize; 2],
    ) -> Result<()> {
        if self.matrices.is_empty() {
            return Ok(());
        }
        let Ready { geometry, launch, .. } = self.ready::<T>(pitches)?;
        let mut windows = Windows::new(&self.gpu);
        let (input, output) = (cast(windows.input_slice(input), 1)?, cast(windows.output_slice(output), 1)?);
        let _submission = self.gpu.submission_lock()?;
        // A single matrix may have any pitch.
        let matrix_bytes =
            [pitches[1], size_of::<T>()].into_iter().fold(self.matrices.columns, usize::saturating_mul) as u64;
        geometry.parts().try_for_each(|part| {
            // The window ends with the part, because an emulated device reports outputs that a launch leaves unwritten.
            let end = part.end.saturating_mul(matrix_bytes);
            let work = Work { geometry, part, input, output: output.slice(0, end) };
            launch.launch(&windows, shape(&geometry, part.grid), work, &())
        })
    }

    pub(crate) fn plan<T: Element>(&self, pitches: [usize; 2]) -> Result<Planned> {
        if self.matrices.is_empty() {
            return Ok(Planned::nothing());
        }
        let ready = self.ready::<T>(pitches)?;
        Ok(Planned::new(ready.choice.reason, self.launch_plan::<T>(&ready)))
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::device::data::{Elements, Target};
    use crate::transpose::PreparedTranspose;
    use crate::transpose::prepared::Pitches;
    use crate::{Device, Error};
    use emulator::Profile;

    #[test]
    fn unwritten_outputs_are_errors() {
        let device = Device::emulated(Profile::SMALL, 0);
        let matrices = Matrices { rows: 2, columns: 2, count: 1, components: 1 };
        let transpose = PreparedTranspose::<u32>::new(&device, matrices, TransposeAlgorithm::Auto).unwrap();
        let input = Elements::Host(vec![1, 2, 3, 4, 5].into());
        let run = |len| {
            let mut output = vec![0; len];
            let target = Target::Host(&mut output);
            transpose.on_device.run(&device, &Pitches([2, 2]), [&input], target).map(|()| output)
        };
        assert_eq!(run(4), Ok(vec![1, 3, 2, 4]));
        let device = "emulated:small:0".to_owned();
        assert_eq!(run(5), Err(Error::UnwrittenOutput { device, element: 4 }));
    }

    /// Kernels would skip misaligned accesses.
    #[test]
    fn misaligned_windows_are_refused() {
        let device = Device::emulated(Profile::SM_90, 0);
        let gpu = device.gpu().unwrap();
        // With packs of 16 bytes, with units of 4 and with units of 8.
        for (rows, columns, components, alignment) in [(64, 64, 1, 16), (30, 30, 1, 4), (33, 33, 2, 8)] {
            let matrices = Matrices { rows, columns, count: 1, components };
            let transpose = GpuTranspose::new::<u32>(&gpu, &matrices, TransposeAlgorithm::Auto).unwrap();
            let Ready { geometry, launch, .. } = transpose.ready::<u32>(matrices.pitches()).unwrap();
            let len = 4 * matrices.len();
            let (input, mut output) = (device.upload(&vec![0u8; len + 16]).unwrap(), device.zeroed(len).unwrap());
            let mut windows = Windows::new(&device);
            let (input, output) = (windows.input(&input), windows.output(&mut output));
            let part = geometry.parts().next().unwrap();
            let run = |first| {
                let work = Work { geometry, part, input: input.slice(first, u64::MAX), output };
                launch.launch(&windows, shape(&geometry, part.grid), work, &())
            };
            assert_eq!([run(0), run(16)], [Ok(()), Ok(())], "{}", launch.name());
            let Err(Error::MisalignedWindow { address, alignment: needed }) = run(alignment / 2) else { panic!() };
            assert_eq!((address % alignment, needed), (alignment / 2, alignment), "{}", launch.name());
        }
    }

    /// No launch writes elements of another launch.
    #[test]
    fn matrices_of_several_launches() {
        let device = Device::emulated(Profile::SM_90, 0);
        let matrices = Matrices { rows: 1, columns: 2, count: 65_537, components: 3 };
        let transpose = PreparedTranspose::<u8>::new(&device, matrices, TransposeAlgorithm::Auto).unwrap();
        let data: Vec<u8> = (0..=250).cycle().take(matrices.len()).collect();
        assert_eq!(transpose.apply(&data).as_ref(), Ok(&data));
        let [launch] = transpose.plan().unwrap().launches[..] else { panic!() };
        assert_eq!((launch.times, launch.grid[2], launch.moved_bytes), (2, 65_535, 2 * 6 * 65_537));
    }
}
