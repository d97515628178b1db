//! The kernels for each type and number of points.

use crate::cpu::allocation;
use crate::device::info::SharedMemory;
use crate::device::kernel::Launch;
use crate::filter1d::time::{F32_POINTS, F32_POINTS_OF_PARTS, F64_POINTS, F64_POINTS_OF_PARTS};
use crate::{Device, Result};
use cuda_std::Entry;
use slm_kernels::filter1d::fft::{FftArgs, FftGeometry, Points, Real, Transformed, frequencies};
use slm_kernels::filter1d::{filter1d_fft, filter1d_fft_parts};

/// A kernel that filters by Fourier transforms, and what depends on its number of points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FftKernel<T: Real> {
    pub(super) name: &'static str,
    pub(super) points: usize,
    /// Time per point on a GPU, in picoseconds, if memory is not waited for.
    pub(super) time: f64,
    /// Maximum number of taps of a part. Kernels for taps in one part have as many outputs per segment then.
    most_taps: usize,
    geometry: fn(usize, usize) -> FftGeometry,
    frequencies: fn() -> Result<Vec<usize>>,
    load: fn(&Device) -> Result<Loaded<T>>,
}

/// A kernel on a device.
pub(super) type Loaded<T> = Box<dyn for<'l> Launch<FftArgs<'l, T>>>;

/// Types with such kernels.
pub(crate) trait FftKernels: Real {
    /// Kernels for taps in one part, in the order of their points.
    const WHOLE: &'static [FftKernel<Self>];
    /// The kernel for taps in several parts.
    const PARTS: FftKernel<Self>;

    /// Returns the kernels that can filter with this number of taps, with their geometries.
    fn candidates(taps: usize, shared: SharedMemory) -> impl Iterator<Item = (FftKernel<Self>, FftGeometry)> {
        let fits = move |kernel: &&FftKernel<Self>| kernel.geometry(taps).shared_bytes <= shared.max_per_block;
        let whole = move || Self::WHOLE.iter().filter(move |kernel| kernel.has_room(taps)).filter(fits);
        // Several parts take longer, and are for more taps.
        let parts = whole().next().is_none().then_some(&Self::PARTS).filter(fits);
        whole().chain(parts).map(move |kernel| (*kernel, kernel.geometry(taps)))
    }
}

impl<T: Real> FftKernel<T> {
    const fn new<F: Transformed<Real = T>, E: for<'l> Entry<Args<'l> = FftArgs<'l, T>, Constants = ()>>(
        time: f64,
    ) -> Self {
        FftKernel {
            name: E::NAME,
            points: F::POINTS,
            time,
            most_taps: F::POINTS / 2 + 1,
            geometry: FftGeometry::new::<F>,
            frequencies: || allocation::collected(frequencies::<F>()),
            load: |device| Ok(Box::new(device.own_kernel::<E>()?)),
        }
    }

    /// Returns whether all taps fit into one part.
    fn has_room(&self, taps: usize) -> bool {
        taps <= self.most_taps
    }

    pub(super) fn geometry(&self, taps: usize) -> FftGeometry {
        (self.geometry)(taps, self.most_taps)
    }

    /// Returns the frequencies of a spectrum's numbers, in the order in which the kernel reads them.
    pub(super) fn frequencies(&self) -> Result<Vec<usize>> {
        (self.frequencies)()
    }

    pub(super) fn load(&self, device: &Device) -> Result<Loaded<T>> {
        (self.load)(device)
    }
}

impl FftKernels for f32 {
    const WHOLE: &'static [FftKernel<f32>] = &[
        FftKernel::new::<Points<f32, 1024>, filter1d_fft<Points<f32, 1024>>>(F32_POINTS[0]),
        FftKernel::new::<Points<f32, 2048>, filter1d_fft<Points<f32, 2048>>>(F32_POINTS[1]),
        FftKernel::new::<Points<f32, 4096>, filter1d_fft<Points<f32, 4096>>>(F32_POINTS[2]),
        FftKernel::new::<Points<f32, 8192>, filter1d_fft<Points<f32, 8192>>>(F32_POINTS[3]),
    ];
    const PARTS: FftKernel<f32> =
        FftKernel::new::<Points<f32, 4096>, filter1d_fft_parts<Points<f32, 4096>>>(F32_POINTS_OF_PARTS);
}

impl FftKernels for f64 {
    const WHOLE: &'static [FftKernel<f64>] = &[
        FftKernel::new::<Points<f64, 1024>, filter1d_fft<Points<f64, 1024>>>(F64_POINTS[0]),
        FftKernel::new::<Points<f64, 2048>, filter1d_fft<Points<f64, 2048>>>(F64_POINTS[1]),
        FftKernel::new::<Points<f64, 4096>, filter1d_fft<Points<f64, 4096>>>(F64_POINTS[2]),
    ];
    const PARTS: FftKernel<f64> =
        FftKernel::new::<Points<f64, 2048>, filter1d_fft_parts<Points<f64, 2048>>>(F64_POINTS_OF_PARTS);
}
