//! Types of samples.

use super::cpu::{CpuRank, Number};
use crate::FilterSample;
use crate::cpu::vector::vectorised;
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::filter::two_d::window::PictureProblem;
use crate::{Element, PointwiseElement, Result};
use cuda_std::Entry;
use slm_kernels::rank2d::{
    Args, PassArgs, PassKernel, RankKernel, Ranked, rank2d_along, rank2d_any_extreme, rank2d_any_extreme_global,
    rank2d_down, rank2d_extreme, rank2d_global, rank2d_large_network, rank2d_median3, rank2d_median5, rank2d_median7,
    rank2d_network, rank2d_run_extreme, rank2d_small_extreme, rank2d_sorted, rank2d_tile,
};
use std::fmt::Debug;

/// A type of samples of rank filters: `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of these traits in their generic code")]
pub trait RankElement: PointwiseElement + FilterSample + Sortable {}

/// A loaded kernel.
pub(super) type Loaded<T> = Box<dyn for<'l> Launch<Args<'l, T>>>;

/// A loaded kernel of one axis.
pub(super) type LoadedPass<T> = Box<dyn for<'l> Launch<PassArgs<'l, T>>>;

/// What sorting needs of a type.
pub(in crate::filter) trait Sortable: Element + Ranked + Number {
    /// The key in as many bits as a sample.
    type Narrow: Number + Ord + Debug;

    /// Number of keys that are counted in a histogram, if they are few.
    const BINS: Option<usize>;

    /// The number that none exceeds.
    const GREATEST: Self;

    /// The number that none is less than.
    const LEAST: Self;

    fn narrow(key: Self::Key) -> Self::Narrow;

    fn widen(key: Self::Narrow) -> Self::Key;

    /// Returns the number of the bin of a key, which is meaningful if there are bins.
    fn bin(key: Self::Narrow) -> usize;

    /// Returns the key of a bin.
    fn of_bin(bin: usize) -> Self::Narrow;

    /// Returns the name of a kernel.
    fn kernel_name(kernel: RankKernel) -> &'static str;

    fn load(gpu: &Gpu, kernel: RankKernel) -> Result<Loaded<Self>>;

    fn load_pass(gpu: &Gpu, kernel: PassKernel) -> Result<LoadedPass<Self>>;

    /// Sets outputs to differences, which saturate for integers.
    fn subtract(outputs: &mut [Self], from: &[Self], others: &[Self]);

    /// Calls [`CpuRank::run`], whose code is then in this crate, and optimised if this crate is.
    fn run_on_cpu(
        filter: &CpuRank<Self>,
        problem: &PictureProblem,
        samples: &[Self],
        outputs: &mut [Self],
    ) -> Result<()>;
}

macro_rules! elements {
    ($($t:ident: $narrow:ident, $bins:expr, $least:ident $greatest:ident;)*) => {$(
        impl RankElement for $t {}
        impl Sortable for $t {
            type Narrow = $narrow;

            const BINS: Option<usize> = $bins;
            const GREATEST: $t = $t::$greatest;
            const LEAST: $t = $t::$least;

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
                    RankKernel::Network => rank2d_network::<$t>::NAME,
                    RankKernel::LargeNetwork => rank2d_large_network::<$t>::NAME,
                    RankKernel::Sorted => rank2d_sorted::<$t>::NAME,
                    RankKernel::Extreme => rank2d_extreme::<$t>::NAME,
                    RankKernel::SmallExtreme => rank2d_small_extreme::<$t>::NAME,
                    RankKernel::RunExtreme => rank2d_run_extreme::<$t>::NAME,
                    RankKernel::AnyExtreme => rank2d_any_extreme::<$t>::NAME,
                    RankKernel::AnyExtremeGlobal => rank2d_any_extreme_global::<$t>::NAME,
                    RankKernel::Median3 => rank2d_median3::<$t>::NAME,
                    RankKernel::Median5 => rank2d_median5::<$t>::NAME,
                    RankKernel::Median7 => rank2d_median7::<$t>::NAME,
                }
            }

            fn load(gpu: &Gpu, kernel: RankKernel) -> Result<Loaded<$t>> {
                Ok(match kernel {
                    RankKernel::Global => Box::new(gpu.own_kernel::<rank2d_global<$t>>()?),
                    RankKernel::Tile => Box::new(gpu.own_kernel::<rank2d_tile<$t>>()?),
                    RankKernel::Network => Box::new(gpu.own_kernel::<rank2d_network<$t>>()?),
                    RankKernel::LargeNetwork => Box::new(gpu.own_kernel::<rank2d_large_network<$t>>()?),
                    RankKernel::Sorted => Box::new(gpu.own_kernel::<rank2d_sorted<$t>>()?),
                    RankKernel::Extreme => Box::new(gpu.own_kernel::<rank2d_extreme<$t>>()?),
                    RankKernel::SmallExtreme => Box::new(gpu.own_kernel::<rank2d_small_extreme<$t>>()?),
                    RankKernel::RunExtreme => Box::new(gpu.own_kernel::<rank2d_run_extreme<$t>>()?),
                    RankKernel::AnyExtreme => Box::new(gpu.own_kernel::<rank2d_any_extreme<$t>>()?),
                    RankKernel::AnyExtremeGlobal => Box::new(gpu.own_kernel::<rank2d_any_extreme_global<$t>>()?),
                    RankKernel::Median3 => Box::new(gpu.own_kernel::<rank2d_median3<$t>>()?),
                    RankKernel::Median5 => Box::new(gpu.own_kernel::<rank2d_median5<$t>>()?),
                    RankKernel::Median7 => Box::new(gpu.own_kernel::<rank2d_median7<$t>>()?),
                })
            }

            fn load_pass(gpu: &Gpu, kernel: PassKernel) -> Result<LoadedPass<$t>> {
                Ok(match kernel {
                    PassKernel::Along => Box::new(gpu.own_kernel::<rank2d_along<$t>>()?),
                    PassKernel::Down => Box::new(gpu.own_kernel::<rank2d_down<$t>>()?),
                })
            }

            fn subtract(outputs: &mut [$t], from: &[$t], others: &[$t]) {
                vectorised!({
                    for ((output, x), y) in outputs.iter_mut().zip(from).zip(others) {
                        *output = x.lowered(*y);
                    }
                });
            }

            fn run_on_cpu(
                filter: &CpuRank<$t>,
                problem: &PictureProblem,
                samples: &[$t],
                outputs: &mut [$t],
            ) -> Result<()> {
                filter.run(problem, samples, outputs)
            }
        }
    )*};
}
elements! {
    u8: u8, Some(1 << 8), MIN MAX;
    u16: u16, Some(1 << 16), MIN MAX;
    i16: u16, Some(1 << 16), MIN MAX;
    i32: u32, None, MIN MAX;
    f32: u32, None, NEG_INFINITY INFINITY;
    f64: u64, None, NEG_INFINITY INFINITY;
}
