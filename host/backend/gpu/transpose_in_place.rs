//! Transpositions in place as launches of kernels.

use super::transpose::shape;
use crate::backend::modules::{TRANSPOSE_U8, TRANSPOSE_U16, TRANSPOSE_U32};
use crate::transpose::{BoundInPlace, Matrices, Part};
use crate::{Buffer, Device, Element, LaunchShape, Result, Windows};
use cuda_std::image::Module;
use cuda_std::{Entry, GlobalInOut, Value};
use slm_kernels::transpose as kernels;
use slm_kernels::transpose::{Geometry, Kernel, Layout, PermuteArgs, Problem, Region, Step, SwapArgs};
use std::sync::{Mutex, PoisonError};

/// Threads of a block that permutes.
const THREADS: u32 = 256;

/// The most blocks that permute; each takes as many turns as it needs.
const MOST_BLOCKS: u64 = 1 << 16;

/// A transposition in place.
pub(crate) struct TransposeInPlace<T: Element> {
    device: Device,
    matrices: Matrices,
    problem: Problem,
    kernels: Option<Box<dyn Launch>>,
    /// Memory for a part of a matrix. Locked while steps are enqueued that need it, which then run in their order.
    part: Mutex<Buffer<T>>,
}

impl<T: Element> TransposeInPlace<T> {
    pub(crate) fn new(device: &Device, matrices: &Matrices) -> Result<Self> {
        let problem = matrices.problem::<T>(matrices.pitches())?;
        let kernels = if matrices.is_empty() { None } else { Some(load(device, &problem)?) };
        let part = Mutex::new(device.zeroed(matrices.scratch())?);
        Ok(TransposeInPlace { device: device.clone(), matrices: *matrices, problem, kernels, part })
    }

    fn region(&self, matrix: usize, step: Step, part: Part) -> Region {
        let [rows, columns, divisor] = [self.matrices.rows, self.matrices.columns, self.matrices.divisor()];
        let units = self.problem.element / u64::from(Kernel::swap(&self.problem).unit());
        Region {
            first: (matrix * rows * columns) as u64 * units,
            rows: rows as u64,
            columns: columns as u64,
            divisor: divisor as u64,
            first_row: part.first[0] as u64,
            first_column: part.first[1] as u64,
            part_rows: part.lengths[0] as u64,
            part_columns: part.lengths[1] as u64,
            // `Matrices::problem` has compared them with 32 bits.
            units: units as u32,
            step: step as u32,
        }
    }

    fn swap(&self, kernels: &dyn Launch, windows: &Windows<'_>, data: GlobalInOut<u8>) -> Result<()> {
        let geometry = Geometry::new(Kernel::swap(&self.problem), &self.problem);
        let launch =
            |part: kernels::Part| kernels.swap(windows, shape(&geometry, part.grid), data, geometry.layout(part));
        geometry.parts().try_for_each(launch)
    }
}

impl<T: Element> BoundInPlace<T> for TransposeInPlace<T> {
    fn run(&self, data: &mut Buffer<T>) -> Result<()> {
        let Some(kernels) = &self.kernels else { return Ok(()) };
        // What a panic elsewhere has left in it is not read.
        let mut part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        let mut windows = Windows::new(&self.device);
        let memory = [units(windows.in_out(data)), units(windows.in_out(&mut part))];
        let _turn = self.device.turn();
        if self.matrices.are_square() {
            return self.swap(kernels.as_ref(), &windows, memory[0]);
        }
        let steps = (0..self.matrices.count).flat_map(|matrix| self.matrices.steps().map(move |step| (matrix, step)));
        for (matrix, (step, part)) in steps {
            kernels.permute(&windows, memory, self.region(matrix, step, part))?;
            kernels.permute(&windows, memory, self.region(matrix, Step::Back, part))?;
        }
        Ok(())
    }
}

fn units<T: Value, U: Value>(window: GlobalInOut<T>) -> GlobalInOut<U> {
    window.cast().unwrap_or(GlobalInOut::empty())
}

/// The kernels for units of one size.
trait Launch: Send + Sync {
    fn swap(&self, windows: &Windows<'_>, shape: LaunchShape, data: GlobalInOut<u8>, layout: Layout) -> Result<()>;
    fn permute(&self, windows: &Windows<'_>, memory: [GlobalInOut<u8>; 2], region: Region) -> Result<()>;
}

struct Kernels<S: Entry, P: Entry> {
    swap: crate::Kernel<S>,
    permute: crate::Kernel<P>,
}

impl<U, S, P> Launch for Kernels<S, P>
where
    U: Value,
    S: Entry<Args = SwapArgs<U>, Constants = ()>,
    P: Entry<Args = PermuteArgs<U>, Constants = ()>,
{
    fn swap(&self, windows: &Windows<'_>, shape: LaunchShape, data: GlobalInOut<u8>, layout: Layout) -> Result<()> {
        self.swap.launch_in(windows, shape, &SwapArgs { matrices: units(data), layout }, &())
    }

    fn permute(&self, windows: &Windows<'_>, memory: [GlobalInOut<u8>; 2], region: Region) -> Result<()> {
        let len = region.part_rows * region.part_columns * u64::from(region.units);
        let blocks = len.div_ceil(THREADS.into()).min(MOST_BLOCKS);
        let [matrices, part] = memory.map(units);
        let shape = LaunchShape::new([blocks, 1, 1], [THREADS, 1, 1]);
        self.permute.launch_in(windows, shape, &PermuteArgs { matrices, part, region }, &())
    }
}

fn kernels<U, S, P>(device: &Device, module: &'static Module) -> Result<Box<dyn Launch>>
where
    U: Value,
    S: Entry<Args = SwapArgs<U>, Constants = ()>,
    P: Entry<Args = PermuteArgs<U>, Constants = ()>,
{
    Ok(Box::new(Kernels::<S, P> { swap: device.kernel(module)?, permute: device.kernel(module)? }))
}

fn load(device: &Device, problem: &Problem) -> Result<Box<dyn Launch>> {
    match Kernel::swap(problem).unit() {
        1 => kernels::<u8, kernels::transpose_swap_u8, kernels::transpose_permute_u8>(device, &TRANSPOSE_U8),
        2 => kernels::<u16, kernels::transpose_swap_u16, kernels::transpose_permute_u16>(device, &TRANSPOSE_U16),
        _ => kernels::<u32, kernels::transpose_swap_u32, kernels::transpose_permute_u32>(device, &TRANSPOSE_U32),
    }
}
