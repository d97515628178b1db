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
    /// Whether threads may write the same bits to the same place without order.
    pub same_value_writes: bool,
    /// The most steps of a block on an emulated device: see [`steps`](Self::steps).
    pub steps: Option<u64>,
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
        LaunchShape { grid, block, shared_bytes: 0, same_value_writes: false, steps: None }
    }

    /// The same with so many bytes of shared memory for each block: the sum of `cuda_std::shared_bytes` of all that the
    /// kernel splits off its arena.
    #[must_use]
    pub const fn shared_bytes(self, shared_bytes: u64) -> Self {
        LaunchShape { shared_bytes, ..self }
    }

    /// The same, where threads may write the same bits to the same place without order: then it does not matter whose
    /// are last. An emulated device takes that for a race unless it is allowed; others do not look.
    ///
    /// ```
    /// # use cuda_std::image::Modules;
    /// # use cuda_std::{GlobalOut, kernel};
    /// # use slm::emulator::Profile;
    /// # use slm::{Device, Error, LaunchShape};
    /// kernel! {
    ///     /// All threads say that they were there.
    ///     pub fn show(_arena, seen: GlobalOut<u32>) {
    ///         seen.set(0, 1);
    ///     }
    /// }
    ///
    /// # fn main() -> slm::Result<()> {
    /// # let device = Device::emulated(Profile::SM_90, 0);
    /// let (kernel, mut seen) = (device.kernel::<show>(&Modules::NONE)?, device.zeroed(1)?);
    /// let shape = LaunchShape::new([1, 1, 1], [32, 1, 1]);
    /// let refused = kernel.launch(shape, |windows| windows.output(&mut seen));
    /// assert!(matches!(refused, Err(Error::FaultyKernel { .. })));
    /// kernel.launch(shape.allow_same_value_writes(), |windows| windows.output(&mut seen))?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn allow_same_value_writes(self) -> Self {
        LaunchShape { same_value_writes: true, ..self }
    }

    /// The same, where all threads of a block together make fewer steps than `steps`: accesses, masked ones that are left
    /// out, barriers and their like. An emulated device takes a block that makes more for one that waits for what never
    /// comes; others do not look. Unless a launch says how many it makes, 2^26 are allowed, and 8 more for each byte of the
    /// kernel's windows.
    ///
    /// ```
    /// # use cuda_std::image::Modules;
    /// # use cuda_std::{GlobalInOut, kernel};
    /// # use slm::emulator::Profile;
    /// # use slm::{Device, Error, LaunchShape};
    /// kernel! {
    ///     /// One thread counts to 100.
    ///     pub fn count(_arena, number: GlobalInOut<u32>) {
    ///         while number.get(0) < 100 {
    ///             number.set(0, number.get(0) + 1);
    ///         }
    ///     }
    /// }
    ///
    /// # fn main() -> slm::Result<()> {
    /// # let device = Device::emulated(Profile::SM_90, 0);
    /// let (kernel, mut number) = (device.kernel::<count>(&Modules::NONE)?, device.zeroed(1)?);
    /// let shape = LaunchShape::new([1, 1, 1], [1, 1, 1]);
    /// let ended = kernel.launch(shape.steps(300), |windows| windows.in_out(&mut number));
    /// assert!(matches!(ended, Err(Error::FaultyKernel { .. })));
    /// // Three in each turn, and a last look.
    /// number.upload(&[0])?;
    /// kernel.launch(shape.steps(302), |windows| windows.in_out(&mut number))?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn steps(self, steps: u64) -> Self {
        LaunchShape { steps: Some(steps), ..self }
    }
}
