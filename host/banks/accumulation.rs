//! The usual example of bank conflicts: a loop with a stride.

use crate::{Device, Error, LaunchShape, Result};
use cuda_std::shared_bytes;
use slm_kernels::banks::{AccumulateArgs, banks_accumulate};

/// A loop of one warp over words of shared memory `s`, which are zero at first. In iteration `i`, starting with 0, lane `k`
/// computes `s[stride * k] += i * factor`, modulo 2^32, and then waits for all others at a barrier.
///
/// If the stride equals the number of banks, all lanes access one bank. With a stride of one more, each lane has its own
/// bank. A single warp spends most of an iteration waiting for its load and at the barrier, so the times differ by less than
/// the degree of the conflict. [`AccessPattern::probe`](super::AccessPattern::probe) uses enough warps to measure the degree.
///
/// ```
/// use slm::Device;
/// use slm::banks::Accumulation;
/// use slm::emulator::Profile;
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::emulated(Profile::SMALL, 0); // 16 banks
/// let [conflicting, padded] = [16, 17].map(|stride| Accumulation { stride, iterations: 100, factor: 3 });
/// let run = conflicting.run(&device)?;
/// assert_eq!(run.sums, [3 * 99 * 100 / 2; 32]);
/// // A load or store takes 16 passes for each half of the warp; without conflicts one.
/// assert_eq!((run.cycles, padded.run(&device)?.cycles), (100 * 2 * 32, 100 * 2 * 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulation {
    /// Distance between the words of neighbouring lanes, at least 1.
    pub stride: u32,
    /// Number of additions per lane.
    pub iterations: u32,
    /// Factor of the iteration's number.
    pub factor: u32,
}

/// Result of an [`Accumulation`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accumulated {
    /// Final words of the 32 lanes.
    pub sums: Vec<u32>,
    /// Time of the loop in cycles of the multiprocessor; on an emulated device, the passes of its accesses.
    pub cycles: u64,
}

impl Accumulation {
    /// Runs the loop, and returns its sums and its time.
    ///
    /// # Errors
    ///
    /// * [`Error::LaunchOutOfRange`] for a stride of 0, because all lanes would update one word.
    /// * [`Error::KernelOnCpu`] on the CPU.
    /// * [`Error::SharedMemoryExceeded`] if the words of all lanes exceed the shared memory of a block.
    /// * The errors of [`Device::kernel`] and [`Device::zeroed`], and [failures of the device](Error#failures-of-the-device).
    pub fn run(&self, device: &Device) -> Result<Accumulated> {
        let kernel = device.own_kernel::<banks_accumulate>()?;
        let Accumulation { stride, iterations, factor } = *self;
        if stride == 0 {
            let (kernel, what) = ("banks_accumulate", "words between lanes");
            return Err(Error::LaunchOutOfRange { kernel, what, requested: 0, available: u32::MAX.into() });
        }
        let words = 31 * u64::from(stride) + 1;
        let shape =
            LaunchShape::new([1; 3], [32, 1, 1]).shared_bytes(shared_bytes::<u32>(words)).steps(steps(iterations));
        let (mut times, mut sums) = (device.zeroed::<u64>(2)?, device.zeroed(32)?);
        kernel.launch(shape, |windows| AccumulateArgs {
            stride,
            iterations,
            factor,
            times: windows.output(&mut times),
            sums: windows.output(&mut sums),
        })?;
        let cycles = times.download()?.into_iter().reduce(|begin, end| end.saturating_sub(begin)).unwrap_or_default();
        Ok(Accumulated { sums: sums.download()?, cycles })
    }
}

/// Returns an upper bound for the steps of all lanes: a load, a store and a barrier per iteration, and some accesses before
/// and after the loop.
fn steps(iterations: u32) -> u64 {
    32 * (3 * u64::from(iterations) + 16)
}
