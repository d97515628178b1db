//! Kernels that are compiled for some sizes of weights.

use super::banded::Banded;
use super::tuning::tuning;
use super::weights::Weights;
use crate::any::Erase;
use crate::kernel::Launch;
use crate::{Device, LaunchShape, Residency, Result, Windows};
use cuda_std::Table;
use slm_kernels::filter2d::{
    BandArgs, Bands, Bytes, Problem, ROW, Size, Streamed, StreamingArgs, TABLE, Typed, filter2d_separable,
    filter2d_streaming,
};
use slm_kernels::signal::{Same, Types};

/// Samples and outputs are `f32`.
pub(super) type Floats = Same<f32>;

type Loaded<F> = Box<dyn for<'l> Launch<StreamingArgs<'l, F>>>;

/// A kernel for a size of weights.
pub(super) struct Compiled<F: Types> {
    loaded: Loaded<F>,
    /// Rows and columns of the weights.
    taps: usize,
    table: Box<Table<F::Weight, TABLE>>,
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

/// The sizes of weights that have kernels.
pub(super) trait Sizes: Sized {
    /// Interleaved channels.
    const CHANNELS: usize;

    /// Rows, and columns, of the weights that [`dense`](Self::dense) has kernels for.
    const DENSE: &[usize];

    /// Returns the kernel for weights that need not be a product, or `None` if there is none for their size.
    fn dense(device: &Device, weights: &Weights<f32>) -> Result<Option<Self>>;

    /// Returns the kernel for the product of a column and a row, or `None` if there is none for their lengths.
    fn product(device: &Device, factors: [&[f32]; 2]) -> Result<Option<Self>>;
}

impl Sizes for Compiled<Floats> {
    const CHANNELS: usize = 1;

    const DENSE: &[usize] = &[3, 5, 7, 9];

    fn dense(device: &Device, weights: &Weights<f32>) -> Result<Option<Self>> {
        let loaded = load!(device, weights.shape, filter2d_streaming<Floats>: 3 5 7 9);
        Self::with_weights(loaded, weights)
    }

    fn product(device: &Device, [column, row]: [&[f32]; 2]) -> Result<Option<Self>> {
        let loaded = load!(device, [column.len(), row.len()], filter2d_separable<Floats>: 3 5 7 9 15 31);
        Ok(loaded.map(|loaded| Self::with_product(loaded, [column, row])))
    }
}

impl Sizes for Compiled<Bytes> {
    const CHANNELS: usize = 4;

    const DENSE: &[usize] = &[3, 5, 7];

    fn dense(device: &Device, weights: &Weights<f32>) -> Result<Option<Self>> {
        let loaded = load!(device, weights.shape, filter2d_streaming<Bytes>: 3 5 7);
        Self::with_weights(loaded, weights)
    }

    fn product(device: &Device, [column, row]: [&[f32]; 2]) -> Result<Option<Self>> {
        let loaded = load!(device, [column.len(), row.len()], filter2d_separable<Bytes>: 3 5 7);
        Ok(loaded.map(|loaded| Self::with_product(loaded, [column, row])))
    }
}

impl<F: Types<Weight = f32>> Compiled<F> {
    fn with_weights(loaded: Option<Loaded<F>>, weights: &Weights<f32>) -> Result<Option<Self>> {
        let Some(loaded) = loaded else { return Ok(None) };
        let table = Box::new(table([(0, &weights.row_after_row()?)]));
        Ok(Some(Compiled { loaded, taps: weights.shape[0], table }))
    }

    fn with_product(loaded: Loaded<F>, [column, row]: [&[f32]; 2]) -> Self {
        Compiled { loaded, taps: row.len(), table: Box::new(table([(0, column), (ROW, row)])) }
    }
}

/// Returns a table with numbers from some places on.
pub(super) fn table<const N: usize, const PARTS: usize>(parts: [(usize, &[f32]); PARTS]) -> Table<f32, N> {
    let mut table = Table([0.0; N]);
    for (place, numbers) in parts {
        table.0[place..place + numbers.len()].copy_from_slice(numbers);
    }
    table
}

impl<F: Streamed<Sample: Erase, Weight = f32, Output: Erase>> Banded for Compiled<F>
where
    Self: Sizes,
{
    type Memory<'l> = Typed<'l, F>;

    fn name(&self) -> &'static str {
        self.loaded.name()
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.loaded.residency(shape)
    }

    fn block(&self) -> LaunchShape {
        let [x, y] = Bands::STREAMING;
        let bytes = Bands::shared_bytes::<F>(Bands::TYPICAL, self.taps, Self::CHANNELS);
        LaunchShape::new([1; 3], [x, y, 1]).shared_bytes(bytes)
    }

    fn bands(&self, problem: &Problem, resident: u64) -> Bands {
        let is_three = self.taps == 3 && size_of::<F::Sample>() > 1;
        let spare = if is_three { tuning().spare_for_waves } else { 0 };
        Bands::streaming::<F>(problem, self.taps, [resident, spare])
    }

    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, picture: BandArgs<Typed<'_, F>>) -> Result<()> {
        self.loaded.launch(windows, shape, StreamingArgs { picture, weights: *self.table }, &())
    }
}
