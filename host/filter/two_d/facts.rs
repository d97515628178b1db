//! What the weights are, found once. All choices depend on these facts.

use super::any_weights::AnyWeights;

/// Weights and what is known about them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    /// The weights as they were described.
    pub(super) weights: AnyWeights,
    /// Whether all weights are equal, and finite.
    pub(super) are_equal: bool,
    /// The same weights as the outer product of a column and a row, if they are one.
    pub(super) product: Option<AnyWeights>,
}

impl Facts {
    pub(super) fn new(weights: AnyWeights) -> Self {
        Facts { are_equal: weights.are_equal(), product: weights.product(), weights }
    }

    /// Returns the number of rows and columns.
    pub(super) fn shape(&self) -> [usize; 2] {
        self.weights.shape()
    }

    /// Returns the outer product if it has fewer weights than the dense form, or was described as such.
    pub(super) fn shorter_product(&self) -> Option<&AnyWeights> {
        let [rows, columns] = self.shape();
        let is_shorter = self.weights.is_product() || rows.saturating_mul(columns) > rows.saturating_add(columns);
        self.product.as_ref().filter(|_| is_shorter)
    }
}

#[cfg(test)]
mod tests {
    use super::super::weights::Weights;
    use super::*;

    fn dense(shape: [usize; 2], weights: &[f32]) -> Facts {
        Facts::new(AnyWeights::F32(Weights::dense(shape, weights.to_vec())))
    }

    #[test]
    fn products_are_found() {
        let product = dense([3, 2], &[1.0, 2.0, 3.0, 6.0, -1.0, -2.0]);
        assert!(product.product.as_ref().is_some_and(AnyWeights::is_product) && !product.are_equal);
        assert_eq!(product.shorter_product(), product.product.as_ref());
        let cross = dense([3, 3], &[0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!((cross.product, cross.are_equal), (None, false));
    }

    #[test]
    fn short_products_save_nothing() {
        for (shape, weights) in [([2, 2], &[1.0f32, 1.0, 1.0, 1.0][..]), ([1, 3], &[0.5; 3]), ([3, 1], &[0.5; 3])] {
            let facts = dense(shape, weights);
            assert!(facts.are_equal && facts.product.is_some() && facts.shorter_product().is_none(), "{shape:?}");
            let described = Facts::new(facts.product.unwrap());
            assert!(described.shorter_product().is_some(), "{shape:?}");
        }
    }
}
