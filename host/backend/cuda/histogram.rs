//! Histograms on an NVIDIA GPU.

use super::kernel::{Facts, OnDemand};
use super::{Memory, Queue};
use crate::backend::gpu::histogram::{Entries, HistogramKernels, Launches, windows, with_entry};
use crate::backend::modules::{
    HISTOGRAM_F32, HISTOGRAM_F64, HISTOGRAM_I32, HISTOGRAM_PEAK, HISTOGRAM_U8, HISTOGRAM_U16, HISTOGRAM_U32,
};
use crate::buffer::Storage;
use crate::histogram::{Algorithm, Bins, Bound, HistogramElement, Plan, Rule, check_weights};
use crate::{Device, LaunchShape, Result, allocation};
use cuda_std::Entry;
use cuda_std::image::Module;
use slm_kernels::histogram::{Args, Binning, Kernel, PeakArgs, Quantum, histogram_peak};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The compiled kernels for an element type.
pub trait HistogramModules: HistogramKernels {
    /// The module with all of them.
    const MODULE: &'static Module;
}

macro_rules! histogram_modules {
    ($($t:ty: $module:ident;)*) => {$(
        impl HistogramModules for $t {
            const MODULE: &'static Module = &$module;
        }
    )*};
}
histogram_modules! {
    u8: HISTOGRAM_U8;
    u16: HISTOGRAM_U16;
    u32: HISTOGRAM_U32;
    i32: HISTOGRAM_I32;
    f32: HISTOGRAM_F32;
    f64: HISTOGRAM_F64;
}

/// Binds a histogram to a device.
pub(crate) fn histogram<T: HistogramElement>(
    queue: &Arc<Queue>,
    rule: &Rule<T>,
    algorithm: Algorithm,
) -> Result<Box<dyn Bound<T>>> {
    Ok(match rule.bins {
        Bins::Even { .. } => Box::new(Histogram::<T::Even>::new(queue, rule, algorithm)?),
        Bins::Edges(_) => Box::new(Histogram::<T::Edges>::new(queue, rule, algorithm)?),
        Bins::LowBits(_) => Box::new(Histogram::<T::LowBits>::new(queue, rule, algorithm)?),
    })
}

/// A kernel that counts, whichever it is.
trait Counter<B: Binning>: Facts + Send + Sync {
    /// Enqueues it.
    ///
    /// # Safety
    ///
    /// That of [`Kernel::enqueue`](super::kernel::Kernel::enqueue).
    unsafe fn enqueue(&self, queue: &Arc<Queue>, shape: &LaunchShape, args: &Args<B>) -> Result<()>;
}

impl<B: Binning, E: Entry<Args = Args<B>, Constants = ()>> Counter<B> for OnDemand<E> {
    unsafe fn enqueue(&self, queue: &Arc<Queue>, shape: &LaunchShape, args: &Args<B>) -> Result<()> {
        let kernel = self.get(queue)?;
        // SAFETY: the caller's promise.
        unsafe { kernel.enqueue(shape, args, &()) }
    }
}

/// A histogram with bins of one kind.
struct Histogram<E: Entries> {
    launches: Launches<E>,
    counter: Box<dyn Counter<E::Binning>>,
    weigh: OnDemand<E::Weigh>,
    peak: OnDemand<histogram_peak>,
    table: Memory<E::Table>,
    /// The lock of the critical section, if there is one. All launches share it: each leaves it open, and they run one after
    /// another.
    section: Mutex<Memory<u32>>,
    queue: Arc<Queue>,
}

impl<E: Entries<Sample: HistogramModules>> Histogram<E> {
    fn new(queue: &Arc<Queue>, rule: &Rule<E::Sample>, algorithm: Algorithm) -> Result<Self> {
        let (limits, module) = (queue.limits(), E::Sample::MODULE);
        let launches = Launches::<E>::new(rule, algorithm, limits.launch.shared, limits.processors)?;
        let kernel = launches.kernel();
        let histogram = Histogram {
            launches,
            counter: with_entry!(kernel, |Chosen| Box::new(OnDemand::<Chosen<E>>::new(module))),
            weigh: OnDemand::new(module),
            peak: OnDemand::new(&HISTOGRAM_PEAK),
            table: Memory::upload(queue, &E::table(rule)?)?,
            section: Mutex::new(Memory::zeroed(queue, usize::from(kernel == Kernel::Critical))?),
            queue: queue.clone(),
        };
        histogram.counter.load(queue)?;
        Ok(histogram)
    }

    fn section(&self) -> MutexGuard<'_, Memory<u32>> {
        // A panic elsewhere did the memory no harm.
        self.section.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The quantum of the weights, which are all finite.
    fn quantum(&self, weights: &Memory<f32>) -> Result<Quantum> {
        let largest = f32::from_bits(self.peak(weights)?);
        if !largest.is_finite() {
            let mut all = allocation::filled(0.0, weights.len())?;
            weights.download(&mut all)?;
            check_weights(&all)?;
        }
        Ok(Quantum::new(largest, weights.len() as u64))
    }

    /// The bits of the largest magnitude of the weights.
    fn peak(&self, weights: &Memory<f32>) -> Result<u32> {
        let mut peak = Memory::zeroed(&self.queue, 1)?;
        {
            let _turn = self.queue.enqueue()?;
            for (first, shape, count) in self.launches.peaks(weights.len()) {
                let args = PeakArgs { weights: weights.input(first), count, peak: peak.in_out(0) };
                // SAFETY: both are on memory of this queue (the callers of `weigh` check that), which is borrowed, and are
                // not the same.
                unsafe { self.peak.get(&self.queue)?.enqueue(&shape, &args, &())? };
            }
        }
        let mut bits = [0];
        peak.download(&mut bits)?;
        Ok(bits[0])
    }
}

impl<E: Entries<Sample: HistogramModules>> Bound<E::Sample> for Histogram<E> {
    fn run(&self, samples: &Storage<E::Sample>, counts: &mut Storage<u64>) -> Result<()> {
        let (samples, counts) = (samples.cuda(), counts.cuda_mut());
        let (mut lock, _turn) = (self.section(), self.queue.enqueue()?);
        self.launches.of(samples.len()).try_for_each(|launch| {
            let args = launch.args(windows!(launch, samples, counts, lock, self.table));
            // SAFETY: all of them are on memory of this queue (the callers of `run` check that), which is borrowed; `counts`
            // and `lock` are none of the others, and the table is never written.
            unsafe { self.counter.enqueue(&self.queue, &launch.shape, &args) }
        })
    }

    fn weigh(&self, samples: &Storage<E::Sample>, weights: &Storage<f32>) -> Result<(Vec<i64>, Quantum)> {
        let (samples, weights) = (samples.cuda(), weights.cuda());
        let quantum = self.quantum(weights)?;
        let mut sums = Memory::zeroed(&self.queue, self.launches.counts())?;
        {
            let (mut lock, _turn) = (self.section(), self.queue.enqueue()?);
            for launch in self.launches.weighing(samples.len()) {
                let windows = windows!(launch, samples, sums, lock, self.table);
                let args = launch.weighted_args(windows, weights.input(launch.first_sample()), quantum);
                // SAFETY: as in `run`; `sums` is none of the others.
                unsafe { self.weigh.get(&self.queue)?.enqueue(&launch.shape, &args, &())? };
            }
        }
        let mut multiples = allocation::filled(0, sums.len())?;
        sums.download(&mut multiples)?;
        Ok((multiples.into_iter().map(u64::cast_signed).collect(), quantum))
    }

    fn plan(&self, device: &Device, samples: usize) -> Plan {
        // A plan is a forecast: where the driver does not answer, the next launch will say why.
        self.launches.plan(device, samples, |shape| self.counter.residency(&self.queue, shape).ok())
    }
}
