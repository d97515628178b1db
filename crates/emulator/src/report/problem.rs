//! The kinds of findings, with their details and their texts.

use super::details::{Absence, BlockStates, Other, Place, Split};
use super::site::{Action, Line};
use super::threads::Threads;
use std::fmt;
use std::time::Duration;

/// Kind of a finding, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Two threads access a place without order, and at least one of them
    /// writes it; or both update it atomically, with different sizes.
    Race {
        /// The place.
        place: Place,
        /// Kind of the thread's access.
        action: Action,
        /// The earlier access of the other thread.
        other: Other,
        /// Whether both store the same bits, which a launch [may allow](crate::Launch::allow_same_value_writes).
        same_value: bool,
    },
    /// An access to memory that an asynchronous copy may still be writing, or a write to memory that it may still be
    /// reading, because the copying thread has not waited for it.
    CopyUnderWay {
        /// The place.
        place: Place,
        /// Kind of the thread's access.
        action: Action,
        /// The load or the store of the copy.
        other: Other,
    },
    /// A load or an atomic update of unwritten memory.
    Uninitialised {
        /// The place.
        place: Place,
        /// Kind of the thread's access.
        action: Action,
    },
    /// An access out of range of its window, except in masked forms.
    OutOfRange {
        /// The place.
        place: Place,
        /// Number of elements of the access.
        elements: u32,
        /// Kind of the thread's access.
        action: Action,
    },
    /// An address that is not a multiple of the size of the access.
    Misaligned {
        /// The place.
        place: Place,
        /// Size of the access, in bytes.
        bytes: u32,
        /// Kind of the thread's access.
        action: Action,
    },
    /// A window on memory that has been freed, or belongs to another emulator.
    NoMemory {
        /// The place.
        place: Place,
        /// Kind of the thread's access.
        action: Action,
    },
    /// A window that is not part of the launch's arguments, but kept from another launch.
    ForeignWindow {
        /// The place.
        place: Place,
        /// Kind of the thread's access.
        action: Action,
    },
    /// A write to memory that the kernel also reads through a window that promises that nothing writes it.
    ConstantWritten {
        /// The place.
        place: Place,
        /// Kind of the thread's access.
        action: Action,
        /// The earlier access of the other thread.
        other: Other,
    },
    /// Not all threads of a block reach a barrier.
    BarrierDivergence {
        /// The barriers at which threads wait, with these threads.
        waiting: Vec<(Line, Threads)>,
        /// The threads of the block that have ended.
        ended: Threads,
    },
    /// Threads reach the barrier in a function or macro from different
    /// places: one barrier in the source, but two in the kernel.
    BarrierFromTwoPlaces {
        /// The calls of the first thread, from the barrier outwards to the point where the paths differ.
        calls: Vec<Line>,
        /// The threads with these calls.
        threads: Threads,
        /// The calls of another thread.
        other_calls: Vec<Line>,
        /// The threads with other calls.
        others: Threads,
    },
    /// Lanes reach the warp operation in a function or macro from different
    /// places: one operation in the source, but two in the kernel.
    WarpFromTwoPlaces {
        /// Kind of the operation.
        action: Action,
        /// The calls of the first lane, from the operation outwards to the point where the paths differ.
        calls: Vec<Line>,
        /// The threads with these calls.
        threads: Threads,
        /// The calls of another lane.
        other_calls: Vec<Line>,
        /// The threads with other calls.
        others: Threads,
    },
    /// Not all lanes of the mask reach a warp operation.
    MissingLanes {
        /// The mask.
        mask: u32,
        /// The missing lanes.
        missing: u32,
    },
    /// A warp operation by a lane that is not in its mask.
    NotInMask {
        /// The mask.
        mask: u32,
        /// The lane.
        lane: u32,
    },
    /// A shuffle from a lane that takes no part in it.
    ForeignLane {
        /// The mask.
        mask: u32,
        /// The source lane.
        lane: u32,
        /// Why it takes no part.
        absence: Absence,
    },
    /// Threads of a block split their arenas in different ways, so that their windows overlap.
    SplitDivergence {
        /// The split of the thread.
        split: Split,
        /// The split of another thread, with the same number of earlier splits.
        other: Split,
    },
    /// Elements of an output were not written: neither by the launch nor before it, or not by a launch that had to write the
    /// output [whole](crate::Launch::whole_outputs).
    UnwrittenOutput {
        /// The field of the arguments; empty if the argument is itself a window.
        window: &'static str,
        /// Index of the first unwritten element.
        first: u64,
        /// Number of unwritten elements.
        count: u64,
        /// Length of the window, in elements.
        len: u64,
        /// Whether the launch had to write the output whole. Then it has not written the elements; otherwise nobody has.
        whole: bool,
        /// Masked store that left out the first one, if there was one.
        left_out: Option<Line>,
    },
    /// The kernel panicked, for example because shared memory is too small. On the device this ends the kernel.
    Panic {
        /// The message.
        message: String,
    },
    /// An accessor was called on an OS thread that runs none of the launch's threads, such as one of `std::thread` or `rayon`
    /// that the kernel started or passed work to. A GPU has no such threads. That call panics.
    ForeignThread,
    /// The threads of a block have used up their steps: they wait forever, or need more than the launch's
    /// [budget](crate::Launch::budget).
    OutOfSteps {
        /// The budget.
        budget: u64,
        /// Progress of the grid's blocks. A block may only wait for a block that has begun.
        blocks: BlockStates,
    },
    /// The launch has more barriers and blocks than the emulator can number. The rest of it has not run.
    TooManyIntervals {
        /// Number of barriers and blocks.
        intervals: u32,
    },
    /// A thread needs more stack than it has, for its local variables or nested calls.
    StackOverflow {
        /// Size of a thread's stack, in bytes.
        bytes: usize,
    },
    /// A thread has exceeded the time limit without calling an accessor: it does not end, or needs a larger
    /// [limit](crate::Launch::time_limit).
    NoAccess {
        /// The limit.
        limit: Duration,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Race { place, action, other, same_value } => {
                write!(
                    f,
                    "data race: {action} of {place}, unordered with {other}{}",
                    remark(*action, other, *same_value)
                )
            }
            Problem::CopyUnderWay { place, action, other: Other { block, thread, at, .. } } => write!(
                f,
                "copy under way: {action} of {place}, but thread {thread:?} of block {block:?} has not waited for its \
                 asynchronous copy from {at}"
            ),
            Problem::Uninitialised { place, action } => write!(f, "uninitialised: {action} of {place}, never written"),
            Problem::OutOfRange { place, elements, action } => {
                write!(f, "out of range: {action} of {elements} from {place}")
            }
            Problem::Misaligned { place, bytes, action } => {
                write!(f, "misaligned: {action} of {bytes} bytes at {place}")
            }
            Problem::NoMemory { place, action } => write!(f, "no memory: {action} of {place}, which is not allocated"),
            Problem::ForeignWindow { place, action } => {
                write!(f, "foreign window: {action} of {place}, which is not part of the launch's arguments")
            }
            Problem::ConstantWritten { place, action, other } => {
                write!(f, "read-only memory is written: {action} of {place}, after {other}")
            }
            Problem::BarrierDivergence { waiting, ended } => write_divergence(f, waiting, ended),
            Problem::BarrierFromTwoPlaces { calls, threads, other_calls, others } => {
                write!(f, "barrier divergence: the threads reach one barrier from two places, ")?;
                write_two_places(f, [calls, other_calls], [threads, others])
            }
            Problem::WarpFromTwoPlaces { action, calls, threads, other_calls, others } => {
                write!(f, "warp divergence: the lanes reach one {action} from two places, ")?;
                write_two_places(f, [calls, other_calls], [threads, others])
            }
            Problem::MissingLanes { mask, missing } => {
                write!(f, "missing lanes: {missing:#010x} of the mask {mask:#010x} do not arrive")
            }
            Problem::NotInMask { mask, lane } => write!(f, "lane {lane} is not in its own mask {mask:#010x}"),
            Problem::ForeignLane { mask, lane, absence } => {
                write!(f, "a shuffle from lane {lane}, which {absence} {mask:#010x}")
            }
            Problem::SplitDivergence { split, other } => write_splits(f, split, other),
            Problem::UnwrittenOutput { window, first, count, len, whole, left_out } => {
                write!(f, "unwritten output: {count} of {len} elements of ")?;
                if window.is_empty() {
                    write!(f, "the output")?
                } else {
                    write!(f, "`{window}`")?
                }
                let not = if *whole { "have not been written by this launch" } else { "have never been written" };
                write!(f, " {not}, the first is element {first}")?;
                match left_out {
                    Some(at) => write!(f, ", which the masked store at {at} leaves out"),
                    None => Ok(()),
                }
            }
            Problem::TooManyIntervals { intervals } => {
                write!(f, "more than {intervals} barriers and blocks in a launch: the rest has not run")
            }
            Problem::Panic { message } => write!(f, "panic: {message}"),
            Problem::ForeignThread => f.write_str(
                "foreign thread: an accessor is called on an OS thread that runs none of the launch's threads; a kernel must \
                 not start threads, nor pass work to them, as with `std::thread` or `rayon`",
            ),
            Problem::StackOverflow { bytes } => {
                write!(
                    f,
                    "stack overflow: the thread's variables and calls need more than the {bytes} bytes of its stack"
                )
            }
            Problem::NoAccess { limit } => {
                write!(
                    f,
                    "the thread has called no accessor for {limit:?}: it does not end, or needs a larger time limit"
                )
            }
            Problem::OutOfSteps { budget, blocks } => {
                write!(f, "the block has not ended after {budget} steps: it waits forever, or needs a larger budget")?;
                // A block can wait for other blocks only if there are any.
                match blocks.ended + blocks.begun + blocks.waiting {
                    0..=1 => Ok(()),
                    _ => write!(f, " ({blocks}; a block may wait only for blocks that have begun)"),
                }
            }
        }
    }
}

/// Returns a remark on a race, if there is more to say.
fn remark(action: Action, other: &Other, same_value: bool) -> &'static str {
    match (action, other.action) {
        (Action::Atomic, Action::Atomic) => "; atomic operations of different sizes are not atomic to each other",
        _ if same_value => "; both store the same bits, which `allow_same_value_writes` of the launch allows",
        _ => "",
    }
}

fn write_splits(f: &mut fmt::Formatter<'_>, split: &Split, other: &Split) -> fmt::Result {
    write!(
        f,
        "different splits of shared memory: thread {:?} splits {} bytes off at byte {}, where thread {:?} splits {} bytes \
         off at byte {} at {}; all threads of a block must split alike",
        split.thread, split.bytes, split.base, other.thread, other.bytes, other.base, other.at
    )
}

/// Writes which threads have which calls.
fn write_two_places(f: &mut fmt::Formatter<'_>, calls: [&[Line]; 2], threads: [&Threads; 2]) -> fmt::Result {
    write!(f, "{} ", threads[0])?;
    write_calls(f, calls[0])?;
    write!(f, " and {} ", threads[1])?;
    write_calls(f, calls[1])
}

/// Writes the calls by which a thread reached a barrier or a warp operation.
fn write_calls(f: &mut fmt::Formatter<'_>, calls: &[Line]) -> fmt::Result {
    calls.iter().enumerate().try_for_each(|(k, at)| write!(f, "{}{at}", if k == 0 { "at " } else { ", called at " }))
}

/// Writes where all threads of a block are.
fn write_divergence(f: &mut fmt::Formatter<'_>, waiting: &[(Line, Threads)], ended: &Threads) -> fmt::Result {
    f.write_str("barrier divergence: ")?;
    for (k, (at, threads)) in waiting.iter().enumerate() {
        let wait = if threads.count() == 1 { "thread waits" } else { "threads wait" };
        let comma = if k == 0 { "" } else { ", " };
        write!(f, "{comma}{} {wait} at {at} ({threads})", threads.count())?;
    }
    match ended.count() {
        0 => Ok(()),
        1 => write!(f, ", 1 has ended ({ended})"),
        count => write!(f, ", {count} have ended ({ended})"),
    }
}
