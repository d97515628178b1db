//! What a signal is outside its samples, and which part of a result is wanted.

use slm_kernels::Border;

/// How a signal `a b c d` goes on beyond its ends.
///
/// The definitions are those of SciPy's `ndimage`, however far outside, so also where a filter is longer than the
/// signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Boundary<T> {
    /// Zeros: `0 0 0 | a b c d | 0 0 0`. SciPy's `constant` with `cval=0`.
    #[default]
    Zero,
    /// A constant: `k k k | a b c d | k k k`. SciPy's `constant`.
    Constant(T),
    /// The nearest sample: `a a a | a b c d | d d d`.
    Nearest,
    /// Reflected about the edge of the last sample: `c b a | a b c d | d c b`.
    Reflect,
    /// Reflected about the centre of the last sample: `d c b | a b c d | c b a`. A single sample is repeated.
    Mirror,
    /// Repeated: `b c d | a b c d | a b c`.
    Wrap,
}

impl<T: slm_kernels::Sample> Boundary<T> {
    /// The rule, and the value outside for a constant one.
    pub(crate) fn border(self) -> (Border, T) {
        match self {
            Boundary::Zero => (Border::Constant, T::ZERO),
            Boundary::Constant(outside) => (Border::Constant, outside),
            Boundary::Nearest => (Border::Nearest, T::ZERO),
            Boundary::Reflect => (Border::Reflect, T::ZERO),
            Boundary::Mirror => (Border::Mirror, T::ZERO),
            Boundary::Wrap => (Border::Wrap, T::ZERO),
        }
    }
}

/// Which outputs a filter of `m` taps gives for `n > 0` samples. For no samples there are no outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// `n`: one for each sample.
    #[default]
    Same,
    /// `n - m + 1`, or none if that is not positive: those that only look at samples, never at the boundary.
    Valid,
    /// `n + m - 1`: all that look at one sample at least.
    Full,
}
