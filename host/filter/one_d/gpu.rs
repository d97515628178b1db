//! Filters on CUDA and emulated GPUs, by [`Kernel`](crate::Kernel) and [`Windows`].

use super::details::{Accuracy, PlannedLines};
use super::element::Number;
use super::kernels::Loaded;
use super::launches::{FilterWindows, Launches};
use super::line_filter::GpuLines;
use super::{Filter1dAlgorithm, Lines, Taps};
use crate::device::gpu::Gpu;
use crate::device::kernel::{OnDemand, Recent};
use crate::filter::fold::Fold;
use crate::{Buffer, BufferSlice, BufferSliceMut, Result, Windows};
use cuda_std::GlobalIn;
use slm_kernels::filter1d::Orientation;
use std::sync::Arc;

/// A filter on a GPU, for lines of any length.
pub(super) struct GpuFilter1d<T: Number> {
    whole: Folded<T>,
    gpu: Gpu,
    taps: Taps<T>,
    algorithm: Filter1dAlgorithm,
    /// For lines that are shorter than the taps.
    folded: Recent<Fold, Option<Arc<Folded<T>>>>,
}

/// A filter whose taps are not folded, or not any more.
struct Folded<T: Number> {
    gpu: Gpu,
    launches: Launches<T>,
    /// The taps, if the kernels read them from global memory.
    taps: Option<Buffer<T>>,
    /// Kernel for lines along rows.
    rows: OnDemand<Loaded<T>>,
    /// Kernel for lines along columns.
    columns: OnDemand<Loaded<T>>,
}

impl<T: Number> GpuFilter1d<T> {
    /// Returns the filter on a device with this shared memory.
    pub(super) fn new(gpu: &Gpu, taps: &Taps<T>, algorithm: Filter1dAlgorithm) -> Result<Self> {
        let whole = Folded::new(gpu, taps, algorithm)?;
        let (gpu, taps) = (gpu.clone(), taps.clone());
        Ok(GpuFilter1d { whole, gpu, taps, algorithm, folded: Recent::default() })
    }

    /// Calls `run` with the filter that has fewest taps for these lines, and with the lines for it. A filter that needs too much shared memory is refused for
    /// lines of any length.
    fn with_fewest<R>(&self, lines: &Lines, run: impl FnOnce(&Folded<T>, &Lines) -> Result<R>) -> Result<R> {
        let is_possible = self.whole.launches.choose(lines).is_ok();
        let fold = if is_possible { self.taps.fold(lines) } else { None };
        let found = fold.map(|fold| self.folded.get(fold, || self.folded(fold))).transpose()?;
        match found.flatten() {
            Some(filter) => run(&filter, &Lines { start: filter.launches.start(), ..*lines }),
            None => run(&self.whole, lines),
        }
    }

    /// Returns the filter with folded taps, or `None` if their sums overflow.
    fn folded(&self, fold: Fold) -> Result<Option<Arc<Folded<T>>>> {
        let folded = |taps| Folded::new(&self.gpu, &taps, self.algorithm).map(Arc::new);
        self.taps.folded(fold)?.map(folded).transpose()
    }
}

impl<T: Number> Folded<T> {
    fn new(gpu: &Gpu, taps: &Taps<T>, algorithm: Filter1dAlgorithm) -> Result<Self> {
        let launches = Launches::new(gpu, taps, algorithm)?;
        let taps = launches.taps_in_memory()?.map(|taps| gpu.upload(&taps)).transpose()?;
        let (rows, columns) = (OnDemand::default(), OnDemand::default());
        let filter = Folded { gpu: gpu.clone(), launches, taps, rows, columns };
        filter.kernel(Orientation::Rows)?;
        Ok(filter)
    }

    /// Returns the kernel for lines of this orientation, loaded on first use.
    fn kernel(&self, orientation: Orientation) -> Result<&Loaded<T>> {
        let kernel = match orientation {
            Orientation::Rows => &self.rows,
            Orientation::Columns => &self.columns,
        };
        kernel.get(|| self.launches.entry_point(orientation).load(&self.gpu))
    }
}

impl<T: Number> GpuLines<T> for GpuFilter1d<T> {
    fn run(&self, lines: &Lines, samples: BufferSlice<'_, T>, outputs: BufferSliceMut<'_, T>) -> Result<()> {
        self.with_fewest(lines, |filter, lines| filter.run(lines, samples, outputs))
    }

    fn plan(&self, lines: &Lines) -> Result<PlannedLines> {
        // The bound is that of all taps.
        let accuracy = Accuracy::of_sums::<T>(self.taps.taps.len());
        self.with_fewest(lines, |filter, lines| filter.plan(lines, accuracy))
    }
}

impl<T: Number> Folded<T> {
    fn run(&self, lines: &Lines, samples: BufferSlice<'_, T>, outputs: BufferSliceMut<'_, T>) -> Result<()> {
        let choice = self.launches.choose(lines)?;
        let kernel = self.kernel(lines.orientation)?;
        let mut windows = Windows::new(&self.gpu);
        let taps = self.taps.as_ref().map_or_else(GlobalIn::empty, |taps| windows.input(taps));
        let filter_windows =
            FilterWindows { input: windows.input_slice(samples), output: windows.in_out_slice(outputs), taps };
        let _submission = self.gpu.submission_lock()?;
        self.launches.of(&choice, lines).try_for_each(|launch| {
            let args = launch.args(&filter_windows);
            match kernel {
                Loaded::Simple(kernel) => kernel.launch(&windows, launch.shape, args, &()),
                Loaded::WithTable(kernel) => kernel.launch(&windows, launch.shape, args, launch.table()),
            }
        })
    }

    fn plan(&self, lines: &Lines, accuracy: Accuracy) -> Result<PlannedLines> {
        let residency = |shape| self.kernel(lines.orientation).and_then(|kernel| kernel.residency(shape));
        let planned = self.launches.plan(lines, residency)?;
        Ok(PlannedLines { planned, details: self.launches.details(lines, accuracy) })
    }
}
