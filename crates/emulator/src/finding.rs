//! What the emulator has to object to.

use crate::site::{Action, Line};
use crate::threads::Threads;
use cuda_std::host::Space;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

/// An element of a window, or what would be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// The byte: in the block's shared memory, in the buffer, or in the table of constants.
    pub byte: u64,
    /// The element of the window.
    pub index: u64,
    /// The elements of the window.
    pub len: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = match self.space {
            Space::Shared => "shared memory",
            Space::Global | Space::GlobalConstant => "global memory",
            Space::Constant => "the constants",
        };
        write!(f, "element {} of a window of {} on {space} (byte {})", self.index, self.len, self.byte)
    }
}

/// What another thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its block.
    pub block: [u32; 3],
    /// The thread.
    pub thread: [u32; 3],
    /// What it did.
    pub action: Action,
    /// Where in the source.
    pub at: Line,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Other { block, thread, action, at } = self;
        write!(f, "the {action} of thread {thread:?} of block {block:?} at {at}")
    }
}

/// How far the blocks of a grid are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockStates {
    /// The blocks that have ended.
    pub ended: u64,
    /// The blocks that have begun and not ended.
    pub begun: u64,
    /// The blocks that have not begun.
    pub waiting: u64,
}

impl fmt::Display for BlockStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockStates { ended, begun, waiting } = self;
        write!(
            f,
            "of {} blocks {ended} have ended, {begun} are under way, {waiting} have not begun",
            ended + begun + waiting
        )
    }
}

/// Shared memory that a thread split off its arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The thread.
    pub thread: [u32; 3],
    /// The first byte in the block's shared memory.
    pub base: u32,
    /// The bytes, rounded up to a multiple of 16.
    pub bytes: u32,
    /// Where in the source.
    pub at: Line,
}

/// Why a lane takes no part in an operation of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absence {
    /// The mask does not name it.
    NotInMask,
    /// The block has fewer threads.
    NotInBlock,
    /// Its thread has ended.
    Ended,
    /// Its thread waits for something else.
    WaitsElsewhere,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Absence::NotInMask => "is not in the mask",
            Absence::NotInBlock => "the block does not have, although it is in the mask",
            Absence::Ended => "has ended, although it is in the mask",
            Absence::WaitsElsewhere => "waits elsewhere, although it is in the mask",
        })
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Two threads access a place, one of them writes it, and nothing orders them; or both update it atomically, but not
    /// the same number of bytes.
    Race {
        /// The place.
        place: Place,
        /// What the thread does.
        action: Action,
        /// What the other one did before.
        other: Other,
        /// Both store the same bits, which a launch [may allow](crate::Launch::allow_same_value_writes).
        same_value: bool,
    },
    /// Memory is accessed that an asynchronous copy may still be writing, or written that one may still be reading: its
    /// thread has not waited for it.
    CopyUnderWay {
        /// The place.
        place: Place,
        /// What the thread does.
        action: Action,
        /// The copy: the load or the store of it.
        other: Other,
    },
    /// Memory is read, or updated, that nobody has written.
    Uninitialised {
        /// The place.
        place: Place,
        /// What the thread does.
        action: Action,
    },
    /// An access out of the window's range, not in a masked form.
    OutOfRange {
        /// The place.
        place: Place,
        /// Elements of the access.
        elements: u32,
        /// What the thread does.
        action: Action,
    },
    /// An address that is no multiple of the access's size.
    Misaligned {
        /// The place.
        place: Place,
        /// The size.
        bytes: u32,
        /// What the thread does.
        action: Action,
    },
    /// A window on memory that has been freed, or is another emulator's.
    NoMemory {
        /// The place.
        place: Place,
        /// What the thread does.
        action: Action,
    },
    /// A kernel writes what it also reads through a window that promises that nothing writes it.
    ConstantWritten {
        /// The place.
        place: Place,
        /// What the thread does.
        action: Action,
        /// What the other one did before.
        other: Other,
    },
    /// A barrier of the block that not all of its threads come to.
    BarrierDivergence {
        /// The barriers at which threads wait, and which ones.
        waiting: Vec<(Line, Threads)>,
        /// The threads of the block that have ended.
        ended: Threads,
    },
    /// A barrier of the block in a function or macro, to which its threads come from different places: it is one barrier in
    /// the source and two in the kernel.
    BarrierFromTwoPlaces {
        /// The lines by which the first thread came, from the barrier outwards to where the ways part.
        calls: Vec<Line>,
        /// The threads that came so.
        threads: Threads,
        /// The lines by which another thread came.
        other_calls: Vec<Line>,
        /// The threads that came by other ways.
        others: Threads,
    },
    /// An operation of a warp that not all lanes of the mask come to.
    MissingLanes {
        /// The mask.
        mask: u32,
        /// Those that have not come.
        missing: u32,
    },
    /// An operation of a warp by a lane that is not in its mask.
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
        /// The lane that is asked.
        lane: u32,
        /// Why it takes no part.
        absence: Absence,
    },
    /// Threads of a block split their arenas in different ways, so that their windows overlap.
    SplitDivergence {
        /// What the thread split off.
        split: Split,
        /// What another thread split off when it had made as many splits before.
        other: Split,
    },
    /// The launch has ended, and elements of an output have never been written, neither by it nor before.
    UnwrittenOutput {
        /// The field of the arguments that is the window; empty if the argument is a window itself.
        window: &'static str,
        /// The first one.
        first: u64,
        /// How many they are.
        count: u64,
        /// The elements of the window.
        len: u64,
        /// The masked store that left the first one out, if there was one.
        left_out: Option<Line>,
    },
    /// The kernel's code panicked, which on the device ends it: an index out of range, or shared memory too small.
    Panic {
        /// The message.
        message: String,
    },
    /// The block's threads have used up their steps: they wait for something that does not come, or have more to do than
    /// the launch's [budget](crate::Launch::budget) allows.
    OutOfSteps {
        /// The steps.
        budget: u64,
        /// How far the grid's blocks are: if it waits for one of them, that one must have begun.
        blocks: BlockStates,
    },
    /// The launch has more barriers and blocks than the emulator can tell apart. What would come later has not run.
    TooManyIntervals {
        /// The barriers and blocks.
        intervals: u32,
    },
    /// A thread needs more stack than there is: for its local variables, or for functions that call each other.
    StackOverflow {
        /// The bytes of a thread's stack.
        bytes: usize,
    },
    /// A thread has run for so long without calling an accessor: it does not end, or needs a larger
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
                    "data race: {action} of {place}, in no order with {other}{}",
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
            Problem::ConstantWritten { place, action, other } => {
                write!(f, "read-only memory is written: {action} of {place}, after {other}")
            }
            Problem::BarrierDivergence { waiting, ended } => write_divergence(f, waiting, ended),
            Problem::BarrierFromTwoPlaces { calls, threads, other_calls, others } => {
                write!(f, "barrier divergence: the threads come to one barrier from two places, {threads} ")?;
                write_calls(f, calls)?;
                write!(f, " and {others} ")?;
                write_calls(f, other_calls)
            }
            Problem::MissingLanes { mask, missing } => {
                write!(f, "missing lanes: {missing:#010x} of the mask {mask:#010x} do not come")
            }
            Problem::NotInMask { mask, lane } => write!(f, "lane {lane} is not in its own mask {mask:#010x}"),
            Problem::ForeignLane { mask, lane, absence } => {
                write!(f, "a shuffle from lane {lane}, which {absence} {mask:#010x}")
            }
            Problem::SplitDivergence { split, other } => write_splits(f, split, other),
            Problem::UnwrittenOutput { window, first, count, len, left_out } => {
                write!(f, "unwritten output: {count} of {len} elements of ")?;
                if window.is_empty() {
                    write!(f, "the output")?
                } else {
                    write!(f, "`{window}`")?
                }
                write!(f, " have never been written, the first is element {first}")?;
                match left_out {
                    Some(at) => write!(f, ", which the masked store at {at} leaves out"),
                    None => Ok(()),
                }
            }
            Problem::TooManyIntervals { intervals } => {
                write!(f, "more than {intervals} barriers and blocks in a launch: what would come later has not run")
            }
            Problem::Panic { message } => write!(f, "panic: {message}"),
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
                write!(f, "the block has not ended after {budget} steps: it waits for ever, or needs a larger budget")?;
                // A block may wait for its like only if there are any.
                match blocks.ended + blocks.begun + blocks.waiting {
                    0..=1 => Ok(()),
                    _ => write!(f, " ({blocks}; a block may wait only for blocks that have begun)"),
                }
            }
        }
    }
}

/// What else there is to say of a race.
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

/// Tells by which lines a thread came.
fn write_calls(f: &mut fmt::Formatter<'_>, calls: &[Line]) -> fmt::Result {
    calls.iter().enumerate().try_for_each(|(k, at)| write!(f, "{}{at}", if k == 0 { "at " } else { ", called at " }))
}

/// Tells of all threads of a block where they are.
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

/// Something wrong with a kernel, at a place in its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kernel.
    pub kernel: &'static str,
    /// The block of the thread that it was first found with; zeros for what no thread did.
    pub block: [u32; 3],
    /// That thread.
    pub thread: [u32; 3],
    /// Where in the source the thread was; without a file for what no line did. For stacks that overflow and loops without
    /// accesses: where it called an accessor last.
    pub at: Line,
    /// What is wrong.
    pub problem: Problem,
    /// How often it was found.
    pub times: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kernel, block, thread, at, problem, times } = self;
        write!(f, "{problem}\n    ")?;
        // Others were left behind what they called.
        match problem {
            Problem::UnwrittenOutput { .. } | Problem::TooManyIntervals { .. } => return write!(f, "in {kernel}"),
            _ if *at == Line::NOWHERE => {}
            Problem::StackOverflow { .. } | Problem::NoAccess { .. } => write!(f, "behind the call at {at}, ")?,
            _ => write!(f, "at {at}, ")?,
        }
        write!(f, "thread {thread:?} of block {block:?} of {kernel}")?;
        if *times > 1 { write!(f, ", {times} times") } else { Ok(()) }
    }
}

/// Kind, place, and the other thread's place or the window: findings that agree in these are counted as one.
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

/// What was found so far, each kind once per place in the source.
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

    /// Races first, as the rest may come of them: who does not wait also reads what nobody has written yet.
    pub(crate) fn take(&mut self) -> Vec<Finding> {
        self.known.clear();
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|finding| !matches!(finding.problem, Problem::Race { .. }));
        found
    }
}
