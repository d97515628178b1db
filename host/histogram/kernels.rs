//! The kernels for each kind of bins.

use super::fitted::{Fit, Fitted, FromEnds, SampleBins};
use crate::kernel::Launch;
use crate::{Device, Element, Result, allocation};
use cuda_std::{Entry, GlobalIn};
use slm_kernels::histogram::{
    Args, BYTE_VALUES, Binning, BinningArgument, Bytes, EdgeSlice, Edges, Even, Grid, Halfway, Kernel, Lattice,
    LowBits, PeakArgs, Ratio, WeighArgs, histogram_alone, histogram_cached, histogram_critical, histogram_global,
    histogram_peaks, histogram_private, histogram_shared, histogram_weigh,
};
use std::fmt;

/// Arguments of an element type's kernels, for each kind of bins.
pub(super) trait HistogramKernels: Sized {
    /// For bins of equal width, by [`Countable::Scale`](slm_kernels::histogram::Countable::Scale).
    type Even: FromRule<Element = Self>;
    /// For bins of equal width, by [`Countable::RoundedScale`](slm_kernels::histogram::Countable::RoundedScale).
    type Rounded: FromRule<Element = Self>;
    /// For bins between edges.
    type Edges: FromRule<Element = Self>;
    /// For low bits. Other types than `u16` have kernels that are never used.
    type LowBits: FromRule<Element = Self>;
}

/// The kernels with these arguments for bins.
pub(super) trait Entries: BinningArgument + 'static {
    /// Largest magnitudes of weights.
    type Peaks: for<'l> Entry<Args<'l> = PeakArgs<'l, Self::At<'l>>, Constants = ()>;
    /// Sums of weights.
    type Weigh: for<'l> Entry<Args<'l> = WeighArgs<'l, Self::At<'l>>, Constants = ()>;

    /// Returns a kernel that counts.
    #[must_use]
    fn counter(kernel: Kernel) -> EntryPoint<Self>;

    /// Returns [`Kernel::Shared`] for one copy of the counters of one channel, relaxed additions, and one block per
    /// multiprocessor.
    #[must_use]
    fn counter_alone() -> EntryPoint<Self>;
}

impl<B: BinningArgument + 'static> Entries for B
where
    histogram_critical<B>: for<'l> Entry<Args<'l> = Args<'l, B::At<'l>>, Constants = ()>,
    histogram_global<B>: for<'l> Entry<Args<'l> = Args<'l, B::At<'l>>, Constants = ()>,
    histogram_cached<B>: for<'l> Entry<Args<'l> = Args<'l, B::At<'l>>, Constants = ()>,
    histogram_private<B>: for<'l> Entry<Args<'l> = Args<'l, B::At<'l>>, Constants = ()>,
    histogram_shared<B>: for<'l> Entry<Args<'l> = Args<'l, B::At<'l>>, Constants = ()>,
    histogram_alone<B>: for<'l> Entry<Args<'l> = Args<'l, B::At<'l>>, Constants = ()>,
    histogram_peaks<B>: for<'l> Entry<Args<'l> = PeakArgs<'l, B::At<'l>>, Constants = ()>,
    histogram_weigh<B>: for<'l> Entry<Args<'l> = WeighArgs<'l, B::At<'l>>, Constants = ()>,
{
    type Peaks = histogram_peaks<B>;
    type Weigh = histogram_weigh<B>;

    fn counter(kernel: Kernel) -> EntryPoint<B> {
        match kernel {
            Kernel::Critical => EntryPoint::new::<histogram_critical<B>>(),
            Kernel::Global => EntryPoint::new::<histogram_global<B>>(),
            Kernel::Cached => EntryPoint::new::<histogram_cached<B>>(),
            Kernel::Private => EntryPoint::new::<histogram_private<B>>(),
            Kernel::Shared { .. } => EntryPoint::new::<histogram_shared<B>>(),
        }
    }

    fn counter_alone() -> EntryPoint<B> {
        EntryPoint::new::<histogram_alone<B>>()
    }
}

/// Bins in the form that kernels use, made from a rule.
pub(super) trait FromRule: Entries<Sample = <Self as FromRule>::Element> {
    /// Type of the samples.
    type Element: Fit;
    /// Element type of the table on the device.
    type Table: Element;
    /// Whether a sample's key is found by a search.
    const IS_SEARCH: bool = false;

    /// Returns the number of keys per channel.
    #[must_use]
    fn keys(fitted: &Fitted<Self::Element>) -> usize {
        fitted.keys()
    }

    /// Returns the index of the first key among the cells of a channel.
    #[must_use]
    fn first(fitted: &Fitted<Self::Element>) -> usize {
        fitted.first
    }

    /// Returns the table.
    fn table(fitted: &Fitted<Self::Element>) -> Result<Vec<Self::Table>>;

    /// Returns the bins, with their table on the device.
    fn new<'l>(fitted: &Fitted<Self::Element>, table: GlobalIn<'l, Self::Table>) -> Self::At<'l>;
}

/// A kernel that counts, on a device.
pub(super) type Counter<B> = Box<dyn for<'l> Launch<Args<'l, <B as BinningArgument>::At<'l>>>>;

/// Entry point of a kernel that counts.
pub(super) struct EntryPoint<B: Entries> {
    pub(super) name: &'static str,
    load: fn(&Device) -> Result<Counter<B>>,
}

impl<B: Entries> EntryPoint<B> {
    fn new<K: for<'l> Entry<Args<'l> = Args<'l, B::At<'l>>, Constants = ()>>() -> Self {
        EntryPoint { name: K::NAME, load: |device| Ok(Box::new(device.own_kernel::<K>()?)) }
    }

    /// Returns the kernel on a device.
    pub(super) fn load(&self, device: &Device) -> Result<Counter<B>> {
        (self.load)(device)
    }
}

impl<B: Entries> fmt::Debug for EntryPoint<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<T: Fit, S: FromEnds<T>> FromRule for Even<T, S>
where
    Even<T, S>: Entries<Sample = T> + for<'l> BinningArgument<At<'l> = Even<T, S>>,
{
    type Element = T;
    type Table = T;

    fn table(_: &Fitted<T>) -> Result<Vec<T>> {
        Ok(Vec::new())
    }

    fn new<'l>(fitted: &Fitted<T>, _: GlobalIn<'l, T>) -> Self::At<'l> {
        even(fitted).expect("these kernels were chosen because they have a scale")
    }
}

impl<T: Fit> FromRule for Edges<'static, T>
where
    Edges<'static, T>: Entries<Sample = T> + for<'l> BinningArgument<At<'l> = Edges<'l, T>>,
{
    type Element = T;
    type Table = T;
    const IS_SEARCH: bool = true;

    fn table(fitted: &Fitted<T>) -> Result<Vec<T>> {
        allocation::copied(edges(fitted).edges)
    }

    fn new<'l>(fitted: &Fitted<T>, table: GlobalIn<'l, T>) -> Self::At<'l> {
        edges(fitted).on_device(table)
    }
}

impl FromRule for LowBits {
    type Element = u16;
    type Table = u16;

    fn table(_: &Fitted<u16>) -> Result<Vec<u16>> {
        Ok(Vec::new())
    }

    fn new<'l>(fitted: &Fitted<u16>, _: GlobalIn<'l, u16>) -> Self::At<'l> {
        // `Rule::check` has checked the bits against 16.
        LowBits { mask: (fitted.rule.bins() - 1) as u16 }
    }
}

impl FromRule for Bytes<'static> {
    type Element = u8;
    type Table = u32;

    fn keys(_: &Fitted<u8>) -> usize {
        BYTE_VALUES as usize
    }

    /// Returns 0, because the table has indices among all cells of a channel.
    fn first(_: &Fitted<u8>) -> usize {
        0
    }

    fn table(fitted: &Fitted<u8>) -> Result<Vec<u32>> {
        let mut cells = allocation::reserved(BYTE_VALUES as usize)?;
        match &fitted.bins {
            SampleBins::Edges { .. } => cells.extend((0..=u8::MAX).map(|value| edges(fitted).key(value))),
            _ => {
                let even: Even<u8, Ratio> = even(fitted).expect("there is one for all bytes");
                cells.extend((0..=u8::MAX).map(|value| even.key(value)));
            }
        }
        // No overflow: the sum is less than the number of cells, which `Rule::check` has checked against 2^31.
        cells.iter_mut().for_each(|cell| *cell += fitted.first as u32);
        Ok(cells)
    }

    fn new<'l>(_: &Fitted<u8>, table: GlobalIn<'l, u32>) -> Self::At<'l> {
        Bytes { cells: table }
    }
}

macro_rules! kernels {
    ($($t:ty: $even:ty, $rounded:ty, $edges:ty, $low_bits:ty;)*) => {$(
        impl HistogramKernels for $t {
            type Even = $even;
            type Rounded = $rounded;
            type Edges = $edges;
            type LowBits = $low_bits;
        }
    )*};
}
/// Kernels of integers without low bits, whose bins of equal width always have the same scale.
macro_rules! whole {
    ($($t:ty)*) => {$(
        kernels! { $t: Even<$t, Ratio>, Even<$t, Ratio>, Edges<'static, $t>, Even<$t, Ratio>; }
    )*};
}
whole!(u32 i32);
kernels! {
    u8: Bytes<'static>, Bytes<'static>, Bytes<'static>, Bytes<'static>;
    u16: Even<u16, Ratio>, Even<u16, Ratio>, Edges<'static, u16>, LowBits;
    f32: Even<f32, Lattice<f32>>, Even<f32, Halfway>, Edges<'static, f32>, Edges<'static, f32>;
    f64: Even<f64, Lattice<f64>>, Even<f64, Grid>, Edges<'static, f64>, Edges<'static, f64>;
}

/// Returns bins of equal width, or `None` if this scale cannot represent them.
pub(super) fn even<T: Fit, S: FromEnds<T>>(fitted: &Fitted<T>) -> Option<Even<T, S>> {
    match &fitted.bins {
        SampleBins::Even(even) => even.scaled(),
        _ => unreachable!("kernels for bins of equal width count by no other rule"),
    }
}

/// Returns bins between edges.
fn edges<T: Fit>(fitted: &Fitted<T>) -> EdgeSlice<'_, T> {
    match &fitted.bins {
        SampleBins::Edges { edges, last } => EdgeSlice { edges, last: *last },
        _ => unreachable!("kernels for edges count by no other rule"),
    }
}
