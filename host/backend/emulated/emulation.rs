//! An emulator, with its findings and counts, and a queue of it.

use super::clocks::{Access, Clocks, QueueIndex};
use crate::device::info::{Backend, DeviceInfo, SharedMemory};
use crate::device::launch::{LaunchLimits, LaunchShape, QueueId, Residency, VisitWindows, WindowRecord};
use crate::{Element, Error, Result};
use cuda_std::Argument;
use cuda_std::host::{Window, WindowKind};
use emulator::{Buffer, Emulator, EmulatorId, Launch, LaunchError, Profile, Report};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory of an emulated device, in bytes. It takes 2 to 50 times as much host memory, because accesses are recorded (see
/// the emulator's README).
const MEMORY_BYTES: u64 = 256 << 20;

/// Shared memory per block without opting in to more.
const DEFAULT_SHARED_BYTES: u64 = 48 << 10;

/// A queue of an emulated device. Launches of all queues run one after another.
pub(crate) struct Emulation {
    id: QueueId,
    index: QueueIndex,
    /// The first error that could not be returned when it happened.
    deferred: Mutex<Option<Error>>,
    shared: Arc<Shared>,
}

/// What the queues of a device share.
struct Shared {
    profile: Profile,
    seed: u64,
    emulator: EmulatorId,
    state: Mutex<State>,
}

/// State that launches change.
pub(super) struct State {
    pub(super) emulator: Emulator,
    clocks: Clocks,
    seed: u64,
    free: u64,
    /// One report per kernel.
    reports: Vec<Report>,
}

impl Emulation {
    pub(crate) fn new(profile: Profile, seed: u64) -> Self {
        let (emulator, clocks) = (Emulator::new(profile), Clocks::default());
        let mut state = State { emulator, clocks, seed, free: MEMORY_BYTES, reports: Vec::new() };
        let (index, emulator) = (state.clocks.add_queue(), state.emulator.id());
        let shared = Shared { profile, seed, emulator, state: Mutex::new(state) };
        Self::queue(index, Arc::new(shared))
    }

    /// Returns another queue of the device.
    pub(super) fn another(&self) -> Result<Self> {
        let index = self.lock()?.clocks.add_queue();
        Ok(Self::queue(index, self.shared.clone()))
    }

    fn queue(index: QueueIndex, shared: Arc<Shared>) -> Self {
        Emulation { id: QueueId::new(), index, deferred: Mutex::new(None), shared }
    }

    /// Makes later accesses of this queue come after those of `other` so far.
    pub(super) fn wait_for(&self, other: &Self) -> Result<()> {
        self.lock()?.clocks.wait_for(self.index, other.index);
        Ok(())
    }

    /// Returns the first error that could not be returned when it happened.
    pub(super) fn check_deferred(&self) -> Result<()> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Keeps an error until it can be returned.
    pub(super) fn defer(&self, error: Error) {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Returns the buffer that `make` creates, and reserves its bytes of the device's memory.
    pub(super) fn buffer<T: Element>(
        &self,
        bytes: u64,
        make: impl FnOnce(&mut Emulator) -> Option<Buffer<T>>,
    ) -> Result<Buffer<T>> {
        let mut state = self.lock()?;
        let buffer = state.buffer(bytes, make)?;
        state.clocks.add_buffer(self.index, address(&buffer));
        Ok(buffer)
    }

    pub(super) fn queue_id(&self) -> QueueId {
        self.id
    }

    /// Returns the properties of the device.
    pub(crate) fn info(&self) -> DeviceInfo {
        let Shared { profile, seed, .. } = &*self.shared;
        let name = profile.name();
        DeviceInfo {
            backend: Backend::Emulated,
            name: format!("emulated {name}"),
            selection: format!("emulated:{name}:{seed}"),
            compute_capability: None,
            processors: 1,
            threads_per_multiprocessor: Some(profile.threads_per_multiprocessor()),
            memory: Some(MEMORY_BYTES),
            l2_cache: None,
            shared_memory: Some(self.limits().shared),
        }
    }

    pub(super) fn limits(&self) -> LaunchLimits {
        limits(&self.shared.profile)
    }

    /// Locks the state for this thread. Returns an error if the caller is a kernel that the device runs, because the launch
    /// holds the lock until the kernel has ended.
    pub(super) fn lock(&self) -> Result<MutexGuard<'_, State>> {
        if self.shared.emulator.runs_the_caller() {
            return Err(Error::DeviceRunsCaller { device: self.info().selection });
        }
        // Panics of kernels become findings of their reports, so a panic with the lock held has not damaged the state.
        Ok(self.shared.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records an access of this queue to the buffer that contains `address`. Returns an error if the queue has not waited for
    /// accesses that it could be mixed up with.
    pub(super) fn access(&self, state: &mut State, address: u64, access: Access) -> Result<()> {
        let is_ordered = state.clocks.access(self.index, address, access);
        if is_ordered { Ok(()) } else { Err(Error::UnorderedAccess { device: self.info().selection }) }
    }

    /// Runs `kernel` with the function that launches it, if it can reach only what `windows` has handed out. This is not generic, so
    /// that it is compiled once for all kernels.
    pub(super) fn launch(
        &self,
        kernel: &'static str,
        shape: &LaunchShape,
        windows: &WindowRecord,
        visit_windows: VisitWindows<'_>,
        run: &dyn Fn(&mut Emulator, Launch) -> std::result::Result<Report, LaunchError>,
    ) -> Result<()> {
        windows.check(kernel, self.id, visit_windows)?;
        let mut state = self.lock()?;
        let mut ordered = Ok(());
        visit_windows(&mut |_, Window { kind, address, bytes, .. }| {
            let access = if kind == WindowKind::In { Access::Read } else { Access::Write };
            if bytes > 0 && ordered.is_ok() {
                ordered = self.access(&mut state, address, access);
            }
        });
        ordered?;
        let launch = state.checked(kernel, shape)?;
        let report = run(&mut state.emulator, launch);
        state.note(kernel, report)
    }

    /// Returns `None`, because no registers limit the occupancy, or an error if the block exceeds a limit.
    pub(super) fn residency(&self, kernel: &'static str, shape: &LaunchShape) -> Result<Option<Residency>> {
        self.limits().check_block(kernel, shape).map(|()| None)
    }

    pub(crate) fn reports(&self) -> Result<Vec<Report>> {
        Ok(self.lock()?.reports.clone())
    }

    pub(crate) fn reset_reports(&self) -> Result<()> {
        self.lock()?.reports.clear();
        Ok(())
    }
}

impl State {
    /// Returns the buffer that `make` creates, and reserves its bytes of the device's memory.
    fn buffer<T: Element>(
        &mut self,
        bytes: u64,
        make: impl FnOnce(&mut Emulator) -> Option<Buffer<T>>,
    ) -> Result<Buffer<T>> {
        let available = Some(self.free);
        let free = self.free.checked_sub(bytes).ok_or(Error::OutOfDeviceMemory { requested: bytes, available })?;
        let buffer = make(&mut self.emulator).ok_or_else(no_more_buffers)?;
        self.free = free;
        Ok(buffer)
    }

    /// Frees a buffer, and releases its bytes of the device's memory.
    pub(super) fn free<T: Element>(&mut self, buffer: &Buffer<T>) {
        self.clocks.remove_buffer(address(buffer));
        self.emulator.free(buffer);
        self.free += (buffer.len() * size_of::<T>()) as u64;
    }

    /// Returns a launch of `kernel` in this shape, if the device allows it.
    fn checked(&self, kernel: &'static str, shape: &LaunchShape) -> Result<Launch> {
        limits(self.emulator.profile()).check(kernel, shape)?;
        // The casts are exact: the check has compared the numbers with 32-bit limits.
        let (grid, shared_bytes) = (shape.grid.map(|blocks| blocks as u32), shape.shared_bytes as u32);
        Ok(Launch {
            budget: shape.steps,
            same_value_writes: shape.same_value_writes,
            whole_outputs: shape.whole_outputs,
            ..Launch::new(grid, shape.block).shared_bytes(shared_bytes).seed(self.seed)
        })
    }

    /// Adds the report of a launch to the earlier reports of the same kernel. Returns an error if there is no report, or if it
    /// has findings.
    fn note(&mut self, kernel: &'static str, report: std::result::Result<Report, LaunchError>) -> Result<()> {
        let report = report.map_err(|source| Error::LaunchRefused { kernel, source })?;
        let result =
            if report.is_clean() { Ok(()) } else { Err(Error::FaultyKernel { report: Box::new(report.clone()) }) };
        match self.reports.iter_mut().find(|earlier| earlier.kernel == report.kernel) {
            Some(earlier) => earlier.add(report),
            None => self.reports.push(report),
        }
        result
    }
}

/// Returns the address of a buffer.
pub(super) fn address<T: Element>(buffer: &Buffer<T>) -> u64 {
    let mut first = 0;
    buffer.input().windows("", &mut |_, window| first = window.address);
    first
}

/// Returns the error for more buffers than addresses can distinguish.
fn no_more_buffers() -> Error {
    let limit = Emulator::MOST_BUFFERS as u64;
    let what = "the number of buffers created by the emulated devices of this process";
    Error::TooLarge { what, factors: [limit + 1, 1], limit }
}

/// Returns the limits of a device with this profile.
fn limits(profile: &Profile) -> LaunchLimits {
    let most = u64::from(profile.shared_bytes());
    let shared = SharedMemory {
        default_per_block: most.min(DEFAULT_SHARED_BYTES),
        max_per_block: most,
        // One block can have all of it.
        per_multiprocessor: most,
        reserved_per_block: 0,
        banks: profile.banks(),
        bank_bytes: 4,
    };
    LaunchLimits { grid: profile.grid(), block: profile.block(), threads: profile.threads(), shared }
}

#[cfg(test)]
mod tests {
    use super::super::memory::DeviceMemory;
    use super::*;
    use crate::backend::DeviceMemory as _;
    use crate::device::rows::Rows;
    use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};
    use emulator::Problem;
    use std::sync::Arc;

    arguments! {
        /// Arguments of `reverse`.
        pub struct Reversal<'l> {
            /// 32 numbers.
            pub input: GlobalIn<'l, u32>,
            /// Receives the numbers in reverse order.
            pub output: GlobalOut<'l, u32>,
            /// Not 0 if the threads wait at a barrier, which is correct.
            pub wait: u32,
        }
    }

    kernel! {
        /// Reverses 32 numbers.
        pub fn reverse<'l>(arena, args: Reversal<'l>) {
            let (tile, _) = arena.split::<u32>(32);
            let t = thread::thread_idx_x();
            tile.set(t, args.input.get(t.into()));
            if args.wait != 0 {
                thread::sync_threads();
            }
            args.output.set(t.into(), tile.get(31 - t));
        }
    }

    const SHAPE: LaunchShape = LaunchShape::new([1, 1, 1], [32, 1, 1]).shared_bytes(128);

    /// Returns the output of a launch, and its result.
    fn launch(emulation: &Arc<Emulation>, wait: bool) -> (Vec<u32>, Result<()>) {
        let numbers: Vec<u32> = (0..32).collect();
        let input = DeviceMemory::upload(emulation, &numbers).unwrap();
        let output = emulation.lock().unwrap().emulator.allocate::<u32>(32);
        let args = Reversal { input: input.input(), output: output.output(), wait: wait.into() };
        let run = |emulator: &mut Emulator, launch| emulator.launch::<reverse>(launch, args, ());
        // The windows in the arguments are not visited, so none is refused.
        let windows = WindowRecord::new(emulation.id);
        let result = emulation.launch("reverse", &SHAPE, &windows, &|_| (), &run);
        let output_now = emulation.lock().unwrap().emulator.download(&output);
        (output_now, result)
    }

    #[test]
    fn a_faulty_kernel_is_an_error() {
        let emulation = Arc::new(Emulation::new(Profile::SM_75, 4));
        assert_eq!(launch(&emulation, true), ((0..32).rev().collect(), Ok(())));
        let (_, result) = launch(&emulation, false);
        let Err(Error::FaultyKernel { report }) = result else { panic!("{result:?}") };
        assert_eq!((report.kernel, report.profile, report.launch.seed, report.launches), ("reverse", "sm_75", 4, 1));
        assert!(report.findings.iter().any(|finding| matches!(finding.problem, Problem::Race { .. })), "{report}");
        // The next launch is not affected.
        assert_eq!(launch(&emulation, true).1, Ok(()));
    }

    #[test]
    fn reports_add_up_until_they_are_reset() {
        let emulation = Arc::new(Emulation::new(Profile::SM_90, 0));
        for _ in 0..3 {
            launch(&emulation, true).1.unwrap();
        }
        let found = launch(&emulation, false).1.is_err() && launch(&emulation, false).1.is_err();
        let [report] = &emulation.reports().unwrap()[..] else { panic!() };
        assert!(found && !report.is_clean());
        assert!(report.findings.iter().all(|finding| finding.times >= 2), "{report}");
        assert_eq!(report.launches, 5);
        assert!(report.to_string().contains("the first of 5 launches; together:"), "{report}");
        let stores = report.counts(emulator::Action::Store, Some(emulator::Space::Shared));
        assert_eq!((stores.requests, stores.lanes), (5, 160));
        emulation.reset_reports().unwrap();
        assert_eq!(emulation.reports(), Ok(Vec::new()));
    }

    #[test]
    fn unwritten_outputs_are_errors() {
        let emulation = Arc::new(Emulation::new(Profile::SMALL, 0));
        let mut memory = DeviceMemory::<f64>::unwritten(&emulation, 3).unwrap();
        let device = "emulated:small:0".to_owned();
        assert_eq!(memory.check_written(), Err(Error::UnwrittenOutput { device, element: 0 }));
        memory.overwrite_rows(&[1.0, 2.0, 3.0], Rows::whole(3)).unwrap();
        assert_eq!(memory.check_written(), Ok(()));
        assert_eq!(DeviceMemory::<f64>::zeroed(&emulation, 3).unwrap().check_written(), Ok(()));
    }

    /// Simulates that all buffers were created, which would take too long in a test.
    #[test]
    fn a_failed_allocation_reserves_no_memory() {
        let emulation = Emulation::new(Profile::SMALL, 0);
        let error = emulation.lock().unwrap().buffer::<u8>(5, |_| None).unwrap_err();
        let text = "the number of buffers created by the emulated devices of this process is too large: 134217729 exceeds \
                    134217728";
        assert_eq!((error.to_string().as_str(), emulation.lock().unwrap().free), (text, MEMORY_BYTES));
    }

    #[test]
    fn memory_is_given_back() {
        let emulation = Arc::new(Emulation::new(Profile::SMALL, 0));
        let half = MEMORY_BYTES as usize / 2;
        let memory = DeviceMemory::<u8>::unwritten(&emulation, half).unwrap();
        let _other = DeviceMemory::<u8>::unwritten(&emulation, half - 1).unwrap();
        let error = Error::OutOfDeviceMemory { requested: 2, available: Some(1) };
        assert_eq!(DeviceMemory::upload(&emulation, &[7u16]).err(), Some(error));
        drop(memory);
        assert_eq!(DeviceMemory::upload(&emulation, &[7u16]).err(), None);
    }
}
