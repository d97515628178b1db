//! Transpositions on CUDA and emulated GPUs, by [`Kernel`](crate::Kernel) and [`Windows`].

use super::kernels::{load, name, shape};
use super::tuning::Tuning;
use super::{Matrices, Plan, TransposeAlgorithm};
use crate::info::SharedMemory;
use crate::kernel::{Launch, Recent};
use crate::{Buffer, Device, Element, LaunchPlan, Result, Windows};
use slm_kernels::cast;
use slm_kernels::transpose::{Geometry, Kernel, Problem, Work};
use std::sync::Arc;

/// A transposition on a GPU.
pub(super) struct Transpose {
    device: Device,
    shared: SharedMemory,
    tuning: Tuning,
    matrices: Matrices,
    algorithm: TransposeAlgorithm,
    /// Kernels for the most recent pitches. Other pitches may need another kernel.
    ready: Recent<[usize; 2], Ready>,
    kernels: Recent<Kernel, Arc<dyn for<'l> Launch<Work<'l>>>>,
}

/// A loaded kernel for a pair of row pitches, and the reason for it.
#[derive(Clone)]
struct Ready {
    choice: Choice,
    geometry: Geometry,
    launch: Arc<dyn for<'l> Launch<Work<'l>>>,
}

#[derive(Clone, Copy)]
struct Choice {
    kernel: Kernel,
    reason: &'static str,
}

impl Transpose {
    pub(super) fn new<T: Element>(
        device: &Device,
        shared: SharedMemory,
        matrices: &Matrices,
        algorithm: TransposeAlgorithm,
    ) -> Result<Self> {
        let (device, tuning, matrices) = (device.clone(), Tuning::new(device.info()), *matrices);
        let (ready, kernels) = (Recent::default(), Recent::default());
        let transpose = Transpose { device, shared, tuning, matrices, algorithm, ready, kernels };
        if !transpose.matrices.is_empty() {
            transpose.ready::<T>(transpose.matrices.pitches())?;
        }
        Ok(transpose)
    }

    fn choose(&self, problem: &Problem) -> Choice {
        let requested = |kernel| Choice { kernel, reason: "requested" };
        match self.algorithm {
            TransposeAlgorithm::Auto => choose(problem, &self.tuning),
            TransposeAlgorithm::Naive => requested(Kernel::naive(problem)),
            TransposeAlgorithm::SharedUnpadded => requested(Kernel::shared(problem, false)),
            TransposeAlgorithm::SharedPadded => requested(Kernel::shared(problem, true)),
        }
    }

    /// Returns the loaded kernel for the given row pitches, in numbers of type `T`.
    fn ready<T: Element>(&self, pitches: [usize; 2]) -> Result<Ready> {
        self.ready.get(pitches, || {
            let problem = self.matrices.problem::<T>(pitches)?;
            let choice = self.choose(&problem);
            let geometry = Geometry::new(choice.kernel, &problem, &self.tuning.launches);
            let launch = self.kernels.get(choice.kernel, || load(&self.device, choice.kernel))?;
            self.shared.check(launch.name(), geometry.shared_bytes)?;
            Ok(Ready { choice, geometry, launch })
        })
    }

    fn launch_plan<T: Element>(&self, ready: &Ready) -> Option<LaunchPlan> {
        let shape = shape(&ready.geometry, ready.geometry.parts().next()?.grid);
        Some(LaunchPlan {
            times: ready.geometry.launches(),
            moved_bytes: self.matrices.moved_bytes::<T>(),
            ..LaunchPlan::once(ready.launch.name(), shape, self.shared, ready.launch.residency(shape))
        })
    }
}

/// Returns the fastest kernel.
fn choose(problem: &Problem, tuning: &Tuning) -> Choice {
    let naive = |reason| Choice { kernel: Kernel::naive(problem), reason };
    let bytes = problem.rows.saturating_mul(problem.columns).saturating_mul(problem.element);
    if problem.element >= tuning.long_element {
        naive("the elements are long")
    } else if problem.rows == 1 || problem.columns == 1 {
        naive("elements keep their order")
    } else if bytes <= tuning.small_matrix {
        naive("the matrices are small")
    } else if let Some(kernel) = Kernel::packed(problem) {
        Choice { kernel, reason: "input rows are aligned to its accesses, and output rows to sectors" }
    } else if let Some(kernel) = Kernel::skewed(problem, &tuning.launches) {
        Choice { kernel, reason: "supports short rows, and rows with any alignment" }
    } else {
        Choice { kernel: Kernel::shared(problem, true), reason: "supports elements of any size" }
    }
}

impl Transpose {
    pub(super) fn run<T: Element>(&self, input: &Buffer<T>, output: &mut Buffer<T>, pitches: [usize; 2]) -> Result<()> {
        if self.matrices.is_empty() {
            return Ok(());
        }
        let Ready { geometry, launch, .. } = self.ready::<T>(pitches)?;
        let mut windows = Windows::new(&self.device);
        let (input, output) = (cast(windows.input(input), 1)?, cast(windows.output(output), 1)?);
        let _submission = self.device.submission_lock()?;
        // A single matrix may have any pitch.
        let matrix_bytes =
            [pitches[1], size_of::<T>()].into_iter().fold(self.matrices.columns, usize::saturating_mul) as u64;
        geometry.parts().try_for_each(|part| {
            // The window ends with the part, because an emulated device reports outputs that a launch leaves unwritten.
            let end = (part.first_matrix + part.grid[2]).saturating_mul(matrix_bytes);
            let work = Work { geometry, part, input, output: output.slice(0, end) };
            launch.launch(&windows, shape(&geometry, part.grid), work, &())
        })
    }

    pub(super) fn run_on_host<T: Element>(&self, input: &[T]) -> Result<Vec<T>> {
        let input = self.device.upload(input)?;
        let mut output = self.device.unwritten(input.len())?;
        self.run(&input, &mut output, self.matrices.pitches())?;
        output.download_written()
    }

    pub(super) fn plan<T: Element>(&self, pitches: [usize; 2]) -> Plan {
        let plan = |reason: &[&str; 2]| {
            Plan::without_launch(&self.device, self.algorithm, &self.matrices, size_of::<T>(), *reason)
        };
        if self.matrices.is_empty() {
            return plan(&["none", "there is nothing to transpose"]);
        }
        match self.ready::<T>(pitches) {
            Ok(ready) => {
                let launches = self.launch_plan::<T>(&ready).into_iter().collect();
                Plan { launches, ..plan(&[ready.launch.name(), ready.choice.reason]) }
            }
            Err(error) => {
                let problem = self.matrices.problem::<T>(pitches);
                let kernel = problem.map_or("none", |problem| name(self.choose(&problem).kernel));
                plan(&[kernel, &error.to_string()])
            }
        }
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::Error;
    use emulator::Profile;

    #[test]
    fn unwritten_outputs_are_errors() {
        let device = Device::emulated(Profile::SMALL, 0);
        let shared = device.info().shared_memory.unwrap();
        let matrices = Matrices { rows: 2, columns: 2, count: 1, components: 1 };
        let transpose = Transpose::new::<u32>(&device, shared, &matrices, TransposeAlgorithm::Auto).unwrap();
        assert_eq!(transpose.run_on_host(&[1u32, 2, 3, 4]), Ok(vec![1, 3, 2, 4]));
        let device = "emulated:small:0".to_owned();
        assert_eq!(transpose.run_on_host(&[1u32, 2, 3, 4, 5]), Err(Error::UnwrittenOutput { device, element: 4 }));
    }

    /// Kernels would skip misaligned accesses.
    #[test]
    fn misaligned_windows_are_refused() {
        let device = Device::emulated(Profile::SM_90, 0);
        let shared = device.info().shared_memory.unwrap();
        // With packs of 16 bytes, with units of 4 and with units of 8.
        for (rows, columns, components, alignment) in [(64, 64, 1, 16), (30, 30, 1, 4), (33, 33, 2, 8)] {
            let matrices = Matrices { rows, columns, count: 1, components };
            let transpose = Transpose::new::<u32>(&device, shared, &matrices, TransposeAlgorithm::Auto).unwrap();
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
        let shared = device.info().shared_memory.unwrap();
        let transpose = Transpose::new::<u8>(&device, shared, &matrices, TransposeAlgorithm::Auto).unwrap();
        let data: Vec<u8> = (0..=250).cycle().take(matrices.len()).collect();
        assert_eq!(transpose.run_on_host(&data).as_ref(), Ok(&data));
        let [launch] = transpose.plan::<u8>(matrices.pitches()).launches[..] else { panic!() };
        assert_eq!((launch.times, launch.grid[2], launch.moved_bytes), (2, 65_535, 2 * 6 * 65_537));
    }
}
