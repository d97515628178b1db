//! A rank filter as a step of another operation.

use super::rule::RankRule;
use super::{PreparedRank2d, Rank2d, RankElement};
use crate::{Device, Result};
use std::sync::Arc;

/// An extreme that has been checked, with heights of the samples of its window.
pub(in crate::filter) struct Step<S>(RankRule<S>);

impl<S: RankElement> Step<S> {
    /// Returns the step, or the error of preparing the filter. With heights, the window is a rectangle with as many samples.
    pub(in crate::filter) fn new(extreme: &Rank2d<S>, heights: Option<Arc<Vec<S>>>) -> Result<Self> {
        extreme.rule(heights).map(Step)
    }

    pub(in crate::filter) fn prepare(self, device: &Device) -> Result<PreparedRank2d<S>> {
        PreparedRank2d::new(device, self.0)
    }
}
