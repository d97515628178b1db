//! The kernel for equal weights and pixels of four bytes: running sums.

use super::Launches;
use super::banded::{BandLaunches, Banded};
use super::pixels::inverse;
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::filter2d::any_weights::AnyWeights;
use crate::filter2d::rule::FilterRule;
use crate::{LaunchShape, Residency, Result, Windows};
use slm_kernels::filter2d::{
    BandArgs, Bands, Bytes, EqualWeight, Filter2dProblem, Inverse, MOST_COLUMNS, MOST_ROWS, MOST_SAMPLES, RunningArgs,
    Scale, Typed, filter2d_running,
};
use slm_kernels::signal::Kind;

/// The instance of the kernel for a filter.
#[derive(Clone, Copy, Debug)]
pub(in crate::filter::two_d) enum RunningKernel {
    /// Sums have a weight.
    Weighted(EqualWeight),
    /// Sums are divided.
    Mean(f64),
}

impl RunningKernel {
    /// Returns the instance for equal weights, if there is one for the types and the size.
    pub(in crate::filter::two_d) fn new(weights: &AnyWeights, rule: &FilterRule) -> Option<Self> {
        let AnyWeights::F32(numbers) = weights else { return None };
        let [rows, _] = weights.shape();
        let kernel = match rule.divisor {
            Some(divisor) if is_product(divisor) => RunningKernel::Weighted(EqualWeight::new(1.0 / divisor as f32)?),
            Some(divisor) => RunningKernel::Mean(divisor),
            None => RunningKernel::Weighted(EqualWeight::new(numbers.first())?),
        };
        (rows <= Self::most_rows(weights, rule)).then_some(kernel)
    }

    /// Returns the maximum number of rows of a window with as many columns as these weights: 0 if there is no instance.
    pub(in crate::filter::two_d) fn most_rows(weights: &AnyWeights, rule: &FilterRule) -> usize {
        let [_, columns] = weights.shape();
        let has_kernel = matches!(weights, AnyWeights::F32(_)) && rule.has_pixels(Kind::U8, 4);
        let [rows, samples, most_columns] = [MOST_ROWS, MOST_SAMPLES, MOST_COLUMNS].map(|most| most as usize);
        if has_kernel && columns <= most_columns { rows.min(samples / columns) } else { 0 }
    }

    pub(super) fn load(self, gpu: &Gpu, rule: &FilterRule) -> Result<Box<dyn Launches>> {
        match self {
            RunningKernel::Weighted(scale) => {
                let loaded = Box::new(gpu.own_kernel::<filter2d_running<EqualWeight>>()?);
                launches(gpu, rule, Running { loaded, scale })
            }
            RunningKernel::Mean(divisor) => {
                let loaded = Box::new(gpu.own_kernel::<filter2d_running<Inverse<f32>>>()?);
                launches(gpu, rule, Running { loaded, scale: inverse(divisor) })
            }
        }
    }
}

/// Returns whether means of bytes become the same integers if sums are multiplied by the rounded inverse. An odd number of samples has no
/// mean in the middle between two integers, so the distance to the middle is at least half of the inverse. Two roundings change a
/// mean of at most 255 by less than `2^-15`.
fn is_product(divisor: f64) -> bool {
    divisor % 2.0 == 1.0 && divisor <= f64::from(1 << 14)
}

fn launches<S: Scale>(gpu: &Gpu, rule: &FilterRule, running: Running<S>) -> Result<Box<dyn Launches>> {
    Ok(Box::new(BandLaunches::new(gpu, *rule, running)?))
}

/// The kernel, and what becomes of sums.
struct Running<S: Scale> {
    loaded: Box<dyn for<'l> Launch<RunningArgs<'l, S>>>,
    scale: S,
}

impl<S: Scale> Banded for Running<S> {
    type Pixels<'l> = Typed<'l, Bytes>;

    fn name(&self) -> &'static str {
        self.loaded.name()
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.loaded.residency(shape)
    }

    fn block(&self) -> LaunchShape {
        let [x, y] = Bands::RUNNING;
        LaunchShape::new([1; 3], [x, y, 1]).shared_bytes(Bands::running_bytes(Bands::TYPICAL, 1))
    }

    fn bands(&self, problem: &Filter2dProblem, resident: u64) -> Bands {
        Bands::running(problem, resident)
    }

    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, picture: BandArgs<Typed<'_, Bytes>>) -> Result<()> {
        self.loaded.launch(windows, shape, RunningArgs { picture, scale: self.scale }, &())
    }
}
