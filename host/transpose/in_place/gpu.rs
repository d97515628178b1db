//! Transpositions in place as launches of kernels.

use super::Matrices;
use super::steps::Part;
use crate::info::SharedMemory;
use crate::kernel::cast;
use crate::modules::{TRANSPOSE_U8, TRANSPOSE_U16, TRANSPOSE_U32};
use crate::transpose::kernels::shape;
use crate::transpose::tuning::Tuning;
use crate::transpose::{Algorithm, Plan};
use crate::{Buffer, Device, Element, LaunchPlan, LaunchShape, Residency, Result, Windows};
use cuda_std::image::Module;
use cuda_std::{Entry, GlobalInOut, Value};
use slm_kernels::transpose as kernels;
use slm_kernels::transpose::{Geometry, Kernel, Layout, PermuteArgs, Problem, Region, Step, SwapArgs};
use std::sync::{Mutex, PoisonError};

/// A transposition in place.
pub(super) struct TransposeInPlace<T: Element> {
    device: Device,
    shared: SharedMemory,
    tuning: Tuning,
    matrices: Matrices,
    problem: Problem,
    kernels: Option<Box<dyn Launch>>,
    /// Memory for a part of a matrix. Locked while steps are enqueued that need it, which then run in their order.
    part: Mutex<Buffer<T>>,
}

impl<T: Element> TransposeInPlace<T> {
    pub(super) fn new(device: &Device, shared: SharedMemory, matrices: &Matrices) -> Result<Self> {
        let problem = matrices.problem::<T>(matrices.pitches())?;
        let kernels = if matrices.is_empty() { None } else { Some(load(device, &problem)?) };
        let part = Mutex::new(device.unwritten(matrices.scratch())?);
        let (device, tuning, matrices) = (device.clone(), Tuning::new(device.info()), *matrices);
        Ok(TransposeInPlace { device, shared, tuning, matrices, problem, kernels, part })
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

    /// How tiles of square matrices change places.
    fn swapping(&self) -> Geometry {
        Geometry::new(Kernel::swap(&self.problem), &self.problem, &self.tuning.launches)
    }

    /// The launch that permutes a part.
    fn permuting(&self, region: &Region) -> LaunchShape {
        let threads = self.tuning.permuting_threads;
        let len = region.part_rows * region.part_columns * u64::from(region.units);
        LaunchShape::new([len.div_ceil(threads.into()).min(self.tuning.permuting_blocks), 1, 1], [threads, 1, 1])
    }

    fn swap(&self, kernels: &dyn Launch, windows: &Windows<'_>, data: GlobalInOut<u8>) -> Result<()> {
        let geometry = self.swapping();
        let launch =
            |part: kernels::Part| kernels.swap(windows, shape(&geometry, part.grid), data, geometry.layout(part));
        geometry.parts().try_for_each(launch)
    }
}

impl<T: Element> TransposeInPlace<T> {
    pub(super) fn run(&self, data: &mut Buffer<T>) -> Result<()> {
        let Some(kernels) = &self.kernels else { return Ok(()) };
        // What a panic elsewhere has left in it is not read.
        let mut part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        let mut windows = Windows::new(&self.device);
        let memory = [cast(windows.in_out(data), 1)?, cast(windows.in_out(&mut part), 1)?];
        let _turn = self.device.turn()?;
        if self.matrices.are_square() {
            return self.swap(kernels.as_ref(), &windows, memory[0]);
        }
        let steps = (0..self.matrices.count).flat_map(|matrix| self.matrices.steps().map(move |step| (matrix, step)));
        for (matrix, (step, part)) in steps {
            for step in [step, Step::Back] {
                let region = self.region(matrix, step, part);
                kernels.permute(&windows, self.permuting(&region), memory, region)?;
            }
        }
        Ok(())
    }
}

impl<T: Element> TransposeInPlace<T> {
    pub(super) fn plan(&self) -> Plan {
        let plan = |[kernel, reason]: [&str; 2]| {
            Plan::without_launch(&self.device, Algorithm::Auto, &self.matrices, size_of::<T>(), [kernel, reason])
        };
        let Some(kernels) = &self.kernels else { return plan(["none", "there is nothing to transpose"]) };
        let (launches, reason) = match self.matrices.are_square() {
            true => (self.swaps(kernels.as_ref()), "tiles of square matrices change places"),
            false => (self.permutations(kernels.as_ref()), "rows and columns are permuted, part by part"),
        };
        match launches.first() {
            Some(first) => Plan { launches: launches.clone(), ..plan([first.kernel, reason]) },
            None => plan(["none", "all elements stay where they are"]),
        }
    }

    fn swaps(&self, kernels: &dyn Launch) -> Vec<LaunchPlan> {
        let geometry = self.swapping();
        let shape = geometry.parts().next().map(|part| shape(&geometry, part.grid));
        let plan = |shape| {
            let times = geometry.launches();
            LaunchPlan { times, ..self.launch_plan(shape, kernels.swap_facts(shape), self.matrices.moved_bytes::<T>()) }
        };
        shape.map(plan).into_iter().collect()
    }

    /// The launches of one matrix, in their order, each for all matrices: those in a row that have the same grid together.
    fn permutations(&self, kernels: &dyn Launch) -> Vec<LaunchPlan> {
        let count = self.matrices.count as u64;
        let mut launches: Vec<LaunchPlan> = Vec::new();
        for (step, part) in self.matrices.steps() {
            let shape = self.permuting(&self.region(0, step, part));
            let elements = (part.lengths[0] * part.lengths[1] * self.matrices.components) as u64;
            // To the part's memory and back, each time read and written.
            let (times, moved) = (2 * count, (count * elements).saturating_mul(4 * size_of::<T>() as u64));
            match launches.last_mut().filter(|last| last.grid == shape.grid) {
                Some(last) => {
                    last.times = last.times.saturating_add(times);
                    last.moved_bytes = last.moved_bytes.saturating_add(moved);
                }
                None => {
                    let plan = self.launch_plan(shape, kernels.permute_facts(shape), moved);
                    launches.push(LaunchPlan { times, ..plan });
                }
            }
        }
        launches
    }

    fn launch_plan(
        &self,
        shape: LaunchShape,
        (kernel, residency): (&'static str, Option<Residency>),
        moved_bytes: u64,
    ) -> LaunchPlan {
        LaunchPlan {
            kernel,
            times: 1,
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared_bytes,
            shared_available: self.shared.max_per_block,
            moved_bytes,
            residency,
        }
    }
}

/// The kernels for units of one size.
trait Launch: Send + Sync {
    fn swap(&self, windows: &Windows<'_>, shape: LaunchShape, data: GlobalInOut<u8>, layout: Layout) -> Result<()>;
    fn permute(
        &self,
        windows: &Windows<'_>,
        shape: LaunchShape,
        memory: [GlobalInOut<u8>; 2],
        region: Region,
    ) -> Result<()>;
    /// The name of the kernel that swaps, and what a launch of it occupies.
    fn swap_facts(&self, shape: LaunchShape) -> (&'static str, Option<Residency>);
    /// The same of the kernel that permutes.
    fn permute_facts(&self, shape: LaunchShape) -> (&'static str, Option<Residency>);
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
        self.swap.launch_in(windows, shape, &SwapArgs { matrices: cast(data, 1)?, layout }, &())
    }

    fn permute(
        &self,
        windows: &Windows<'_>,
        shape: LaunchShape,
        memory: [GlobalInOut<u8>; 2],
        region: Region,
    ) -> Result<()> {
        let args = PermuteArgs { matrices: cast(memory[0], 1)?, part: cast(memory[1], 1)?, region };
        self.permute.launch_in(windows, shape, &args, &())
    }

    // A plan is a forecast: where the driver does not answer, the next launch will say why.
    fn swap_facts(&self, shape: LaunchShape) -> (&'static str, Option<Residency>) {
        (S::NAME, self.swap.residency(shape).ok().flatten())
    }

    fn permute_facts(&self, shape: LaunchShape) -> (&'static str, Option<Residency>) {
        (P::NAME, self.permute.residency(shape).ok().flatten())
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
