//! The shape of a launch.

/// How many threads a launch has, in which arrangement, and with how much shared memory.
///
/// Grids and shared memory are mostly computed from the size of a problem, so their numbers have 64 bits; what is more than
/// a device has is an error of the launch. So is a dimension of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks along x, y and z.
    pub grid: [u64; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u64,
}

impl LaunchShape {
    /// So many blocks of so many threads, without shared memory.
    ///
    /// ```
    /// let shape = slm::LaunchShape::new([10_000, 1, 1], [32, 8, 1]).shared_bytes(4096);
    /// assert_eq!((shape.grid, shape.block, shape.shared_bytes), ([10_000, 1, 1], [32, 8, 1], 4096));
    /// ```
    #[must_use]
    pub const fn new(grid: [u64; 3], block: [u32; 3]) -> Self {
        LaunchShape { grid, block, shared_bytes: 0 }
    }

    /// The same with so many bytes of shared memory for each block: the sum of `cuda_std::shared_bytes` of all that the
    /// kernel splits off its arena.
    #[must_use]
    pub const fn shared_bytes(self, shared_bytes: u64) -> Self {
        LaunchShape { shared_bytes, ..self }
    }
}
