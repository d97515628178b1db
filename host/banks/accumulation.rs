//! The loop that bank conflicts are often shown with.

use crate::{Device, Error, LaunchShape, Result};
use cuda_std::shared_bytes;
use slm_kernels::banks::{AccumulateArgs, banks_accumulate};

/// A loop of one warp over words of shared memory `s`, which are zero at first. In iteration `i`, from 0 on, lane `k` does
/// `s[stride * k] += i * factor`, modulo 2^32, and then waits for all others at a barrier.
///
/// With a stride of as many words as there are banks, all lanes meet in one bank; with one word more, each has its own.
/// A single warp spends most of an iteration waiting, for its load and at the barrier, so the difference is less than
/// the degree of the conflict: [`AccessPattern::probe`](super::AccessPattern::probe) has enough warps to see that.
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
/// // Two halves of a warp take 16 passes each, to load and to store; without conflicts one.
/// assert_eq!((run.cycles, padded.run(&device)?.cycles), (100 * 2 * 32, 100 * 2 * 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulation {
    /// The words from one lane's to the next one's; 1 at least.
    pub stride: u32,
    /// How often each lane adds.
    pub iterations: u32,
    /// What the number of the iteration is multiplied with.
    pub factor: u32,
}

/// What an [`Accumulation`] has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accumulated {
    /// The words of the 32 lanes.
    pub sums: Vec<u32>,
    /// The cycles of the multiprocessor that the loop took; on an emulated device the passes of its accesses.
    pub cycles: u64,
}

impl Accumulation {
    /// Runs the loop.
    ///
    /// # Errors
    ///
    /// * [`Error::LaunchOutOfRange`] for a stride of 0, with which all lanes would have one word.
    /// * [`Error::KernelOnCpu`] on the CPU.
    /// * [`Error::SharedMemoryExceeded`] if a block cannot have the words of all lanes.
    /// * What [`Device::kernel`] and [`Device::zeroed`] give, and [failures of the device](Error#failures-of-the-device).
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

/// More steps than all lanes make: each loads, stores and waits in an iteration, and makes some accesses before and after.
fn steps(iterations: u32) -> u64 {
    32 * (3 * u64::from(iterations) + 16)
}
