//! Histograms on an NVIDIA GPU.

use super::kernel::{Facts, OnDemand};
use super::module::{
    HISTOGRAM_F32, HISTOGRAM_F64, HISTOGRAM_I32, HISTOGRAM_PEAK, HISTOGRAM_U8, HISTOGRAM_U16, HISTOGRAM_U32,
};
use super::{Memory, Queue};
use crate::backend::gpu::histogram::{Entries, HistogramKernels, Launch, Launches, Windows};
use crate::buffer::Storage;
use crate::histogram::{Algorithm, Bins, Bound, HistogramElement, Plan, Rule, check_weights};
use crate::{Device, Result, allocation};
use cuda_std::image::Module;
use slm_kernels::histogram::{Kernel, PeakArgs, Quantum, histogram_peak};
use std::sync::Arc;

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

/// A histogram with bins of one kind.
struct Histogram<E: Entries> {
    launches: Launches<E>,
    critical: OnDemand<E::Critical>,
    global: OnDemand<E::Global>,
    cached: OnDemand<E::Cached>,
    shared: OnDemand<E::Shared>,
    private: OnDemand<E::Private>,
    weigh: OnDemand<E::Weigh>,
    peak: OnDemand<histogram_peak>,
    table: Memory<E::Table>,
    queue: Arc<Queue>,
}

impl<E: Entries<Sample: HistogramModules>> Histogram<E> {
    fn new(queue: &Arc<Queue>, rule: &Rule<E::Sample>, algorithm: Algorithm) -> Result<Self> {
        let limits = queue.limits();
        let module = E::Sample::MODULE;
        let histogram = Histogram {
            launches: Launches::new(rule, algorithm, limits.launch.shared, limits.processors)?,
            critical: OnDemand::new(module),
            global: OnDemand::new(module),
            cached: OnDemand::new(module),
            shared: OnDemand::new(module),
            private: OnDemand::new(module),
            weigh: OnDemand::new(module),
            peak: OnDemand::new(&HISTOGRAM_PEAK),
            table: Memory::upload(queue, &E::table(rule)?)?,
            queue: queue.clone(),
        };
        histogram.kernel().load(queue)?;
        Ok(histogram)
    }

    /// The kernel that counts.
    fn kernel(&self) -> &dyn Facts {
        match self.launches.kernel() {
            Kernel::Critical => &self.critical,
            Kernel::Global => &self.global,
            Kernel::Cached => &self.cached,
            Kernel::Shared { .. } => &self.shared,
            Kernel::Private => &self.private,
        }
    }

    /// What a launch works on.
    fn windows(
        &self,
        launch: &Launch<'_, E>,
        samples: &Memory<E::Sample>,
        counts: &mut Memory<u64>,
        lock: &mut Memory<u32>,
    ) -> Windows<E> {
        let first = launch.first_sample();
        Windows {
            words: samples.words(first, launch.words()),
            samples: samples.input(first),
            counts: counts.in_out(0),
            lock: lock.in_out(0),
            table: self.table.input(0),
        }
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
            let _lock = self.queue.enqueue()?;
            for (first, shape, count) in self.launches.peaks(weights.len()) {
                let args = PeakArgs { weights: weights.input(first), count, peak: peak.in_out(0) };
                // SAFETY: both are on memory of this queue (the callers of `weigh` check that), which is borrowed, and are
                // not the same. The queue's lock is held.
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
        let queue = &self.queue;
        let locks = usize::from(self.launches.kernel() == Kernel::Critical);
        let mut lock = Memory::zeroed(queue, locks)?;
        let _lock = queue.enqueue()?;
        self.launches.of(samples.len()).try_for_each(|launch| {
            let windows = self.windows(&launch, samples, counts, &mut lock);
            let (shape, args) = (&launch.shape, launch.args(windows));
            // SAFETY: all of them are on memory of this queue (the callers of `run` check that), which is borrowed; `counts`
            // and `lock` are none of the others, and the table is never written. The queue's lock is held.
            unsafe {
                match self.launches.kernel() {
                    Kernel::Critical => self.critical.get(queue)?.enqueue(shape, &args, &()),
                    Kernel::Global => self.global.get(queue)?.enqueue(shape, &args, &()),
                    Kernel::Cached => self.cached.get(queue)?.enqueue(shape, &args, &()),
                    Kernel::Shared { .. } => self.shared.get(queue)?.enqueue(shape, &args, &()),
                    Kernel::Private => self.private.get(queue)?.enqueue(shape, &args, &()),
                }
            }
        })
    }

    fn weigh(&self, samples: &Storage<E::Sample>, weights: &Storage<f32>) -> Result<(Vec<i64>, Quantum)> {
        let (samples, weights) = (samples.cuda(), weights.cuda());
        let quantum = self.quantum(weights)?;
        let mut sums = Memory::zeroed(&self.queue, self.launches.counters())?;
        let mut lock = Memory::zeroed(&self.queue, 0)?;
        {
            let _lock = self.queue.enqueue()?;
            for launch in self.launches.weighing(samples.len()) {
                let windows = self.windows(&launch, samples, &mut sums, &mut lock);
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
        self.launches.plan(device, samples, |shape| self.kernel().residency(&self.queue, shape).ok())
    }
}
