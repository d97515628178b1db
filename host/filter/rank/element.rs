//! Types of samples.

use crate::FilterSample;
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::{Element, Result};
use cuda_std::Entry;
use slm_kernels::rank2d::{
    Args, RankKernel, Ranked, rank2d_extreme, rank2d_global, rank2d_median3, rank2d_median5, rank2d_median7,
    rank2d_tile,
};
use std::fmt::Debug;

/// A type of samples of rank filters: `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of these traits in their generic code")]
pub trait RankElement: FilterSample + Sortable {}

/// A loaded kernel.
pub(super) type Loaded<T> = Box<dyn for<'l> Launch<Args<'l, T>>>;

/// What sorting needs of a type.
pub(crate) trait Sortable: Element + Ranked {
    /// The key in as many bits as a sample.
    type Narrow: Copy + Ord + Default + Debug + Send + Sync + 'static;

    /// Number of keys that are counted in a histogram, if they are few.
    const BINS: Option<usize>;

    fn narrow(key: Self::Key) -> Self::Narrow;

    fn widen(key: Self::Narrow) -> Self::Key;

    /// Returns the number of the bin of a key, which is meaningful if there are bins.
    fn bin(key: Self::Narrow) -> usize;

    /// Returns the key of a bin.
    fn of_bin(bin: usize) -> Self::Narrow;

    /// Returns the name of a kernel.
    fn kernel_name(kernel: RankKernel) -> &'static str;

    fn load(gpu: &Gpu, kernel: RankKernel) -> Result<Loaded<Self>>;
}

macro_rules! elements {
    ($($t:ident: $narrow:ident, $bins:expr;)*) => {$(
        impl RankElement for $t {}
        impl Sortable for $t {
            type Narrow = $narrow;

            const BINS: Option<usize> = $bins;

            #[inline(always)]
            fn narrow(key: Self::Key) -> $narrow {
                key as $narrow
            }

            #[inline(always)]
            fn widen(key: $narrow) -> Self::Key {
                key.into()
            }

            #[inline(always)]
            fn bin(key: $narrow) -> usize {
                key as usize
            }

            #[inline(always)]
            fn of_bin(bin: usize) -> $narrow {
                bin as $narrow
            }

            fn kernel_name(kernel: RankKernel) -> &'static str {
                match kernel {
                    RankKernel::Global => rank2d_global::<$t>::NAME,
                    RankKernel::Tile => rank2d_tile::<$t>::NAME,
                    RankKernel::Extreme => rank2d_extreme::<$t>::NAME,
                    RankKernel::Median3 => rank2d_median3::<$t>::NAME,
                    RankKernel::Median5 => rank2d_median5::<$t>::NAME,
                    RankKernel::Median7 => rank2d_median7::<$t>::NAME,
                }
            }

            fn load(gpu: &Gpu, kernel: RankKernel) -> Result<Loaded<$t>> {
                Ok(match kernel {
                    RankKernel::Global => Box::new(gpu.own_kernel::<rank2d_global<$t>>()?),
                    RankKernel::Tile => Box::new(gpu.own_kernel::<rank2d_tile<$t>>()?),
                    RankKernel::Extreme => Box::new(gpu.own_kernel::<rank2d_extreme<$t>>()?),
                    RankKernel::Median3 => Box::new(gpu.own_kernel::<rank2d_median3<$t>>()?),
                    RankKernel::Median5 => Box::new(gpu.own_kernel::<rank2d_median5<$t>>()?),
                    RankKernel::Median7 => Box::new(gpu.own_kernel::<rank2d_median7<$t>>()?),
                })
            }
        }
    )*};
}
elements! {
    u8: u8, Some(1 << 8);
    u16: u16, Some(1 << 16);
    i16: u16, Some(1 << 16);
    i32: u32, None;
    f32: u32, None;
    f64: u64, None;
}
