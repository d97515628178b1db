//! The kernel for equal weights: sums of segments.

use super::Launches;
use super::banded::{BandLaunches, Banded};
use super::pixels::Windowed;
use super::streaming::Floats;
use crate::device::gpu::Gpu;
use crate::device::info::SharedMemory;
use crate::device::kernel::Launch;
use crate::filter2d::any_weights::AnyWeights;
use crate::filter2d::rule::FilterRule;
use crate::{LaunchShape, Residency, Result, Windows};
use slm_kernels::filter2d::{
    Any, BandArgs, Bands, BoxArgs, Bytes, Filter2dProblem, Mean, NoStrips, PixelAccess, Strips, Typed, filter2d_box,
};
use slm_kernels::signal::Kind;

/// The instance of the kernel for the types of a filter, with the weight of all samples. For one channel of `f32` or of bytes the
/// types are known at compile time. Sums of means are divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::filter::two_d) enum SegmentKernel {
    Floats(f32),
    Bytes(f32),
    MeanOfBytes(f32),
    MeanF32(f32),
    MeanF64(f64),
    AnyI32(i32),
    AnyI64(i64),
    AnyF32(f32),
    AnyF64(f64),
}

/// Evaluates an expression with the access to pixels of the instance and the weight.
macro_rules! with_pixels {
    ($kernel:expr, <$pixels:ident>, $weight:pat => $result:expr) => {
        match $kernel {
            SegmentKernel::Floats($weight) => with_pixels!(@ Typed<'static, Floats>, $pixels, $result),
            SegmentKernel::Bytes($weight) => with_pixels!(@ Typed<'static, Bytes>, $pixels, $result),
            SegmentKernel::MeanOfBytes($weight) => with_pixels!(@ Mean<Typed<'static, Bytes>>, $pixels, $result),
            SegmentKernel::MeanF32($weight) => with_pixels!(@ Mean<Any<'static, f32>>, $pixels, $result),
            SegmentKernel::MeanF64($weight) => with_pixels!(@ Mean<Any<'static, f64>>, $pixels, $result),
            SegmentKernel::AnyI32($weight) => with_pixels!(@ Any<'static, i32>, $pixels, $result),
            SegmentKernel::AnyI64($weight) => with_pixels!(@ Any<'static, i64>, $pixels, $result),
            SegmentKernel::AnyF32($weight) => with_pixels!(@ Any<'static, f32>, $pixels, $result),
            SegmentKernel::AnyF64($weight) => with_pixels!(@ Any<'static, f64>, $pixels, $result),
        }
    };
    (@ $type:ty, $pixels:ident, $result:expr) => {{
        type $pixels = $type;
        $result
    }};
}

impl SegmentKernel {
    /// Returns the instance for equal weights.
    pub(in crate::filter::two_d) fn new(weights: &AnyWeights, rule: &FilterRule) -> Self {
        let are_bytes = rule.has_pixels(Kind::U8, 1);
        match (weights, rule.divisor) {
            (AnyWeights::I32(weights), _) => SegmentKernel::AnyI32(weights.first()),
            (AnyWeights::I64(weights), _) => SegmentKernel::AnyI64(weights.first()),
            (AnyWeights::F32(weights), Some(_)) if are_bytes => SegmentKernel::MeanOfBytes(weights.first()),
            (AnyWeights::F32(weights), Some(_)) => SegmentKernel::MeanF32(weights.first()),
            (AnyWeights::F32(weights), None) if are_bytes => SegmentKernel::Bytes(weights.first()),
            (AnyWeights::F32(weights), None) if rule.has_pixels(Kind::F32, 1) => SegmentKernel::Floats(weights.first()),
            (AnyWeights::F32(weights), None) => SegmentKernel::AnyF32(weights.first()),
            (AnyWeights::F64(weights), Some(_)) => SegmentKernel::MeanF64(weights.first()),
            (AnyWeights::F64(weights), None) => SegmentKernel::AnyF64(weights.first()),
        }
    }

    /// Returns how a picture is divided, or why it cannot be.
    pub(in crate::filter::two_d) fn strips(
        &self,
        problem: &Filter2dProblem,
        shared: SharedMemory,
    ) -> std::result::Result<Strips, NoStrips> {
        let resident = |bytes| shared.resident_blocks(bytes);
        with_pixels!(self, <M>, _ => Strips::new::<M>(problem, shared.max_per_block, resident))
    }

    pub(super) fn load(self, gpu: &Gpu, rule: &FilterRule, strips: Strips) -> Result<Box<dyn Launches>> {
        with_pixels!(self, <M>, weight => {
            let kernel = Segments::<M> { loaded: Box::new(gpu.own_kernel::<filter2d_box<M>>()?), weight, strips };
            Ok(Box::new(BandLaunches::new(gpu, *rule, kernel)?))
        })
    }
}

/// The kernel for windows of a size, with the access `M` to the pixels of any launch.
struct Segments<M: PixelAccess> {
    loaded: Box<dyn for<'l> Launch<BoxArgs<M::At<'l>>>>,
    weight: M::Sum,
    strips: Strips,
}

impl<M: PixelAccess> Banded for Segments<M>
where
    for<'l> M::At<'l>: Windowed<'l>,
{
    type Pixels<'l> = M::At<'l>;
    const SUMS_SEGMENTS: bool = true;

    fn name(&self) -> &'static str {
        self.loaded.name()
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.loaded.residency(shape)
    }

    fn block(&self) -> LaunchShape {
        let bytes = self.strips.shared_bytes(Bands::TYPICAL);
        LaunchShape::new([1; 3], [self.strips.threads, 1, 1]).shared_bytes(bytes)
    }

    fn bands(&self, problem: &Filter2dProblem, resident: u64) -> Bands {
        self.strips.bands(problem, resident)
    }

    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, picture: BandArgs<M::At<'_>>) -> Result<()> {
        let args = BoxArgs { picture, weight: self.weight, channels: self.strips.channels };
        self.loaded.launch(windows, shape, args, &())
    }
}
