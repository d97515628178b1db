//! Which entry points count by which rule.

use super::{Bins, HistogramElement, Rule};
use crate::kernel::Launch;
use crate::{Device, Element, Result, allocation, modules};
use cuda_std::image::Module;
use cuda_std::{Argument, Entry, GlobalIn};
use slm_kernels::histogram::{
    self as kernels, Args, BYTE_VALUES, Binning, Bytes, EdgeSlice, Edges, Even, Grid, Halfway, Kernel, Lattice,
    LowBits, Ratio, Scale, WeightedArgs,
};
use std::fmt;
use std::marker::PhantomData;

/// The kernels of an element type, for each kind of bins.
pub trait HistogramKernels: Sized {
    /// For bins of equal width, by [`Countable::Scale`].
    type Even: Entries<Sample = Self>;
    /// The same by [`Countable::RoundedScale`].
    type Rounded: Entries<Sample = Self>;
    /// For bins between edges.
    type Edges: Entries<Sample = Self>;
    /// For low bits; of types that have none, kernels that are never used.
    type LowBits: Entries<Sample = Self>;
}

/// The kernels for a kind of bins.
pub trait Entries: Sized + Send + Sync + 'static {
    /// What is counted.
    type Sample: HistogramElement;
    /// What tells the kernels about the bins.
    type Binning: Binning<Sample = Self::Sample> + Argument;
    /// The elements of the table that comes with it.
    type Table: Element;
    /// Sums of weights.
    type Weigh: Entry<Args = WeightedArgs<Self::Binning>, Constants = ()>;

    /// The module with all of these kernels.
    const MODULE: &'static Module;

    /// The entry point of a kernel that counts.
    #[must_use]
    fn counter(kernel: Kernel) -> EntryPoint<Self>;

    /// The keys of a channel.
    #[must_use]
    fn keys(rule: &Rule<Self::Sample>) -> usize {
        rule.cells()
    }

    /// The table.
    fn table(rule: &Rule<Self::Sample>) -> Result<Vec<Self::Table>>;

    /// The bins, with their table on the device.
    fn binning(rule: &Rule<Self::Sample>, table: GlobalIn<Self::Table>) -> Self::Binning;
}

/// The kernels for bins of equal width, by a scale.
#[derive(Debug)]
pub struct EvenEntries<T, S>(PhantomData<fn(T, S)>);

/// The kernels for bins between edges.
#[derive(Debug)]
pub struct EdgesEntries<T>(PhantomData<fn(T)>);

/// The kernels for low bits.
#[derive(Debug)]
pub struct LowBitsEntries;

/// The kernels for bytes, whatever their bins are.
#[derive(Debug)]
pub struct BytesEntries;

/// A kernel that counts, on a device.
pub(super) type Counter<B> = Box<dyn Launch<Args<B>>>;

/// A kernel that counts.
pub struct EntryPoint<E: Entries> {
    pub(super) name: &'static str,
    load: fn(&Device) -> Result<Counter<E::Binning>>,
}

impl<E: Entries> EntryPoint<E> {
    fn new<K: Entry<Args = Args<E::Binning>, Constants = ()>>() -> Self {
        EntryPoint { name: K::NAME, load: |device| Ok(Box::new(device.kernel::<K>(E::MODULE)?)) }
    }

    /// The kernel on a device.
    pub(super) fn load(&self, device: &Device) -> Result<Counter<E::Binning>> {
        (self.load)(device)
    }
}

impl<E: Entries> fmt::Debug for EntryPoint<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The entry points of an [`Entries`].
macro_rules! entries {
    ($module:ident: $critical:ident $global:ident $cached:ident $shared:ident $private:ident $weigh:ident) => {
        const MODULE: &'static Module = &modules::$module;
        type Weigh = kernels::$weigh;

        fn counter(kernel: Kernel) -> EntryPoint<Self> {
            match kernel {
                // A critical section for each sample.
                Kernel::Critical => EntryPoint::new::<kernels::$critical>(),
                // Atomic additions in global memory.
                Kernel::Global => EntryPoint::new::<kernels::$global>(),
                // The same, and in shared memory for frequent keys.
                Kernel::Cached => EntryPoint::new::<kernels::$cached>(),
                // Counters of each thread's own.
                Kernel::Private => EntryPoint::new::<kernels::$private>(),
                // Atomic additions in shared memory.
                Kernel::Shared { .. } => EntryPoint::new::<kernels::$shared>(),
            }
        }
    };
}

macro_rules! even {
    ($($t:ty, $scale:ty: $module:ident $($entry:ident)*;)*) => {$(
        impl Entries for EvenEntries<$t, $scale> {
            type Sample = $t;
            type Binning = Even<$t, $scale>;
            type Table = $t;
            entries!($module: $($entry)*);

            fn table(_: &Rule<$t>) -> Result<Vec<$t>> {
                Ok(Vec::new())
            }

            fn binning(rule: &Rule<$t>, _: GlobalIn<$t>) -> Even<$t, $scale> {
                even(rule).expect("these kernels were chosen because they have a scale")
            }
        }
    )*};
}
even! {
    u16, Ratio: HISTOGRAM_U16 histogram_even_critical_u16 histogram_even_global_u16 histogram_even_cached_u16
        histogram_even_shared_u16 histogram_even_private_u16 histogram_even_weigh_u16;
    u32, Ratio: HISTOGRAM_U32 histogram_even_critical_u32 histogram_even_global_u32 histogram_even_cached_u32
        histogram_even_shared_u32 histogram_even_private_u32 histogram_even_weigh_u32;
    i32, Ratio: HISTOGRAM_I32 histogram_even_critical_i32 histogram_even_global_i32 histogram_even_cached_i32
        histogram_even_shared_i32 histogram_even_private_i32 histogram_even_weigh_i32;
    f32, Lattice<f32>: HISTOGRAM_F32 histogram_even_critical_f32 histogram_even_global_f32 histogram_even_cached_f32
        histogram_even_shared_f32 histogram_even_private_f32 histogram_even_weigh_f32;
    f32, Halfway: HISTOGRAM_ROUNDED_F32 histogram_rounded_critical_f32 histogram_rounded_global_f32 histogram_rounded_cached_f32
        histogram_rounded_shared_f32 histogram_rounded_private_f32 histogram_rounded_weigh_f32;
    f64, Lattice<f64>: HISTOGRAM_F64 histogram_even_critical_f64 histogram_even_global_f64 histogram_even_cached_f64
        histogram_even_shared_f64 histogram_even_private_f64 histogram_even_weigh_f64;
    f64, Grid: HISTOGRAM_ROUNDED_F64 histogram_rounded_critical_f64 histogram_rounded_global_f64 histogram_rounded_cached_f64
        histogram_rounded_shared_f64 histogram_rounded_private_f64 histogram_rounded_weigh_f64;
}

macro_rules! edges {
    ($($t:ty: $module:ident $($entry:ident)*;)*) => {$(
        impl Entries for EdgesEntries<$t> {
            type Sample = $t;
            type Binning = Edges<$t>;
            type Table = $t;
            entries!($module: $($entry)*);

            fn table(rule: &Rule<$t>) -> Result<Vec<$t>> {
                allocation::copied(edges(rule))
            }

            fn binning(rule: &Rule<$t>, table: GlobalIn<$t>) -> Edges<$t> {
                EdgeSlice::new(edges(rule), rule.closed).on_device(table)
            }
        }
    )*};
}
edges! {
    u16: HISTOGRAM_U16 histogram_edges_critical_u16 histogram_edges_global_u16 histogram_edges_cached_u16
        histogram_edges_shared_u16 histogram_edges_private_u16 histogram_edges_weigh_u16;
    u32: HISTOGRAM_U32 histogram_edges_critical_u32 histogram_edges_global_u32 histogram_edges_cached_u32
        histogram_edges_shared_u32 histogram_edges_private_u32 histogram_edges_weigh_u32;
    i32: HISTOGRAM_I32 histogram_edges_critical_i32 histogram_edges_global_i32 histogram_edges_cached_i32
        histogram_edges_shared_i32 histogram_edges_private_i32 histogram_edges_weigh_i32;
    f32: HISTOGRAM_F32 histogram_edges_critical_f32 histogram_edges_global_f32 histogram_edges_cached_f32
        histogram_edges_shared_f32 histogram_edges_private_f32 histogram_edges_weigh_f32;
    f64: HISTOGRAM_F64 histogram_edges_critical_f64 histogram_edges_global_f64 histogram_edges_cached_f64
        histogram_edges_shared_f64 histogram_edges_private_f64 histogram_edges_weigh_f64;
}

impl Entries for LowBitsEntries {
    type Sample = u16;
    type Binning = LowBits;
    type Table = u16;
    entries!(HISTOGRAM_U16: histogram_low_bits_critical_u16 histogram_low_bits_global_u16 histogram_low_bits_cached_u16 histogram_low_bits_shared_u16
        histogram_low_bits_private_u16 histogram_low_bits_weigh_u16);

    fn table(_: &Rule<u16>) -> Result<Vec<u16>> {
        Ok(Vec::new())
    }

    fn binning(rule: &Rule<u16>, _: GlobalIn<u16>) -> LowBits {
        // `Rule::check` has compared the bits with 16.
        LowBits { mask: (rule.bins() - 1) as u16 }
    }
}

impl Entries for BytesEntries {
    type Sample = u8;
    type Binning = Bytes;
    type Table = u32;
    entries!(HISTOGRAM_U8: histogram_critical_u8 histogram_global_u8 histogram_cached_u8 histogram_shared_u8 histogram_private_u8 histogram_weigh_u8);

    fn keys(_: &Rule<u8>) -> usize {
        BYTE_VALUES as usize
    }

    fn table(rule: &Rule<u8>) -> Result<Vec<u32>> {
        let mut cells = allocation::reserved(BYTE_VALUES as usize)?;
        match &rule.bins {
            Bins::Edges(_) => cells.extend((0..=u8::MAX).map(|v| EdgeSlice::new(edges(rule), rule.closed).key(v))),
            _ => {
                let even: Even<u8, Ratio> = even(rule).expect("there is one for all bytes");
                cells.extend((0..=u8::MAX).map(|value| even.key(value)));
            }
        }
        Ok(cells)
    }

    fn binning(_: &Rule<u8>, table: GlobalIn<u32>) -> Bytes {
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
/// The same kernels for all even bins; there are no low bits.
macro_rules! whole {
    ($($t:ty)*) => {$(
        kernels! { $t: EvenEntries<$t, Ratio>, EvenEntries<$t, Ratio>, EdgesEntries<$t>, EvenEntries<$t, Ratio>; }
    )*};
}
whole!(u32 i32);
kernels! {
    u8: BytesEntries, BytesEntries, BytesEntries, BytesEntries;
    u16: EvenEntries<u16, Ratio>, EvenEntries<u16, Ratio>, EdgesEntries<u16>, LowBitsEntries;
    f32: EvenEntries<f32, Lattice<f32>>, EvenEntries<f32, Halfway>, EdgesEntries<f32>, EdgesEntries<f32>;
    f64: EvenEntries<f64, Lattice<f64>>, EvenEntries<f64, Grid>, EdgesEntries<f64>, EdgesEntries<f64>;
}

/// The bins of a rule with bins of equal width, if there is this scale for them.
pub(super) fn even<T: HistogramElement, S: Scale<T>>(rule: &Rule<T>) -> Option<Even<T, S>> {
    match &rule.bins {
        // `Rule::check` has compared the bins with 2^24.
        &Bins::Even { bins, lower, upper } => Even::new(bins as u32, lower, upper, rule.closed),
        _ => unreachable!("kernels for bins of equal width count by no other rule"),
    }
}

/// The edges of a rule that has some.
fn edges<T>(rule: &Rule<T>) -> &[T] {
    match &rule.bins {
        Bins::Edges(edges) => edges,
        _ => unreachable!("kernels for edges count by no other rule"),
    }
}
