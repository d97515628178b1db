//! What a thread knows to have happened before: vector clocks, with
//! an entry per thread that synchronised other than by a barrier.
//!
//! README.md of this crate explains how they are used.

use std::rc::Rc;

/// The accesses of `thread` in `interval` with clocks below `clock` have
/// happened before, and so have all earlier intervals of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// First interval of the block, which identifies the block.
    pub(crate) first: u32,
    pub(crate) interval: u32,
    pub(crate) thread: u16,
    pub(crate) clock: u32,
}

/// Entries, sorted by block and thread. All entries of a block are for the same interval, the latest one known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clocks(Vec<Known>);

/// Clocks that threads share; `None` if they are empty.
pub(crate) type Knowledge = Option<Rc<Clocks>>;

impl Clocks {
    /// Returns whether the thread's access at `clock` in `interval` is known to have happened before.
    pub(crate) fn know(&self, interval: u32, thread: u16, clock: u32) -> bool {
        let end = self.0.partition_point(|known| known.first <= interval);
        let Some(last) = self.0[..end].last() else { return false };
        if last.interval != interval {
            // Intervals from the block's first one up to the known one are the same block's.
            return interval < last.interval;
        }
        let block = self.0[..end].iter().rev().take_while(|known| known.first == last.first);
        block.into_iter().any(|known| known.thread == thread && clock < known.clock)
    }

    fn join(&self, other: &Clocks) -> Clocks {
        let (mut a, mut b) = (&self.0[..], &other.0[..]);
        let mut joined = Vec::with_capacity(a.len() + b.len());
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            if x.first < y.first {
                joined.extend_from_slice(take_block(&mut a));
            } else if y.first < x.first {
                joined.extend_from_slice(take_block(&mut b));
            } else {
                join_block(take_block(&mut a), take_block(&mut b), &mut joined);
            }
        }
        joined.extend_from_slice(a);
        joined.extend_from_slice(b);
        Clocks(joined)
    }
}

/// Removes and returns the entries of the first block.
fn take_block<'a>(clocks: &mut &'a [Known]) -> &'a [Known] {
    let first = clocks[0].first;
    let (block, rest) = clocks.split_at(clocks.iter().take_while(|known| known.first == first).count());
    *clocks = rest;
    block
}

fn join_block(mut a: &[Known], mut b: &[Known], joined: &mut Vec<Known>) {
    if a[0].interval != b[0].interval {
        joined.extend_from_slice(if a[0].interval > b[0].interval { a } else { b });
        return;
    }
    while let (Some(x), Some(y)) = (a.first(), b.first()) {
        let (mut known, order) = (*x, x.thread.cmp(&y.thread));
        match order {
            std::cmp::Ordering::Less => a = &a[1..],
            std::cmp::Ordering::Greater => (known, b) = (*y, &b[1..]),
            std::cmp::Ordering::Equal => {
                known.clock = x.clock.max(y.clock);
                (a, b) = (&a[1..], &b[1..]);
            }
        }
        joined.push(known);
    }
    joined.extend_from_slice(a);
    joined.extend_from_slice(b);
}

/// Returns everything that either knows.
pub(crate) fn join(a: &Knowledge, b: &Knowledge) -> Knowledge {
    match (a, b) {
        (None, other) | (other, None) => other.clone(),
        (Some(x), Some(y)) if Rc::ptr_eq(x, y) => a.clone(),
        (Some(x), Some(y)) => Some(Rc::new(x.join(y))),
    }
}

/// Returns `knowledge` together with these threads of one block, which are sorted by number.
pub(crate) fn with(knowledge: &Knowledge, threads: Vec<Known>) -> Knowledge {
    join(knowledge, &Some(Rc::new(Clocks(threads))))
}

/// Returns what is known of other blocks than the one whose first interval is `first`.
pub(crate) fn without_block(knowledge: &Knowledge, first: u32) -> Knowledge {
    let others: Vec<Known> = knowledge.as_ref()?.0.iter().filter(|known| known.first != first).copied().collect();
    (!others.is_empty()).then(|| Rc::new(Clocks(others)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::cases;
    use proptest::prelude::*;

    /// Blocks of ten intervals.
    fn clocks() -> impl Strategy<Value = Clocks> {
        let block = (0u32..10, prop::collection::btree_map(0u16..5, 1u32..5, 1..5));
        prop::collection::btree_map(0u32..4, block, 0..4).prop_map(|blocks| {
            let known = |(block, (interval, threads)): (u32, (u32, std::collections::BTreeMap<u16, u32>))| {
                let first = 1 + 10 * block;
                threads.into_iter().map(move |(thread, clock)| Known {
                    first,
                    interval: first + interval,
                    thread,
                    clock,
                })
            };
            Clocks(blocks.into_iter().flat_map(known).collect())
        })
    }

    proptest! {
        #![proptest_config(cases(256, 5))]

        /// The join knows what either knows, and nothing else.
        #[test]
        fn join_is_union(a in clocks(), b in clocks(), interval in 1u32..41, thread in 0u16..5, clock in 0u32..5) {
            let both = a.join(&b);
            prop_assert_eq!(
                both.know(interval, thread, clock),
                a.know(interval, thread, clock) || b.know(interval, thread, clock)
            );
            prop_assert_eq!(&both, &b.join(&a));
            prop_assert_eq!(&both.join(&a), &both);
        }
    }

    #[test]
    fn earlier_intervals_of_the_block_are_known() {
        let clocks = Clocks(vec![Known { first: 10, interval: 12, thread: 3, clock: 2 }]);
        assert!(clocks.know(10, 0, 9) && clocks.know(11, 7, 0) && clocks.know(12, 3, 1));
        assert!(!clocks.know(12, 3, 2) && !clocks.know(12, 4, 0) && !clocks.know(13, 3, 0) && !clocks.know(9, 3, 0));
    }
}
