//! Description of a table: plain data.

use super::rule::PointwiseRule;
use super::{LookupElement, PointwiseElement, PointwiseError, PreparedMap};
use crate::cpu::allocation;
use crate::device::buffer::check_length;
use crate::{Buffer, Device, Plan, Result};
use slm_kernels::histogram::OUTSIDE;
use std::cmp::Ordering;
use std::sync::Arc;

/// Maximum number of edges, as of histograms.
const MOST_EDGES: usize = (1 << 24) + 1;

/// A table whose entries are the outputs, described but not yet bound to a device. `S` is the type of the samples, `O` of the
/// outputs.
///
/// A table has either an entry for [each value](Self::values) of `u8` or `u16` samples, or an entry for each interval
/// [between](Self::between) two edges, for samples of any type. Entries are copied, so NaNs keep their bits.
///
/// ```
/// use slm::{Device, Lookup};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let is_bright = Lookup::of(|x: u8| if x < 128 { 0.0f32 } else { 1.0 }).prepare(&device)?;
/// assert_eq!(is_bright.apply(&[0, 127, 128, 255])?, [0.0, 0.0, 1.0, 1.0]);
/// let class = Lookup::between(&[0.0f32, 0.5, 1.0], &[b'a', b'b']).above(b'z').prepare(&device)?;
/// assert_eq!(class.apply(&[-0.1, 0.0, 0.49, 0.5, 1.0])?, *b"aaabz");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup<S, O> {
    table: Result<Table<S, O>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Table<S, O> {
    Values(Arc<Vec<O>>),
    Between { edges: Arc<Vec<S>>, entries: Arc<Vec<O>>, outside: Outside<O> },
}

/// Entries outside the edges; `None` for the defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outside<O> {
    below: Option<O>,
    above: Option<O>,
    nan: Option<O>,
}

impl<S: LookupElement, O: PointwiseElement> Lookup<S, O> {
    /// Returns the table with these entries: 256 for samples of type `u8`, 65,536 for `u16`. `y = entries[x]`.
    #[must_use]
    pub fn values(entries: &[O]) -> Self {
        let (expected, actual) = (values::<S>(), entries.len());
        let table = match actual == expected {
            true => allocation::copied(entries).map(|entries| Table::Values(entries.into())),
            false => Err(PointwiseError::Entries { expected, actual }.into()),
        };
        Lookup { table }
    }

    /// Returns the table of a function: `y = function(x)`, called once for each value.
    #[must_use]
    pub fn of(function: impl FnMut(S) -> O) -> Self {
        let entries = allocation::collected((0..S::VALUES).map(S::of_index).map(function));
        Lookup { table: entries.map(|entries| Table::Values(entries.into())) }
    }
}

impl<S: LookupElement> Lookup<S, S> {
    /// Returns the table that equalises a histogram, ready to run on the device of its counts: afterwards the values are
    /// spread over the whole range, about as many samples in each part of it.
    ///
    /// `counts` is what [`PreparedHistogram::apply_into`] writes for one channel with a bin for each value:
    /// [`Histogram::bytes`] for `u8`, [`Histogram::low_bits(16)`](Histogram::low_bits) for `u16`, also if samples have only 12 bits, say.
    /// The table is computed on the device, from the counts of all work that was enqueued before; later changes of the counts do not
    /// change it. Returns when the work is enqueued.
    ///
    /// `y = round((C(x) - C₀) / (C(last) - C₀) · last)`, where `C(x)` is the number of samples that are not larger than `x`,
    /// `C₀` that of the smallest value with samples, and `last` the largest value of the type, 255 or 65,535. Values below
    /// all samples become 0. If all samples are the same, or if there are none, `y = x`. This is the formula of OpenCV's
    /// `equalizeHist`. It is computed exactly and rounded once, ties to even; OpenCV rounds in single precision, which can
    /// differ by 1 near ties.
    ///
    /// ```
    /// use slm::{Device, Histogram, Lookup};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let samples = device.upload(&[100u8, 100, 101, 102, 103])?;
    /// let histogram = Histogram::bytes().prepare(&device)?;
    /// let mut counts = device.zeroed(histogram.counts_len())?;
    /// histogram.apply_into(&samples, &mut counts)?;
    /// let mut equalised = device.zeroed(5)?;
    /// Lookup::equalise(&counts)?.apply_into(&samples, &mut equalised)?;
    /// assert_eq!(equalised.download()?, [0, 0, 85, 170, 255]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] unless there is a count for each value and the three others of a histogram: 259 for `u8`, 65,539
    ///   for `u16`.
    /// * [`Error::OutOfDeviceMemory`], or [`Error::OutOfHostMemory`] on the CPU.
    /// * On a GPU, the errors of [`Device::kernel`], and [failures of the device](Error#failures-of-the-device).
    pub fn equalise(counts: &Buffer<u64>) -> Result<PreparedMap<S, S>> {
        let what = if values::<S>() == 256 {
            "the buffer for the counts of Histogram::bytes()"
        } else {
            "the buffer for the counts of Histogram::low_bits(16)"
        };
        check_length(what, values::<S>() + OUTSIDE as usize, counts.len())?;
        PreparedMap::equalising(counts)
    }

    /// Returns the plan for [`equalise`](Self::equalise) with counts on `device`. The [plan](PreparedMap::plan) of the table is
    /// for the samples that are looked up in it.
    ///
    /// On a GPU this loads the kernel, as the first call of [`equalise`](Self::equalise) does.
    ///
    /// ```
    /// use slm::{Device, Lookup};
    ///
    /// # fn main() -> slm::Result<()> {
    /// println!("{}", Lookup::<u8, u8>::equalise_plan(&Device::open()?)?);
    /// assert!(Lookup::<u16, u16>::equalise_plan(&Device::cpu())?.launches.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// On a GPU, the errors of [`Device::kernel`].
    pub fn equalise_plan(device: &Device) -> Result<Plan> {
        PreparedMap::<S, S>::equalising_plan(device)
    }
}

impl<S: PointwiseElement, O: PointwiseElement> Lookup<S, O> {
    /// Returns the table with an entry for each interval between two edges: `y = entries[k]` for
    /// `edges[k] <= x < edges[k + 1]`.
    ///
    /// The edges must ascend strictly, from 2 to 2^24 + 1 of them, and there is one entry fewer; otherwise
    /// [`prepare`](Self::prepare) fails. The first and the last edge may be infinite. By default, samples below the first
    /// edge get the first entry, samples from the last edge on get the last entry, and NaN becomes NaN, or 0 if outputs are
    /// integers.
    #[must_use]
    pub fn between(edges: &[S], entries: &[O]) -> Self {
        Lookup { table: Table::between(edges, entries) }
    }

    /// Returns the table with this entry for samples below the first edge. It has no effect on tables of
    /// [each value](Self::values).
    #[must_use]
    pub fn below(self, entry: O) -> Self {
        self.outside(|outside| outside.below = Some(entry))
    }

    /// Returns the table with this entry for samples from the last edge on; otherwise as [`below`](Self::below).
    #[must_use]
    pub fn above(self, entry: O) -> Self {
        self.outside(|outside| outside.above = Some(entry))
    }

    /// Returns the table with this entry for NaN; otherwise as [`below`](Self::below).
    #[must_use]
    pub fn nan(self, entry: O) -> Self {
        self.outside(|outside| outside.nan = Some(entry))
    }

    fn outside(mut self, change: impl FnOnce(&mut Outside<O>)) -> Self {
        if let Ok(Table::Between { outside, .. }) = &mut self.table {
            change(outside);
        }
        self
    }

    /// Checks the table and binds it to a device: loads the kernel and uploads the table, after all work that was enqueued
    /// before. Returns the prepared table.
    ///
    /// # Errors
    ///
    /// * [`PointwiseError::Entries`] for a wrong number of entries.
    /// * [`PointwiseError::Edges`] or [`PointwiseError::EdgeOrder`] for invalid edges.
    /// * [`Error::OutOfHostMemory`] for the table.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedMap<S, O>> {
        PreparedMap::new(device, self.table.clone()?.rule()?)
    }
}

impl<S: PointwiseElement, O: PointwiseElement> Table<S, O> {
    /// Returns the table between edges with the default entries outside.
    fn between(edges: &[S], entries: &[O]) -> Result<Self> {
        check(edges, entries.len())?;
        let outside = Outside { below: None, above: None, nan: None };
        let (edges, entries) = (allocation::copied(edges)?.into(), allocation::copied(entries)?.into());
        Ok(Table::Between { edges, entries, outside })
    }

    fn rule(&self) -> Result<PointwiseRule> {
        Ok(match self {
            Table::Values(entries) => PointwiseRule::Table(O::vec(allocation::copied(entries)?)),
            Table::Between { edges, entries, outside } => {
                let mut all = allocation::reserved(entries.len() + 3)?;
                all.push(outside.below.unwrap_or(entries[0]));
                all.extend_from_slice(entries);
                all.push(outside.above.unwrap_or(entries[entries.len() - 1]));
                all.push(outside.nan.unwrap_or_else(|| O::of_sum(f64::NAN)));
                let edges = allocation::collected(edges.iter().map(|edge| edge.to_f64()))?;
                PointwiseRule::Between(edges, O::vec(all))
            }
        })
    }
}

/// Returns the number of values of a type.
fn values<S: LookupElement>() -> usize {
    S::VALUES as usize
}

/// Returns an error for invalid edges, or another number of entries than intervals.
fn check<S: PointwiseElement>(edges: &[S], entries: usize) -> std::result::Result<(), PointwiseError> {
    if !(2..=MOST_EDGES).contains(&edges.len()) {
        return Err(PointwiseError::Edges { edges: edges.len(), limit: MOST_EDGES });
    }
    if entries != edges.len() - 1 {
        return Err(PointwiseError::Entries { expected: edges.len() - 1, actual: entries });
    }
    let mut pairs = edges.array_windows().map(|&[edge, next]| [edge.to_f64(), next.to_f64()]);
    // NaNs do not ascend.
    match pairs.clone().position(|[edge, next]| edge.partial_cmp(&next) != Some(Ordering::Less)) {
        None => Ok(()),
        Some(index) => {
            let [edge, next] = pairs.nth(index).unwrap_or_default();
            Err(PointwiseError::EdgeOrder { index, edge, next })
        }
    }
}

#[cfg(doc)]
use crate::{Error, Histogram, histogram::PreparedHistogram};
