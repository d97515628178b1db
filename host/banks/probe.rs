//! How long accesses take on a device.

use super::{AccessKind, AccessPattern, BankError, Width};
use crate::{Backend, Device, LaunchShape, Result};
use cuda_std::{Entry, shared_bytes};
use slm_kernels::banks::{self as kernels, ACCESSES, NOBODY, ProbeArgs, banks_probe};

/// What an access was measured to take: the result of [`AccessPattern::probe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// How many accesses, each of a whole warp, were measured.
    pub accesses: u64,
    /// The cycles that they took together.
    pub cycles: u64,
    /// The cycles that as many of the [conflict-free](AccessPattern::conflict_free) pattern took.
    pub conflict_free_cycles: u64,
}

impl Probe {
    /// The cycles of the multiprocessor for one access of a warp, while other warps make the same one.
    #[must_use]
    pub fn cycles_per_access(&self) -> f64 {
        self.cycles as f64 / self.accesses as f64
    }

    /// `cycles / conflict_free_cycles`: how many times as long it takes as if each lane had its own element.
    ///
    /// The model's number for it is the passes of both patterns, one divided by the other. For elements of up to four
    /// bytes, and 32 banks of four bytes, that is the [degree](super::Cost::degree). For wider ones it can be less than
    /// 1: lanes that share elements are served together, where those with elements of their own take several phases.
    #[must_use]
    pub fn serialisation(&self) -> f64 {
        self.cycles as f64 / self.conflict_free_cycles as f64
    }
}

impl AccessPattern {
    /// The same lanes with the same kind of access, but lane `k` accesses element `k`: what is the fastest if all want
    /// elements of their own. For elements as wide as a bank's word, and wider, no lane waits for another one of its
    /// phase.
    #[must_use]
    pub fn conflict_free(&self) -> Self {
        Self::new(self.kind(), self.width(), |lane| self.index(lane).map(|_| lane))
    }

    /// Measures the access, and its [conflict-free](Self::conflict_free) pattern, on a device.
    ///
    /// 32 warps of one block make the access many thousand times, with so much under way at a time that what they wait
    /// for is shared memory. The time is from the first warp's beginning to the last one's end, by the clock of the
    /// multiprocessor, in cycles. Loads depend on each other: each thread adds what it has loaded, zero, to the number
    /// of the element that it loads next. Atomic operations are additions to four bytes, or exchanges of eight.
    ///
    /// An emulated device has no time, and counts passes instead: the result is that of the
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
    /// * [`BankError::AtomicWidth`] for an atomic operation on other than four or eight bytes.
    /// * [`Error::KernelOnCpu`] on the CPU.
    /// * [`Error::SharedMemoryExceeded`] if a block cannot have all elements up to the pattern's last one.
    /// * What [`Device::kernel`] and [`Device::upload`] give, and [failures of the device](Error#failures-of-the-device).
    pub fn probe(&self, device: &Device) -> Result<Probe> {
        if self.lanes() == 0 {
            return Err(BankError::NoLanes.into());
        }
        let (measure, effort) = (kernel(self.kind(), self.width())?, Effort::on(device));
        // In this order, so that what the first launch pays for is not taken for conflicts.
        let conflict_free_cycles = measure(&self.conflict_free(), device, &effort)?;
        let cycles = measure(self, device, &effort)?;
        Ok(Probe { accesses: effort.accesses(), cycles, conflict_free_cycles })
    }

    /// The elements up to the last one that is accessed.
    fn elements(&self) -> u64 {
        (0..32).filter_map(|lane| self.index(lane)).max().map_or(0, |last| u64::from(last) + 1)
    }
}

/// How often an access is made.
struct Effort {
    warps: u32,
    rounds: u32,
}

impl Effort {
    fn on(device: &Device) -> Self {
        match device.info().backend {
            // What counts is exact, however little there is to count.
            Backend::Emulated => Effort { warps: 2, rounds: 1 },
            // A block has no more warps. A quarter of a million cycles at least: beginning and end are some hundred.
            _ => Effort { warps: 32, rounds: 256 },
        }
    }

    fn accesses(&self) -> u64 {
        u64::from(self.warps) * u64::from(self.rounds) * u64::from(ACCESSES)
    }
}

/// What measures the cycles of a pattern.
type Measure = fn(&AccessPattern, &Device, &Effort) -> Result<u64>;

/// The measurement of a kind of access.
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

/// The cycles from the first warp's beginning to the last one's end.
fn cycles<E: Entry<Args = ProbeArgs, Constants = ()>>(
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
        // So many elements that they have more bits are refused.
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
