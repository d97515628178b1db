//! One-dimensional filters as launches of kernels.

use crate::device::SharedMemory;
use crate::filter1d::{Algorithm, FilterElement, HaloLoad, Lines, Plan, Taps};
use crate::{Device, LaunchPlan, LaunchShape, Residency, Result};
use cuda_std::{Argument, Entry, GlobalIn, GlobalInOut, Table};
use slm_kernels::Sample;
use slm_kernels::filter1d::{self as kernels, Args, CHUNK_BYTES, Geometry, Halo, Orientation, Part, Problem};
use std::ops::Range;

/// The kernels for an element type.
pub trait FilterKernels: Sample {
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
    ($($t:ty: $global:ident $tile:ident $register_rows:ident $register_columns:ident;)*) => {$(
        impl FilterKernels for $t {
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
    f32: filter1d_global_f32 filter1d_tile_f32 filter1d_register_rows_f32 filter1d_register_columns_f32;
    f64: filter1d_global_f64 filter1d_tile_f64 filter1d_register_rows_f64 filter1d_register_columns_f64;
    i32: filter1d_global_i32 filter1d_tile_i32 filter1d_register_rows_i32 filter1d_register_columns_i32;
}

/// Which of an element type's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    Global,
    Tile,
    RegisterRows,
    RegisterColumns,
}

impl Kernel {
    fn new(kernel: kernels::Kernel, orientation: Orientation) -> Self {
        match (kernel, orientation) {
            (kernels::Kernel::Global, _) => Kernel::Global,
            (kernels::Kernel::Tile, _) => Kernel::Tile,
            (kernels::Kernel::Register, Orientation::Rows) => Kernel::RegisterRows,
            (kernels::Kernel::Register, Orientation::Columns) => Kernel::RegisterColumns,
        }
    }

    pub(crate) fn name<T: FilterElement>(self) -> &'static str {
        match self {
            Kernel::Global => T::Global::NAME,
            Kernel::Tile => T::Tile::NAME,
            Kernel::RegisterRows => T::RegisterRows::NAME,
            Kernel::RegisterColumns => T::RegisterColumns::NAME,
        }
    }
}

/// A filter as launches of kernels on a device with so much shared memory.
pub(crate) struct Launches<T: FilterElement> {
    taps: Taps<T>,
    /// What each launch takes of the taps.
    chunks: Vec<Chunk<T>>,
    algorithm: Algorithm,
    shared: SharedMemory,
}

/// The taps that one launch takes.
struct Chunk<T: FilterElement> {
    taps: Range<usize>,
    /// The taps once more, for the register-tiled kernels; zeros for the others.
    table: T::Table,
}

impl<T: FilterElement> Chunk<T> {
    /// All taps in one launch, which reads them from global memory.
    fn whole(taps: &Taps<T>) -> Vec<Self> {
        vec![Chunk { taps: 0..taps.taps.len(), table: T::table(&[], 0) }]
    }

    /// As many as fit into the constants of each launch.
    fn tables(taps: &Taps<T>, shared: SharedMemory) -> Vec<Self> {
        let size = Geometry::chunk::<T>(shared.max_per_block);
        let start = taps.start();
        // Chunks are whole packs, so all have the same pad.
        let chunk =
            |(i, taps): (usize, &[T])| Chunk { taps: i * size..i * size + taps.len(), table: T::table(taps, start) };
        taps.taps.chunks(size).enumerate().map(chunk).collect()
    }
}

/// What runs for some lines, and why.
pub(crate) struct Choice {
    pub(crate) kernel: Kernel,
    geometry: Geometry,
    reason: &'static str,
}

impl Choice {
    fn shape(&self, blocks: u64) -> LaunchShape {
        let [x, y] = self.geometry.block;
        LaunchShape::new([blocks, 1, 1], [x, y, 1]).shared_bytes(self.geometry.shared_bytes)
    }

    /// More steps than a block makes, where no shared memory limits how many taps there are: a thread loads one and a sample
    /// at a time.
    fn steps(&self, taps: usize) -> Option<u64> {
        let threads = u64::from(self.geometry.block.iter().product::<u32>());
        (self.kernel == Kernel::Global).then(|| threads * (2 * taps as u64 + 2))
    }
}

impl<T: FilterElement> Launches<T> {
    /// # Errors
    ///
    /// [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) if not even rows can be filtered so.
    pub(crate) fn new(taps: &Taps<T>, algorithm: Algorithm, shared: SharedMemory) -> Result<Self> {
        let chunks = match kernel_of(algorithm).0 {
            kernels::Kernel::Register => Chunk::tables(taps, shared),
            kernels::Kernel::Global | kernels::Kernel::Tile => Chunk::whole(taps),
        };
        let launches = Launches { taps: taps.clone(), chunks, algorithm, shared };
        launches.for_rows()?;
        Ok(launches)
    }

    /// What runs for rows; a block takes the same for rows of any length.
    pub(crate) fn for_rows(&self) -> Result<Choice> {
        let orientation = Orientation::Rows;
        self.choose(&Lines { lines: 1, samples: 1, outputs: 1, orientation, input_pitch: 1, output_pitch: 1 })
    }

    /// What runs for these lines.
    pub(crate) fn choose(&self, lines: &Lines) -> Result<Choice> {
        let (kernel, reason) = kernel_of(self.algorithm);
        // No later chunk is longer.
        let taps = self.chunks[0].taps.len();
        let Lines { lines, outputs, orientation, .. } = *lines;
        let problem = Problem { lines: lines as u64, outputs: outputs as u64, taps: taps as u64, orientation };
        let geometry = Geometry::new::<T>(kernel, &problem);
        let kernel = Kernel::new(kernel, orientation);
        self.shared.check(kernel.name::<T>(), geometry.shared_bytes)?;
        Ok(Choice { kernel, geometry, reason })
    }

    /// The launches that filter these lines, in their order.
    pub(crate) fn of<'a>(&'a self, choice: &'a Choice, lines: &'a Lines) -> impl Iterator<Item = Launch<'a, T>> {
        let parts = choice.geometry.parts(lines.lines as u64);
        parts.flat_map(move |part| self.chunks.iter().map(move |chunk| self.launch(choice, lines, part, chunk)))
    }

    fn launch<'a>(&'a self, choice: &Choice, lines: &'a Lines, part: Part, chunk: &'a Chunk<T>) -> Launch<'a, T> {
        let shape = LaunchShape { steps: choice.steps(chunk.taps.len()), ..choice.shape(part.blocks.into()) };
        Launch { filter: self, lines, kernel: choice.kernel, shape, chunk, part, tiles: choice.geometry.tiles }
    }

    /// How the lines are filtered; `residency` is what the device says of a launch.
    pub(crate) fn plan(
        &self,
        device: &Device,
        lines: &Lines,
        residency: impl FnOnce(Kernel, &LaunchShape) -> Option<Residency>,
    ) -> Plan {
        let mut plan = Plan {
            device: device.to_string(),
            algorithm: self.algorithm,
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
                plan.kernel = choice.kernel.name::<T>().to_owned();
                plan.reason = choice.reason.to_owned();
                plan.launch = Some(self.launch_plan(&choice, lines, residency));
            }
            Err(error) => plan.reason = error.to_string(),
        }
        plan
    }

    fn launch_plan(
        &self,
        choice: &Choice,
        lines: &Lines,
        residency: impl FnOnce(Kernel, &LaunchShape) -> Option<Residency>,
    ) -> LaunchPlan {
        let grid = choice.geometry.blocks(lines.lines as u64);
        LaunchPlan {
            // Not counted one by one: a plan may be for more lines than there can be.
            launches: choice.geometry.launches(lines.lines as u64).saturating_mul(self.chunks.len() as u64),
            grid,
            block: choice.geometry.block,
            shared_bytes: choice.geometry.shared_bytes,
            shared_available: self.shared.max_per_block,
            residency: residency(choice.kernel, &choice.shape(grid)),
        }
    }
}

/// What computes an algorithm, and why.
fn kernel_of(algorithm: Algorithm) -> (kernels::Kernel, &'static str) {
    match algorithm {
        Algorithm::GlobalMemory => (kernels::Kernel::Global, "asked for"),
        Algorithm::SharedTile(_) => (kernels::Kernel::Tile, "asked for"),
        Algorithm::RegisterTiled => (kernels::Kernel::Register, "asked for"),
        Algorithm::Auto => (kernels::Kernel::Register, "the fastest one"),
    }
}

/// One launch: some of the lines, with some of the taps.
pub(crate) struct Launch<'a, T: FilterElement> {
    pub(crate) kernel: Kernel,
    pub(crate) shape: LaunchShape,
    filter: &'a Launches<T>,
    lines: &'a Lines,
    chunk: &'a Chunk<T>,
    part: Part,
    tiles: u64,
}

impl<T: FilterElement> Launch<'_, T> {
    /// The constants of the register-tiled kernels.
    pub(crate) fn table(&self) -> &T::Table {
        &self.chunk.table
    }

    /// The first element of the input that belongs to the launch.
    pub(crate) fn first_sample(&self) -> usize {
        self.part.first_line as usize * self.steps(self.lines.input_pitch)[1]
    }

    /// The first element of the output that belongs to the launch.
    pub(crate) fn first_output(&self) -> usize {
        self.part.first_line as usize * self.steps(self.lines.output_pitch)[1]
    }

    /// From element to element of a line, and from line to line.
    fn steps(&self, pitch: usize) -> [usize; 2] {
        match self.lines.orientation {
            Orientation::Rows => [1, pitch],
            Orientation::Columns => [pitch, 1],
        }
    }

    /// What the kernel is launched with: `input` and `output` begin at the launch's [first
    /// sample](Self::first_sample) and [first output](Self::first_output), `taps` at the filter's first tap.
    pub(crate) fn args(&self, input: GlobalIn<T>, output: GlobalInOut<T>, taps: GlobalIn<T>) -> Args<T> {
        let filter = self.filter;
        let [input_step, input_line] = self.steps(self.lines.input_pitch).map(|step| step as u64);
        let [output_step, output_line] = self.steps(self.lines.output_pitch).map(|step| step as u64);
        let edge_thread = filter.algorithm == Algorithm::SharedTile(HaloLoad::EdgeThread);
        Args {
            input,
            output,
            taps,
            samples: self.lines.samples as u64,
            outputs: self.lines.outputs as u64,
            lines: self.part.lines,
            start: filter.taps.start() + self.chunk.taps.start as i64,
            input_step,
            input_line,
            output_step,
            output_line,
            outside: filter.taps.outside,
            border: filter.taps.border as u32,
            halo: (if edge_thread { Halo::EdgeThread } else { Halo::Cooperative }) as u32,
            // No more than the grid's blocks, which the launch compares with 31 bits.
            tiles: self.tiles as u32,
            // `Taps::check` has compared them with 31 bits.
            tap_count: self.chunk.taps.len() as u32,
            resume: u32::from(self.chunk.taps.start > 0),
        }
    }
}
