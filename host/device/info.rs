//! Properties of devices.

use crate::{Error, Result};

/// Kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// The CPU, with all its cores.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// An emulated GPU: kernels run on the CPU and are checked.
    Emulated,
}

/// Properties of a device: the result of [`Device::info`](crate::Device::info).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Kind of device.
    pub backend: Backend,
    /// Name of the device.
    pub name: String,
    /// Reason why this device was chosen. If no GPU was found, it lists every library that was tried.
    pub selection: String,
    /// Compute capability, major and minor, of a CUDA device.
    pub compute_capability: Option<(u32, u32)>,
    /// Number of multiprocessors of a GPU (1 if emulated), or of worker threads on the CPU.
    pub processors: usize,
    /// Maximum number of resident threads per multiprocessor of a GPU.
    pub threads_per_multiprocessor: Option<u32>,
    /// Size of the device's memory in bytes; `None` for the CPU, which uses host memory.
    pub memory: Option<u64>,
    /// Size of the second-level cache in bytes; `None` for the CPU and for emulated devices, which have no caches.
    pub l2_cache: Option<u64>,
    /// Shared memory of a GPU.
    pub shared_memory: Option<SharedMemory>,
}

/// On-chip memory that the threads of a block share. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMemory {
    /// Maximum per block without opting in to more.
    pub default_per_block: u64,
    /// Maximum per block.
    pub max_per_block: u64,
    /// Total of all blocks that are resident on one multiprocessor, with what is reserved for each.
    pub per_multiprocessor: u64,
    /// Bytes of that total that each resident block takes in addition to its own.
    pub reserved_per_block: u64,
    /// Number of banks. Accesses of a warp's lanes to different words of one bank are serialised.
    pub banks: u32,
    /// Bytes per word of a bank.
    pub bank_bytes: u32,
}

impl SharedMemory {
    /// Maximum number of threads per CUDA block.
    const MOST_THREADS: u64 = 1024;

    /// Returns how many threads fit into a block if each needs `bytes_per_thread` bytes of shared memory: at most 1024, the
    /// limit of the hardware.
    ///
    /// ```
    /// let shared = slm::SharedMemory {
    ///     default_per_block: 48 << 10,
    ///     max_per_block: 64 << 10,
    ///     per_multiprocessor: 64 << 10,
    ///     reserved_per_block: 0,
    ///     banks: 32,
    ///     bank_bytes: 4,
    /// };
    /// assert_eq!(shared.max_threads_per_block(512), 128);
    /// assert_eq!(shared.max_threads_per_block(0), 1024);
    /// ```
    #[must_use]
    pub fn max_threads_per_block(&self, bytes_per_thread: u64) -> u64 {
        self.max_per_block.checked_div(bytes_per_thread).unwrap_or(Self::MOST_THREADS).min(Self::MOST_THREADS)
    }

    /// Returns how many blocks that need `bytes` bytes each fit into the memory of a multiprocessor: `u64::MAX` if they take
    /// nothing from it.
    pub(crate) fn resident_blocks(&self, bytes: u64) -> u64 {
        self.per_multiprocessor.checked_div(bytes.saturating_add(self.reserved_per_block)).unwrap_or(u64::MAX)
    }

    /// Checks whether a block of `kernel` can have `requested` bytes of shared memory.
    ///
    /// # Errors
    ///
    /// Returns [`Error::SharedMemoryExceeded`] with both sizes if it cannot.
    ///
    /// ```
    /// # let shared = slm::SharedMemory { default_per_block: 49152, max_per_block: 131072,
    /// #     per_multiprocessor: 131072, reserved_per_block: 0, banks: 32, bank_bytes: 4 };
    /// let error = shared.check("my kernel", 656_384).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "my kernel needs 656384 bytes of shared memory per block, but the device has 131072"
    /// );
    /// ```
    pub fn check(&self, kernel: &str, requested: u64) -> Result<()> {
        if requested <= self.max_per_block {
            return Ok(());
        }
        Err(Error::SharedMemoryExceeded { kernel: kernel.to_owned(), requested, available: self.max_per_block })
    }
}

#[cfg(test)]
impl SharedMemory {
    /// Shared memory of an H200 and of a T4.
    pub(crate) const H200: Self = Self::of_kib(227, 228);
    pub(crate) const T4: Self = Self::of_kib(64, 64);

    /// Returns that of a device with this much per block and per multiprocessor.
    pub(crate) const fn of_kib(block: u64, multiprocessor: u64) -> Self {
        SharedMemory {
            default_per_block: 48 << 10,
            max_per_block: block << 10,
            per_multiprocessor: multiprocessor << 10,
            reserved_per_block: (multiprocessor - block) << 10,
            banks: 32,
            bank_bytes: 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_blocks() {
        let (t4, h200) = (SharedMemory::T4, SharedMemory::H200);
        assert_eq!([0, 32 << 10, (32 << 10) + 1, 64 << 10].map(|bytes| t4.resident_blocks(bytes)), [u64::MAX, 2, 1, 1]);
        assert_eq!([0, 113 << 10, 114 << 10, 227 << 10].map(|bytes| h200.resident_blocks(bytes)), [228, 2, 1, 1]);
    }
}
