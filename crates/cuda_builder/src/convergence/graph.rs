//! Which blocks of a function run one after another, and in which loops.

use super::ir::Function;
use std::collections::BTreeSet;

/// The control flow of a function, as far as it can be reached from its first block.
#[derive(Debug)]
pub(super) struct Graph {
    /// Without the edges that lead back to the head of a loop.
    forward: Vec<Vec<usize>>,
    /// The block that is on every way to each one and nearest to it; its own number for the first block.
    dominators: Vec<usize>,
    /// The heads of the loops around each block.
    loops: Vec<BTreeSet<usize>>,
    /// Every loop is entered at its head alone.
    reducible: bool,
}

impl Graph {
    pub(super) fn of(function: &Function<'_>) -> Self {
        Graph::new(&function.successors())
    }

    fn new(successors: &[Vec<usize>]) -> Self {
        let Walk { order, back, forward } = Walk::through(successors);
        let dominators = dominators(successors, &order);
        let mut graph = Graph { forward, dominators, loops: vec![BTreeSet::new(); successors.len()], reducible: true };
        for (from, head) in back {
            graph.reducible &= graph.dominates(head, from);
            graph.add_loop(successors, from, head);
        }
        graph
    }

    /// Adds the loop that the edge `from` leads back to the `head` of: what reaches `from` without passing the head.
    fn add_loop(&mut self, successors: &[Vec<usize>], from: usize, head: usize) {
        let mut open = vec![from];
        self.loops[head].insert(head);
        while let Some(block) = open.pop() {
            if self.loops[block].insert(head) {
                open.extend((0..successors.len()).filter(|before| successors[*before].contains(&block)));
            }
        }
    }

    /// Whether all of these blocks, which do the same thing from the same lines, are turns of unrolled loops: of each two,
    /// one runs after the other, and that in the same turn of the same loops, or not without the other one.
    pub(super) fn are_turns(&self, blocks: &[usize]) -> bool {
        let mut pairs = (0..blocks.len()).flat_map(|a| (0..a).map(move |b| (blocks[a], blocks[b])));
        pairs.all(|(a, b)| a == b || self.reducible && (self.is_turn_before(a, b) || self.is_turn_before(b, a)))
    }

    fn is_turn_before(&self, a: usize, b: usize) -> bool {
        match self.loops[a] == self.loops[b] {
            true => self.reaches(a, b),
            false => self.dominates(a, b),
        }
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut reached = vec![false; self.forward.len()];
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut reached[block], true) {
                open.extend(&self.forward[block]);
            }
        }
        reached[to]
    }

    fn dominates(&self, a: usize, mut b: usize) -> bool {
        while b != a && self.dominators[b] != b {
            b = self.dominators[b];
        }
        a == b
    }
}

/// A walk through all blocks, each visited once.
struct Walk {
    /// Blocks before those that can only be reached by way of them.
    order: Vec<usize>,
    /// The edges to a block that was being visited.
    back: Vec<(usize, usize)>,
    /// The other edges.
    forward: Vec<Vec<usize>>,
}

impl Walk {
    fn through(successors: &[Vec<usize>]) -> Self {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; successors.len()];
        let mut walk = Walk { order: Vec::new(), back: Vec::new(), forward: vec![Vec::new(); successors.len()] };
        // Blocks under way, and how many of their successors have been followed.
        let mut path = if successors.is_empty() { Vec::new() } else { vec![(0, 0)] };
        while let Some((block, followed)) = path.last_mut() {
            let block = *block;
            states[block] = State::Open;
            let Some(next) = successors[block].get(*followed).copied() else {
                states[block] = State::Done;
                walk.order.push(block);
                path.pop();
                continue;
            };
            *followed += 1;
            match states[next] {
                State::Open => walk.back.push((block, next)),
                State::Done => walk.forward[block].push(next),
                State::New => {
                    walk.forward[block].push(next);
                    path.push((next, 0));
                }
            }
        }
        walk.order.reverse();
        walk
    }
}

/// The nearest dominator of each block (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001).
fn dominators(successors: &[Vec<usize>], order: &[usize]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut position = vec![NONE; successors.len()];
    order.iter().enumerate().for_each(|(k, block)| position[*block] = k);
    let mut found: Vec<usize> = vec![NONE; successors.len()];
    if let Some(first) = order.first() {
        found[*first] = *first;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for from in order {
            for to in successors[*from].iter().filter(|to| position[**to] > 0) {
                let new = if found[*to] == NONE { *from } else { common(&found, &position, *from, found[*to]) };
                changed |= std::mem::replace(&mut found[*to], new) != new;
            }
        }
    }
    found.iter().enumerate().map(|(block, dominator)| if *dominator == NONE { block } else { *dominator }).collect()
}

/// The nearest block that dominates both.
fn common(dominators: &[usize], position: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if position[a] > position[b] {
            a = dominators[a];
        } else {
            b = dominators[b];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::Graph;

    fn graph(edges: &[&[usize]]) -> Graph {
        Graph::new(&edges.iter().map(|edges| edges.to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn arms_of_a_branch_are_no_turns() {
        let branch = graph(&[&[1, 2], &[3], &[3], &[]]);
        assert!(!branch.are_turns(&[1, 2]));
        assert!(branch.are_turns(&[1, 3]) && branch.are_turns(&[0, 2, 3]) && branch.are_turns(&[1, 1]));
    }

    /// The arms run one after the other, but not in the same turn.
    #[test]
    fn arms_in_a_loop_are_no_turns() {
        let inside = graph(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[]]);
        assert!(!inside.are_turns(&[2, 3]));
        assert!(inside.are_turns(&[1, 2]) && inside.are_turns(&[3, 4]));
    }

    #[test]
    fn a_first_turn_is_one_if_no_thread_goes_around_it() {
        let peeled = graph(&[&[1], &[2, 3], &[2, 3], &[]]);
        assert!(peeled.are_turns(&[1, 2]));
        // Threads that come from block 0 to the loop make their first turn there.
        let entered = graph(&[&[1, 2], &[2], &[2, 3], &[]]);
        assert!(!entered.are_turns(&[1, 2]));
    }

    #[test]
    fn in_a_loop_with_two_entries_nothing_is_known() {
        let irreducible = graph(&[&[1, 2], &[2], &[1, 3], &[]]);
        assert!(!irreducible.are_turns(&[1, 2]));
    }
}
