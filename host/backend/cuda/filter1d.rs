//! One-dimensional filters on a GPU.

use super::kernel::{Facts, OnDemand, Shape};
use super::module::{
    FILTER1D_COLUMNS_F32, FILTER1D_COLUMNS_F64, FILTER1D_COLUMNS_I32, FILTER1D_ROWS_F32, FILTER1D_ROWS_F64,
    FILTER1D_ROWS_I32, FILTER1D_SIMPLE_F32, FILTER1D_SIMPLE_F64, FILTER1D_SIMPLE_I32,
};
use super::{Memory, Queue};
use crate::filter1d::{Algorithm, FilterElement, HaloLoad, LaunchPlan, Lines, Plan, Taps};
use crate::{Device, Result};
use cuda_std::image::Module;
use cuda_std::{Argument, Entry, Table};
use slm_kernels::Sample;
use slm_kernels::filter1d::{self as kernels, Args, CHUNK_BYTES, Geometry, Halo, Orientation, Part};
use std::sync::Arc;

/// The kernels for an element type.
pub trait FilterKernels: slm_kernels::Sample {
    /// The compiled module with the simple kernels, for both orientations.
    const SIMPLE: &'static Module;
    /// The compiled module with the register-tiled kernel for lines along rows.
    const ROWS: &'static Module;
    /// The compiled module with the register-tiled kernel for lines along columns.
    const COLUMNS: &'static Module;
    /// One output per thread, from global memory; both orientations.
    type Global: Entry<Args = Args<Self>, Constants = ()>;
    /// Tiles in shared memory; both orientations.
    type Tile: Entry<Args = Args<Self>, Constants = ()>;
    /// The taps of one launch of the register-tiled kernels.
    type Table: Argument;
    /// Outputs in registers, lines along rows.
    type RegisterRows: Entry<Args = Args<Self>, Constants = Self::Table>;
    /// Outputs in registers, lines along columns.
    type RegisterColumns: Entry<Args = Args<Self>, Constants = Self::Table>;
    /// The table of these taps, behind the pad for a first sample at `start`; as many as fit into it at most.
    fn table(taps: &[Self], start: i64) -> Self::Table;
}

macro_rules! filter_kernels {
    ($($t:ty: $simple:ident $global:ident $tile:ident, $rows:ident $register_rows:ident,
        $columns:ident $register_columns:ident;)*) => {$(
        impl FilterKernels for $t {
            const SIMPLE: &'static Module = &$simple;
            const ROWS: &'static Module = &$rows;
            const COLUMNS: &'static Module = &$columns;
            type Global = kernels::$global;
            type Tile = kernels::$tile;
            type Table = Table<$t, { CHUNK_BYTES / size_of::<$t>() }>;
            type RegisterRows = kernels::$register_rows;
            type RegisterColumns = kernels::$register_columns;
            fn table(taps: &[$t], start: i64) -> Self::Table {
                let mut table = [<$t as Sample>::ZERO; _];
                let pad = kernels::pad(start, 16 / size_of::<$t>() as u32) as usize;
                table[pad..pad + taps.len()].copy_from_slice(taps);
                Table(table)
            }
        }
    )*};
}
filter_kernels! {
    f32: FILTER1D_SIMPLE_F32 filter1d_global_f32 filter1d_tile_f32, FILTER1D_ROWS_F32 filter1d_register_rows_f32,
        FILTER1D_COLUMNS_F32 filter1d_register_columns_f32;
    f64: FILTER1D_SIMPLE_F64 filter1d_global_f64 filter1d_tile_f64, FILTER1D_ROWS_F64 filter1d_register_rows_f64,
        FILTER1D_COLUMNS_F64 filter1d_register_columns_f64;
    i32: FILTER1D_SIMPLE_I32 filter1d_global_i32 filter1d_tile_i32, FILTER1D_ROWS_I32 filter1d_register_rows_i32,
        FILTER1D_COLUMNS_I32 filter1d_register_columns_i32;
}

/// A filter's taps and kernels on a device.
///
/// Fields are dropped in their order: kernels before the queue, whose context their modules are in.
pub(crate) struct Filter1d<T: FilterElement> {
    /// The taps once more, for the register-tiled kernels.
    chunks: Vec<Chunk<T>>,
    algorithm: Algorithm,
    global: OnDemand<T::Global>,
    tile: OnDemand<T::Tile>,
    register_rows: OnDemand<T::RegisterRows>,
    register_columns: OnDemand<T::RegisterColumns>,
    taps: Memory<T>,
    queue: Arc<Queue>,
}

/// The taps that one launch of a register-tiled kernel takes: `count` of them from number `first` on.
struct Chunk<T: FilterElement> {
    first: usize,
    count: usize,
    table: T::Table,
}

/// What runs for a problem, and why.
struct Choice {
    kernel: kernels::Kernel,
    geometry: Geometry,
    reason: &'static str,
}

impl<T: FilterElement> Filter1d<T> {
    pub(crate) fn new(queue: &Arc<Queue>, taps: &Taps<T>, algorithm: Algorithm) -> Result<Self> {
        let size = Geometry::chunk::<T>(queue.limits().shared.max_per_block);
        let start = taps.start();
        // Chunks are whole packs, so all have the same pad.
        let chunk =
            |(i, taps): (usize, &[T])| Chunk { first: i * size, count: taps.len(), table: T::table(taps, start) };
        let filter = Filter1d {
            queue: queue.clone(),
            taps: Memory::upload(queue, &taps.taps)?,
            chunks: taps.taps.chunks(size).enumerate().map(chunk).collect(),
            algorithm,
            global: OnDemand::new(T::SIMPLE),
            tile: OnDemand::new(T::SIMPLE),
            register_rows: OnDemand::new(T::ROWS),
            register_columns: OnDemand::new(T::COLUMNS),
        };
        // What a block takes along rows is the same for lines of any length.
        let line =
            Lines { lines: 1, samples: 1, outputs: 1, orientation: Orientation::Rows, input_pitch: 1, output_pitch: 1 };
        let choice = filter.choose(&line)?;
        filter.kernel(choice.kernel, line.orientation).registers(queue)?;
        Ok(filter)
    }

    /// The kernel for these lines.
    fn choose(&self, lines: &Lines) -> Result<Choice> {
        let (kernel, taps, reason) = match self.algorithm {
            Algorithm::GlobalMemory => (kernels::Kernel::Global, self.taps.len(), "asked for"),
            Algorithm::SharedTile(_) => (kernels::Kernel::Tile, self.taps.len(), "asked for"),
            Algorithm::RegisterTiled => (kernels::Kernel::Register, self.chunks[0].count, "asked for"),
            Algorithm::Auto => (kernels::Kernel::Register, self.chunks[0].count, "the fastest one"),
        };
        let geometry = Geometry::new::<T>(kernel, &lines.problem(taps));
        self.queue.limits().shared.check(self.kernel(kernel, lines.orientation).name(), geometry.shared_bytes)?;
        Ok(Choice { kernel, geometry, reason })
    }

    fn kernel(&self, kernel: kernels::Kernel, orientation: Orientation) -> &dyn Facts {
        use kernels::Kernel::{Global, Register, Tile};
        match (kernel, orientation) {
            (Global, _) => &self.global,
            (Tile, _) => &self.tile,
            (Register, Orientation::Rows) => &self.register_rows,
            (Register, Orientation::Columns) => &self.register_columns,
        }
    }

    /// Enqueues the filtering of `lines` of `samples` into `outputs`.
    pub(crate) fn run(
        &self,
        taps: &Taps<T>,
        lines: &Lines,
        samples: &Memory<T>,
        outputs: &mut Memory<T>,
    ) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let choice = self.choose(lines)?;
        let _lock = self.queue.enqueue()?;
        for part in choice.geometry.parts(lines.lines as u64) {
            let args = self.args(taps, lines, &choice.geometry, part, samples, outputs);
            self.launch(&choice, lines.orientation, part, args)?;
        }
        Ok(())
    }

    fn args(
        &self,
        taps: &Taps<T>,
        lines: &Lines,
        geometry: &Geometry,
        part: Part,
        samples: &Memory<T>,
        outputs: &mut Memory<T>,
    ) -> Args<T> {
        let along_rows = lines.orientation == Orientation::Rows;
        let steps = |pitch: usize| if along_rows { (1, pitch as u64) } else { (pitch as u64, 1) };
        let (input_step, input_line) = steps(lines.input_pitch);
        let (output_step, output_line) = steps(lines.output_pitch);
        let edge_thread = self.algorithm == Algorithm::SharedTile(HaloLoad::EdgeThread);
        // SAFETY: `run` enqueues on the queue that all three belong to (its callers check that), while the memory of
        // the caller is borrowed and `self.taps` is never written.
        let (input, output, taps_window) = unsafe {
            (
                samples.window((part.first_line * input_line) as usize),
                outputs.window_mut((part.first_line * output_line) as usize),
                self.taps.window(0),
            )
        };
        Args {
            input,
            output,
            taps: taps_window,
            samples: lines.samples as u64,
            outputs: lines.outputs as u64,
            lines: part.lines,
            start: taps.start(),
            input_step,
            input_line,
            output_step,
            output_line,
            outside: taps.outside,
            border: taps.border as u32,
            halo: (if edge_thread { Halo::EdgeThread } else { Halo::Cooperative }) as u32,
            tiles: geometry.tiles as u32,
            tap_count: taps.taps.len() as u32,
            resume: 0,
        }
    }

    fn launch(&self, choice: &Choice, orientation: Orientation, part: Part, args: Args<T>) -> Result<()> {
        use kernels::Kernel::{Global, Register, Tile};
        let shape = choice.shape(part.blocks);
        let queue = &*self.queue;
        // SAFETY: the windows in `args` are made in `run` (see `args`), which holds the queue's lock.
        unsafe {
            match choice.kernel {
                Global => self.global.get(queue)?.launch(queue, shape, &args, &()),
                Tile => self.tile.get(queue)?.launch(queue, shape, &args, &()),
                Register => self.chunks.iter().try_for_each(|chunk| {
                    let args = chunk.args(&args);
                    match orientation {
                        Orientation::Rows => self.register_rows.get(queue)?.launch(queue, shape, &args, &chunk.table),
                        Orientation::Columns => {
                            self.register_columns.get(queue)?.launch(queue, shape, &args, &chunk.table)
                        }
                    }
                }),
            }
        }
    }

    pub(crate) fn plan(&self, device: &Device, algorithm: Algorithm, lines: &Lines) -> Plan {
        let mut plan = Plan {
            device: device.to_string(),
            algorithm,
            kernel: "none".to_owned(),
            reason: "there is nothing to compute".to_owned(),
            outputs: [lines.lines, lines.outputs],
            launch: None,
        };
        if lines.is_empty() {
            return plan;
        }
        match self.choose(lines) {
            Ok(choice) => {
                plan.kernel = self.kernel(choice.kernel, lines.orientation).name().to_owned();
                plan.reason = choice.reason.to_owned();
                plan.launch = Some(self.launch_plan(&choice, lines));
            }
            Err(error) => plan.reason = error.to_string(),
        }
        plan
    }

    fn launch_plan(&self, choice: &Choice, lines: &Lines) -> LaunchPlan {
        let blocks = choice.geometry.blocks(lines.lines as u64);
        let chunks = if choice.kernel == kernels::Kernel::Register { self.chunks.len() as u64 } else { 1 };
        let shape = choice.shape(u32::try_from(blocks).unwrap_or(u32::MAX));
        let queue = &*self.queue;
        let kernel = self.kernel(choice.kernel, lines.orientation);
        // A plan is a forecast: where the driver does not answer, the next launch will say why.
        let registers = kernel.registers(queue).unwrap_or(0);
        let resident = kernel.blocks_per_multiprocessor(queue, shape).unwrap_or(0);
        let threads = f64::from(resident * shape.block[0] * shape.block[1]);
        LaunchPlan {
            // Not counted one by one: a plan may be for more lines than there can be.
            launches: choice.geometry.launches(lines.lines as u64).saturating_mul(chunks),
            grid: blocks,
            block: shape.block,
            shared_bytes: choice.geometry.shared_bytes,
            shared_available: queue.limits().shared.max_per_block,
            registers,
            blocks_per_multiprocessor: resident,
            occupancy: threads / f64::from(queue.limits().threads_per_multiprocessor),
        }
    }
}

impl<T: FilterElement> Chunk<T> {
    /// The arguments for this chunk of all that `args` asks for.
    fn args(&self, args: &Args<T>) -> Args<T> {
        Args {
            start: args.start + self.first as i64,
            tap_count: self.count as u32,
            resume: u32::from(self.first > 0),
            ..*args
        }
    }
}

impl Choice {
    fn shape(&self, blocks: u32) -> Shape {
        // `choose` has compared the shared bytes with what the device has.
        Shape { blocks, block: self.geometry.block, shared_bytes: self.geometry.shared_bytes as u32 }
    }
}
