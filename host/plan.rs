//! The part of a plan that all operations share: how kernels are launched.

use crate::info::SharedMemory;
use crate::{LaunchShape, Residency, Result};
use std::fmt;
use std::slice;

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
    /// Returns one launch of a kernel, with no bytes moved yet.
    pub(crate) fn once(
        kernel: &'static str,
        shape: LaunchShape,
        shared: SharedMemory,
        residency: Result<Option<Residency>>,
    ) -> Self {
        LaunchPlan {
            kernel,
            times: 1,
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared_bytes,
            shared_available: shared.max_per_block,
            moved_bytes: 0,
            // A plan is a forecast. If the driver does not answer, the next launch returns the reason.
            residency: residency.ok().flatten(),
        }
    }

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
pub(crate) struct Table<'a>(pub(crate) &'a [LaunchPlan]);

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
