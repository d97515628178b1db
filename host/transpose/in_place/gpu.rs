//! Transpositions in place on CUDA and emulated GPUs.

use super::Matrices;
use super::choose::{Choice, choose};
use super::launches::{InPlaceLaunch, InPlaceMethod, Memory, Passed};
use crate::device::gpu::Gpu;
use crate::device::kernel::Recent;
use crate::plan::Planned;
use crate::transpose::tuning::TransposeTuning;
use crate::{Buffer, BufferSliceMut, Element, LaunchPlan, Result, Windows};
use slm_kernels::cast;
use slm_kernels::transpose::TransposeProblem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A transposition in place.
pub(super) struct GpuTransposeInPlace<T: Element> {
    gpu: Gpu,
    tuning: TransposeTuning,
    matrices: Matrices,
    /// For matrices without gaps, unless they are empty.
    without_gaps: Option<Ready>,
    /// The same for square matrices with the most recent row pitches. Each pitch may need other kernels.
    pitched: Recent<usize, Arc<Ready>>,
    /// Scratch memory. Locked while the launches that use it are enqueued, so that they run in order.
    scratch: Mutex<Buffer<T>>,
}

/// What has been chosen for matrices with some row pitch, with loaded kernels.
struct Ready {
    reason: &'static str,
    method: Box<dyn InPlaceMethod>,
    /// The method's table.
    table: Buffer<u32>,
}

impl Ready {
    /// Returns the choice for matrices that are not empty.
    fn new(gpu: &Gpu, tuning: &TransposeTuning, matrices: &Matrices, problem: &TransposeProblem) -> Result<Self> {
        let Choice { method, reason } = choose(matrices, problem, &tuning.launches, gpu.shared.max_per_block);
        let method = method.load(gpu)?;
        let table = gpu.upload(method.table())?;
        Ok(Ready { reason, method, table })
    }
}

impl<T: Element> GpuTransposeInPlace<T> {
    pub(super) fn new(gpu: &Gpu, matrices: &Matrices) -> Result<Self> {
        let problem = matrices.problem::<T>(matrices.pitches())?;
        let tuning = TransposeTuning::new(gpu.info());
        let ready = || Ready::new(gpu, &tuning, matrices, &problem);
        let without_gaps = if matrices.is_empty() { None } else { Some(ready()?) };
        let scratch = Mutex::new(gpu.unwritten(0)?);
        let (gpu, matrices, pitched) = (gpu.clone(), *matrices, Recent::default());
        let transpose = GpuTransposeInPlace { gpu, tuning, matrices, without_gaps, pitched, scratch };
        if let Some(ready) = &transpose.without_gaps {
            drop(transpose.scratch_for(ready)?);
        }
        Ok(transpose)
    }

    /// Returns the scratch memory, made large enough.
    fn scratch_for(&self, ready: &Ready) -> Result<MutexGuard<'_, Buffer<T>>> {
        // Scratch memory is never read before it is written, so a panic of another thread does no harm.
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = ready.method.scratch_bytes().div_ceil(size_of::<T>() as u64) as usize;
        if scratch.len() < needed {
            *scratch = self.gpu.unwritten(needed)?;
        }
        Ok(scratch)
    }

    /// Returns what is chosen for square matrices with this row pitch, in numbers.
    fn pitched(&self, pitch: usize) -> Result<Arc<Ready>> {
        self.pitched.get(pitch, || {
            let problem = self.matrices.problem::<T>([pitch; 2])?;
            Ok(Arc::new(Ready::new(&self.gpu, &self.tuning, &self.matrices, &problem)?))
        })
    }

    /// Transposes matrices.
    fn transpose(&self, ready: &Ready, data: BufferSliceMut<'_, T>) -> Result<()> {
        let mut scratch = self.scratch_for(ready)?;
        let mut windows = Windows::new(&self.gpu);
        let [matrices, scratch] = [cast(windows.in_out_slice(data), 1)?, cast(windows.in_out(&mut scratch), 1)?];
        let table = windows.input(&ready.table);
        let memory = Memory { windows: &windows, matrices, scratch, table };
        let _submission = self.gpu.submission_lock()?;
        ready.method.each_launch(Passed::All(self.matrices.count as u64), &mut |launch| (launch.enqueue)(&memory))
    }

    /// Transposes square matrices with this row pitch, in numbers.
    pub(super) fn run_pitched(&self, data: BufferSliceMut<'_, T>, pitch: usize) -> Result<()> {
        if self.matrices.is_empty() {
            return Ok(());
        }
        self.transpose(&*self.pitched(pitch)?, data)
    }

    /// Transposes matrices without gaps.
    pub(super) fn run(&self, data: BufferSliceMut<'_, T>) -> Result<()> {
        self.without_gaps.as_ref().map_or(Ok(()), |ready| self.transpose(ready, data))
    }

    pub(super) fn plan(&self) -> Result<Planned> {
        let Some(Ready { reason, method, .. }) = &self.without_gaps else { return Ok(Planned::nothing()) };
        let mut launches = Vec::new();
        method.each_launch(Passed::Planned, &mut |launch| {
            self.add(&mut launches, launch);
            Ok(())
        })?;
        let reason = if launches.is_empty() { "no element moves" } else { reason };
        Ok(Planned::new(reason, launches))
    }

    /// Adds a launch to a plan, to the entry with the same kernel and grid if there is one.
    fn add(&self, launches: &mut Vec<LaunchPlan>, launch: InPlaceLaunch<'_>) {
        let InPlaceLaunch { kernel, shape, moved_bytes, of_one_matrix, times, .. } = launch;
        let matrices = if of_one_matrix { self.matrices.count as u64 } else { 1 };
        let (times, moved_bytes) = (times.saturating_mul(matrices), moved_bytes.saturating_mul(matrices));
        let mut entries = launches.iter_mut();
        match entries.find(|entry| (entry.kernel, entry.grid) == (kernel.name(), shape.grid)) {
            Some(entry) => {
                entry.times = entry.times.saturating_add(times);
                entry.moved_bytes = entry.moved_bytes.saturating_add(moved_bytes);
            }
            None => {
                let plan = self.gpu.launch_plan(kernel.name(), shape, kernel.residency(shape));
                launches.push(LaunchPlan { times, moved_bytes, ..plan });
            }
        }
    }
}
