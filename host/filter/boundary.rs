//! Values outside of a signal, and the range of outputs that are computed.

use crate::Element;
use slm_kernels::signal::Border;

/// Values of a signal `a b c d` beyond its ends.
///
/// The definitions agree with SciPy's `ndimage`. They hold at any distance from the signal, also for filters that are longer
/// than it.
///
/// ```
/// use slm::{Boundary, Device, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let next = Filter1d::correlate(&[0, 0, 1]); // y[i] = x[i + 1]
/// let outputs = |boundary| next.clone().boundary(boundary).prepare(&Device::cpu())?.apply(&[1, 2, 3]);
/// assert_eq!(outputs(Boundary::Zero)?, [2, 3, 0]);
/// assert_eq!(outputs(Boundary::Constant(9))?, [2, 3, 9]);
/// assert_eq!(outputs(Boundary::Mirror)?, [2, 3, 2]);
/// assert_eq!(outputs(Boundary::Wrap)?, [2, 3, 1]);
/// # Ok(())
/// # }
/// ```
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

impl<T> Boundary<T> {
    /// Returns the boundary with another constant.
    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Boundary<U> {
        match self {
            Boundary::Zero => Boundary::Zero,
            Boundary::Constant(outside) => Boundary::Constant(convert(outside)),
            Boundary::Nearest => Boundary::Nearest,
            Boundary::Reflect => Boundary::Reflect,
            Boundary::Mirror => Boundary::Mirror,
            Boundary::Wrap => Boundary::Wrap,
        }
    }
}

impl<T: Element> Boundary<T> {
    /// Returns the border for kernels, and the value outside of a constant border.
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

/// The outputs `y[i]` that a filter of `m` taps computes for `n > 0` samples, in ascending order of `i`. Without samples there
/// are no outputs.
///
/// An output depends on `l` samples before sample `i` and on `r = m - 1 - l` samples after it. By the formulas of
/// [`filter1d`](crate::filter1d), `l` is `m / 2` for [`correlate`](crate::Filter1d::correlate) and `m - 1 - m / 2` for
/// [`convolve`](crate::Filter1d::convolve), where `m / 2` is rounded down. Both are equal for odd `m`. An
/// [`origin`](crate::Filter1d::origin) of `o` adds `o` to the first one, and subtracts it from the second one.
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
///
/// With an even number of taps, `Same` agrees with SciPy's `ndimage.convolve1d`, but not with `np.convolve`, whose outputs
/// begin one sample earlier. If there are more taps than samples, `np.convolve` returns one output per tap. With an odd number
/// of taps, up to the number of samples, all three agree.
///
/// ```
/// use slm::{Device, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let filter = Filter1d::convolve(&[1, 10]).prepare(&Device::cpu())?;
/// assert_eq!(filter.apply(&[1, 2, 3])?, [12, 23, 30]); // np.convolve([1, 2, 3], [1, 10], "same") is [1, 12, 23]
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// `i` from 0 to `n - 1`: one output per sample.
    #[default]
    Same,
    /// `i` from `l` to `n - 1 - r`: the outputs that depend on samples only, never on the boundary. There are `n - m + 1`, or
    /// 0 if that is negative.
    Valid,
    /// `i` from `-r` to `n - 1 + l`: all outputs that depend on at least one sample. There are `n + m - 1`.
    Full,
}
