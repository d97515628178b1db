//! Tables on CUDA and emulated GPUs.

use super::gpu::OnGpu;
use super::launcher::Launcher;
use super::lines::Lines;
use super::rule::is_f32;
use super::word::Word;
use crate::any::{AnyBuffer, BufferMut, BufferRef, Erase, Slice};
use crate::info::SharedMemory;
use crate::{Buffer, Device, Element, LaunchPlan, LaunchShape, Result, Windows, allocation};
use cuda_std::{Entry, GlobalIn};
use slm_kernels::pointwise::{
    BetweenArgs, EqualiseArgs, LookupArgs, Number, TableIndex, equalise_shape, lookup_pack, pointwise_between,
    pointwise_equalise, pointwise_lookup,
};
use slm_kernels::signal::Kind;

/// Returns a table with an entry for each value of the samples.
pub(super) fn values(
    device: &Device,
    shared: SharedMemory,
    kinds: [Kind; 2],
    entries: Slice<'_>,
) -> Result<Box<dyn OnGpu<1>>> {
    Ok(match (kinds[0], kinds[1].bytes()) {
        (Kind::U8, 1) => Box::new(Values::<u8, u8>::upload(device, shared, kinds, entries)?),
        (Kind::U8, 2) => Box::new(Values::<u8, u16>::upload(device, shared, kinds, entries)?),
        (Kind::U8, 4) => Box::new(Values::<u8, u32>::upload(device, shared, kinds, entries)?),
        (Kind::U8, _) => Box::new(Values::<u8, u64>::upload(device, shared, kinds, entries)?),
        (_, 1) => Box::new(Values::<u16, u8>::upload(device, shared, kinds, entries)?),
        (_, 2) => Box::new(Values::<u16, u16>::upload(device, shared, kinds, entries)?),
        (_, 4) => Box::new(Values::<u16, u32>::upload(device, shared, kinds, entries)?),
        (_, _) => Box::new(Values::<u16, u64>::upload(device, shared, kinds, entries)?),
    })
}

/// Returns the table that equalises a histogram of samples of this type.
pub(super) fn equalising(
    device: &Device,
    shared: SharedMemory,
    samples: Kind,
    counts: &Buffer<u64>,
) -> Result<Box<dyn OnGpu<1>>> {
    Ok(match samples {
        Kind::U8 => Box::new(Values::<u8, u8>::equalising(device, shared, counts)?),
        _ => Box::new(Values::<u16, u16>::equalising(device, shared, counts)?),
    })
}

/// A type of samples that are indices.
trait Index: Element + TableIndex {
    fn input<'b>(windows: &mut Windows<'b>, samples: BufferRef<'b>) -> GlobalIn<Self>;
}

impl Index for u8 {
    fn input<'b>(windows: &mut Windows<'b>, samples: BufferRef<'b>) -> GlobalIn<u8> {
        samples.window(windows).u8
    }
}

impl Index for u16 {
    fn input<'b>(windows: &mut Windows<'b>, samples: BufferRef<'b>) -> GlobalIn<u16> {
        samples.window(windows).u16
    }
}

/// A table with an entry for each value.
struct Values<S: Index, W: Word> {
    launcher: Launcher<LookupArgs<S, W>>,
    entries: Buffer<W>,
}

impl<S: Index, W: Word> Values<S, W>
where
    pointwise_lookup<S, W>: Entry<Args = LookupArgs<S, W>, Constants = ()>,
{
    fn upload(device: &Device, shared: SharedMemory, kinds: [Kind; 2], entries: Slice<'_>) -> Result<Self> {
        Self::new(device, shared, kinds, device.upload(&W::of_numbers(entries)?)?)
    }

    fn new(device: &Device, shared: SharedMemory, kinds: [Kind; 2], entries: Buffer<W>) -> Result<Self> {
        let launcher = Launcher::new::<pointwise_lookup<S, W>>(device, shared, lookup_pack::<S, W>(), &kinds)?;
        Ok(Values { launcher, entries })
    }
}

impl<S: Index + Word + Erase> Values<S, S>
where
    pointwise_equalise<S>: Entry<Args = EqualiseArgs<S>, Constants = ()>,
    pointwise_lookup<S, S>: Entry<Args = LookupArgs<S, S>, Constants = ()>,
{
    /// Enqueues the computation of the entries.
    fn equalising(device: &Device, shared: SharedMemory, counts: &Buffer<u64>) -> Result<Self> {
        let mut entries = device.unwritten(S::VALUES as usize)?;
        let (threads, shared_bytes) = equalise_shape::<S>();
        let shape = LaunchShape::new([1, 1, 1], [threads, 1, 1]).shared_bytes(shared_bytes.into());
        device.own_kernel::<pointwise_equalise<S>>()?.launch(shape, |windows| EqualiseArgs {
            counts: windows.input(counts),
            entries: windows.output(&mut entries),
        })?;
        Self::new(device, shared, [S::KIND; 2], entries)
    }
}

impl<S: Index, W: Word> OnGpu<1> for Values<S, W> {
    fn run(&self, lines: &Lines<1>, [samples]: [BufferRef<'_>; 1], outputs: BufferMut<'_>) -> Result<()> {
        let mut windows = Windows::new(&self.launcher.device);
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
    device: &Device,
    shared: SharedMemory,
    kinds: [Kind; 2],
    edges: &[f64],
    entries: Slice<'_>,
) -> Result<Box<dyn OnGpu<1>>> {
    Ok(match is_f32(&kinds[..1]) {
        true => Box::new(Between::<f32>::new(device, shared, kinds, edges, entries)?),
        false => Box::new(Between::<f64>::new(device, shared, kinds, edges, entries)?),
    })
}

/// A table between edges.
struct Between<A: Number + Element> {
    launcher: Launcher<BetweenArgs<A>>,
    edges: Buffer<A>,
    entries: AnyBuffer,
}

impl<A: Number + Element> Between<A>
where
    pointwise_between<A>: Entry<Args = BetweenArgs<A>, Constants = ()>,
{
    fn new(device: &Device, shared: SharedMemory, kinds: [Kind; 2], edges: &[f64], entries: Slice<'_>) -> Result<Self> {
        let launcher = Launcher::new::<pointwise_between<A>>(device, shared, 1, &kinds)?;
        let edges = allocation::collected(edges.iter().map(|&edge| A::of(edge)))?;
        Ok(Between { launcher, edges: device.upload(&edges)?, entries: entries.upload(device)? })
    }
}

impl<A: Number + Element> OnGpu<1> for Between<A> {
    fn run(&self, lines: &Lines<1>, [samples]: [BufferRef<'_>; 1], outputs: BufferMut<'_>) -> Result<()> {
        let mut windows = Windows::new(&self.launcher.device);
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
