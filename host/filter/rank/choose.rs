//! The choice of the method, a plain value.

use super::element::Sortable;
use super::rule::RankRule;
use super::{Rank2dAlgorithm, RankError, gpu};
use crate::Result;
use crate::device::info::SharedMemory;
use slm_kernels::rank2d::{RankKernel, RankLimits, rank_geometry};

/// How the CPU finds ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CpuMethod {
    /// Extremes of rectangles: the extremes of four parts are compared, of vectors of neighbouring outputs.
    Rectangle,
    /// A network for medians of squares of 3, 5 or 7 rows, whose numbers are in registers; the stride of columns is 1.
    Median,
    /// A network of comparisons, of vectors of neighbouring outputs.
    Network,
    /// Counts of the samples in the window, which are updated from one output to the next.
    Histogram,
    /// Counts of the samples in each column of a window, for rectangles with strides of 1.
    Columns,
    /// Extremes of other windows: those of two parts of each run of neighbours in a row; the stride of columns is 1.
    Runs,
    /// Extremes with heights, or with other strides of columns: each sample of the window is compared, of vectors of neighbouring outputs.
    Comparison,
    /// The window is copied, and its sample selected.
    Selection,
}

/// Maximum number of samples of a window that are compared by a network.
const MOST_COMPARED: u32 = 49;

/// Returns how the CPU finds the ranks of a filter.
pub(super) fn choose_on_cpu<T: Sortable>(rule: &RankRule<T>) -> CpuMethod {
    match rule.runs.count {
        _ if rule.separable_extreme().is_some() => CpuMethod::Rectangle,
        _ if rule.extreme.is_some() && rule.heights.is_none() && rule.window.strides()[1] == 1 => CpuMethod::Runs,
        _ if rule.extreme.is_some() => CpuMethod::Comparison,
        9 | 25 | 49 if has_median_network(rule) => CpuMethod::Median,
        ..=MOST_COMPARED => CpuMethod::Network,
        // A column of one sample needs no counts.
        _ if T::BINS.is_some() && rule.runs.shape[0] == 1 => CpuMethod::Histogram,
        _ if rule.runs.is_rectangle && rule.window.has_unit_steps() => CpuMethod::Columns,
        _ if T::BINS.is_some() => CpuMethod::Histogram,
        _ => CpuMethod::Selection,
    }
}

fn has_median_network<T>(rule: &RankRule<T>) -> bool {
    let [rows, columns] = rule.runs.shape;
    rule.is_median && rule.runs.is_rectangle && rows == columns && rule.window.strides()[1] == 1
}

impl CpuMethod {
    /// Returns the number of output rows of a band, for windows of `taps` rows, if there are `all` output rows. The rows of windows overlap
    /// those of the next band, and the counts of columns begin anew with each one.
    pub(super) fn band(self, taps: usize, all: usize) -> usize {
        match self {
            CpuMethod::Columns => taps.max(64),
            // Low pictures have bands for many threads, too.
            CpuMethod::Median => (all / 32).clamp(16, 64),
            CpuMethod::Rectangle => taps.saturating_mul(3).max(48),
            // What a band loads is little beside what its windows take, so large windows leave bands for many threads, too.
            CpuMethod::Runs => taps.saturating_mul(2).clamp(16, 64),
            _ => taps.clamp(16, 64),
        }
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            CpuMethod::Rectangle => {
                "extremes of rectangles, of four parts at a time, down the columns first, then along the rows"
            }
            CpuMethod::Median => "a network of comparisons for medians of this size, in registers",
            CpuMethod::Network => "a network of comparisons, for several neighbouring outputs at once",
            CpuMethod::Histogram => "counts of the samples in the window, updated from one output to the next",
            CpuMethod::Columns => "counts of the samples in each column of the window",
            CpuMethod::Runs => {
                "neighbours in a row of the window have the extreme of two of their parts, which rows of outputs share"
            }
            CpuMethod::Comparison => "a comparison per sample of the window, for several neighbouring outputs at once",
            CpuMethod::Selection => "selection from a copy of each window",
        }
    }
}

/// What runs on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// One kernel.
    One(RankKernel),
    /// A kernel for each axis that has more than one sample.
    Passes,
}

/// Returns what runs, and the reason for it; or an error if the required algorithm needs too much shared memory or other filters.
pub(super) fn choose<T: Sortable>(rule: &RankRule<T>, shared: SharedMemory) -> Result<(Choice, &'static str)> {
    let is_separable = rule.separable_extreme().is_some() && rule.window.has_unit_steps();
    let is_large = rule.runs.shape.iter().any(|&side| side > RankKernel::MOST_TAPS as usize);
    let is_sortable = rule.runs.is_rectangle && rule.heights.is_none() && rule.window.has_unit_steps();
    let limits = RankLimits { pairs: false, shared_bytes: shared.max_per_block };
    let problems = gpu::of_every_form(rule)?;
    let check = |kernel: RankKernel| {
        problems.iter().try_for_each(|problem| {
            shared.check(T::kernel_name(kernel), rank_geometry::<T>(kernel, problem, limits).shared_bytes)
        })
    };
    match rule.algorithm {
        Rank2dAlgorithm::GlobalMemory => return Ok((Choice::One(in_global_memory(rule)), REQUESTED)),
        Rank2dAlgorithm::VanHerk if !is_separable => return Err(RankError::NotSeparable.into()),
        Rank2dAlgorithm::VanHerk => return Ok((Choice::Passes, REQUESTED)),
        Rank2dAlgorithm::SortedTile if !is_sortable => return Err(RankError::NotSortable.into()),
        Rank2dAlgorithm::SortedTile => {
            return check(RankKernel::Sorted).map(|()| (Choice::One(RankKernel::Sorted), REQUESTED));
        }
        Rank2dAlgorithm::Auto if is_separable && is_large => return Ok((Choice::Passes, BY_PASSES)),
        _ => {}
    }
    let (kernel, reason) = match in_shared_memory(rule) {
        // Its levels take more memory than a tile.
        (RankKernel::RunExtreme, _) if check(RankKernel::RunExtreme).is_err() => BY_COMPARISON,
        choice => choice,
    };
    let fits = check(kernel);
    // A tile that is sorted has one channel, a tile for a network has all.
    let is_slow = match kernel {
        RankKernel::Tile => true,
        RankKernel::LargeNetwork => sorts_quicker::<T>(rule.runs.shape) || fits.is_err(),
        RankKernel::Network => fits.is_err(),
        _ => false,
    };
    if rule.algorithm == Rank2dAlgorithm::Auto && is_sortable && is_slow && check(RankKernel::Sorted).is_ok() {
        return Ok((Choice::One(RankKernel::Sorted), BY_SORTING));
    }
    match (rule.algorithm, fits) {
        (_, Ok(())) => Ok((Choice::One(kernel), reason)),
        (Rank2dAlgorithm::Auto, Err(_)) => Ok((Choice::One(in_global_memory(rule)), NO_TILE)),
        (_, Err(error)) => Err(error),
    }
}

/// Returns whether a tile is sorted in less time than a network takes for windows of 26 to 49 samples. On an H200, sorting takes 2.7 (`u8`),
/// 4.8 (`f32`) and about 7.8 ms (`f64`) for 6 x 6 samples of 8192 x 8192 pixels, and the network 2.9, 3.2 and 11.5.
fn sorts_quicker<T: Sortable>([rows, _]: [usize; 2]) -> bool {
    matches!(T::BITS, 8 | 64) && rows > 1
}

/// Why a kernel without shared memory was chosen.
pub(super) const NO_TILE: &str = "a tile does not fit into shared memory";

const REQUESTED: &str = "it was requested";

const BY_SORTING: &str = "a tile is sorted once for all windows in it";

const BY_COMPARISON: (RankKernel, &str) =
    (RankKernel::AnyExtreme, "all samples of a window are compared in a tile in shared memory");

const BY_PASSES: &str = "extremes of large rectangles take a fixed number of comparisons along each axis";

/// Returns the kernel without shared memory.
fn in_global_memory<T>(rule: &RankRule<T>) -> RankKernel {
    if rule.extreme.is_some() { RankKernel::AnyExtremeGlobal } else { RankKernel::Global }
}

/// Returns the kernel for a tile that fits.
fn in_shared_memory<T: Sortable>(rule: &RankRule<T>) -> (RankKernel, &'static str) {
    let network = match rule.runs.shape {
        [3, 3] => Some(RankKernel::Median3),
        [5, 5] => Some(RankKernel::Median5),
        [7, 7] => Some(RankKernel::Median7),
        _ => None,
    };
    let is_small = rule.runs.shape.iter().all(|&side| side <= RankKernel::MOST_TAPS as usize);
    let has_network = rule.is_median && rule.runs.is_rectangle && !rule.omit && rule.window.has_unit_steps();
    match (rule.extreme, network) {
        (Some(_), _) if rule.separable_extreme().is_none() => match rule.heights {
            None if rule.window.has_unit_steps() => {
                (RankKernel::RunExtreme, "a run of a window has the extreme of two of its parts, which runs share")
            }
            _ => BY_COMPARISON,
        },
        (Some(_), _) if is_small && rule.window.has_unit_steps() => {
            (RankKernel::SmallExtreme, "extremes of small rectangles are found along rows, then down columns")
        }
        (Some(_), _) => (RankKernel::Extreme, "extremes of rectangles are found along rows, then down columns"),
        (None, Some(kernel)) if has_network => (kernel, "there is a network for medians of this size"),
        (None, _) => match RankKernel::network(rule.runs.count) {
            Some(kernel) => (kernel, "a network of comparisons sorts the few samples of a window"),
            None => (RankKernel::Tile, "a tile fits into shared memory"),
        },
    }
}
