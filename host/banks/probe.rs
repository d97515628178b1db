//! Measurement of accesses on a device.

use super::{AccessKind, AccessPattern, BankError, Width};
use crate::{Backend, Device, LaunchShape, Result};
use cuda_std::{Entry, shared_bytes};
use slm_kernels::banks::{self as kernels, ACCESSES, NOBODY, ProbeArgs, banks_probe};

/// Measured time of an access: the result of [`AccessPattern::probe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// Number of measured accesses, each by a whole warp.
    pub accesses: u64,
    /// Cycles of all these accesses.
    pub cycles: u64,
    /// Cycles of the same number of accesses with the [conflict-free](AccessPattern::conflict_free) pattern.
    pub conflict_free_cycles: u64,
}

impl Probe {
    /// Returns the cycles of the multiprocessor per access of a warp, while other warps make the same access.
    #[must_use]
    pub fn cycles_per_access(&self) -> f64 {
        self.cycles as f64 / self.accesses as f64
    }

    /// Returns `cycles / conflict_free_cycles`: the time relative to an access in which each lane has its own element.
    ///
    /// The model predicts it as the ratio of the passes of both patterns. For elements of up to four bytes, and 32 banks of
    /// four bytes, this is the [degree](super::Cost::degree). For wider elements it can be less than 1: lanes that share
    /// elements are served together, while lanes with their own elements take several phases.
    #[must_use]
    pub fn serialisation(&self) -> f64 {
        self.cycles as f64 / self.conflict_free_cycles as f64
    }
}

impl AccessPattern {
    /// Returns the pattern with the same lanes and kind of access in which lane `k` accesses element `k`. This is the fastest
    /// pattern with a separate element for each lane. For elements at least as wide as a bank's word, no lane waits for another
    /// lane of its phase.
    #[must_use]
    pub fn conflict_free(&self) -> Self {
        Self::new(self.kind(), self.width(), |lane| self.index(lane).map(|_| lane))
    }

    /// Measures the access and its [conflict-free](Self::conflict_free) pattern on a device, and returns both times.
    ///
    /// 32 warps of one block make the access many thousand times, so that shared memory limits their speed. The time is
    /// measured in cycles by the clock of the multiprocessor, from the start of the first warp to the end of the last one.
    /// Loads depend on each other: each thread adds the loaded value, zero, to the index of its next load. Atomic operations
    /// are additions for four bytes, and exchanges for eight bytes.
    ///
    /// An emulated device has no clock. It counts passes instead, so the result is that of the
    /// [model](super::BankModel::cost) with its banks.
    ///
    /// ```
    /// use slm::Device;
    /// use slm::banks::{AccessPattern, Width};
    /// use slm::emulator::Profile;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::emulated(Profile::SM_90, 0);
    /// let probe = AccessPattern::load(Width::B4, |lane| 16 * lane).probe(&device)?;
    /// assert_eq!((probe.cycles_per_access(), probe.serialisation()), (16.0, 16.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`BankError::NoLanes`] if no lane takes part.
    /// * [`BankError::AtomicWidth`] for atomic operations on numbers of bytes other than four and eight.
    /// * [`Error::KernelOnCpu`] on the CPU.
    /// * [`Error::SharedMemoryExceeded`] if the elements up to the pattern's last one exceed the shared memory of a block.
    /// * The errors of [`Device::kernel`] and [`Device::upload`], and [failures of the device](Error#failures-of-the-device).
    pub fn probe(&self, device: &Device) -> Result<Probe> {
        if self.lanes() == 0 {
            return Err(BankError::NoLanes.into());
        }
        let (measure, effort) = (kernel(self.kind(), self.width())?, Effort::on(device));
        // The conflict-free pattern first, so that the extra cost of a first launch does not look like conflicts.
        let conflict_free_cycles = measure(&self.conflict_free(), device, &effort)?;
        let cycles = measure(self, device, &effort)?;
        Ok(Probe { accesses: effort.accesses(), cycles, conflict_free_cycles })
    }

    /// Returns the number of elements up to the last accessed one.
    fn elements(&self) -> u64 {
        (0..32).filter_map(|lane| self.index(lane)).max().map_or(0, |last| u64::from(last) + 1)
    }
}

/// Number of repetitions of an access.
struct Effort {
    warps: u32,
    rounds: u32,
}

impl Effort {
    fn on(device: &Device) -> Self {
        match device.info().backend {
            // Counts are exact for any number of accesses.
            Backend::Emulated => Effort { warps: 2, rounds: 1 },
            // The maximum number of warps. The accesses take at least a quarter of a million cycles, the start and the end some
            // hundreds.
            _ => Effort { warps: 32, rounds: 256 },
        }
    }

    fn accesses(&self) -> u64 {
        u64::from(self.warps) * u64::from(self.rounds) * u64::from(ACCESSES)
    }
}

/// A function that measures the cycles of a pattern.
type Measure = fn(&AccessPattern, &Device, &Effort) -> Result<u64>;

/// Returns the measurement for a kind of access.
fn kernel(kind: AccessKind, width: Width) -> Result<Measure> {
    use AccessKind::{Atomic, Load, Store};
    use Width::{B1, B2, B4, B8, B16};
    Ok(match (kind, width) {
        (Load, B1) => cycles::<banks_probe<kernels::Load<u8>>>,
        (Load, B2) => cycles::<banks_probe<kernels::Load<u16>>>,
        (Load, B4) => cycles::<banks_probe<kernels::Load<u32>>>,
        (Load, B8) => cycles::<banks_probe<kernels::Load<u64>>>,
        (Load, B16) => cycles::<banks_probe<kernels::LoadFour<u32>>>,
        (Store, B1) => cycles::<banks_probe<kernels::Store<u8>>>,
        (Store, B2) => cycles::<banks_probe<kernels::Store<u16>>>,
        (Store, B4) => cycles::<banks_probe<kernels::Store<u32>>>,
        (Store, B8) => cycles::<banks_probe<kernels::Store<u64>>>,
        (Store, B16) => cycles::<banks_probe<kernels::StoreFour<u32>>>,
        (Atomic, B4) => cycles::<banks_probe<kernels::Add<u32>>>,
        (Atomic, B8) => cycles::<banks_probe<kernels::Exchange<u64>>>,
        (Atomic, B1 | B2 | B16) => return Err(BankError::AtomicWidth { bytes: width.bytes() }.into()),
    })
}

/// Returns the cycles from the start of the first warp to the end of the last one.
fn cycles<E: for<'l> Entry<Args<'l> = ProbeArgs<'l>, Constants = ()>>(
    pattern: &AccessPattern,
    device: &Device,
    effort: &Effort,
) -> Result<u64> {
    let kernel = device.own_kernel::<E>()?;
    let (elements, threads) = (pattern.elements(), 32 * effort.warps);
    let shape = LaunchShape::new([1; 3], [threads, 1, 1])
        .shared_bytes(shared_bytes::<u8>(elements * u64::from(pattern.width().bytes())))
        .allow_same_value_writes();
    let places: [u32; 32] = std::array::from_fn(|lane| pattern.index(lane as u32).unwrap_or(NOBODY));
    let places = device.upload(&places)?;
    let (mut begins, mut ends) = (device.zeroed(effort.warps as usize)?, device.zeroed(effort.warps as usize)?);
    let mut places_after = device.zeroed(threads as usize)?;
    kernel.launch(shape, |windows| ProbeArgs {
        places: windows.input(&places),
        // A number that does not fit into 32 bits exceeds the shared memory, so the launch fails.
        elements: elements as u32,
        rounds: effort.rounds,
        zero: 0,
        begins: windows.output(&mut begins),
        ends: windows.output(&mut ends),
        places_after: windows.output(&mut places_after),
    })?;
    let begin = begins.download()?.into_iter().min().unwrap_or_default();
    let end: u64 = ends.download()?.into_iter().max().unwrap_or_default();
    Ok(end.saturating_sub(begin))
}

#[cfg(doc)]
use crate::Error;
