//! Launches of transpositions in place.

use super::Matrices;
use super::choose::{Choice, Method, choose};
use super::exchange::{Copy, Exchange};
use super::steps::Submatrix;
use crate::device::gpu::Gpu;
use crate::device::kernel::{Launch, Loaded, Recent};
use crate::plan::Planned;
use crate::transpose::kernels::shape;
use crate::transpose::tuning::TransposeTuning;
use crate::{Buffer, BufferSliceMut, Element, LaunchPlan, LaunchShape, Result, Windows};
use cuda_std::{Entry, GlobalInOut, Value};
use slm_kernels::cast;
use slm_kernels::transpose::{
    Geometry, Layout, PermuteArgs, Region, Step, SwapArgs, TransposeKernel, TransposeProblem, transpose_permute,
    transpose_swap,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A transposition in place.
pub(super) struct GpuTransposeInPlace<T: Element> {
    gpu: Gpu,
    tuning: TransposeTuning,
    matrices: Matrices,
    problem: TransposeProblem,
    /// For matrices without gaps, unless they are empty.
    without_gaps: Option<Pitched>,
    /// Kernels for square matrices with the most recent row pitches. Each pitch may need other kernels.
    pitched: Recent<usize, Arc<Pitched>>,
    /// Memory for a part of a matrix. Locked while the steps that use it are enqueued, so that they run in order.
    part: Mutex<Buffer<T>>,
}

impl<T: Element> GpuTransposeInPlace<T> {
    pub(super) fn new(gpu: &Gpu, matrices: &Matrices) -> Result<Self> {
        let problem = matrices.problem::<T>(matrices.pitches())?;
        let tuning = TransposeTuning::new(gpu.info());
        let without_gaps = if matrices.is_empty() { None } else { Some(Pitched::new(gpu, &tuning, &problem)?) };
        let part = Mutex::new(gpu.unwritten(matrices.scratch())?);
        let (gpu, matrices, pitched) = (gpu.clone(), *matrices, Recent::default());
        let transpose = GpuTransposeInPlace { gpu, tuning, matrices, problem, without_gaps, pitched, part };
        if let Some(Pitched { choice, .. }) = &transpose.without_gaps {
            drop(transpose.part_for(&choice.method)?);
        }
        Ok(transpose)
    }

    /// Returns the memory for a part, made large enough for an exchange.
    fn part_for(&self, method: &Method) -> Result<MutexGuard<'_, Buffer<T>>> {
        // The part is never read before it is written, so a panic of another thread does no harm.
        let mut part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        if let Method::Exchange(exchange) = method {
            let needed = 2 * exchange.longest() as usize * self.matrices.components;
            if part.len() < needed {
                *part = self.gpu.unwritten(needed)?;
            }
        }
        Ok(part)
    }

    fn region(&self, matrix: usize, step: Step, part: Submatrix) -> Region {
        let [rows, columns, divisor] = [self.matrices.rows, self.matrices.columns, self.matrices.divisor()];
        let units = self.problem.element / u64::from(TransposeKernel::swap(&self.problem).unit());
        Region {
            first: (matrix * rows * columns) as u64 * units,
            rows: rows as u64,
            columns: columns as u64,
            divisor: divisor as u64,
            first_row: part.first[0] as u64,
            first_column: part.first[1] as u64,
            part_rows: part.lengths[0] as u64,
            part_columns: part.lengths[1] as u64,
            // The cast is exact: `Matrices::problem` has checked the units against 32 bits.
            units: units as u32,
            step: step as u32,
        }
    }

    /// Returns the kernel for square matrices with this row pitch, in numbers.
    fn pitched(&self, pitch: usize) -> Result<Arc<Pitched>> {
        self.pitched.get(pitch, || {
            let problem = self.matrices.problem::<T>([pitch; 2])?;
            Ok(Arc::new(Pitched::new(&self.gpu, &self.tuning, &problem)?))
        })
    }

    /// Returns the shape of the launch that permutes a part.
    fn permuting(&self, region: &Region) -> LaunchShape {
        let threads = self.tuning.permuting_threads;
        let len = region.part_rows * region.part_columns * u64::from(region.units);
        LaunchShape::new([len.div_ceil(threads.into()).min(self.tuning.permuting_blocks), 1, 1], [threads, 1, 1])
    }

    /// Transposes matrices.
    fn transpose(&self, Pitched { choice, kernels }: &Pitched, data: BufferSliceMut<'_, T>) -> Result<()> {
        let mut part = self.part_for(&choice.method)?;
        let half = (part.len() / 2 * size_of::<T>()) as u64;
        let mut windows = Windows::new(&self.gpu);
        let [data, part] = [cast(windows.in_out_slice(data), 1)?, cast(windows.in_out(&mut part), 1)?];
        let _submission = self.gpu.submission_lock()?;
        match &choice.method {
            Method::Tiles(geometry) => geometry.parts().try_for_each(|part| {
                let args = (data, geometry.layout(part));
                kernels.swap.launch(&windows, shape(geometry, part.grid), args, &())
            }),
            Method::Exchange(exchange) => {
                let copies = (0..self.matrices.count as u64).flat_map(|matrix| exchange.copies(matrix));
                copies.into_iter().try_for_each(|Copy { half: k, region }| {
                    let memory = [data, part.slice(k * half, half)];
                    kernels.permute.launch(&windows, self.permuting(&region), (memory, region), &())
                })
            }
            Method::Permutations => {
                let of_matrix = |matrix| self.matrices.steps().map(move |(step, part)| (matrix, step, part));
                (0..self.matrices.count).flat_map(of_matrix).try_for_each(|(matrix, step, place)| {
                    [step, Step::Back].into_iter().try_for_each(|step| {
                        let region = self.region(matrix, step, place);
                        kernels.permute.launch(&windows, self.permuting(&region), ([data, part], region), &())
                    })
                })
            }
        }
    }

    /// Transposes square matrices with this row pitch, in numbers.
    pub(super) fn run_pitched(&self, data: BufferSliceMut<'_, T>, pitch: usize) -> Result<()> {
        if self.matrices.is_empty() {
            return Ok(());
        }
        self.transpose(&*self.pitched(pitch)?, data)
    }

    /// Transposes matrices without gaps.
    pub(super) fn run(&self, data: BufferSliceMut<'_, T>) -> Result<()> {
        self.without_gaps.as_ref().map_or(Ok(()), |pitched| self.transpose(pitched, data))
    }

    pub(super) fn plan(&self) -> Planned {
        let Some(Pitched { choice, kernels }) = &self.without_gaps else { return Planned::nothing() };
        let &Choice { method, reason } = choice;
        let launches = match method {
            Method::Tiles(geometry) => self.swaps(kernels, &geometry),
            Method::Exchange(exchange) => self.copies(kernels, exchange),
            Method::Permutations => self.permutations(kernels),
        };
        if launches.is_empty() { Planned::new("no element moves", []) } else { Planned::new(reason, launches) }
    }

    fn swaps(&self, kernels: &Kernels, geometry: &Geometry) -> Vec<LaunchPlan> {
        let shape = geometry.parts().next().map(|part| shape(geometry, part.grid));
        let plan = |shape| {
            let times = geometry.launches();
            LaunchPlan { times, ..self.launch_plan(shape, kernels.swap.as_ref(), self.matrices.moved_bytes::<T>()) }
        };
        shape.map(plan).into_iter().collect()
    }

    /// Returns the launches for all matrices, in their order. Consecutive launches with the same grid are one entry.
    fn permutations(&self, kernels: &Kernels) -> Vec<LaunchPlan> {
        let count = self.matrices.count as u64;
        let mut launches = Vec::new();
        for (step, part) in self.matrices.steps() {
            // Each part is copied to its memory and back, for each matrix.
            self.add_permuting(kernels, &mut launches, &self.region(0, step, part), 2 * count);
        }
        launches
    }

    /// Returns the copies for all matrices; otherwise as [`permutations`](Self::permutations).
    fn copies(&self, kernels: &Kernels, exchange: Exchange) -> Vec<LaunchPlan> {
        let count = self.matrices.count as u64;
        let mut launches = Vec::new();
        exchange.copies(0).for_each(|copy| self.add_permuting(kernels, &mut launches, &copy.region, count));
        launches
    }

    /// Adds launches that copy a region, to the last entry if they have the same grid.
    fn add_permuting(&self, kernels: &Kernels, launches: &mut Vec<LaunchPlan>, region: &Region, times: u64) {
        let (shape, unit) = (self.permuting(region), TransposeKernel::swap(&self.problem).unit());
        let units = region.part_rows * region.part_columns * u64::from(region.units);
        // A copy reads and writes.
        let moved = units.saturating_mul(2 * u64::from(unit)).saturating_mul(times);
        match launches.last_mut().filter(|last| last.grid == shape.grid) {
            Some(last) => {
                last.times = last.times.saturating_add(times);
                last.moved_bytes = last.moved_bytes.saturating_add(moved);
            }
            None => {
                let plan = self.launch_plan(shape, kernels.permute.as_ref(), moved);
                launches.push(LaunchPlan { times, ..plan });
            }
        }
    }

    fn launch_plan(&self, shape: LaunchShape, kernel: &(impl Loaded + ?Sized), moved_bytes: u64) -> LaunchPlan {
        LaunchPlan { moved_bytes, ..self.gpu.launch_plan(kernel.name(), shape, kernel.residency(shape)) }
    }
}

/// What has been chosen for matrices with some row pitch, and its kernels.
struct Pitched {
    choice: Choice,
    kernels: Kernels,
}

impl Pitched {
    /// Returns the choice for matrices that are not empty.
    fn new(gpu: &Gpu, tuning: &TransposeTuning, problem: &TransposeProblem) -> Result<Self> {
        let choice = choose(problem, &tuning.launches, gpu.shared.max_per_block);
        Ok(Pitched { choice, kernels: load(gpu, problem)? })
    }
}

/// The kernels for units of one size.
struct Kernels {
    swap: Box<dyn for<'l> Launch<(GlobalInOut<'l, u8>, Layout)>>,
    permute: Box<dyn for<'l> Launch<([GlobalInOut<'l, u8>; 2], Region)>>,
}

impl Kernels {
    fn load<U: Value>(gpu: &Gpu) -> Result<Self>
    where
        transpose_swap<U>: for<'l> Entry<Args<'l> = SwapArgs<'l, U>, Constants = ()>,
        transpose_permute<U>: for<'l> Entry<Args<'l> = PermuteArgs<'l, U>, Constants = ()>,
    {
        let swap = gpu.own_kernel::<transpose_swap<U>>()?;
        let permute = gpu.own_kernel::<transpose_permute<U>>()?;
        Ok(Kernels { swap: Box::new(swap), permute: Box::new(permute) })
    }
}

fn load(gpu: &Gpu, problem: &TransposeProblem) -> Result<Kernels> {
    match TransposeKernel::swap(problem).unit() {
        1 => Kernels::load::<u8>(gpu),
        2 => Kernels::load::<u16>(gpu),
        _ => Kernels::load::<u32>(gpu),
    }
}
