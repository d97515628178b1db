//! What to launch, and why it cannot be.

use crate::Profile;
use cuda_std::Argument;
use std::fmt;
use std::time::Duration;

/// The steps that every block may make, and those for each byte that the kernel can reach.
///
/// A block that waits for ever makes some millions of steps per second.
const STEPS: u64 = 1 << 26;
const STEPS_PER_BYTE: u64 = 8;

/// The most steps of a block: what threads do between two meetings is counted with 32 bits.
const MOST_STEPS: u64 = u32::MAX as u64;
/// How long a thread may be without an access.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The shape of a launch, and how it is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// What the order of blocks and threads depends on: the same seed gives the same order.
    pub seed: u64,
    /// The most steps (accesses, masked ones that are left out, waits, and windows split off) of all threads of a block
    /// together, so that a block which waits for ever ends. `None` is for 2^26 and 8 more for each byte of the windows that the kernel gets;
    /// more than 2^32 - 1 count as so many.
    pub budget: Option<u64>,
    /// Whether threads may write the same bits to the same place without order. They may not unless this says so.
    pub same_value_writes: bool,
    /// Whether the launch may leave elements of its outputs ([`GlobalOut`](cuda_std::GlobalOut)) unwritten that nobody has
    /// written before. It may not unless this says so.
    pub partial_outputs: bool,
    /// How long a thread may run without calling an accessor, so that a loop without accesses ends; a minute unless this says
    /// otherwise. Kernels whose crates are not known to do without `std` cannot be ended: there the process is.
    pub time_limit: Duration,
}

impl Launch {
    /// A launch of this shape, without shared memory, with seed 0.
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
            time_limit: TIME_LIMIT,
        }
    }

    /// The same with `shared_bytes` of dynamic shared memory per block.
    #[must_use]
    pub fn shared_bytes(self, shared_bytes: u32) -> Self {
        Launch { shared_bytes, ..self }
    }

    /// The same with another order of blocks and threads.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Launch { seed, ..self }
    }

    /// The same with another [`budget`](Launch::budget).
    #[must_use]
    pub fn budget(self, budget: u64) -> Self {
        Launch { budget: Some(budget), ..self }
    }

    /// The same with another [`time_limit`](Launch::time_limit).
    #[must_use]
    pub fn time_limit(self, time_limit: Duration) -> Self {
        Launch { time_limit, ..self }
    }

    /// The same, with writes of the same bits allowed.
    #[must_use]
    pub fn allow_same_value_writes(self) -> Self {
        Launch { same_value_writes: true, ..self }
    }

    /// The same, where the launch writes only a part of its outputs, as one of several that write them together.
    #[must_use]
    pub fn partial_outputs(self) -> Self {
        Launch { partial_outputs: true, ..self }
    }

    /// The budget for a kernel with these arguments.
    pub(crate) fn budget_for(&self, args: &impl Argument) -> u64 {
        let mut bytes = 0u64;
        args.windows("", &mut |_, window| bytes = bytes.saturating_add(window.bytes));
        self.budget.unwrap_or(bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS)).min(MOST_STEPS)
    }

    /// Threads of a block; no overflow before it is checked.
    pub(crate) fn threads(&self) -> u64 {
        self.block.iter().fold(1, |all: u64, n| all.saturating_mul((*n).into()))
    }

    /// Checks the launch of a kernel with so many bytes of parameters.
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

/// Something of which a device has only so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Blocks along x.
    GridX,
    /// Blocks along y.
    GridY,
    /// Blocks along z.
    GridZ,
    /// Threads of a block along x.
    BlockX,
    /// Threads of a block along y.
    BlockY,
    /// Threads of a block along z.
    BlockZ,
    /// Threads of a block.
    Threads,
    /// Dynamic shared memory of a block.
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

/// Why a launch does not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchError {
    /// A dimension is 0.
    Nothing {
        /// Which one.
        limit: Limit,
    },
    /// More than the device has.
    TooMuch {
        /// Of what.
        limit: Limit,
        /// How much the launch asks for.
        requested: u64,
        /// How much there is.
        most: u64,
        /// The device's [`Profile::name`].
        profile: &'static str,
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
            LaunchError::NoStacks => f.write_str("no memory for the stacks of the block's threads"),
        }
    }
}

impl std::error::Error for LaunchError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Emulator;

    #[test]
    fn the_budget_grows_with_the_windows() {
        let launch = Launch::new([1; 3], [1; 3]);
        let window = Emulator::new(Profile::SM_90).upload(&[0u32; 1000]).input();
        assert_eq!([launch.budget_for(&1u32), launch.budget_for(&window)], [1 << 26, (1 << 26) + 32_000]);
        assert_eq!(launch.budget(7).budget_for(&window), 7);
        // What is counted in 32 bits does not wrap.
        assert_eq!(launch.budget(u64::MAX).budget_for(&window), (1 << 32) - 1);
    }
}
