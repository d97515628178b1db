//! What descriptions of filters of one and of two dimensions share: settings, and the functions that set them.

use super::generated::WeightSource;
use crate::{Boundary, Extent};

/// Settings of a filter along `N` axes. `S` is the type of the samples, `A` that of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FilterSettings<S, A, const N: usize> {
    pub(crate) source: WeightSource,
    /// Whether the weights are flipped: the filter is a convolution.
    pub(crate) is_flipped: bool,
    pub(crate) origin: [isize; N],
    pub(crate) boundaries: [Boundary<S>; N],
    pub(crate) extent: Extent,
    pub(crate) algorithm: A,
}

impl<S, A: Default, const N: usize> FilterSettings<S, A, N> {
    pub(crate) fn new(source: WeightSource) -> Self {
        FilterSettings {
            source,
            is_flipped: false,
            origin: [0; N],
            boundaries: std::array::from_fn(|_| Boundary::Zero),
            extent: Extent::Same,
            algorithm: A::default(),
        }
    }
}

impl<S, A, const N: usize> FilterSettings<S, A, N> {
    /// Returns the settings for samples of another type.
    pub(crate) fn for_samples<T>(self, convert: impl Fn(S) -> T) -> FilterSettings<T, A, N> {
        let FilterSettings { source, is_flipped, origin, boundaries, extent, algorithm } = self;
        let boundaries = boundaries.map(|boundary| boundary.map(&convert));
        FilterSettings { source, is_flipped, origin, boundaries, extent, algorithm }
    }
}

/// The functions of a description that set its `settings`. Their documentation names what the boundary is of, and the axes.
macro_rules! setters {
    ($signal:literal, $axes:literal, $algorithm:ident) => {
        #[doc = concat!("Returns the filter with these values outside the ", $signal, $axes, ". The default is [`Boundary::Zero`].")]
        #[must_use]
        pub fn boundary(mut self, boundary: Boundary<S>) -> Self {
            self.settings.boundaries = [boundary; _];
            self
        }

        #[doc = concat!("Returns the filter with this range of outputs", $axes, ". The default is [`Extent::Same`].")]
        #[must_use]
        pub fn extent(mut self, extent: Extent) -> Self {
            self.settings.extent = extent;
            self
        }

        #[doc = concat!("Returns the filter with this algorithm. The default is [`", stringify!($algorithm), "::Auto`].")]
        #[must_use]
        pub fn algorithm(mut self, algorithm: $algorithm) -> Self {
            self.settings.algorithm = algorithm;
            self
        }
    };
}
pub(crate) use setters;
