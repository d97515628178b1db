//! Findings of the emulator: a fault, its place, and how often it occurred.

use super::problem::Problem;
use super::site::Line;
use std::collections::HashMap;
use std::fmt;

/// A fault of a kernel at a place in its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kernel.
    pub kernel: &'static str,
    /// Block of the first thread with this fault; zeros if no thread caused it.
    pub block: [u32; 3],
    /// The first thread with this fault.
    pub thread: [u32; 3],
    /// The source line of the thread; without a file if no line caused the fault. For stack overflows and loops without
    /// accesses, the line of the last accessor call.
    pub at: Line,
    /// Kind of the fault.
    pub problem: Problem,
    /// Number of occurrences.
    pub times: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kernel, block, thread, at, problem, times } = self;
        write!(f, "{problem}\n    ")?;
        // The thread was abandoned after its last accessor call.
        match problem {
            Problem::UnwrittenOutput { .. } | Problem::TooManyIntervals { .. } => return write!(f, "in {kernel}"),
            _ if *at == Line::NOWHERE => {}
            Problem::StackOverflow { .. } | Problem::NoAccess { .. } => write!(f, "after the call at {at}, ")?,
            _ => write!(f, "at {at}, ")?,
        }
        write!(f, "thread {thread:?} of block {block:?} of {kernel}")?;
        if *times > 1 { write!(f, ", {times} times") } else { Ok(()) }
    }
}

/// Kind and line, with the other thread's line or the window. Findings with equal keys are counted as one.
type Key = (std::mem::Discriminant<Problem>, Line, Option<Line>, &'static str);

impl Finding {
    fn key(&self) -> Key {
        let (other, window) = match &self.problem {
            Problem::Race { other, .. }
            | Problem::ConstantWritten { other, .. }
            | Problem::CopyUnderWay { other, .. } => (Some(other.at.clone()), ""),
            Problem::SplitDivergence { other, .. } => (Some(other.at.clone()), ""),
            Problem::UnwrittenOutput { window, .. } => (None, *window),
            _ => (None, ""),
        };
        (std::mem::discriminant(&self.problem), self.at.clone(), other, window)
    }
}

/// Findings so far, each kind once per place in the source.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    found: Vec<Finding>,
    known: HashMap<Key, usize>,
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.found.iter().try_for_each(|finding| write!(f, "\n{finding}"))
    }
}

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        let key = finding.key();
        match self.known.get(&key) {
            Some(place) => self.found[*place].times += finding.times,
            None => {
                self.known.insert(key, self.found.len());
                self.found.push(finding);
            }
        }
    }

    /// Removes and returns the findings, those first that others may follow from: a thread that does not wait also reads memory
    /// that is still unwritten, and a kernel may pass on the panic of another OS thread.
    pub(crate) fn take(&mut self) -> Vec<Finding> {
        self.known.clear();
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|finding| !matches!(finding.problem, Problem::Race { .. } | Problem::ForeignThread));
        found
    }
}
