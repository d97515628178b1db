//! Operations of a warp: `sync_warp`, shuffles, votes, reductions and matrix products.

use crate::report::Action;
use cuda_std::host::{Fragments, Product, WarpOperation};
use std::mem::discriminant;

/// A lane's input to an operation of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneInput {
    /// No input: `sync_warp`.
    Wait,
    /// A word.
    Exchange(WarpOperation, u32),
    /// Elements of matrices.
    Mma(Fragments),
}

impl LaneInput {
    pub(crate) fn action(&self) -> Action {
        match self {
            LaneInput::Wait => Action::SyncWarp,
            LaneInput::Exchange(..) => Action::Exchange,
            LaneInput::Mma(_) => Action::Mma,
        }
    }

    /// Returns the lane's result if no other lane provides one.
    pub(crate) fn own(&self) -> Answer {
        match self {
            LaneInput::Wait => [0; 4],
            LaneInput::Exchange(_, word) => [*word, 0, 0, 0],
            LaneInput::Mma(fragments) => fragments.c.map(|element| element as u32),
        }
    }

    fn word(&self) -> u32 {
        self.own()[0]
    }

    /// Returns whether both belong to the same operation. Shuffles may have different source lanes.
    fn meets(&self, other: &LaneInput) -> bool {
        match (self, other) {
            (LaneInput::Exchange(own, _), LaneInput::Exchange(other, _)) => discriminant(own) == discriminant(other),
            (LaneInput::Mma(own), LaneInput::Mma(other)) => own.product == other.product,
            _ => discriminant(self) == discriminant(other),
        }
    }
}

/// A lane's result of an operation of its warp: the first word, and for matrix products more.
pub(crate) type Answer = [u32; 4];

/// A lane's call of an operation of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) site: u16,
    /// Number of the path by which the lane reached the call; 0 for all if paths are not compared.
    pub(crate) path: u32,
    pub(crate) mask: u32,
    pub(crate) input: LaneInput,
}

impl Call {
    /// Returns whether both are calls of the same operation.
    fn meets(&self, other: &Call) -> bool {
        (self.site, self.mask) == (other.site, other.mask) && self.input.meets(&other.input)
    }
}

/// Lanes of a warp that wait for others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meeting {
    calls: [Option<Call>; 32],
    /// The lanes that have a call, as bits.
    lanes: u32,
}

impl Meeting {
    /// Records that `lane` waits. Returns whether all lanes of the call's mask now wait for the same operation.
    pub(crate) fn arrive(&mut self, lane: u32, call: Call) -> bool {
        self.calls[lane as usize] = Some(call);
        self.lanes |= 1 << lane;
        // The calls are not compared until all these lanes wait.
        self.lanes & call.mask == call.mask && self.with(&call) == call.mask
    }

    /// Returns whether `lane` waits.
    pub(crate) fn waits(&self, lane: u32) -> bool {
        self.lanes & 1 << lane != 0
    }

    /// Returns a waiting lane and its call, if there is one.
    pub(crate) fn any(&self) -> Option<(u32, Call)> {
        let lane = self.lanes.trailing_zeros();
        Some((lane, self.calls.get(lane as usize).copied().flatten()?))
    }

    /// Returns the lanes that wait for the same operation as `call`.
    pub(crate) fn with(&self, call: &Call) -> u32 {
        let with = |lane: &u32| self.calls[*lane as usize].as_ref().is_some_and(|other| call.meets(other));
        (0..32).filter(with).fold(0, |lanes, lane| lanes | 1 << lane)
    }

    /// Removes and returns the calls of `lanes`, which belong to the same operation.
    pub(crate) fn end(&mut self, lanes: u32) -> [Option<Call>; 32] {
        self.lanes &= !lanes;
        std::array::from_fn(|lane| if lanes & 1 << lane == 0 { None } else { self.calls[lane].take() })
    }
}

/// Returns the result of `lane` with this input in an operation
/// with these calls; and the source lane if that takes no part.
pub(crate) fn answer(calls: &[Option<Call>; 32], lane: u32, input: &LaneInput) -> (Answer, Option<u32>) {
    match input {
        LaneInput::Wait => (input.own(), None),
        LaneInput::Exchange(operation, own) => {
            let (word, foreign) = exchange(calls, lane, *operation, *own);
            ([word, 0, 0, 0], foreign)
        }
        LaneInput::Mma(fragments) => (product(calls, lane, fragments), None),
    }
}

fn exchange(calls: &[Option<Call>; 32], lane: u32, operation: WarpOperation, own: u32) -> (u32, Option<u32>) {
    let source = match operation {
        WarpOperation::Shuffle { lane } => Some(lane % 32),
        // The hardware uses five bits.
        WarpOperation::ShuffleUp { delta } => lane.checked_sub(delta % 32),
        WarpOperation::ShuffleDown { delta } => Some(lane + delta % 32).filter(|source| *source < 32),
        WarpOperation::ShuffleXor { mask } => Some(lane ^ (mask % 32)),
        together => return (combine(calls, together, own), None),
    };
    let Some(source) = source else { return (own, None) };
    match calls[source as usize] {
        Some(call) => (call.input.word(), None),
        None => (own, Some(source)),
    }
}

/// Returns the result of a vote or reduction for a lane with input `own`; `own` for a shuffle.
fn combine(calls: &[Option<Call>; 32], operation: WarpOperation, own: u32) -> u32 {
    let words = || calls.iter().flatten().map(|call| call.input.word());
    let lanes = |holds: &dyn Fn(u32) -> bool| {
        let lanes = (0..32).filter(|lane| calls[*lane].is_some_and(|call| holds(call.input.word())));
        lanes.fold(0, |bits, lane| bits | 1 << lane)
    };
    let combined = match operation {
        WarpOperation::Ballot => Some(lanes(&|word| word != 0)),
        WarpOperation::Any => Some(words().any(|word| word != 0).into()),
        WarpOperation::All => Some(words().all(|word| word != 0).into()),
        WarpOperation::MatchAny => Some(lanes(&|word| word == own)),
        WarpOperation::ReduceAdd => words().reduce(u32::wrapping_add),
        WarpOperation::ReduceMin => words().min(),
        WarpOperation::ReduceMax => words().max(),
        WarpOperation::ReduceMinSigned => words().min_by_key(|word| *word as i32),
        WarpOperation::ReduceMaxSigned => words().max_by_key(|word| *word as i32),
        WarpOperation::ReduceAnd => words().reduce(|a, b| a & b),
        WarpOperation::ReduceOr => words().reduce(|a, b| a | b),
        WarpOperation::Shuffle { .. }
        | WarpOperation::ShuffleUp { .. }
        | WarpOperation::ShuffleDown { .. }
        | WarpOperation::ShuffleXor { .. } => None,
    };
    combined.unwrap_or(own)
}

/// Returns the elements of `A * B + C` that `lane` holds. The lanes from `4 * r` on hold row `r` of `A`, those of larger matrices also row
/// `r + 8`, and likewise those from `4 * c` on column `c` of `B`. Missing lanes count as zeros.
fn product(calls: &[Option<Call>; 32], lane: u32, own: &Fragments) -> Answer {
    let fragments = |lane: u32| match calls[lane as usize] {
        Some(Call { input: LaneInput::Mma(fragments), .. }) => fragments,
        _ => Fragments::default(),
    };
    let (row, column) = (lane / 4, 2 * (lane % 4));
    // Words of a row of `A` that a lane holds. Words that a product does not have are 0.
    let words = |upper: usize| [upper, upper + 2];
    let sum = |c: i32, words: [usize; 2], column: u32| {
        (0..4).fold(c, |sum, k| {
            let (of_row, of_column) = (fragments(4 * row + k), fragments(4 * column + k));
            let products = words.into_iter().zip(of_column.b).map(|(word, b)| dot(own.product, of_row.a[word], b));
            products.fold(sum, i32::wrapping_add)
        })
    };
    let [c0, c1, c2, c3] = own.c;
    let (low, high) = (words(0), words(1));
    [sum(c0, low, column), sum(c1, low, column + 1), sum(c2, high, column), sum(c3, high, column + 1)]
        .map(|sum| sum as u32)
}

/// Returns the dot product of four bytes.
fn dot(product: Product, a: u32, b: u32) -> i32 {
    let number = |byte: u8| match product {
        Product::M8N8K16S8 => i32::from(byte as i8),
        _ => i32::from(byte),
    };
    a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| number(a) * number(b)).sum()
}
