//! Kernels that go down bands of rows, with their weights: of a size that they are compiled for, or outer products of any size.

use super::weights::Weights;
use crate::any::Erase;
use crate::info::SharedMemory;
use crate::kernel::{Launch, WithConstants};
use crate::{Device, LaunchShape, Residency, Result, Windows};
use cuda_std::Table;
use slm_kernels::filter2d::{
    BandArgs, BandPart, Bands, Bytes, Packs, PassesArgs, Problem, ROW, Size, Streamed, StreamingArgs, TABLE,
    filter2d_passes, filter2d_separable, filter2d_streaming, passes_places,
};
use slm_kernels::signal::{Same, Types};

/// Samples and outputs are `f32`.
pub(super) type Floats = Same<f32>;

/// A kernel and its weights.
pub(super) trait Banded: Send + Sync {
    /// The types of the numbers. Weights are `f32`.
    type Types: Types<Sample: Erase, Output: Erase>;

    fn name(&self) -> &'static str;

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>>;

    /// Returns the shape of a launch of one typical block.
    fn block(&self) -> LaunchShape;

    /// Returns the division of a picture with outputs on a device that runs `resident` blocks at the same time.
    fn bands(&self, problem: &Problem, resident: u64) -> Bands;

    fn launch(
        &self,
        windows: &Windows<'_>,
        bands: &Bands,
        part: &BandPart,
        picture: BandArgs<Self::Types>,
    ) -> Result<()>;
}

/// A kernel for `f32`.
pub(super) enum BandKernel {
    Compiled(Compiled<Floats>),
    Passes(Passes),
}

type Loaded<F> = Box<dyn Launch<StreamingArgs<F>>>;

/// A kernel for a size of weights.
pub(super) struct Compiled<F: Types> {
    loaded: Loaded<F>,
    /// Rows and columns of the weights.
    taps: usize,
    channels: usize,
    table: Box<Table<F::Weight, TABLE>>,
}

/// The kernel for outer products of any size.
pub(super) struct Passes {
    loaded: Box<dyn Launch<PassesArgs<Floats>>>,
    /// Rows and columns of the weights.
    taps: [u32; 2],
    /// Threads of a block per column.
    groups: u32,
}

/// Loads the kernel for weights of some size. Returns `None` if there is none.
macro_rules! load {
    ($device:expr, $taps:expr, $kernel:ident<$types:ident>: $($size:literal)*) => {
        match $taps {
            $([$size, $size] => {
                let kernel = $device.own_kernel::<$kernel<Size<$types, { Self::CHANNELS }, $size>>>()?;
                Some(Box::new(kernel) as Loaded<$types>)
            })*
            _ => None,
        }
    };
}

impl Compiled<Floats> {
    /// Interleaved channels.
    pub(super) const CHANNELS: usize = 1;

    /// Returns the kernel for weights that need not be a product, or `None` if there is none for their size.
    pub(super) fn dense(device: &Device, weights: &Weights<f32>) -> Result<Option<BandKernel>> {
        let loaded = load!(device, weights.shape, filter2d_streaming<Floats>: 3 5 7 9);
        Ok(Self::with_weights(loaded, Self::CHANNELS, weights)?.map(BandKernel::Compiled))
    }

    /// Returns the kernel for the product of a column and a row, or `None` if there is none for their lengths.
    pub(super) fn product(device: &Device, [column, row]: [&[f32]; 2]) -> Result<Option<BandKernel>> {
        let loaded = load!(device, [column.len(), row.len()], filter2d_separable<Floats>: 3 5 7 9 15 31);
        Ok(loaded.map(|loaded| BandKernel::Compiled(Self::with_product(loaded, Self::CHANNELS, [column, row]))))
    }
}

impl Compiled<Bytes> {
    /// Interleaved channels.
    pub(super) const CHANNELS: usize = 4;

    /// As that for `f32`.
    pub(super) fn dense(device: &Device, weights: &Weights<f32>) -> Result<Option<Self>> {
        let loaded = load!(device, weights.shape, filter2d_streaming<Bytes>: 3 5 7);
        Self::with_weights(loaded, Self::CHANNELS, weights)
    }

    /// As that for `f32`.
    pub(super) fn product(device: &Device, [column, row]: [&[f32]; 2]) -> Result<Option<Self>> {
        let loaded = load!(device, [column.len(), row.len()], filter2d_separable<Bytes>: 3 5 7);
        Ok(loaded.map(|loaded| Self::with_product(loaded, Self::CHANNELS, [column, row])))
    }
}

impl<F: Types<Weight = f32>> Compiled<F> {
    fn with_weights(loaded: Option<Loaded<F>>, channels: usize, weights: &Weights<f32>) -> Result<Option<Self>> {
        let Some(loaded) = loaded else { return Ok(None) };
        let table = Box::new(table([(0, &weights.row_after_row()?)]));
        Ok(Some(Compiled { loaded, taps: weights.shape[0], channels, table }))
    }

    fn with_product(loaded: Loaded<F>, channels: usize, [column, row]: [&[f32]; 2]) -> Self {
        Compiled { loaded, taps: row.len(), channels, table: Box::new(table([(0, column), (ROW, row)])) }
    }
}

impl<F: Streamed<Sample: Erase, Weight = f32, Output: Erase>> Banded for Compiled<F> {
    type Types = F;

    fn name(&self) -> &'static str {
        self.loaded.name()
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.loaded.residency(shape)
    }

    fn block(&self) -> LaunchShape {
        let [x, y] = Bands::STREAMING;
        let bytes = Bands::shared_bytes::<F>(Bands::TYPICAL, self.taps, self.channels);
        LaunchShape::new([1; 3], [x, y, 1]).shared_bytes(bytes)
    }

    fn bands(&self, problem: &Problem, resident: u64) -> Bands {
        Bands::streaming::<F>(problem, self.taps, resident)
    }

    fn launch(&self, windows: &Windows<'_>, bands: &Bands, part: &BandPart, picture: BandArgs<F>) -> Result<()> {
        let shape = shape(bands, part);
        self.loaded.launch(windows, shape, StreamingArgs { picture, weights: *self.table }, &())
    }
}

impl Passes {
    /// Returns the kernel for the product of a column and a row, or `None` if they do not fit into its table, or their rows into
    /// shared memory.
    pub(super) fn product(
        device: &Device,
        shared: SharedMemory,
        [column, row]: [&[f32]; 2],
    ) -> Result<Option<BandKernel>> {
        let shape = [column.len(), row.len()];
        let Some(places) = passes_places::<Floats>(shape) else { return Ok(None) };
        let Some((taps, groups)) = Self::fitting(shared, shape) else { return Ok(None) };
        let kernel = device.own_kernel::<filter2d_passes<Floats>>()?;
        let constants = table([(places[0], column), (places[1], row)]);
        let loaded = Box::new(WithConstants { kernel, constants });
        Ok(Some(BandKernel::Passes(Passes { loaded, taps, groups })))
    }

    /// Returns whether the kernel supports products of these lengths on a device.
    pub(super) fn is_supported(shared: SharedMemory, shape: [usize; 2]) -> bool {
        passes_places::<Floats>(shape).is_some() && Self::fitting(shared, shape).is_some()
    }

    /// Returns rows and columns of the weights, which fit into the table, and the threads of a block per column. Returns `None` if
    /// the rows do not fit into shared memory.
    fn fitting(shared: SharedMemory, shape: [usize; 2]) -> Option<([u32; 2], u32)> {
        let taps = shape.map(|taps| taps as u32);
        let bytes = |groups| Bands::passes_bytes::<Floats>(taps, groups);
        // As many threads on a multiprocessor if it has room for one block only.
        let is_alone = shared.resident_blocks(bytes(1)) < 2;
        let groups = if is_alone && bytes(2) <= shared.max_per_block { 2 } else { 1 };
        (bytes(groups) <= shared.max_per_block).then_some((taps, groups))
    }
}

/// Returns a table with numbers from some places on.
fn table<const N: usize, const PARTS: usize>(parts: [(usize, &[f32]); PARTS]) -> Table<f32, N> {
    let mut table = Table([0.0; N]);
    for (place, numbers) in parts {
        table.0[place..place + numbers.len()].copy_from_slice(numbers);
    }
    table
}

impl Banded for BandKernel {
    type Types = Floats;

    fn name(&self) -> &'static str {
        match self {
            BandKernel::Compiled(kernel) => kernel.name(),
            BandKernel::Passes(kernel) => kernel.loaded.name(),
        }
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        match self {
            BandKernel::Compiled(kernel) => kernel.residency(shape),
            BandKernel::Passes(kernel) => kernel.loaded.residency(shape),
        }
    }

    fn block(&self) -> LaunchShape {
        match self {
            BandKernel::Compiled(kernel) => kernel.block(),
            BandKernel::Passes(kernel) => {
                let [x, y] = Bands::passes_block::<Floats>(kernel.groups);
                let bytes = Bands::passes_bytes::<Floats>(kernel.taps, kernel.groups);
                LaunchShape::new([1; 3], [x, y, 1]).shared_bytes(bytes)
            }
        }
    }

    fn bands(&self, problem: &Problem, resident: u64) -> Bands {
        match self {
            BandKernel::Compiled(kernel) => kernel.bands(problem, resident),
            BandKernel::Passes(kernel) => Bands::passes::<Floats>(problem, kernel.groups, resident),
        }
    }

    fn launch(&self, windows: &Windows<'_>, bands: &Bands, part: &BandPart, picture: BandArgs<Floats>) -> Result<()> {
        match self {
            BandKernel::Compiled(kernel) => kernel.launch(windows, bands, part, picture),
            BandKernel::Passes(kernel) => {
                let [column, row] = kernel.taps.map(Packs::new::<Floats>);
                kernel.loaded.launch(windows, shape(bands, part), PassesArgs { picture, column, row }, &())
            }
        }
    }
}

/// Returns the number of blocks that run at the same time.
pub(super) fn resident_blocks(device: &Device, residency: Option<Residency>) -> u64 {
    let blocks = residency.map_or(1, |residency| residency.blocks_per_multiprocessor);
    // At least 1, even if the driver should answer 0: bands are divided by it.
    (device.info().processors as u64 * u64::from(blocks)).max(1)
}

/// Returns the shape of the first launch, and the number of launches.
pub(super) fn launches(bands: &Bands) -> (LaunchShape, u64) {
    let first = bands.parts().next().unwrap_or(BandPart { first_band: 0, first_plane: 0, grid: [0; 3] });
    (shape(bands, &first), bands.parts().count() as u64)
}

/// Returns the shape of a launch.
pub(super) fn shape(bands: &Bands, part: &BandPart) -> LaunchShape {
    let [x, y] = bands.block;
    LaunchShape::new(part.grid, [x, y, 1]).shared_bytes(bands.shared_bytes).steps(bands.steps)
}
