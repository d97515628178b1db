//! The shape of a launch.

/// Grid, block and shared memory of a launch.
///
/// Grids and shared memory are mostly computed from the size of a problem, so they have 64 bits. Exceeding a limit of the
/// device is an error of the launch, and so is a dimension of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks along x, y and z.
    pub grid: [u64; 3],
    /// Threads per block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u64,
    /// Whether threads may write the same bits to the same element without order.
    pub same_value_writes: bool,
    /// Fields of the arguments that the launch must write whole: see [`whole_outputs`](Self::whole_outputs).
    pub whole_outputs: &'static [&'static str],
    /// Maximum number of steps per block on an emulated device: see [`steps`](Self::steps).
    pub steps: Option<u64>,
}

impl LaunchShape {
    /// Returns a shape of `grid` blocks of `block` threads, without shared memory.
    ///
    /// ```
    /// let shape = slm::LaunchShape::new([10_000, 1, 1], [32, 8, 1]).shared_bytes(4096);
    /// assert_eq!((shape.grid, shape.block, shape.shared_bytes), ([10_000, 1, 1], [32, 8, 1], 4096));
    /// ```
    #[must_use]
    pub const fn new(grid: [u64; 3], block: [u32; 3]) -> Self {
        LaunchShape { grid, block, shared_bytes: 0, same_value_writes: false, whole_outputs: &[], steps: None }
    }

    /// Returns the shape with `shared_bytes` bytes of shared memory per block: the sum of `cuda_std::shared_bytes` over
    /// everything that the kernel splits off its arena.
    #[must_use]
    pub const fn shared_bytes(self, shared_bytes: u64) -> Self {
        LaunchShape { shared_bytes, ..self }
    }

    /// Returns the shape with unordered writes of the same bits to the same element allowed, whose order does not matter. An
    /// emulated device reports such writes as a race unless they are allowed. Other devices do not check.
    ///
    /// ```
    /// # use cuda_std::image::Modules;
    /// # use cuda_std::{GlobalOut, kernel};
    /// # use slm::emulator::Profile;
    /// # use slm::{Device, Error, LaunchShape};
    /// kernel! {
    ///     /// All threads write the same value.
    ///     pub fn show<'l>(_arena, seen: GlobalOut<'l, u32>) {
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

    /// Returns the shape of a launch that must write some outputs whole: every element of the windows in these `fields` of the
    /// arguments, which are [`GlobalOut`](cuda_std::GlobalOut) or [`GlobalInOut`](cuda_std::GlobalInOut), whatever the buffers
    /// contain before. An atomic operation counts as a write. If the argument is itself a window, its name is empty.
    ///
    /// An emulated device reports elements that the launch has not written, and refuses fields that are not outputs. Other
    /// devices do not check. By default, a kernel may leave elements as they are, except those of a `GlobalOut` that nobody has
    /// ever written.
    ///
    /// ```
    /// # use cuda_std::image::Modules;
    /// # use cuda_std::{GlobalInOut, arguments, kernel, thread};
    /// # use slm::emulator::Profile;
    /// # use slm::{Device, Error, LaunchShape};
    /// arguments! {
    ///     /// Arguments of `double`.
    ///     pub struct Doubling<'l> {
    ///         /// The numbers.
    ///         pub x: GlobalInOut<'l, u32>,
    ///     }
    /// }
    ///
    /// kernel! {
    ///     /// Thread `i` of the grid doubles element `i`.
    ///     pub fn double<'l>(_arena, args: Doubling<'l>) {
    ///         let i = thread::global_x();
    ///         args.x.set_if(i < args.x.len(), i, 2 * args.x.get_or(i, 0));
    ///     }
    /// }
    ///
    /// # fn main() -> slm::Result<()> {
    /// # let device = Device::emulated(Profile::SM_90, 0);
    /// let (kernel, mut x) = (device.kernel::<double>(&Modules::NONE)?, device.upload(&[1; 40])?);
    /// let shape = |blocks| LaunchShape::new([blocks, 1, 1], [32, 1, 1]).whole_outputs(&["x"]);
    /// // One block does not reach the last elements.
    /// let refused = kernel.launch(shape(1), |windows| Doubling { x: windows.in_out(&mut x) });
    /// assert!(matches!(refused, Err(Error::FaultyKernel { .. })));
    /// kernel.launch(shape(2), |windows| Doubling { x: windows.in_out(&mut x) })?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn whole_outputs(self, fields: &'static [&'static str]) -> Self {
        LaunchShape { whole_outputs: fields, ..self }
    }

    /// Returns the shape with a limit of `steps` steps per block, for all of its threads together. Steps are accesses (masked
    /// ones too, even if they are left out), barriers and the like.
    ///
    /// An emulated device assumes that a block with more steps waits forever, and reports it. Other devices do not check. The
    /// default is 2^26 steps, plus 8 for each byte of the kernel's windows.
    ///
    /// ```
    /// # use cuda_std::image::Modules;
    /// # use cuda_std::{GlobalInOut, kernel};
    /// # use slm::emulator::Profile;
    /// # use slm::{Device, Error, LaunchShape};
    /// kernel! {
    ///     /// One thread counts to 100.
    ///     pub fn count<'l>(_arena, number: GlobalInOut<'l, u32>) {
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
    /// // Three steps in each iteration, and a last load.
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
