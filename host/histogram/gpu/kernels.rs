//! The kernels for each kind of bins.

use crate::Result;
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::histogram::choose::CountingKernel;
use cuda_std::Entry;
use slm_kernels::histogram::{Args, BinningArgument, PeakArgs, WeighArgs, WeighOnceArgs};

/// A loaded kernel that counts.
pub(super) type CountLaunch<B> = dyn for<'l> Launch<Args<'l, <B as BinningArgument>::At<'l>>>;

/// A loaded kernel that finds the largest magnitudes of weights.
pub(super) type PeakLaunch<B> = dyn for<'l> Launch<PeakArgs<'l, <B as BinningArgument>::At<'l>>>;

/// A loaded kernel that adds up weights.
pub(super) type WeighLaunch<B> = dyn for<'l> Launch<WeighArgs<'l, <B as BinningArgument>::At<'l>>>;

/// A loaded kernel that adds up weights in one pass.
pub(super) type WeighOnceLaunch<B> = dyn for<'l> Launch<WeighOnceArgs<'l, <B as BinningArgument>::At<'l>>>;

/// A kernel that is loaded as an `L`.
pub(super) struct Loadable<L: ?Sized> {
    pub(super) name: &'static str,
    loader: fn(&Gpu) -> Result<Box<L>>,
}

impl<L: ?Sized> Loadable<L> {
    /// Returns the kernel on a device.
    pub(super) fn load(&self, gpu: &Gpu) -> Result<Box<L>> {
        (self.loader)(gpu)
    }
}

/// The kernels that take these bins.
pub(super) struct BinKernels<B: BinningArgument> {
    pub(super) shared: Loadable<CountLaunch<B>>,
    pub(super) alone: Option<Loadable<CountLaunch<B>>>,
    pub(super) guided: Option<Loadable<CountLaunch<B>>>,
    pub(super) cached: Loadable<CountLaunch<B>>,
    pub(super) compared: Option<ComparedKernels<B>>,
    pub(super) peaks: Loadable<PeakLaunch<B>>,
    pub(super) weigh: Loadable<WeighLaunch<B>>,
    pub(super) weigh_once: Loadable<WeighOnceLaunch<B>>,
}

/// Kernels for comparison, which only some bins have.
pub(super) struct ComparedKernels<B: BinningArgument> {
    pub(super) critical: Loadable<CountLaunch<B>>,
    pub(super) global: Loadable<CountLaunch<B>>,
    pub(super) private: Loadable<CountLaunch<B>>,
}

impl<B: BinningArgument> BinKernels<B> {
    /// Returns a kernel that counts, or `None` if these bins do not have it.
    pub(super) fn counting(&self, kernel: CountingKernel) -> Option<&Loadable<CountLaunch<B>>> {
        let compared = self.compared.as_ref();
        match kernel {
            CountingKernel::Critical => compared.map(|kernels| &kernels.critical),
            CountingKernel::Global => compared.map(|kernels| &kernels.global),
            CountingKernel::Private => compared.map(|kernels| &kernels.private),
            CountingKernel::Cached => Some(&self.cached),
            CountingKernel::Shared => Some(&self.shared),
            CountingKernel::Alone => self.alone.as_ref(),
            CountingKernel::Guided => self.guided.as_ref(),
        }
    }
}

/// Returns a kernel that counts.
pub(super) fn count<B, K>() -> Loadable<CountLaunch<B>>
where
    B: BinningArgument,
    K: for<'l> Entry<Args<'l> = Args<'l, B::At<'l>>, Constants = ()>,
{
    Loadable { name: K::NAME, loader: |gpu| Ok(Box::new(gpu.own_kernel::<K>()?)) }
}

/// Returns a kernel that finds the largest magnitudes of weights.
pub(super) fn peaks<B, K>() -> Loadable<PeakLaunch<B>>
where
    B: BinningArgument,
    K: for<'l> Entry<Args<'l> = PeakArgs<'l, B::At<'l>>, Constants = ()>,
{
    Loadable { name: K::NAME, loader: |gpu| Ok(Box::new(gpu.own_kernel::<K>()?)) }
}

/// Returns a kernel that adds up weights.
pub(super) fn weigh<B, K>() -> Loadable<WeighLaunch<B>>
where
    B: BinningArgument,
    K: for<'l> Entry<Args<'l> = WeighArgs<'l, B::At<'l>>, Constants = ()>,
{
    Loadable { name: K::NAME, loader: |gpu| Ok(Box::new(gpu.own_kernel::<K>()?)) }
}

/// Returns a kernel that adds up weights in one pass.
pub(super) fn weigh_once<B, K>() -> Loadable<WeighOnceLaunch<B>>
where
    B: BinningArgument,
    K: for<'l> Entry<Args<'l> = WeighOnceArgs<'l, B::At<'l>>, Constants = ()>,
{
    Loadable { name: K::NAME, loader: |gpu| Ok(Box::new(gpu.own_kernel::<K>()?)) }
}

/// Returns the [`BinKernels`] of an argument: of `searched` bins, or of computed ones, with those for comparison if they are `compared`.
/// A macro, because the entry points of all arguments implement a trait, but not generically. It needs this module, and
/// `slm_kernels::histogram` as `entries`.
macro_rules! kernels {
    ($bins:ty) => {
        kernels::kernels!(
            $bins,
            histogram_shared,
            [Some(kernels::count::<$bins, entries::histogram_alone<$bins>>()), None]
        )
    };
    ($bins:ty, searched) => {
        kernels::kernels!(
            $bins,
            histogram_searched,
            [None, Some(kernels::count::<$bins, entries::histogram_guided<$bins>>())]
        )
    };
    ($bins:ty, compared) => {
        kernels::BinKernels::<$bins> {
            compared: Some(kernels::ComparedKernels::<$bins> {
                critical: kernels::count::<$bins, entries::histogram_critical<$bins>>(),
                global: kernels::count::<$bins, entries::histogram_global<$bins>>(),
                private: kernels::count::<$bins, entries::histogram_private<$bins>>(),
            }),
            ..kernels::kernels!($bins)
        }
    };
    ($bins:ty, $shared:ident, [$alone:expr, $guided:expr]) => {
        kernels::BinKernels::<$bins> {
            shared: kernels::count::<$bins, entries::$shared<$bins>>(),
            alone: $alone,
            guided: $guided,
            cached: kernels::count::<$bins, entries::histogram_cached<$bins>>(),
            peaks: kernels::peaks::<$bins, entries::histogram_peaks<$bins>>(),
            weigh: kernels::weigh::<$bins, entries::histogram_weigh<$bins>>(),
            weigh_once: kernels::weigh_once::<$bins, entries::histogram_weigh_once<$bins>>(),
            compared: None,
        }
    };
}
pub(super) use kernels;
