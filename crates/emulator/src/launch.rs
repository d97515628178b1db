//! Shapes of launches, and their errors.

use crate::Profile;
use cuda_std::host::Window;
use std::fmt;
use std::time::Duration;

/// Steps of a block's default budget: a constant, and a number per byte that the kernel can reach.
///
/// A block that waits forever makes some millions of steps per second.
const STEPS: u64 = 1 << 26;
const STEPS_PER_BYTE: u64 = 8;

/// Maximum number of steps per block: steps between two meetings of threads are counted with 32 bits.
const MAX_STEPS: u64 = u32::MAX as u64;
/// Default time limit of a thread without an access.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Shape and scheduling of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads per block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u32,
    /// Seed of the order of blocks and threads. The same seed reproduces the order.
    pub seed: u64,
    /// Maximum number of steps of all threads of a block, so that a block that waits forever ends. Steps are accesses
    /// (masked ones too, even if they are left out), waits, and splits of the arena. `None` is 2^26, plus 8 for each byte of
    /// the kernel's windows. The limit is 2^32 - 1.
    pub budget: Option<u64>,
    /// Whether threads may write the same bits to the same element without order. The default is `false`.
    pub same_value_writes: bool,
    /// Whether the launch may leave elements of its outputs
    /// ([`GlobalOut`](cuda_std::GlobalOut)) unwritten. The default is `false`.
    pub partial_outputs: bool,
    /// Fields of the arguments that the launch must write whole: see [`whole_outputs`](Launch::whole_outputs). The default is
    /// none.
    pub whole_outputs: &'static [&'static str],
    /// Maximum time that a thread may run without calling an accessor, so that a loop without accesses ends. The default is
    /// a minute. If the kernel's crate may use `std`, the whole process ends instead.
    pub time_limit: Duration,
}

impl Launch {
    /// Returns a launch of this shape, without shared memory, with seed 0.
    #[must_use]
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Launch {
            grid,
            block,
            shared_bytes: 0,
            seed: 0,
            budget: None,
            same_value_writes: false,
            partial_outputs: false,
            whole_outputs: &[],
            time_limit: TIME_LIMIT,
        }
    }

    /// Returns the launch with `shared_bytes` bytes of dynamic shared memory per block.
    #[must_use]
    pub fn shared_bytes(self, shared_bytes: u32) -> Self {
        Launch { shared_bytes, ..self }
    }

    /// Returns the launch with another order of blocks and threads.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Launch { seed, ..self }
    }

    /// Returns the launch with another [`budget`](Launch::budget).
    #[must_use]
    pub fn budget(self, budget: u64) -> Self {
        Launch { budget: Some(budget), ..self }
    }

    /// Returns the launch with another [`time_limit`](Launch::time_limit).
    #[must_use]
    pub fn time_limit(self, time_limit: Duration) -> Self {
        Launch { time_limit, ..self }
    }

    /// Returns the launch with unordered writes of the same bits allowed.
    #[must_use]
    pub fn allow_same_value_writes(self) -> Self {
        Launch { same_value_writes: true, ..self }
    }

    /// Returns the launch with unwritten outputs allowed, for one of several launches that write the outputs together.
    #[must_use]
    pub fn partial_outputs(self) -> Self {
        Launch { partial_outputs: true, ..self }
    }

    /// Returns the launch with outputs that it must write whole: every element of the windows in these `fields` of the arguments,
    /// [`GlobalOut`](cuda_std::GlobalOut) or [`GlobalInOut`](cuda_std::GlobalInOut), whatever it contained before. Elements that
    /// the launch does not write are a [finding](crate::Problem::UnwrittenOutput). An atomic operation counts as a write. If the
    /// argument is itself a window, its name is empty.
    ///
    /// Without this, elements of a `GlobalInOut` need not be written, and those of a `GlobalOut` may have been written before
    /// the launch.
    ///
    /// ```
    /// use cuda_std::{GlobalInOut, arguments, kernel, thread};
    /// use emulator::{Emulator, Launch, Problem, Profile};
    ///
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
    /// let mut emulator = Emulator::new(Profile::SM_90);
    /// let x = emulator.upload(&[1u32; 40]);
    /// // The grid is too small.
    /// let launch = Launch::new([1, 1, 1], [32, 1, 1]).whole_outputs(&["x"]);
    /// let report = emulator.launch::<double>(launch, Doubling { x: x.in_out() }, ())?;
    /// assert!(matches!(report.findings[0].problem, Problem::UnwrittenOutput { window: "x", first: 32, count: 8, .. }));
    /// # Ok::<(), emulator::LaunchError>(())
    /// ```
    #[must_use]
    pub fn whole_outputs(self, fields: &'static [&'static str]) -> Self {
        Launch { whole_outputs: fields, ..self }
    }

    /// Returns the budget for a kernel with these windows in its arguments.
    pub(crate) fn budget_for(&self, windows: &[(&'static str, Window)]) -> u64 {
        let bytes = windows.iter().fold(0, |bytes: u64, (_, window)| bytes.saturating_add(window.bytes));
        self.budget.unwrap_or(bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS)).min(MAX_STEPS)
    }

    /// Returns the number of threads per block. It saturates, because the launch may not have been checked yet.
    pub(crate) fn threads(&self) -> u64 {
        self.block.iter().fold(1, |all: u64, n| all.saturating_mul((*n).into()))
    }

    /// Checks the launch of a kernel with this number of bytes of parameters.
    pub(crate) fn check(&self, profile: &Profile, parameter_bytes: usize) -> Result<(), LaunchError> {
        let axes = [
            (Limit::GridX, self.grid[0], profile.grid()[0]),
            (Limit::GridY, self.grid[1], profile.grid()[1]),
            (Limit::GridZ, self.grid[2], profile.grid()[2]),
            (Limit::BlockX, self.block[0], profile.block()[0]),
            (Limit::BlockY, self.block[1], profile.block()[1]),
            (Limit::BlockZ, self.block[2], profile.block()[2]),
        ];
        if let Some((limit, ..)) = axes.iter().find(|(_, requested, _)| *requested == 0) {
            return Err(LaunchError::Nothing { limit: *limit });
        }
        let sums = [
            (Limit::Threads, self.threads(), profile.threads()),
            (Limit::SharedBytes, self.shared_bytes.into(), profile.shared_bytes()),
            (Limit::ParameterBytes, parameter_bytes as u64, profile.parameter_bytes()),
        ];
        let axes = axes.map(|(limit, requested, most)| (limit, u64::from(requested), most));
        for (limit, requested, most) in axes.into_iter().chain(sums) {
            if requested > most.into() {
                return Err(LaunchError::TooMuch { limit, requested, most: most.into(), profile: profile.name() });
            }
        }
        Ok(())
    }
}

/// A limited resource of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Blocks along x.
    GridX,
    /// Blocks along y.
    GridY,
    /// Blocks along z.
    GridZ,
    /// Threads per block along x.
    BlockX,
    /// Threads per block along y.
    BlockY,
    /// Threads per block along z.
    BlockZ,
    /// Threads per block.
    Threads,
    /// Dynamic shared memory per block.
    SharedBytes,
    /// Arguments and constants.
    ParameterBytes,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::GridX => "blocks along x",
            Limit::GridY => "blocks along y",
            Limit::GridZ => "blocks along z",
            Limit::BlockX => "threads of a block along x",
            Limit::BlockY => "threads of a block along y",
            Limit::BlockZ => "threads of a block along z",
            Limit::Threads => "threads of a block",
            Limit::SharedBytes => "bytes of shared memory of a block",
            Limit::ParameterBytes => "bytes of parameters",
        })
    }
}

/// Reason why a launch does not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchError {
    /// A dimension is 0.
    Nothing {
        /// The dimension.
        limit: Limit,
    },
    /// The launch exceeds a limit of the device.
    TooMuch {
        /// The resource.
        limit: Limit,
        /// Requested amount.
        requested: u64,
        /// Available amount.
        most: u64,
        /// The device's [`Profile::name`].
        profile: &'static str,
    },
    /// The launch is to write a field of the arguments whole that is not a `GlobalOut` or a `GlobalInOut`.
    NotAnOutput {
        /// The field.
        field: &'static str,
    },
    /// There is no memory for the threads' stacks.
    NoStacks,
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::Nothing { limit } => write!(f, "a launch of 0 {limit}"),
            LaunchError::TooMuch { limit, requested, most, profile } => {
                write!(f, "a launch of {requested} {limit}; {profile} allows {most}")
            }
            LaunchError::NotAnOutput { field } => write!(
                f,
                "the launch is to write `{field}` whole, which is not a `GlobalOut` or `GlobalInOut` of the arguments"
            ),
            LaunchError::NoStacks => f.write_str("no memory for the stacks of the block's threads"),
        }
    }
}

impl std::error::Error for LaunchError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Emulator;
    use cuda_std::Argument;

    #[test]
    fn the_budget_grows_with_the_windows() {
        let launch = Launch::new([1; 3], [1; 3]);
        let mut windows = Vec::new();
        let buffer = Emulator::new(Profile::SM_90).upload(&[0u32; 1000]);
        buffer.input().windows("input", &mut |name, window| windows.push((name, window)));
        assert_eq!([launch.budget_for(&[]), launch.budget_for(&windows)], [1 << 26, (1 << 26) + 32_000]);
        assert_eq!(launch.budget(7).budget_for(&windows), 7);
        // The budget is capped, because steps are counted with 32 bits.
        assert_eq!(launch.budget(u64::MAX).budget_for(&windows), (1 << 32) - 1);
    }
}
