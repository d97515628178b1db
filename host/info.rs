//! What is known of devices.

use crate::{Error, Result};

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// The CPU, all its cores.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// An emulated GPU: kernels run on the CPU, and are examined.
    Emulated,
}

/// What is known of a device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// What kind of device it is.
    pub backend: Backend,
    /// Its name.
    pub name: String,
    /// Why it is this one: how it was named, or what came of looking for a GPU, with every library that was tried.
    pub selection: String,
    /// Compute capability, major and minor, of a CUDA device.
    pub compute_capability: Option<(u32, u32)>,
    /// Multiprocessors of a GPU (an emulated one has one), worker threads of the CPU.
    pub processors: usize,
    /// Threads that a multiprocessor of a GPU has room for.
    pub threads_per_multiprocessor: Option<u32>,
    /// The device's own memory in bytes; `None` for the CPU, which uses the machine's.
    pub memory: Option<u64>,
    /// The shared memory of a GPU.
    pub shared_memory: Option<SharedMemory>,
}

/// The on-chip memory that the threads of a block share. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMemory {
    /// What a block can have without asking for more.
    pub default_per_block: u64,
    /// What a block can have at the most.
    pub max_per_block: u64,
    /// What the blocks that run on one multiprocessor have together.
    pub per_multiprocessor: u64,
    /// Banks; lanes of a warp that meet in one bank at different words wait for each other.
    pub banks: u32,
    /// The bytes of a bank's word.
    pub bank_bytes: u32,
}

impl SharedMemory {
    /// The most threads that a CUDA block can have.
    const MOST_THREADS: u64 = 1024;

    /// How many threads fit into a block if each needs `bytes_per_thread` of shared memory: 1024 at the most, which
    /// is the hardware's limit.
    ///
    /// ```
    /// let shared = slm::SharedMemory {
    ///     default_per_block: 48 << 10,
    ///     max_per_block: 64 << 10,
    ///     per_multiprocessor: 64 << 10,
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

    /// Whether a block of `kernel` can have `requested` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::SharedMemoryExceeded`] with both sizes if not.
    ///
    /// ```
    /// # let shared = slm::SharedMemory { default_per_block: 49152, max_per_block: 131072,
    /// #     per_multiprocessor: 131072, banks: 32, bank_bytes: 4 };
    /// let error = shared.check("my kernel", 656_384).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "my kernel needs 656384 bytes of shared memory per block, and the device has 131072"
    /// );
    /// ```
    pub fn check(&self, kernel: &str, requested: u64) -> Result<()> {
        if requested <= self.max_per_block {
            return Ok(());
        }
        Err(Error::SharedMemoryExceeded { kernel: kernel.to_owned(), requested, available: self.max_per_block })
    }
}
