//! What plans say about counting.

use super::HistogramAlgorithm;
use super::rule::CounterLayout;
use crate::plan::Details;
use std::fmt;

/// Details of the [plan](crate::Plan) of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counting {
    /// Algorithm that counts: the choice of [`HistogramAlgorithm::Auto`], or the requested algorithm. The CPU ignores the
    /// setting and repeats it here.
    pub algorithm: HistogramAlgorithm,
    /// Number of samples of all channels.
    pub samples: usize,
    /// Number of separate counters in all counted channels: bins and three more per channel; for bytes on GPUs, 256 per
    /// channel. [`HistogramAlgorithm::Auto`] chooses by this number and the device's shared memory.
    pub counters: usize,
    /// Copies of each counter in a block's shared memory; 0 if not all counters are in shared memory.
    pub copies: u32,
    /// Number of blocks that count the same samples, each in its own range of counters.
    pub ranges: u32,
}

impl Counting {
    pub(super) fn on_cpu(algorithm: HistogramAlgorithm, samples: usize, layout: &CounterLayout) -> Self {
        Counting { algorithm, samples, counters: layout.counters(), copies: 0, ranges: 1 }
    }
}

impl Details for Counting {
    fn write_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counting { algorithm, samples, counters, copies, ranges } = self;
        write!(f, "\ncounting   {samples} samples, {counters} counters, {algorithm:?}")?;
        if *copies > 0 {
            write!(f, "\ncopies     {copies} of each counter in a block")?;
        }
        if *ranges > 1 {
            write!(f, "\nranges     {ranges} of counters, in as many blocks")?;
        }
        Ok(())
    }
}
