//! Kernels that are compiled for some sizes of weights.

use super::Launches;
use super::banded::{BandLaunches, Banded};
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::element::any::Erase;
use crate::filter2d::rule::FilterRule;
use crate::filter2d::tuning::tuning;
use crate::filter2d::weights::Weights;
use crate::{LaunchShape, Residency, Result, Windows};
use cuda_std::Table;
use slm_kernels::filter2d::{
    BandArgs, Bands, Bytes, Filter2dProblem, ROW, Size, Streamed, StreamingArgs, TABLE, Typed, filter2d_separable,
    filter2d_streaming,
};
use slm_kernels::signal::{Kind, Same, Types};
use std::sync::Arc;

/// Samples and outputs are `f32`.
pub(super) type Floats = Same<f32>;

type Loaded<F> = Box<dyn for<'l> Launch<StreamingArgs<'l, F>>>;

/// Defines the sizes of weights for which a kernel is compiled.
macro_rules! sizes {
    ($(#[$doc:meta])* $name:ident: $kernel:ident<$types:ty, $channels:literal>: $($size:ident = $taps:literal)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::filter::two_d) enum $name {
            $($size,)*
        }

        impl $name {
            /// Rows, and columns, of the weights.
            const TAPS: &[usize] = &[$($taps),*];

            /// The same sizes in the same order.
            const ALL: &[Self] = &[$($name::$size),*];

            /// Returns the size of weights of this shape, if a kernel is compiled for it.
            fn of(shape: [usize; 2]) -> Option<Self> {
                let place = Self::TAPS.iter().position(|&taps| shape == [taps; 2])?;
                Some(Self::ALL[place])
            }

            /// Loads the kernel, for weights in a table.
            fn load(self, gpu: &Gpu, table: Table<f32, TABLE>) -> Result<Compiled<$types>> {
                let table = Box::new(table);
                Ok(match self {
                    $($name::$size => {
                        let loaded = Box::new(gpu.own_kernel::<$kernel<Size<$types, $channels, $taps>>>()?);
                        Compiled { loaded, taps: $taps, channels: $channels, table }
                    })*
                })
            }
        }
    };
}

sizes! {
    /// Any weights, for one channel of `f32`.
    FloatSize: filter2d_streaming<Floats, 1>: Three = 3 Five = 5 Seven = 7 Nine = 9
}
sizes! {
    /// Any weights, for four channels of bytes.
    PixelSize: filter2d_streaming<Bytes, 4>: Three = 3 Five = 5 Seven = 7
}
sizes! {
    /// Outer products, for four channels of bytes.
    PixelProductSize: filter2d_separable<Bytes, 4>: Three = 3 Five = 5 Seven = 7
}

/// Types and channels that have such kernels, the same for samples and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter::two_d) enum StreamingTypes {
    /// One channel of `f32`.
    Floats,
    /// Four channels of bytes.
    Pixels,
}

impl StreamingTypes {
    pub(in crate::filter::two_d) fn of(rule: &FilterRule) -> Option<Self> {
        if rule.has_pixels(Kind::F32, 1) {
            Some(StreamingTypes::Floats)
        } else if rule.has_pixels(Kind::U8, 4) {
            Some(StreamingTypes::Pixels)
        } else {
            None
        }
    }

    /// Returns the rows, and columns, of any weights that have a kernel.
    pub(in crate::filter::two_d) fn sizes(self) -> &'static [usize] {
        match self {
            StreamingTypes::Floats => FloatSize::TAPS,
            StreamingTypes::Pixels => PixelSize::TAPS,
        }
    }
}

/// A column and a row of weights.
type Factors = [Arc<Vec<f32>>; 2];

/// A kernel that is compiled for the size of the weights, and the weights.
#[derive(Clone, Debug)]
pub(in crate::filter::two_d) enum Streaming {
    Floats(FloatSize, Weights<f32>),
    Pixels(PixelSize, Weights<f32>),
    PixelProduct(PixelProductSize, Factors),
}

impl Streaming {
    /// Returns the kernel that takes any weights of this size, if there is one.
    pub(in crate::filter::two_d) fn dense(types: StreamingTypes, weights: &Weights<f32>) -> Option<Self> {
        match types {
            StreamingTypes::Floats => FloatSize::of(weights.shape).map(|size| Streaming::Floats(size, weights.clone())),
            StreamingTypes::Pixels => PixelSize::of(weights.shape).map(|size| Streaming::Pixels(size, weights.clone())),
        }
    }

    /// Returns the kernel for the product of a column and a row, if there is one for their lengths. Products of `f32` have another
    /// kernel.
    pub(in crate::filter::two_d) fn product(types: StreamingTypes, factors: Factors) -> Option<Self> {
        match types {
            StreamingTypes::Floats => None,
            StreamingTypes::Pixels => {
                let size = PixelProductSize::of([factors[0].len(), factors[1].len()])?;
                Some(Streaming::PixelProduct(size, factors))
            }
        }
    }

    pub(super) fn load(self, gpu: &Gpu, rule: &FilterRule) -> Result<Box<dyn Launches>> {
        let dense = |weights: &Weights<f32>| -> Result<_> { Ok(table([(0, &weights.row_after_row()?)])) };
        let product = |[column, row]: &Factors| table([(0, column), (ROW, row)]);
        Ok(match self {
            Streaming::Floats(size, weights) => launches(gpu, rule, size.load(gpu, dense(&weights)?)?)?,
            Streaming::Pixels(size, weights) => launches(gpu, rule, size.load(gpu, dense(&weights)?)?)?,
            Streaming::PixelProduct(size, factors) => launches(gpu, rule, size.load(gpu, product(&factors))?)?,
        })
    }
}

fn launches(gpu: &Gpu, rule: &FilterRule, kernel: impl Banded + 'static) -> Result<Box<dyn Launches>> {
    Ok(Box::new(BandLaunches::new(gpu, *rule, kernel)?))
}

/// Returns a table with numbers from some places on.
pub(super) fn table<const N: usize, const PARTS: usize>(parts: [(usize, &[f32]); PARTS]) -> Table<f32, N> {
    let mut table = Table([0.0; N]);
    for (place, numbers) in parts {
        table.0[place..place + numbers.len()].copy_from_slice(numbers);
    }
    table
}

/// A kernel for a size of weights.
struct Compiled<F: Types> {
    loaded: Loaded<F>,
    /// Rows and columns of the weights.
    taps: usize,
    channels: usize,
    table: Box<Table<F::Weight, TABLE>>,
}

impl<F: Streamed<Sample: Erase, Weight = f32, Output: Erase>> Banded for Compiled<F> {
    type Pixels<'l> = Typed<'l, F>;

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

    fn bands(&self, problem: &Filter2dProblem, resident: u64) -> Bands {
        let is_three = self.taps == 3 && size_of::<F::Sample>() > 1;
        let spare = if is_three { tuning().spare_for_waves } else { 0 };
        Bands::streaming::<F>(problem, self.taps, [resident, spare])
    }

    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, picture: BandArgs<Typed<'_, F>>) -> Result<()> {
        self.loaded.launch(windows, shape, StreamingArgs { picture, weights: *self.table }, &())
    }
}
