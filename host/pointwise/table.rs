//! Tables on CUDA and emulated GPUs.

use super::function::GpuFunction;
use super::launcher::{Launcher, moved_bytes};
use super::lines::Lines;
use super::rule::is_f32;
use super::word::Word;
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::element::any::{AnyBuffer, BufferMut, BufferRef, Erase, Slice};
use crate::{Buffer, Element, LaunchPlan, LaunchShape, Result, Windows};
use cuda_std::{Entry, GlobalIn};
use slm_kernels::pointwise::{
    BetweenArgs, EqualiseArgs, LookupArgs, Number, TableIndex, equalise_shape, lookup_pack, pointwise_between,
    pointwise_equalise, pointwise_lookup,
};
use slm_kernels::signal::Kind;

/// Returns a table with an entry for each value of the samples.
pub(super) fn values(gpu: &Gpu, kinds: [Kind; 2], entries: Slice<'_>) -> Result<Box<dyn GpuFunction<1>>> {
    Ok(match (kinds[0], kinds[1].bytes()) {
        (Kind::U8, 1) => Box::new(Values::<u8, u8>::upload(gpu, kinds, entries)?),
        (Kind::U8, 2) => Box::new(Values::<u8, u16>::upload(gpu, kinds, entries)?),
        (Kind::U8, 4) => Box::new(Values::<u8, u32>::upload(gpu, kinds, entries)?),
        (Kind::U8, _) => Box::new(Values::<u8, u64>::upload(gpu, kinds, entries)?),
        (_, 1) => Box::new(Values::<u16, u8>::upload(gpu, kinds, entries)?),
        (_, 2) => Box::new(Values::<u16, u16>::upload(gpu, kinds, entries)?),
        (_, 4) => Box::new(Values::<u16, u32>::upload(gpu, kinds, entries)?),
        (_, _) => Box::new(Values::<u16, u64>::upload(gpu, kinds, entries)?),
    })
}

/// Returns the table that equalises a histogram of samples of this type.
pub(super) fn equalising(gpu: &Gpu, samples: Kind, counts: &Buffer<u64>) -> Result<Box<dyn GpuFunction<1>>> {
    Ok(match samples {
        Kind::U8 => Box::new(Values::<u8, u8>::equalising(gpu, counts)?),
        _ => Box::new(Values::<u16, u16>::equalising(gpu, counts)?),
    })
}

/// Returns the launch that computes the table which equalises a histogram of samples of this type.
pub(super) fn equalising_plan(gpu: &Gpu, samples: Kind) -> Result<LaunchPlan> {
    match samples {
        Kind::U8 => equalising_plan_of::<u8>(gpu),
        _ => equalising_plan_of::<u16>(gpu),
    }
}

fn equalising_plan_of<S: Index>(gpu: &Gpu) -> Result<LaunchPlan>
where
    pointwise_equalise<S>: for<'l> Entry<Args<'l> = EqualiseArgs<'l, S>, Constants = ()>,
{
    let shape = equalising_shape::<S>();
    let residency = gpu.own_kernel::<pointwise_equalise<S>>()?.residency(shape);
    // A count and an entry for each value.
    let moved_bytes = u64::from(S::VALUES) * (size_of::<u64>() + size_of::<S>()) as u64;
    Ok(LaunchPlan { moved_bytes, ..gpu.launch_plan(pointwise_equalise::<S>::NAME, shape, residency) })
}

fn equalising_shape<S: Index>() -> LaunchShape {
    let (threads, shared_bytes) = equalise_shape::<S>();
    LaunchShape::new([1, 1, 1], [threads, 1, 1]).shared_bytes(shared_bytes.into())
}

/// A type of samples that are indices.
trait Index: Element + TableIndex {
    fn input<'l, 'b>(windows: &mut Windows<'l, 'b>, samples: BufferRef<'b>) -> GlobalIn<'l, Self>;
}

impl Index for u8 {
    fn input<'l, 'b>(windows: &mut Windows<'l, 'b>, samples: BufferRef<'b>) -> GlobalIn<'l, u8> {
        samples.window(windows).u8
    }
}

impl Index for u16 {
    fn input<'l, 'b>(windows: &mut Windows<'l, 'b>, samples: BufferRef<'b>) -> GlobalIn<'l, u16> {
        samples.window(windows).u16
    }
}

/// A table with an entry for each value.
struct Values<S: Index, W: Word> {
    launcher: Launcher<dyn for<'l> Launch<LookupArgs<'l, S, W>>>,
    entries: Buffer<W>,
}

impl<S: Index, W: Word> Values<S, W>
where
    pointwise_lookup<S, W>: for<'l> Entry<Args<'l> = LookupArgs<'l, S, W>, Constants = ()>,
{
    fn upload(gpu: &Gpu, kinds: [Kind; 2], entries: Slice<'_>) -> Result<Self> {
        Self::new(gpu, kinds, gpu.upload(&W::of_numbers(entries)?)?)
    }

    fn new(gpu: &Gpu, kinds: [Kind; 2], entries: Buffer<W>) -> Result<Self> {
        let (pack, bytes) = (lookup_pack::<S, W>(), moved_bytes(&kinds));
        let kernel = Box::new(gpu.own_kernel::<pointwise_lookup<S, W>>()?);
        Ok(Values { launcher: Launcher::new(gpu, kernel, pack, bytes), entries })
    }
}

impl<S: Index + Word + Erase> Values<S, S>
where
    pointwise_equalise<S>: for<'l> Entry<Args<'l> = EqualiseArgs<'l, S>, Constants = ()>,
    pointwise_lookup<S, S>: for<'l> Entry<Args<'l> = LookupArgs<'l, S, S>, Constants = ()>,
{
    /// Enqueues the computation of the entries.
    fn equalising(gpu: &Gpu, counts: &Buffer<u64>) -> Result<Self> {
        let mut entries = gpu.unwritten(S::VALUES as usize)?;
        gpu.own_kernel::<pointwise_equalise<S>>()?.launch(equalising_shape::<S>(), |windows| EqualiseArgs {
            counts: windows.input(counts),
            entries: windows.output(&mut entries),
        })?;
        Self::new(gpu, [S::KIND; 2], entries)
    }
}

impl<S: Index, W: Word> GpuFunction<1> for Values<S, W> {
    fn run(&self, lines: &Lines<1>, [samples]: [BufferRef<'_>; 1], outputs: BufferMut<'_>) -> Result<()> {
        let mut windows = Windows::new(&self.launcher.gpu);
        let (input, output) = (S::input(&mut windows, samples), W::output(&mut windows, outputs)?);
        let table = windows.input(&self.entries);
        let ([input_pitch], output_pitch) = lines.pitches();
        self.launcher.run(&windows, lines, |lines| LookupArgs {
            input,
            output,
            table,
            lines,
            input_pitch,
            output_pitch,
        })
    }

    fn plan(&self, lines: &Lines<1>) -> LaunchPlan {
        self.launcher.plan(lines)
    }
}

/// Returns a table between edges. Comparisons are in `f32` if it represents all samples.
pub(super) fn between(
    gpu: &Gpu,
    kinds: [Kind; 2],
    edges: &[f64],
    entries: Slice<'_>,
) -> Result<Box<dyn GpuFunction<1>>> {
    Ok(match is_f32(&kinds[..1]) {
        true => Box::new(Between::<f32>::new(gpu, kinds, edges, entries)?),
        false => Box::new(Between::<f64>::new(gpu, kinds, edges, entries)?),
    })
}

/// A table between edges.
struct Between<A: Number + Element> {
    launcher: Launcher<dyn for<'l> Launch<BetweenArgs<'l, A>>>,
    edges: Buffer<A>,
    entries: AnyBuffer,
}

impl<A: Number + Element> Between<A>
where
    pointwise_between<A>: for<'l> Entry<Args<'l> = BetweenArgs<'l, A>, Constants = ()>,
{
    fn new(gpu: &Gpu, kinds: [Kind; 2], edges: &[f64], entries: Slice<'_>) -> Result<Self> {
        let kernel: Box<dyn for<'l> Launch<BetweenArgs<'l, A>>> = Box::new(gpu.own_kernel::<pointwise_between<A>>()?);
        let edges = allocation::collected(edges.iter().map(|&edge| A::of(edge)))?;
        let launcher = Launcher::new(gpu, kernel, 1, moved_bytes(&kinds));
        Ok(Between { launcher, edges: gpu.upload(&edges)?, entries: entries.upload(gpu)? })
    }
}

impl<A: Number + Element> GpuFunction<1> for Between<A> {
    fn run(&self, lines: &Lines<1>, [samples]: [BufferRef<'_>; 1], outputs: BufferMut<'_>) -> Result<()> {
        let mut windows = Windows::new(&self.launcher.gpu);
        let (input, output) = (samples.window(&mut windows), outputs.window(&mut windows));
        let (edges, entries) = (windows.input(&self.edges), self.entries.as_ref().window(&mut windows));
        let ([input_pitch], output_pitch) = lines.pitches();
        self.launcher.run(&windows, lines, |lines| BetweenArgs {
            input,
            output,
            entries,
            edges,
            lines,
            input_pitch,
            output_pitch,
        })
    }

    fn plan(&self, lines: &Lines<1>) -> LaunchPlan {
        self.launcher.plan(lines)
    }
}
