//! Compares races with an oracle: full vector clocks, and a list of all accesses of blocks that run alternately.

use super::moment::{Conflict, MAX_INTERVALS};
use super::order::{BlockOrder, Order};
use super::shadow::Shadow;
use crate::properties::cases;
use cuda_std::host::Scope;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Active threads of a block: three lanes of one warp, two of another.
const THREADS: [u16; 5] = [0, 1, 2, 33, 34];

/// Blocks in progress.
const SLOTS: usize = 3;

/// Places in global memory, and in total.
const GLOBAL: usize = 2;
const PLACES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Load,
    /// Through a window that promises that nothing writes the memory.
    ConstantLoad,
    Store,
    Atomic,
}

/// Access to a place, by a thread of the block in a slot, at a site. Places from `GLOBAL` on are in shared memory.
#[derive(Clone, Copy, Debug)]
struct Access {
    slot: usize,
    thread: usize,
    place: usize,
    kind: Kind,
    site: u16,
}

/// Event in a slot. Threads are indices into `THREADS`.
#[derive(Clone, Debug)]
enum Event {
    Access(Access),
    Fence(usize, usize, Scope),
    /// Of some of the lanes 0 to 2.
    SyncWarp(usize, Vec<usize>),
    Barrier(usize),
    NextBlock(usize),
    NextLaunch,
}

fn access() -> impl Strategy<Value = Access> {
    let kind = prop_oneof![
        4 => Just(Kind::Load),
        1 => Just(Kind::ConstantLoad),
        4 => Just(Kind::Store),
        8 => Just(Kind::Atomic),
    ];
    let access = |(slot, thread, place, kind, site)| Access { slot, thread, place, kind, site };
    (0..SLOTS, 0..THREADS.len(), 0..PLACES, kind, 0..2u16).prop_map(access)
}

fn event() -> impl Strategy<Value = Event> {
    let scope = prop::sample::select(vec![Scope::Block, Scope::Device]);
    let lanes = prop::sample::subsequence(vec![0, 1, 2], 1..=3);
    prop_oneof![
        12 => access().prop_map(Event::Access),
        6 => (0..SLOTS, 0..THREADS.len(), scope).prop_map(|(slot, thread, scope)| Event::Fence(slot, thread, scope)),
        2 => (0..SLOTS, lanes).prop_map(|(slot, lanes)| Event::SyncWarp(slot, lanes)),
        1 => (0..SLOTS).prop_map(Event::Barrier),
        1 => (0..SLOTS).prop_map(Event::NextBlock),
        1 => Just(Event::NextLaunch),
    ]
}

/// Number of accesses of each thread that have happened before, by block and thread.
type Clock = BTreeMap<(usize, usize), usize>;

fn join(clock: &mut Clock, other: &Clock) {
    for (thread, accesses) in other {
        let known = clock.entry(*thread).or_default();
        *known = (*known).max(*accesses);
    }
}

/// An earlier access: its block, and the number of accesses that its thread had made then.
struct Past {
    access: Access,
    block: usize,
    time: usize,
}

/// Knowledge of a block's threads. Pairs are for the block and for the device.
#[derive(Default)]
struct NaiveBlock {
    number: usize,
    clocks: [Clock; 5],
    released: [[Clock; 2]; 5],
    acquired: [[Clock; 2]; 5],
}

/// The order by definition.
#[derive(Default)]
struct Naive {
    begun: usize,
    slots: [NaiveBlock; SLOTS],
    /// By place, and by block for knowledge within a block.
    passed_on: BTreeMap<(usize, Option<usize>), Clock>,
    /// Accesses of this launch. All earlier ones are ordered before.
    accesses: Vec<Past>,
}

impl Naive {
    /// Returns the earlier accesses that conflict with the access.
    fn access(&mut self, access: Access) -> Vec<Access> {
        let Access { slot, thread, place, kind, .. } = access;
        let conflicts = self.accesses.iter().filter(|past| self.conflict(past, access));
        let conflicts = conflicts.map(|past| past.access).collect();
        let block = self.slots[slot].number;
        let clock = &mut self.slots[slot].clocks[thread];
        let time = *clock.entry((block, thread)).and_modify(|time| *time += 1).or_insert(1);
        self.accesses.push(Past { access, block, time });
        if kind == Kind::Atomic {
            self.pass_on(slot, thread, place);
        }
        conflicts
    }

    fn conflict(&self, past: &Past, access: Access) -> bool {
        let block = &self.slots[access.slot];
        if past.access.place != access.place || access.place >= GLOBAL && past.block != block.number {
            return false;
        }
        let other = (past.block, past.access.thread);
        let ordered = other == (block.number, access.thread)
            || block.clocks[access.thread].get(&other).is_some_and(|known| *known >= past.time);
        match (past.access.kind, access.kind) {
            (Kind::Load | Kind::ConstantLoad, Kind::Load | Kind::ConstantLoad) => false,
            (Kind::ConstantLoad, _) | (_, Kind::ConstantLoad) => true,
            (Kind::Atomic, Kind::Atomic) => false,
            _ => !ordered,
        }
    }

    fn pass_on(&mut self, slot: usize, thread: usize, place: usize) {
        let block = &mut self.slots[slot];
        // Only the block accesses shared memory, so both scopes are the block's.
        let scopes = [Some(block.number), (place >= GLOBAL).then_some(block.number)];
        let releases = block.acquired[thread].iter_mut().zip(&block.released[thread]);
        for ((acquired, released), scope) in releases.zip(scopes) {
            let passed_on = self.passed_on.entry((place, scope)).or_default();
            join(acquired, passed_on);
            join(passed_on, released);
        }
    }

    fn fence(&mut self, slot: usize, thread: usize, scope: Scope) {
        let NaiveBlock { clocks, released, acquired, .. } = &mut self.slots[slot];
        let scopes = 1 + usize::from(scope == Scope::Device);
        acquired[thread].iter().take(scopes).for_each(|acquired| join(&mut clocks[thread], acquired));
        released[thread].iter_mut().take(scopes).for_each(|released| released.clone_from(&clocks[thread]));
    }

    fn meet(&mut self, slot: usize, threads: &[usize]) {
        let (mut all, clocks) = (Clock::new(), &mut self.slots[slot].clocks);
        threads.iter().for_each(|thread| join(&mut all, &clocks[*thread]));
        threads.iter().for_each(|thread| clocks[*thread].clone_from(&all));
    }

    fn next_block(&mut self, slot: usize) {
        self.begun += 1;
        self.slots[slot] = NaiveBlock { number: self.begun, ..NaiveBlock::default() };
    }

    fn next_launch(&mut self) {
        (0..SLOTS).for_each(|slot| self.next_block(slot));
        self.passed_on.clear();
        self.accesses.clear();
    }
}

/// The emulator's implementation of the same events.
struct Emulated {
    order: Order,
    slots: Vec<(BlockOrder, Shadow)>,
    global: Shadow,
}

impl Emulated {
    fn new() -> Self {
        let global = Shadow::new(4 * PLACES, 2);
        let mut emulated = Emulated { order: Order::new(7, MAX_INTERVALS), slots: Vec::new(), global };
        emulated.begin_launch();
        emulated
    }

    fn begin_launch(&mut self) {
        self.order = Order::new(self.order.intervals(), MAX_INTERVALS);
        let slot = |slot| (BlockOrder::new(slot, 40, &self.order), Shadow::new(4 * PLACES, 2));
        self.slots = (0..SLOTS).map(slot).collect();
        (0..SLOTS).for_each(|slot| self.next_block(slot));
    }

    fn next_block(&mut self, slot: usize) {
        self.slots[slot].0.begin(&mut self.order);
    }

    fn access(&mut self, access: Access) -> Option<Conflict> {
        let (thread, first) = (THREADS[access.thread], 4 * access.place);
        let (order, shared) = &mut self.slots[access.slot];
        let mut now = order.moment(thread, access.site);
        let (shadow, scope) = if access.place < GLOBAL {
            (&mut self.global, Scope::Device)
        } else {
            now.forget_other_blocks();
            (shared, Scope::Block)
        };
        let conflict = match access.kind {
            Kind::Load => shadow.load(first, 4, &now),
            Kind::ConstantLoad => shadow.load_constant(first, 4, &now),
            Kind::Store => shadow.store(first, 4, &now, false),
            Kind::Atomic => shadow.atomic(first, 4, &now.of_atomic(4)),
        };
        if access.kind == Kind::Atomic {
            order.atomic(thread, access.place as u64, scope, true, &mut self.order);
        }
        conflict
    }
}

/// Returns whether the conflict is one of the expected ones, or both are none.
fn is_among(conflict: Option<Conflict>, expected: &[Access]) -> bool {
    let is = |conflict: Conflict, access: &Access| {
        let constant = access.kind == Kind::ConstantLoad;
        (conflict.thread, conflict.site) == (THREADS[access.thread], access.site) && (conflict.constant || !constant)
    };
    match conflict {
        None => expected.is_empty(),
        Some(conflict) => expected.iter().any(|access| is(conflict, access)),
    }
}

/// Whether each place has raced: in global memory, and in the shared memory of each slot.
type Raced = [[bool; PLACES]; SLOTS];

fn raced_at<'a>(raced: &'a mut Raced, access: &Access) -> &'a mut bool {
    &mut raced[if access.place < GLOBAL { 0 } else { access.slot }][access.place]
}

/// Checks that, until a place has its first race in a launch, the verdict on every access there agrees with the definition.
fn check(events: Vec<Event>) -> Result<(), TestCaseError> {
    let (mut naive, mut emulated, mut raced) = (Naive::default(), Emulated::new(), Raced::default());
    naive.next_launch();
    for event in events {
        match event {
            Event::Access(access) => {
                let (expected, found) = (naive.access(access), emulated.access(access));
                let raced = raced_at(&mut raced, &access);
                prop_assert!(*raced || is_among(found, &expected), "{access:?}: {found:?}, not {expected:?}");
                *raced |= !expected.is_empty();
            }
            Event::Fence(slot, thread, scope) => {
                naive.fence(slot, thread, scope);
                emulated.slots[slot].0.fence(THREADS[thread], scope);
            }
            Event::SyncWarp(slot, threads) => {
                naive.meet(slot, &threads);
                emulated.slots[slot].0.meet(&threads.iter().map(|thread| THREADS[*thread]).collect::<Vec<_>>());
            }
            Event::Barrier(slot) => {
                naive.meet(slot, &[0, 1, 2, 3, 4]);
                emulated.slots[slot].0.barrier(&mut emulated.order);
            }
            Event::NextBlock(slot) => {
                naive.next_block(slot);
                emulated.next_block(slot);
                raced[slot][GLOBAL..].fill(false);
            }
            Event::NextLaunch => {
                naive.next_launch();
                emulated.begin_launch();
                raced = Raced::default();
            }
        }
    }
    Ok(())
}

// Two tests, because each uses one core.
proptest! {
    #![proptest_config(cases(2000, 1))]

    #[test]
    fn races_are_those_of_the_definition(events in prop::collection::vec(event(), 1..160)) {
        check(events)?;
    }
}

proptest! {
    #![proptest_config(cases(2000, 2))]

    #[test]
    fn races_are_those_of_the_definition_with_another_seed(events in prop::collection::vec(event(), 1..160)) {
        check(events)?;
    }
}
