//! Launches of a filter: kernels, numbers of launches, shapes and arguments.

use super::choose::{Choice, TapsAtOnce, choose, choose_for_rows, kernel_of};
use super::details::{Accuracy, Filter1dMethod, Filtering, products};
use super::element::Number;
use super::kernels::{EntryPoint, TapTable};
use super::time;
use super::tuning::tuning;
use super::{Filter1dAlgorithm, HaloLoad, Lines, Taps};
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::device::info::SharedMemory;
use crate::plan::Planned;
use crate::{LaunchPlan, LaunchShape, Residency, Result};
use cuda_std::{GlobalIn, GlobalInOut};
use slm_kernels::filter1d::{Args, Filter1dKernel, Geometry, Halo, LinePart, Orientation, tensor_steps};
use slm_kernels::signal::{Same, Sample};
use std::borrow::Cow;

/// Buffers and taps that all launches of a filter share.
pub(super) struct FilterWindows<'l, T: Sample> {
    pub(super) input: GlobalIn<'l, T>,
    pub(super) output: GlobalInOut<'l, T>,
    pub(super) taps: GlobalIn<'l, T>,
}

/// Launches of a filter on a GPU.
pub(super) struct Launches<T: Number> {
    gpu: Gpu,
    taps: Taps<T>,
    /// Taps of each launch.
    chunks: Vec<Chunk<T>>,
    algorithm: Filter1dAlgorithm,
}

/// Taps of one launch.
struct Chunk<T: Number> {
    /// Number of the first tap.
    first: usize,
    /// Number of taps; of each phase, with a stride; of steps, on tensor cores.
    entries: usize,
    /// Number of phases: 1 without a stride.
    phases: usize,
    /// Table of the taps for the register-tiled kernels; zeros for the others.
    table: T::Table,
}

impl<T: Number> Chunk<T> {
    /// Returns all taps in one launch, which reads them from global memory.
    fn whole(taps: &Taps<T>) -> Vec<Self> {
        vec![Chunk { first: 0, entries: taps.taps.len(), phases: 1, table: T::Table::new(&[], 0) }]
    }

    /// Returns all taps as the steps of tensor cores, in one launch.
    fn steps(taps: &Taps<T>) -> Vec<Self> {
        let entries = tensor_steps(taps.taps.len(), taps.reach.start());
        vec![Chunk { first: 0, entries, phases: 1, table: T::Table::new(&[], 0) }]
    }

    /// Returns chunks of as many taps as the constants of a launch hold.
    fn tables(taps: &Taps<T>, shared: SharedMemory) -> Result<Vec<Self>> {
        let size = Geometry::chunk::<Same<T>>(shared.max_per_block, &tuning());
        let start = taps.reach.start();
        // Chunks are whole packs, so all have the same pad.
        let chunk = |(i, taps): (usize, &[T])| Chunk {
            first: i * size,
            entries: taps.len(),
            phases: 1,
            table: T::Table::new(taps, start),
        };
        allocation::collected(taps.taps.chunks(size).enumerate().map(chunk))
    }

    /// Returns the taps by phases: as many phases as the constants and the shared memory of a launch hold, or taps of one phase.
    fn by_phases(taps: &Taps<T>, shared: SharedMemory) -> Result<Vec<Self>> {
        let (taps, stride) = (&*taps.taps, taps.reach.stride);
        let [phases, size] =
            Geometry::phases::<Same<T>>(stride as u64, taps.len() as u64, shared.max_per_block, &tuning());
        let all_phases = stride.min(taps.len());
        let firsts = (0..all_phases).step_by(phases).flat_map(|phase| {
            let of_phase = (taps.len() - phase).div_ceil(stride);
            (0..of_phase).step_by(size).map(move |tap| (phase, phase + tap * stride))
        });
        let chunk = |(phase, first): (usize, usize)| {
            let rest = &taps[first..];
            let (phases, entries) = (phases.min(all_phases - phase), size.min(rest.len().div_ceil(stride)));
            Chunk { first, entries, phases, table: T::Table::by_phases(rest, stride, phases, entries) }
        };
        let most = all_phases.div_ceil(phases).saturating_mul(taps.len().div_ceil(stride).div_ceil(size));
        let mut chunks = allocation::reserved(most)?;
        chunks.extend(firsts.map(chunk));
        Ok(chunks)
    }
}

impl<T: Number> Launches<T> {
    /// Returns the launches of a filter.
    ///
    /// # Errors
    ///
    /// [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) if not even rows can be filtered.
    pub(super) fn new(gpu: &Gpu, taps: &Taps<T>, algorithm: Filter1dAlgorithm) -> Result<Self> {
        let chunks = match kernel_of(algorithm, taps.reach.stride) {
            Filter1dKernel::Register => Chunk::tables(taps, gpu.shared)?,
            Filter1dKernel::Phases | Filter1dKernel::ManyPhases => Chunk::by_phases(taps, gpu.shared)?,
            Filter1dKernel::Global | Filter1dKernel::Tile => Chunk::whole(taps),
            Filter1dKernel::Tensor => Chunk::steps(taps),
        };
        let launches = Launches { gpu: gpu.clone(), taps: taps.clone(), chunks, algorithm };
        choose_for_rows::<T>(launches.at_once(), algorithm, gpu.shared)?;
        Ok(launches)
    }

    /// Returns the index of the first output's first sample, in whole lines.
    pub(super) fn start(&self) -> i64 {
        self.taps.reach.start()
    }

    /// Returns the taps that the kernels read from global memory, if they do. Tables of taps are among the arguments of a launch.
    pub(super) fn taps_in_memory(&self) -> Result<Option<Cow<'_, [T]>>> {
        Ok(match self.kernel() {
            Filter1dKernel::Global | Filter1dKernel::Tile => Some(Cow::Borrowed(&self.taps.taps)),
            Filter1dKernel::Tensor => {
                T::TENSOR_TAPS.map(|words| words(&self.taps.taps, self.start())).transpose()?.map(Cow::Owned)
            }
            Filter1dKernel::Register | Filter1dKernel::Phases | Filter1dKernel::ManyPhases => None,
        })
    }

    fn kernel(&self) -> Filter1dKernel {
        kernel_of(self.algorithm, self.taps.reach.stride)
    }

    /// Returns the choice for these lines.
    pub(super) fn choose(&self, lines: &Lines) -> Result<Choice> {
        choose::<T>(lines, self.at_once(), self.algorithm, self.gpu.shared)
    }

    /// Returns the taps of the first launch, which has the most.
    fn at_once(&self) -> TapsAtOnce {
        let Chunk { entries, phases, .. } = self.chunks[0];
        TapsAtOnce { entries, phases, stride: self.taps.reach.stride }
    }

    /// Returns the kernel for lines of this orientation.
    pub(super) fn entry_point(&self, orientation: Orientation) -> EntryPoint<T> {
        T::entry_point(self.kernel(), orientation)
    }

    /// Returns the launches that filter these lines, in their order.
    pub(super) fn of<'a>(&'a self, choice: &'a Choice, lines: &'a Lines) -> impl Iterator<Item = Pass<'a, T>> {
        let parts = choice.geometry.parts(lines.lines as u64);
        parts.flat_map(move |part| self.chunks.iter().map(move |chunk| self.launch(choice, lines, part, chunk)))
    }

    fn launch<'a>(&'a self, choice: &Choice, lines: &'a Lines, part: LinePart, chunk: &'a Chunk<T>) -> Pass<'a, T> {
        let shape = LaunchShape { steps: choice.steps(chunk.entries), ..choice.shape(part.blocks.into()) };
        Pass { filter: self, lines, shape, chunk, part, tiles: choice.geometry.tiles }
    }

    /// Returns the plan for the lines. `residency` returns the occupancy of a launch.
    pub(super) fn plan(
        &self,
        lines: &Lines,
        residency: impl FnOnce(LaunchShape) -> Result<Option<Residency>>,
    ) -> Result<Planned> {
        if lines.is_empty() {
            return Ok(Planned::nothing());
        }
        let choice = self.choose(lines)?;
        Ok(Planned::new(choice.reason, self.launch_plan(&choice, lines, residency)))
    }

    /// Returns what the plan says about lines whose sums have this accuracy.
    pub(super) fn details(&self, lines: &Lines, accuracy: Accuracy) -> Filtering {
        let taps = self.taps.taps.len();
        let (method, of_product, time) = match self.kernel() {
            Filter1dKernel::Tensor => (
                Filter1dMethod::TensorCores,
                // A product of numbers is ten of bytes.
                20,
                time::on_tensor_cores::<T>(self.gpu.shared, taps, lines),
            ),
            Filter1dKernel::Register => {
                (Filter1dMethod::Sums, 2, Some(time::of_sums::<T>(self.gpu.shared, taps, lines)))
            }
            _ => (Filter1dMethod::Sums, 2, None),
        };
        Filtering {
            method,
            operations: products(lines, taps).saturating_mul(of_product),
            predicted: time.filter(|_| !lines.is_empty()).map(time::duration),
            accuracy,
        }
    }

    fn launch_plan(
        &self,
        choice: &Choice,
        lines: &Lines,
        residency: impl FnOnce(LaunchShape) -> Result<Option<Residency>>,
    ) -> Option<LaunchPlan> {
        let shape = self.of(choice, lines).next()?.shape;
        Some(LaunchPlan {
            // Computed, not counted: a plan may be for more lines than memory can hold.
            times: choice.geometry.launches(lines.lines as u64).saturating_mul(self.chunks.len() as u64),
            moved_bytes: self.moved_bytes(lines),
            ..self.gpu.launch_plan(choice.name, shape, residency(shape))
        })
    }

    /// Returns the bytes that all launches read and write: each chunk of taps reads the samples of its phases and writes the outputs, and
    /// all but the first also read the outputs.
    fn moved_bytes(&self, lines: &Lines) -> u64 {
        let [samples, outputs, chunks] = [lines.samples, lines.outputs, self.chunks.len()].map(|count| count as u64);
        let of_phase = samples.div_ceil(self.taps.reach.stride as u64);
        let phases: u64 = self.chunks.iter().map(|chunk| chunk.phases as u64).sum();
        let elements = of_phase.saturating_mul(phases).saturating_add(outputs.saturating_mul(2 * chunks - 1));
        elements.saturating_mul(lines.lines as u64).saturating_mul(size_of::<T>() as u64)
    }
}

/// One launch: some of the lines, with some of the taps.
pub(super) struct Pass<'a, T: Number> {
    pub(super) shape: LaunchShape,
    filter: &'a Launches<T>,
    lines: &'a Lines,
    chunk: &'a Chunk<T>,
    part: LinePart,
    tiles: u64,
}

impl<T: Number> Pass<'_, T> {
    /// Returns the constants of the register-tiled kernels.
    pub(super) fn table(&self) -> &T::Table {
        &self.chunk.table
    }

    /// Returns the kernel's arguments.
    pub(super) fn args<'l>(&self, windows: &FilterWindows<'l, T>) -> Args<'l, Same<T>> {
        let filter = self.filter;
        let [input_step, input_line] = self.lines.steps(self.lines.input_pitch);
        let [output_step, output_line] = self.lines.steps(self.lines.output_pitch);
        let first_line = self.part.first_line;
        let edge_thread = filter.algorithm == Filter1dAlgorithm::SharedTile(HaloLoad::EdgeThread);
        Args {
            input: windows.input.slice(first_line * input_line, u64::MAX),
            output: windows.output.slice(first_line * output_line, u64::MAX),
            taps: windows.taps,
            samples: self.lines.samples as u64,
            outputs: self.lines.outputs as u64,
            lines: self.part.lines,
            start: self.lines.start + self.chunk.first as i64,
            input_step,
            input_line,
            output_step,
            output_line,
            outside: filter.taps.outside,
            border: filter.taps.border as u32,
            halo: (if edge_thread { Halo::EdgeThread } else { Halo::Cooperative }) as u32,
            // The cast is exact: there are at most as many tiles as blocks, which the launch checks against 31 bits.
            tiles: self.tiles as u32,
            // The cast is exact: `Reach::check` has checked the taps against 31 bits.
            tap_count: match filter.taps.reach.stride {
                1 => self.chunk.entries,
                _ => filter.taps.taps.len() - self.chunk.first,
            } as u32,
            stride: filter.taps.reach.stride as u64,
            phases: self.chunk.phases as u32,
            entries: self.chunk.entries as u32,
            resume: u32::from(self.chunk.first > 0),
        }
    }
}
