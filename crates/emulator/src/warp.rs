//! Where the lanes of a warp meet: `sync_warp`, shuffles, votes and reductions.

use cuda_std::host::WarpOperation;
use std::mem::discriminant;

/// A lane's part in an operation of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) site: u16,
    pub(crate) mask: u32,
    /// `None` for `sync_warp`.
    pub(crate) operation: Option<WarpOperation>,
    pub(crate) word: u32,
}

impl Call {
    /// Whether both are parts of the same operation: shuffles may ask different lanes.
    fn meets(&self, other: &Call) -> bool {
        let kinds = [self, other].map(|call| call.operation.as_ref().map(discriminant));
        (self.site, self.mask) == (other.site, other.mask) && kinds[0] == kinds[1]
    }
}

/// The lanes of a warp that wait for others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meeting([Option<Call>; 32]);

impl Meeting {
    /// `lane` waits.
    pub(crate) fn come(&mut self, lane: u32, call: Call) {
        self.0[lane as usize] = Some(call);
    }

    /// Any lane that waits, and its part.
    pub(crate) fn any(&self) -> Option<(u32, Call)> {
        (0..32).find_map(|lane| Some((lane, self.0[lane as usize]?)))
    }

    /// The lanes that wait for the same as `call`.
    pub(crate) fn with(&self, call: &Call) -> u32 {
        let with = |lane: &u32| self.0[*lane as usize].is_some_and(|other| call.meets(&other));
        (0..32).filter(with).fold(0, |lanes, lane| lanes | 1 << lane)
    }

    /// Ends the waiting of `lanes`, who are parts of the same operation.
    pub(crate) fn end(&mut self, lanes: u32) -> [Option<Call>; 32] {
        std::array::from_fn(|lane| if lanes & 1 << lane == 0 { None } else { self.0[lane].take() })
    }
}

/// What `lane` gets from an operation in which these calls take part; and the lane that it asked without need being
/// there.
pub(crate) fn answer(calls: &[Option<Call>; 32], lane: u32, operation: WarpOperation) -> (u32, Option<u32>) {
    let own = calls[lane as usize].map_or(0, |call| call.word);
    let source = match operation {
        WarpOperation::Ballot => return (fold(calls, |bits, lane, word| bits | u32::from(word != 0) << lane), None),
        WarpOperation::ReduceAdd => return (fold(calls, |sum, _, word| sum.wrapping_add(word)), None),
        WarpOperation::Shuffle { lane } => Some(lane % 32),
        WarpOperation::ShuffleUp { delta } => lane.checked_sub(delta),
        WarpOperation::ShuffleDown { delta } => lane.checked_add(delta).filter(|source| *source < 32),
        WarpOperation::ShuffleXor { mask } => Some(lane ^ mask).filter(|source| *source < 32),
    };
    let Some(source) = source else { return (own, None) };
    match calls[source as usize] {
        Some(call) => (call.word, None),
        None => (own, Some(source)),
    }
}

fn fold(calls: &[Option<Call>; 32], together: impl Fn(u32, u32, u32) -> u32) -> u32 {
    let calls = (0..32).filter_map(|lane| Some((lane, calls[lane as usize]?)));
    calls.fold(0, |result, (lane, call)| together(result, lane, call.word))
}
