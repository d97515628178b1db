//! Filters of pictures that are smaller than their weights: weights that meet the same samples are added up before a device sees
//! them, so all devices agree.

use super::Filter2dAlgorithm;
use super::any_weights::{AnyWeights, map_weights};
use super::facts::Facts;
use super::prepared::Filter;
use super::rule::FilterRule;
use super::weights::{Values, Weights};
use super::window::{Axis, PictureProblem, Window};
use crate::device::kernel::Recent;
use crate::filter::fold::{Fold, Foldable, MOST_KEPT, Reached, folded};
use crate::{Device, Result};
use std::sync::Arc;

/// What is needed for pictures that are smaller than the weights.
pub(super) struct Folding {
    /// Outer products as their factors, if filters may add along one axis and then along the other one: folded, they need not be
    /// products any more.
    weights: AnyWeights,
    rule: FilterRule,
    /// Whether windows are summed by segments.
    by_segments: bool,
    /// Filters for the last folds.
    filters: Recent<[Option<Fold>; 2], Option<Arc<Filter>>>,
}

impl Folding {
    /// Returns what is needed beside the `filter` for all pictures, or `None` if its weights are too few for any picture, or have to
    /// be equal.
    pub(super) fn new(facts: Facts, rule: FilterRule, filter: &Filter) -> Option<Self> {
        let algorithm = if filter.obeys_algorithm() { rule.algorithm } else { Filter2dAlgorithm::Auto };
        if algorithm == Filter2dAlgorithm::Box || facts.shape().into_iter().all(|taps| taps <= MOST_KEPT) {
            return None;
        }
        let takes_products = matches!(algorithm, Filter2dAlgorithm::Auto | Filter2dAlgorithm::Separable);
        let product = facts.shorter_product().filter(|_| takes_products && !rule.renormalise);
        let weights = product.unwrap_or(&facts.weights).clone();
        Some(Folding { weights, rule, by_segments: filter.sums_segments(), filters: Recent::default() })
    }

    /// Returns the filter and the problem with fewer weights, or `None` if there are none.
    pub(super) fn find(
        &self,
        device: &Device,
        problem: &PictureProblem,
    ) -> Result<Option<(Arc<Filter>, PictureProblem)>> {
        if problem.is_empty() {
            return Ok(None);
        }
        let axes = [problem.rows, problem.columns];
        let folds = axes.map(|axis| Fold::new(axis.border, reached(&axis)));
        if folds == [None, None] || (self.by_segments && !pays_for_box(folds, problem)) {
            return Ok(None);
        }
        let filter = self.filters.get(folds, || self.filter(device, folds))?;
        let [rows, columns] = [0, 1].map(|axis| folds[axis].map_or(axes[axis], |fold| axes[axis].folded(&fold)));
        Ok(filter.map(|filter| (filter, PictureProblem { rows, columns, ..*problem })))
    }

    /// Returns the filter with folded weights, or `None` if their sums overflow.
    fn filter(&self, device: &Device, folds: [Option<Fold>; 2]) -> Result<Option<Arc<Filter>>> {
        let Some(weights) = self.weights.folded(folds)? else { return Ok(None) };
        let rule = FilterRule { window: self.rule.window.folded(folds), ..self.rule };
        Ok(Some(Arc::new(Filter::new(device, &Facts::new(weights), &rule)?)))
    }
}

/// Returns whether folded weights, which are not equal, take less time than sums of segments, whose number grows with the windows. 16
/// products take about as much time as the sums of an element.
fn pays_for_box(folds: [Option<Fold>; 2], problem: &PictureProblem) -> bool {
    let mut axes = [problem.rows, problem.columns];
    // A part is computed as the whole picture is.
    axes[0].outputs = problem.whole_rows.unwrap_or(axes[0].outputs);
    let [rows, columns] = axes.map(|axis| (axis.outputs + axis.taps) as u128);
    let [outputs, width] = axes.map(|axis| axis.outputs as u128);
    let taps: usize = [0, 1].map(|axis| folds[axis].map_or(axes[axis].taps, |fold| fold.taps)).iter().sum();
    rows * columns * 16 > outputs * width * taps as u128
}

fn reached(axis: &Axis) -> Reached {
    let &Axis { samples, outputs, taps, start, stride, dilation, .. } = axis;
    // The start is a multiple of the dilation, and not inside the picture, except for parts of pictures.
    Reached { taps, left: (-start).max(0) as usize / dilation, stride, dilation, samples, outputs }
}

impl Window {
    /// Returns the windows of folded weights.
    fn folded(&self, [rows, columns]: [Option<Fold>; 2]) -> Self {
        Window {
            rows: rows.map_or(self.rows, |fold| self.rows.folded(&fold)),
            columns: columns.map_or(self.columns, |fold| self.columns.folded(&fold)),
            ..*self
        }
    }
}

impl AnyWeights {
    /// Returns the folded weights, or `None` if a sum of them overflows.
    fn folded(&self, folds: [Option<Fold>; 2]) -> Result<Option<Self>> {
        Ok(map_weights!(self, weights => weights.folded(folds)?))
    }
}

impl<A: Foldable> Weights<A> {
    fn folded(&self, folds: [Option<Fold>; 2]) -> Result<Option<Self>> {
        let [rows, columns] = folds;
        let vector = |values: &Arc<Vec<A>>, fold: Option<Fold>| -> Result<Option<Arc<Vec<A>>>> {
            match fold {
                Some(_) => Ok(folded(values, values.len(), [None, fold])?.map(Arc::new)),
                None => Ok(Some(values.clone())),
            }
        };
        let values = match &self.values {
            Values::Dense(values) => folded(values, self.shape[1], folds)?.map(|values| Values::Dense(values.into())),
            Values::Separable { column, row } => {
                vector(column, rows)?.zip(vector(row, columns)?).map(|(column, row)| Values::Separable { column, row })
            }
        };
        let [shape, left] = [self.shape, self.left];
        let taps = |axis: usize| folds[axis].map_or(shape[axis], |fold| fold.taps);
        let before = |axis: usize| folds[axis].map_or(left[axis], |fold| fold.left);
        Ok(values.map(|values| Weights { shape: [taps(0), taps(1)], values, left: [before(0), before(1)] }))
    }
}
