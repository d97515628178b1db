//! Bins in the form that kernels take.

use super::kernels::{self, kernels};
use super::launches::{ArgumentSettings, HistogramLaunches, TypedLaunches};
use crate::device::gpu::Gpu;
use crate::histogram::choose::{Choice, CountingKernel};
use crate::histogram::facts::{NoLowBits, SearchedBins};
use crate::{Element, Result};
use cuda_std::GlobalIn;
use slm_kernels::histogram::{
    self as entries, BYTE_VALUES, BinningArgument, Bytes, Countable, Edges, Even, EvenWords, Grid, Halfway, Lattice,
    LowBits, OUTSIDE, Ratio, Scale, WordEdges, WordRange,
};
use std::sync::Arc;

/// Bins of one kind, from which the argument of a kernel is made.
pub(super) trait TypedBins: Send + Sync + 'static {
    /// The bins as an argument.
    type Argument: BinningArgument + 'static;
    /// Element type of the table on the device.
    type Table: Element;

    /// Returns the number of keys per channel.
    fn keys(&self) -> usize;

    /// Returns the table that the kernel reads.
    fn table(&self) -> &[Self::Table];

    /// Returns the argument, with the table on the device.
    fn argument<'l>(&self, table: GlobalIn<'l, Self::Table>) -> <Self::Argument as BinningArgument>::At<'l>;
}

impl<T: Countable + Element, S: Scale<T> + 'static> TypedBins for Even<T, S> {
    type Argument = Self;
    type Table = T;

    fn keys(&self) -> usize {
        (self.bins + OUTSIDE) as usize
    }

    fn table(&self) -> &[T] {
        &[]
    }

    fn argument<'l>(&self, _: GlobalIn<'l, T>) -> Self {
        *self
    }
}

impl<T: Countable + Element> TypedBins for SearchedBins<T> {
    type Argument = Edges<'static, T>;
    type Table = T;

    fn keys(&self) -> usize {
        self.edges.len() - 1 + OUTSIDE as usize
    }

    fn table(&self) -> &[T] {
        &self.edges
    }

    fn argument<'l>(&self, table: GlobalIn<'l, T>) -> Edges<'l, T> {
        self.as_slice().on_device(table)
    }
}

impl TypedBins for LowBits {
    type Argument = Self;
    type Table = u16;

    fn keys(&self) -> usize {
        usize::from(self.mask) + 1 + OUTSIDE as usize
    }

    fn table(&self) -> &[u16] {
        &[]
    }

    fn argument<'l>(&self, _: GlobalIn<'l, u16>) -> Self {
        *self
    }
}

/// Integers of 32 bits between edges.
#[derive(Clone, Debug)]
pub(crate) struct SearchedWords {
    pub(in crate::histogram) range: WordRange,
    /// Distances of the edges.
    pub(in crate::histogram) edges: Arc<Vec<u32>>,
}

impl TypedBins for EvenWords {
    type Argument = Self;
    type Table = u32;

    fn keys(&self) -> usize {
        (self.range.bins + OUTSIDE) as usize
    }

    fn table(&self) -> &[u32] {
        &[]
    }

    fn argument<'l>(&self, _: GlobalIn<'l, u32>) -> Self {
        *self
    }
}

impl TypedBins for SearchedWords {
    type Argument = WordEdges<'static>;
    type Table = u32;

    fn keys(&self) -> usize {
        (self.range.bins + OUTSIDE) as usize
    }

    fn table(&self) -> &[u32] {
        &self.edges
    }

    fn argument<'l>(&self, edges: GlobalIn<'l, u32>) -> WordEdges<'l> {
        WordEdges { range: self.range, edges }
    }
}

/// The cell of each byte.
impl TypedBins for Arc<Vec<u32>> {
    type Argument = Bytes<'static>;
    type Table = u32;

    fn keys(&self) -> usize {
        BYTE_VALUES as usize
    }

    fn table(&self) -> &[u32] {
        self
    }

    fn argument<'l>(&self, cells: GlobalIn<'l, u32>) -> Bytes<'l> {
        Bytes { cells }
    }
}

macro_rules! kernel_bins {
    ($($(#[$doc:meta])* $name:ident($bins:ty) => kernels!($($kernels:tt)*);)*) => {
        /// Bins of any kind that has kernels.
        #[derive(Clone, Debug)]
        pub(crate) enum KernelBins {
            $($(#[$doc])* $name($bins),)*
        }

        impl KernelBins {
            /// Returns the number of keys per channel.
            pub(in crate::histogram) fn keys(&self) -> usize {
                match self {
                    $(KernelBins::$name(bins) => bins.keys(),)*
                }
            }

            /// Returns the name of a kernel that counts, or `None` if these bins do not have it.
            pub(in crate::histogram) fn name_of(&self, kernel: CountingKernel) -> Option<&'static str> {
                match self {
                    $(KernelBins::$name(_) => kernels!($($kernels)*).counting(kernel).map(|kernel| kernel.name),)*
                }
            }
        }

        impl Choice {
            /// Loads the kernel that counts, and uploads the table that it reads.
            pub(super) fn load(&self, gpu: &Gpu, settings: ArgumentSettings) -> Result<Box<dyn HistogramLaunches>> {
                Ok(match &self.bins {
                    $(KernelBins::$name(bins) => {
                        let kernels = kernels!($($kernels)*);
                        let counter = kernels.counting(self.kernel).ok_or_else(|| self.no_kernel())?.load(gpu)?;
                        Box::new(TypedLaunches::new(gpu, bins.clone(), kernels, counter, settings)?)
                    })*
                })
            }
        }
    };
}
kernel_bins! {
    /// Bytes by their value: the cell of each.
    Bytes(Arc<Vec<u32>>) => kernels!(Bytes<'static>, compared);
    LowBits(LowBits) => kernels!(LowBits);
    EvenU16(Even<u16, Ratio>) => kernels!(Even<u16, Ratio>);
    EvenWords(EvenWords) => kernels!(EvenWords, compared);
    EvenF32(Even<f32, Lattice<f32>>) => kernels!(Even<f32, Lattice<f32>>, compared);
    EvenF64(Even<f64, Lattice<f64>>) => kernels!(Even<f64, Lattice<f64>>);
    RoundedF32(Even<f32, Halfway>) => kernels!(Even<f32, Halfway>, compared);
    RoundedF64(Even<f64, Grid>) => kernels!(Even<f64, Grid>);
    SearchedU16(SearchedBins<u16>) => kernels!(Edges<'static, u16>, searched);
    SearchedWords(SearchedWords) => kernels!(WordEdges<'static>, searched);
    SearchedF32(SearchedBins<f32>) => kernels!(Edges<'static, f32>, searched);
    SearchedF64(SearchedBins<f64>) => kernels!(Edges<'static, f64>, searched);
}

impl KernelBins {
    /// Returns the bytes of an edge, if the bin of a sample is searched among edges.
    pub(in crate::histogram) fn edge_bytes(&self) -> Option<u32> {
        use KernelBins::{Bytes, EvenF32, EvenF64, EvenU16, EvenWords, LowBits, RoundedF32, RoundedF64};
        match self {
            KernelBins::SearchedU16(_) => Some(2),
            KernelBins::SearchedWords(_) | KernelBins::SearchedF32(_) => Some(4),
            KernelBins::SearchedF64(_) => Some(8),
            Bytes(_) | LowBits(_) | EvenU16(_) | EvenWords(_) => None,
            EvenF32(_) | EvenF64(_) | RoundedF32(_) | RoundedF64(_) => None,
        }
    }
}

impl From<LowBits> for KernelBins {
    fn from(low_bits: LowBits) -> Self {
        KernelBins::LowBits(low_bits)
    }
}

impl<T> From<NoLowBits<T>> for KernelBins {
    fn from(none: NoLowBits<T>) -> Self {
        match none.0 {}
    }
}
