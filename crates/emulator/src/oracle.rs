//! Races against an oracle: vector clocks of full length, and a list of all accesses.

use crate::order::Order;
use crate::shadow::{Conflict, Shadow};
use cuda_std::host::Scope;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The threads of a block that do something: three lanes of one warp, two of another.
const THREADS: [u16; 5] = [0, 1, 2, 33, 34];

/// Places in memory.
const PLACES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Load,
    /// From memory that nothing is to write.
    ConstantLoad,
    Store,
    Atomic,
}

/// An access to a place, of a thread, at a site.
#[derive(Clone, Copy, Debug)]
struct Access {
    thread: usize,
    place: usize,
    kind: Kind,
    site: u16,
}

/// What happens; threads are places in `THREADS`.
#[derive(Clone, Debug)]
enum Event {
    Access(Access),
    Fence(usize, Scope),
    /// Those of the lanes 0 to 2.
    SyncWarp(Vec<usize>),
    Barrier,
    NextBlock,
    NextLaunch,
}

fn access() -> impl Strategy<Value = Access> {
    let kind = prop_oneof![
        4 => Just(Kind::Load),
        1 => Just(Kind::ConstantLoad),
        4 => Just(Kind::Store),
        8 => Just(Kind::Atomic),
    ];
    (0..THREADS.len(), 0..PLACES, kind, 0..2u16).prop_map(|(thread, place, kind, site)| Access {
        thread,
        place,
        kind,
        site,
    })
}

fn event() -> impl Strategy<Value = Event> {
    let scope = prop::sample::select(vec![Scope::Block, Scope::Device]);
    prop_oneof![
        12 => access().prop_map(Event::Access),
        6 => (0..THREADS.len(), scope).prop_map(|(thread, scope)| Event::Fence(thread, scope)),
        2 => prop::sample::subsequence(vec![0, 1, 2], 1..=3).prop_map(Event::SyncWarp),
        1 => Just(Event::Barrier),
        1 => Just(Event::NextBlock),
        1 => Just(Event::NextLaunch),
    ]
}

/// The number of accesses of each thread that are over, by block and thread.
type Clock = BTreeMap<(usize, usize), usize>;

fn join(clock: &mut Clock, other: &Clock) {
    for (thread, accesses) in other {
        let known = clock.entry(*thread).or_default();
        *known = (*known).max(*accesses);
    }
}

/// An access that is over: its block, and how many its thread had made then.
struct Past {
    access: Access,
    block: usize,
    time: usize,
}

/// The order as the definitions have it; pairs are for the block and for the device.
#[derive(Default)]
struct Naive {
    block: usize,
    clocks: [Clock; 5],
    released: [[Clock; 2]; 5],
    picked_up: [[Clock; 2]; 5],
    /// With the block that the first one is about.
    handed_on: [(usize, [Clock; 2]); PLACES],
    /// Those of this launch; all earlier ones are in order.
    accesses: Vec<Past>,
}

impl Naive {
    /// The earlier accesses that the access is in conflict with.
    fn access(&mut self, access: Access) -> Vec<Access> {
        let Access { thread, place, kind, .. } = access;
        let conflicts = self.accesses.iter().filter(|past| past.access.place == place && self.conflict(past, access));
        let conflicts = conflicts.map(|past| past.access).collect();
        let time = *self.clocks[thread].entry((self.block, thread)).and_modify(|time| *time += 1).or_insert(1);
        self.accesses.push(Past { access, block: self.block, time });
        if kind == Kind::Atomic {
            self.hand_on(thread, place);
        }
        conflicts
    }

    fn conflict(&self, past: &Past, access: Access) -> bool {
        let other = (past.block, past.access.thread);
        let ordered = other == (self.block, access.thread)
            || self.clocks[access.thread].get(&other).is_some_and(|known| *known >= past.time);
        match (past.access.kind, access.kind) {
            (Kind::Load | Kind::ConstantLoad, Kind::Load | Kind::ConstantLoad) => false,
            (Kind::ConstantLoad, _) | (_, Kind::ConstantLoad) => true,
            (Kind::Atomic, Kind::Atomic) => false,
            _ => !ordered,
        }
    }

    fn hand_on(&mut self, thread: usize, place: usize) {
        let (block, handed_on) = &mut self.handed_on[place];
        if *block != self.block {
            *block = self.block;
            handed_on[0].clear();
        }
        let scopes = self.picked_up[thread].iter_mut().zip(&self.released[thread]);
        for ((picked_up, released), handed_on) in scopes.zip(handed_on) {
            join(picked_up, handed_on);
            join(handed_on, released);
        }
    }

    fn fence(&mut self, thread: usize, scope: Scope) {
        for scope in 0..=usize::from(scope == Scope::Device) {
            join(&mut self.clocks[thread], &self.picked_up[thread][scope]);
        }
        for scope in 0..=usize::from(scope == Scope::Device) {
            self.released[thread][scope] = self.clocks[thread].clone();
        }
    }

    fn meet(&mut self, threads: &[usize]) {
        let mut all = Clock::new();
        threads.iter().for_each(|thread| join(&mut all, &self.clocks[*thread]));
        threads.iter().for_each(|thread| self.clocks[*thread].clone_from(&all));
    }

    fn next_block(&mut self) {
        self.block += 1;
        self.clocks = Default::default();
        self.released = Default::default();
        self.picked_up = Default::default();
    }

    fn next_launch(&mut self) {
        self.next_block();
        self.handed_on = Default::default();
        self.accesses.clear();
    }
}

/// The emulator's answer to the same question.
fn conflict(order: &mut Order, shadow: &mut Shadow, access: Access) -> Option<Conflict> {
    let (thread, first) = (THREADS[access.thread], 4 * access.place);
    let now = order.moment(thread, access.site);
    let conflict = match access.kind {
        Kind::Load => shadow.load(first, 4, &now),
        Kind::ConstantLoad => shadow.load_constant(first, 4, &now),
        Kind::Store => shadow.store(first, 4, &now, false),
        Kind::Atomic => shadow.atomic(first, 4, &now),
    };
    if access.kind == Kind::Atomic {
        order.atomic(thread, access.place as u64, Scope::Device, true);
    }
    conflict
}

/// Whether it is one of these.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Until a place has its first race in a launch, every access there is judged as the definitions do.
    #[test]
    fn races_are_those_of_the_definition(events in prop::collection::vec(event(), 1..120)) {
        let (mut naive, mut order, mut shadow) = (Naive::default(), Order::new(40, 7), Shadow::new(4 * PLACES, 2));
        let mut raced = [false; PLACES];
        order.begin_block();
        for event in events {
            match event {
                Event::Access(access) => {
                    let expected = naive.access(access);
                    let found = conflict(&mut order, &mut shadow, access);
                    let raced = &mut raced[access.place];
                    prop_assert!(*raced || is_among(found, &expected), "{access:?}: {found:?}, not {expected:?}");
                    *raced |= !expected.is_empty();
                }
                Event::Fence(thread, scope) => {
                    naive.fence(thread, scope);
                    order.fence(THREADS[thread], scope);
                }
                Event::SyncWarp(threads) => {
                    naive.meet(&threads);
                    order.meet(&threads.iter().map(|thread| THREADS[*thread]).collect::<Vec<_>>());
                }
                Event::Barrier => {
                    naive.meet(&[0, 1, 2, 3, 4]);
                    order.barrier();
                }
                Event::NextBlock => {
                    naive.next_block();
                    order.begin_block();
                }
                Event::NextLaunch => {
                    naive.next_launch();
                    order = Order::new(40, order.interval());
                    order.begin_block();
                    raced = [false; PLACES];
                }
            }
        }
    }
}
