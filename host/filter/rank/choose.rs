//! The choice of the method, a plain value.

use super::element::Sortable;
use super::rule::RankRule;
use super::{Rank2dAlgorithm, gpu};
use crate::Result;
use crate::device::info::SharedMemory;
use slm_kernels::rank2d::{RankKernel, rank_geometry};

/// How the CPU finds ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CpuMethod {
    /// Extremes of rectangles, by prefix and suffix extremes of segments.
    VanHerk,
    /// A network of comparisons, of vectors of neighbouring outputs.
    Network,
    /// Counts of the samples in the window, which are updated from one output to the next.
    Histogram,
    /// The window is copied, and its sample selected.
    Selection,
}

/// Maximum number of samples of a window that are compared by a network.
const MOST_COMPARED: u32 = 49;

/// Returns how the CPU finds the ranks of a filter.
pub(super) fn choose_on_cpu<T: Sortable>(rule: &RankRule<T>) -> CpuMethod {
    match rule.runs.count {
        _ if rule.extreme.is_some() => CpuMethod::VanHerk,
        ..=MOST_COMPARED => CpuMethod::Network,
        _ if T::BINS.is_some() => CpuMethod::Histogram,
        _ => CpuMethod::Selection,
    }
}

impl CpuMethod {
    pub(super) fn reason(self) -> &'static str {
        match self {
            CpuMethod::VanHerk => "extremes of segments, down the columns first, then along the rows",
            CpuMethod::Network => "a network of comparisons, for several neighbouring outputs at once",
            CpuMethod::Histogram => "counts of the samples in the window, updated from one output to the next",
            CpuMethod::Selection => "selection from a copy of each window",
        }
    }
}

/// The kernel for a filter, and the reason for it; or an error if the required algorithm needs too much shared memory.
pub(super) fn choose<T: Sortable>(rule: &RankRule<T>, shared: SharedMemory) -> Result<(RankKernel, &'static str)> {
    let (kernel, reason) = in_shared_memory(rule);
    let bytes = rank_geometry::<T>(kernel, &gpu::without_outputs(rule)?).shared_bytes;
    match (rule.algorithm, shared.check(T::kernel_name(kernel), bytes)) {
        (Rank2dAlgorithm::GlobalMemory, _) => Ok((RankKernel::Global, "it was requested")),
        (_, Ok(())) => Ok((kernel, reason)),
        (Rank2dAlgorithm::Auto, Err(_)) => Ok((RankKernel::Global, "a tile does not fit into shared memory")),
        (_, Err(error)) => Err(error),
    }
}

/// Returns the kernel for a tile that fits.
fn in_shared_memory<T: Sortable>(rule: &RankRule<T>) -> (RankKernel, &'static str) {
    let network = match rule.runs.shape {
        [3, 3] => Some(RankKernel::Median3),
        [5, 5] => Some(RankKernel::Median5),
        [7, 7] => Some(RankKernel::Median7),
        _ => None,
    };
    let has_network = rule.is_median
        && rule.runs.is_rectangle
        && !rule.omit
        && [rule.window.rows, rule.window.columns].iter().all(|axis| axis.stride() == 1);
    match (rule.extreme, network) {
        (Some(_), _) => (RankKernel::Extreme, "extremes of rectangles are found along rows, then down columns"),
        (None, Some(kernel)) if has_network => (kernel, "there is a network for medians of this size"),
        (None, _) => (RankKernel::Tile, "a tile fits into shared memory"),
    }
}
