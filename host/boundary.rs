//! What a signal is outside its samples, and which part of a result is wanted.

use crate::Element;
use slm_kernels::signal::Border;

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

impl<T: Element> Boundary<T> {
    /// The rule, and the value outside for a constant one.
    pub(crate) fn border(self) -> (Border, T) {
        match self {
            Boundary::Zero => (Border::Constant, T::default()),
            Boundary::Constant(outside) => (Border::Constant, outside),
            Boundary::Nearest => (Border::Nearest, T::default()),
            Boundary::Reflect => (Border::Reflect, T::default()),
            Boundary::Mirror => (Border::Mirror, T::default()),
            Boundary::Wrap => (Border::Wrap, T::default()),
        }
    }
}

/// Which outputs `y[i]` a filter of `m` taps gives for `n > 0` samples, in ascending order of `i`. For no samples there are
/// no outputs.
///
/// An output looks at `l` samples before its own and at `r = m - 1 - l` behind it. By the formulas of
/// [`filter1d`](crate::filter1d), `l` is `m / 2` for [`correlate`](crate::Filter1d::correlate) and `m - 1 - m / 2` for
/// [`convolve`](crate::Filter1d::convolve), with `m / 2` rounded down: the same for odd `m`.
///
/// ```
/// use slm::{Device, Extent, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let filter = Filter1d::correlate(&[1, 10]); // y[i] = x[i - 1] + 10 * x[i], so l = 1 and r = 0
/// let outputs = |extent| filter.clone().extent(extent).prepare(&Device::cpu())?.apply(&[1, 2, 3]);
/// assert_eq!(outputs(Extent::Same)?, [10, 21, 32]); // i from 0 to 2
/// assert_eq!(outputs(Extent::Valid)?, [21, 32]); // i from 1 to 2
/// assert_eq!(outputs(Extent::Full)?, [10, 21, 32, 3]); // i from 0 to 3
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// `i` from 0 to `n - 1`, one output for each sample.
    #[default]
    Same,
    /// `i` from `l` to `n - 1 - r`, `n - m + 1` outputs, or none if that is not positive: those that only look at samples,
    /// never at the boundary.
    Valid,
    /// `i` from `-r` to `n - 1 + l`, `n + m - 1` outputs: all that look at one sample at least.
    Full,
}
