//! Plans: what operations launch, and why.

use crate::{
    Device, Filter1dAlgorithm, Filter2dAlgorithm, HistogramAlgorithm, LifeAlgorithm, Rank2dAlgorithm, Residency,
    TransposeAlgorithm,
};
use std::fmt;
use std::slice;

/// The kernels that an operation launches on its device, and the reason for their choice.
///
/// `A` is the type of the algorithm that can be requested, and `D` has details of the operation. `Display` prints a plan as a few lines
/// of text.
///
/// ```
/// use slm::{Device, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let plan = Filter1d::<f32, _>::gaussian(2.0).prepare(&Device::open()?)?.plan([1000])?;
/// println!("{plan}");
/// assert_eq!(plan.outputs, [1000]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan<A = (), D = ()> {
    /// The device.
    pub device: String,
    /// Requested algorithm.
    pub algorithm: A,
    /// Lengths of the axes of the results.
    pub outputs: Vec<usize>,
    /// Reason for the choice of the kernels, or for launching none.
    pub reason: String,
    /// Launches of kernels, in this order. Empty on the CPU, and if there is nothing to compute.
    pub launches: Vec<LaunchPlan>,
    /// Details of the operation.
    pub details: D,
}

/// What a device does for an operation, and the reason for it.
pub(crate) struct Planned {
    reason: String,
    launches: Vec<LaunchPlan>,
}

impl Planned {
    pub(crate) fn new(reason: impl Into<String>, launches: impl IntoIterator<Item = LaunchPlan>) -> Self {
        Planned { reason: reason.into(), launches: launches.into_iter().collect() }
    }

    /// Returns the launches, as a part of those of another operation.
    pub(crate) fn into_launches(self) -> Vec<LaunchPlan> {
        self.launches
    }

    /// Returns the plan of a CPU that has no choice.
    pub(crate) fn on_cpu() -> Self {
        Self::new("the CPU has a single implementation", [])
    }

    pub(crate) fn nothing() -> Self {
        Self::new("there is nothing to compute", [])
    }
}

impl<A, D> Plan<A, D> {
    pub(crate) fn new(device: &Device, algorithm: A, outputs: &[usize], details: D, planned: Planned) -> Self {
        let Planned { reason, launches } = planned;
        Plan { device: device.to_string(), algorithm, outputs: outputs.to_vec(), reason, launches, details }
    }

    /// Returns the names of the kernels, in the order of their launches. A kernel that is launched again right away is named once.
    pub fn kernels(&self) -> Vec<&'static str> {
        let mut kernels: Vec<_> = self.launches.iter().map(|launch| launch.kernel).collect();
        kernels.dedup();
        kernels
    }
}

/// An algorithm that can be requested.
pub(crate) trait Requested {
    /// Returns its name, or `None` if there is only one.
    fn name(&self) -> Option<String>;
}

/// Details of an operation in its plan.
pub(crate) trait Details {
    /// Writes lines, each after a line break.
    fn write_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl Requested for () {
    fn name(&self) -> Option<String> {
        None
    }
}

impl Details for () {
    fn write_lines(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

macro_rules! algorithms {
    ($($algorithm:ty)*) => {$(
        impl Requested for $algorithm {
            fn name(&self) -> Option<String> {
                Some(format!("{self:?}"))
            }
        }
    )*};
}
algorithms!(Filter1dAlgorithm Filter2dAlgorithm HistogramAlgorithm LifeAlgorithm Rank2dAlgorithm TransposeAlgorithm);

impl<A: Requested, D: Details> fmt::Display for Plan<A, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outputs: Vec<_> = self.outputs.iter().map(usize::to_string).collect();
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "outputs    {}", outputs.join(" x "))?;
        let kernels = if self.launches.is_empty() { "none".to_owned() } else { self.kernels().join(", ") };
        let requested = self.algorithm.name().map_or_else(String::new, |name| format!("{name}: "));
        write!(f, "kernels    {kernels} ({requested}{})", self.reason)?;
        self.details.write_lines(f)?;
        if self.launches.is_empty() { Ok(()) } else { write!(f, "\n{}", Table(&self.launches)) }
    }
}
/// Consecutive launches of one kernel.
///
/// `Display` prints them as a table.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LaunchPlan {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Number of launches: more than 1 if one launch cannot do all of the work.
    pub times: u64,
    /// Blocks along x, y and z of the first launch. Later launches do not have more.
    pub grid: [u64; 3],
    /// Threads per block along x, y and z.
    pub block: [u32; 3],
    /// Shared memory per block, in bytes.
    pub shared_bytes: u64,
    /// Maximum shared memory per block on this device, in bytes.
    pub shared_available: u64,
    /// Bytes of the operation's data that all of these launches read and write. Each launch counts its part of the inputs and
    /// outputs once. The effects of caches are not included.
    pub moved_bytes: u64,
    /// Blocks that run at the same time; `None` for an emulated device, and if the driver does not answer.
    pub residency: Option<Residency>,
}

impl LaunchPlan {
    /// Returns the cells of the table, in the order of [`HEADS`].
    fn cells(&self) -> [String; 8] {
        let [x, y, z] = self.grid;
        let [threads_x, threads_y, threads_z] = self.block;
        let unknown = || ["-", "-"].map(str::to_owned);
        let [registers, resident] = self.residency.map_or_else(unknown, |residency| {
            let percent = 100.0 * residency.occupancy;
            [residency.registers.to_string(), format!("{} ({percent:.0} %)", residency.blocks_per_multiprocessor)]
        });
        [
            self.times.to_string(),
            format!("{x} x {y} x {z}"),
            format!("{threads_x} x {threads_y} x {threads_z}"),
            format!("{} of {}", self.shared_bytes, self.shared_available),
            self.moved_bytes.to_string(),
            registers,
            resident,
            self.kernel.to_owned(),
        ]
    }
}

impl fmt::Display for LaunchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Table(slice::from_ref(self)).fmt(f)
    }
}

/// Column heads of the table. Shared memory is per block. Resident blocks are per multiprocessor, followed by the share of its
/// threads that they occupy.
const HEADS: [&str; 8] =
    ["launches", "grid", "block", "shared bytes", "moved bytes", "registers", "resident", "kernel"];

/// Table of launches, one line for each.
struct Table<'a>(&'a [LaunchPlan]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<_> =
            std::iter::once(HEADS.map(str::to_owned)).chain(self.0.iter().map(LaunchPlan::cells)).collect();
        let widths: [usize; 8] =
            std::array::from_fn(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0));
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            let (kernel, numbers) = row.split_last().expect("a row has 8 cells");
            for (cell, width) in numbers.iter().zip(widths) {
                write!(f, "{cell:>width$}  ")?;
            }
            write!(f, "{kernel}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_tables() {
        let swap = LaunchPlan {
            kernel: "swap",
            times: 1,
            grid: [10, 1, 1],
            block: [32, 8, 1],
            shared_bytes: 8448,
            shared_available: 65536,
            moved_bytes: 80_000,
            residency: Some(Residency { registers: 40, blocks_per_multiprocessor: 6, occupancy: 0.75 }),
        };
        let permute = LaunchPlan { kernel: "permute", times: 12, shared_bytes: 0, residency: None, ..swap };
        let expected = "\
launches        grid       block   shared bytes  moved bytes  registers  resident  kernel
       1  10 x 1 x 1  32 x 8 x 1  8448 of 65536        80000         40  6 (75 %)  swap
      12  10 x 1 x 1  32 x 8 x 1     0 of 65536        80000          -         -  permute";
        assert_eq!(Table(&[swap, permute]).to_string(), expected);
        assert_eq!(swap.to_string().lines().count(), 2);
    }
}
