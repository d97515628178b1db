//! Functions of one sample and of two on CUDA and emulated GPUs.

use super::function::GpuFunction;
use super::launcher::{Launcher, moved_bytes};
use super::lines::Lines;
use super::rule::{PointwiseRule, UNCHANGED, is_f32};
use super::table;
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::element::any::{BufferMut, BufferRef};
use crate::{LaunchPlan, Result, Windows};
use cuda_std::Entry;
use slm_kernels::pointwise::{
    BYTES, Combination, CombineArgs, Function, MapArgs, Number, pointwise_combine, pointwise_map, pointwise_power,
};
use slm_kernels::signal::Kind;

/// Returns a function of samples and outputs of these types.
pub(super) fn map(gpu: &Gpu, rule: &PointwiseRule, kinds: [Kind; 2]) -> Result<Box<dyn GpuFunction<1>>> {
    let is_f32 = is_f32(&kinds);
    Ok(match rule {
        &PointwiseRule::Function(function, p) if is_f32 => Box::new(Map::<f32>::function(gpu, function, p, kinds)?),
        &PointwiseRule::Function(function, p) => Box::new(Map::<f64>::function(gpu, function, p, kinds)?),
        &PointwiseRule::Power(exponent) if is_f32 => Box::new(Map::<f32>::power(gpu, exponent, kinds)?),
        &PointwiseRule::Power(exponent) => Box::new(Map::<f64>::power(gpu, exponent, kinds)?),
        PointwiseRule::Table(entries) => table::values(gpu, kinds, entries.as_slice())?,
        PointwiseRule::Between(edges, entries) => table::between(gpu, kinds, edges, entries.as_slice())?,
    })
}

/// Returns the conversion of samples to another type, for kernels that compute in a type of their own.
pub(crate) fn conversion(gpu: &Gpu, kinds: [Kind; 2]) -> Result<Box<dyn GpuFunction<1>>> {
    map(gpu, &PointwiseRule::Function(Function::Affine, UNCHANGED), kinds)
}

/// Returns a function of two samples and an output of these types.
pub(super) fn combine(
    gpu: &Gpu,
    combination: Combination,
    [samples, outputs]: [Kind; 2],
) -> Result<Box<dyn GpuFunction<2>>> {
    let kinds = [samples, samples, outputs];
    Ok(match is_f32(&kinds) {
        true => Box::new(Combine::new::<f32>(gpu, combination, &kinds)?),
        false => Box::new(Combine::new::<f64>(gpu, combination, &kinds)?),
    })
}

/// Returns whether samples and outputs are bytes.
fn is_bytes(kinds: &[Kind]) -> bool {
    kinds.iter().all(|&kind| kind == Kind::U8)
}

/// Returns the elements of a pack for computations of type `A`.
fn pack<A: Number>(kinds: &[Kind]) -> usize {
    if is_bytes(kinds) { BYTES } else { A::PACK }
}

/// A kernel of one sample.
type Mapping<A> = dyn for<'l> Launch<MapArgs<'l, A>>;

/// A function of one sample, computed in the type `A`.
struct Map<A: Number> {
    launcher: Launcher<Mapping<A>>,
    function: Function,
    parameters: [A; 2],
    /// Whether packs are those of bytes.
    is_bytes: bool,
}

impl<A: Number> Map<A>
where
    pointwise_map<A>: for<'l> Entry<Args<'l> = MapArgs<'l, A>, Constants = ()>,
    pointwise_power<A>: for<'l> Entry<Args<'l> = MapArgs<'l, A>, Constants = ()>,
{
    fn function(gpu: &Gpu, function: Function, parameters: [f64; 2], kinds: [Kind; 2]) -> Result<Self> {
        let kernel: Box<Mapping<A>> = Box::new(gpu.own_kernel::<pointwise_map<A>>()?);
        let launcher = Launcher::new(gpu, kernel, pack::<A>(&kinds), moved_bytes(&kinds));
        Ok(Map { launcher, function, parameters: parameters.map(A::of), is_bytes: is_bytes(&kinds) })
    }

    fn power(gpu: &Gpu, exponent: f64, kinds: [Kind; 2]) -> Result<Self> {
        let kernel: Box<Mapping<A>> = Box::new(gpu.own_kernel::<pointwise_power<A>>()?);
        let launcher = Launcher::new(gpu, kernel, 1, moved_bytes(&kinds));
        // This kernel has one function.
        Ok(Map { launcher, function: Function::Affine, parameters: [A::of(exponent), A::ZERO], is_bytes: false })
    }
}

impl<A: Number> GpuFunction<1> for Map<A> {
    fn run(&self, lines: &Lines<1>, [samples]: [BufferRef<'_>; 1], outputs: BufferMut<'_>) -> Result<()> {
        let mut windows = Windows::new(&self.launcher.gpu);
        let (input, output) = (samples.window(&mut windows), outputs.window(&mut windows));
        let ([input_pitch], output_pitch) = lines.pitches();
        self.launcher.run(&windows, lines, |lines| MapArgs {
            input,
            output,
            lines,
            input_pitch,
            output_pitch,
            p: self.parameters[0],
            q: self.parameters[1],
            function: self.function as u32,
            bytes: self.is_bytes.into(),
        })
    }

    fn plan(&self, lines: &Lines<1>) -> LaunchPlan {
        self.launcher.plan(lines)
    }
}

/// A kernel of two samples.
type Combining = dyn for<'l> Launch<CombineArgs<'l>>;

/// A function of two samples.
struct Combine {
    launcher: Launcher<Combining>,
    combination: Combination,
    /// Whether packs are those of bytes.
    is_bytes: bool,
}

impl Combine {
    /// Returns the function, computed in the type `A`.
    fn new<A: Number>(gpu: &Gpu, combination: Combination, kinds: &[Kind; 3]) -> Result<Self>
    where
        pointwise_combine<A>: for<'l> Entry<Args<'l> = CombineArgs<'l>, Constants = ()>,
    {
        let kernel: Box<Combining> = Box::new(gpu.own_kernel::<pointwise_combine<A>>()?);
        let launcher = Launcher::new(gpu, kernel, pack::<A>(kinds), moved_bytes(kinds));
        Ok(Combine { launcher, combination, is_bytes: is_bytes(kinds) })
    }
}

impl GpuFunction<2> for Combine {
    fn run(&self, lines: &Lines<2>, [a, b]: [BufferRef<'_>; 2], outputs: BufferMut<'_>) -> Result<()> {
        let mut windows = Windows::new(&self.launcher.gpu);
        let (a, b, output) = (a.window(&mut windows), b.window(&mut windows), outputs.window(&mut windows));
        let ([a_pitch, b_pitch], output_pitch) = lines.pitches();
        self.launcher.run(&windows, lines, |lines| CombineArgs {
            a,
            b,
            output,
            lines,
            a_pitch,
            b_pitch,
            output_pitch,
            combination: self.combination as u32,
            bytes: self.is_bytes.into(),
        })
    }

    fn plan(&self, lines: &Lines<2>) -> LaunchPlan {
        self.launcher.plan(lines)
    }
}
