//! An emulator, and what it has found and counted so far.

use crate::backend::gpu::Shape;
use crate::device::{Backend, DeviceInfo, SharedMemory};
use crate::{Error, Result};
use cuda_std::Entry;
use emulator::{Emulator, Launch, Profile, Report};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory of an emulated device. It takes several times as much of the host's, for what is remembered of accesses.
const MEMORY_BYTES: u64 = 256 << 20;

/// What every block can have without asking for more.
const DEFAULT_SHARED_BYTES: u64 = 48 << 10;

/// An emulated device, whose work is done one launch after another.
pub(crate) struct Emulation {
    profile: Profile,
    seed: u64,
    state: Mutex<State>,
}

/// What launches change.
pub(super) struct State {
    pub(super) emulator: Emulator,
    seed: u64,
    free: u64,
    /// One for each kernel.
    reports: Vec<Report>,
}

impl Emulation {
    pub(crate) fn new(profile: Profile, seed: u64) -> Self {
        let state = State { emulator: Emulator::new(profile), seed, free: MEMORY_BYTES, reports: Vec::new() };
        Emulation { profile, seed, state: Mutex::new(state) }
    }

    /// What a device says of itself.
    pub(crate) fn info(&self) -> DeviceInfo {
        let name = self.profile.name;
        DeviceInfo {
            backend: Backend::Emulated,
            name: format!("emulated {name}"),
            selection: format!("emulated:{name}:{}", self.seed),
            compute_capability: None,
            processors: 1,
            memory: Some(MEMORY_BYTES),
            shared_memory: Some(self.shared_memory()),
        }
    }

    pub(super) fn shared_memory(&self) -> SharedMemory {
        let most = u64::from(self.profile.shared_bytes);
        SharedMemory {
            default_per_block: most.min(DEFAULT_SHARED_BYTES),
            max_per_block: most,
            // Blocks run one after another.
            per_multiprocessor: most,
            banks: self.profile.banks,
            bank_bytes: 4,
        }
    }

    /// The state, which is this thread's until the guard is dropped.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A kernel's panics end in its report, so whoever panicked with the lock did so between whole changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reports(&self) -> Vec<Report> {
        self.lock().reports.clone()
    }

    pub(crate) fn reset_reports(&self) {
        self.lock().reports.clear();
    }
}

impl State {
    /// Takes so many bytes of the device's memory.
    pub(super) fn take(&mut self, bytes: u64) -> Result<()> {
        let available = Some(self.free);
        self.free = self.free.checked_sub(bytes).ok_or(Error::OutOfDeviceMemory { requested: bytes, available })?;
        Ok(())
    }

    /// Gives them back.
    pub(super) fn give(&mut self, bytes: u64) {
        self.free += bytes;
    }

    /// Runs the kernel `E`.
    pub(super) fn launch<E: Entry>(&mut self, shape: Shape, args: E::Args, constants: &E::Constants) -> Result<()> {
        let Shape { blocks, block: [x, y], shared_bytes } = shape;
        let launch = Launch::new([blocks, 1, 1], [x, y, 1]).shared_bytes(shared_bytes).seed(self.seed);
        let report = self.emulator.launch::<E>(launch, args, *constants);
        let report = report.map_err(|source| Error::LaunchRefused { kernel: E::NAME, source })?;
        let result =
            if report.is_clean() { Ok(()) } else { Err(Error::FaultyKernel { report: Box::new(report.clone()) }) };
        match self.reports.iter_mut().find(|earlier| earlier.kernel == E::NAME) {
            Some(earlier) => earlier.add(report),
            None => self.reports.push(report),
        }
        result
    }
}
