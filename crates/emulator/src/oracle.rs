//! Races against an oracle: vector clocks of full length, and a list of all accesses.

use crate::order::Order;
use crate::shadow::Shadow;
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
    Store,
    Atomic,
}

/// What happens; threads are places in `THREADS`.
#[derive(Clone, Debug)]
enum Event {
    Access(usize, usize, Kind),
    Fence(usize, Scope),
    /// Those of the lanes 0 to 2.
    SyncWarp(Vec<usize>),
    Barrier,
    NextBlock,
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop::sample::select(vec![Kind::Load, Kind::Store, Kind::Atomic, Kind::Atomic]);
    let scope = prop::sample::select(vec![Scope::Block, Scope::Device]);
    prop_oneof![
        12 => (0..THREADS.len(), 0..PLACES, kind).prop_map(|(thread, place, kind)| Event::Access(thread, place, kind)),
        6 => (0..THREADS.len(), scope).prop_map(|(thread, scope)| Event::Fence(thread, scope)),
        2 => prop::sample::subsequence(vec![0, 1, 2], 1..=3).prop_map(Event::SyncWarp),
        1 => Just(Event::Barrier),
        1 => Just(Event::NextBlock),
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

/// The order as the definitions have it; pairs are for the block and for the device.
#[derive(Default)]
struct Naive {
    block: usize,
    clocks: [Clock; 5],
    released: [[Clock; 2]; 5],
    picked_up: [[Clock; 2]; 5],
    /// With the block that the first one is about.
    handed_on: [(usize, [Clock; 2]); PLACES],
    accesses: Vec<(usize, (usize, usize), usize, Kind)>,
}

impl Naive {
    /// Whether the access races with an earlier one.
    fn access(&mut self, thread: usize, place: usize, kind: Kind) -> bool {
        let own = (self.block, thread);
        let clock = &self.clocks[thread];
        let races = self.accesses.iter().any(|(at, other, time, earlier)| {
            let conflict = !matches!((kind, earlier), (Kind::Load, Kind::Load) | (Kind::Atomic, Kind::Atomic));
            *at == place && conflict && *other != own && clock.get(other).is_none_or(|known| known < time)
        });
        let time = *self.clocks[thread].entry(own).and_modify(|time| *time += 1).or_insert(1);
        self.accesses.push((place, own, time, kind));
        if kind == Kind::Atomic {
            self.hand_on(thread, place);
        }
        races
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
}

/// The emulator's answer to the same question.
fn access(order: &mut Order, shadow: &mut Shadow, thread: u16, place: usize, kind: Kind) -> bool {
    let now = order.moment(thread, 0);
    let conflict = match kind {
        Kind::Load => shadow.load(4 * place, 4, &now),
        Kind::Store => shadow.store(4 * place, 4, &now, false),
        Kind::Atomic => shadow.atomic(4 * place, 4, &now),
    };
    if kind == Kind::Atomic {
        order.atomic(thread, place as u64, Scope::Device, true);
    }
    conflict.is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Until a place has its first race, every access there is judged as the definitions do.
    #[test]
    fn races_are_those_of_the_definition(events in prop::collection::vec(event(), 1..120)) {
        let (mut naive, mut order, mut shadow) = (Naive::default(), Order::new(40, 7), Shadow::new(4 * PLACES, 2));
        let mut raced = [false; PLACES];
        order.begin_block();
        for event in events {
            match event {
                Event::Access(thread, place, kind) => {
                    let expected = naive.access(thread, place, kind);
                    let found = access(&mut order, &mut shadow, THREADS[thread], place, kind);
                    prop_assert!(raced[place] || found == expected, "{:?} by {} at {}", kind, thread, place);
                    raced[place] |= expected;
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
            }
        }
    }
}
