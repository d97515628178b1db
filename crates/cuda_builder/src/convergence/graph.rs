//! Control-flow graph of a function: order of its basic blocks, dominators and loops.

use super::ir::Function;
use std::collections::BTreeSet;

/// The control-flow graph of a function. Only blocks that are reachable from the first one count.
#[derive(Debug)]
pub(super) struct Graph {
    /// Successors of each block, without back edges.
    forward: Vec<Vec<usize>>,
    /// Immediate dominator of each block. The first block's is the block itself.
    dominators: Vec<usize>,
    /// Headers of the loops that contain each block.
    loops: Vec<BTreeSet<usize>>,
    /// Whether every loop is entered only at its header.
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
        graph.reducible = back.iter().all(|(from, head)| graph.dominates(*head, *from));
        // Otherwise nobody asks for loops, and every block might be in very many of them.
        if graph.reducible {
            let predecessors = predecessors(successors);
            back.into_iter().for_each(|(from, head)| graph.add_loop(&predecessors, from, head));
        }
        graph
    }

    /// Adds the natural loop of the back edge from `from` to `head`: the blocks that reach `from` without passing through
    /// `head`.
    fn add_loop(&mut self, predecessors: &[Vec<usize>], from: usize, head: usize) {
        let mut open = vec![from];
        self.loops[head].insert(head);
        while let Some(block) = open.pop() {
            if self.loops[block].insert(head) {
                open.extend(&predecessors[block]);
            }
        }
    }

    /// Returns whether `blocks`, which contain the same operation from the same lines, can be iterations of unrolled loops.
    /// For each two, either both are in the same loops and one runs after the other in the same iteration, or one dominates
    /// the other.
    pub(super) fn are_iterations(&self, blocks: &[usize]) -> bool {
        let mut pairs = (0..blocks.len()).flat_map(|a| (0..a).map(move |b| (blocks[a], blocks[b])));
        pairs.all(|(a, b)| {
            a == b || self.reducible && (self.is_iteration_before(a, b) || self.is_iteration_before(b, a))
        })
    }

    fn is_iteration_before(&self, a: usize, b: usize) -> bool {
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

/// Returns the blocks that lead to each block.
fn predecessors(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (from, next) in successors.iter().enumerate() {
        next.iter().for_each(|to| predecessors[*to].push(from));
    }
    predecessors
}

/// A depth-first walk through all reachable blocks.
struct Walk {
    /// Blocks in reverse postorder, so that each block follows its dominators.
    order: Vec<usize>,
    /// Back edges: edges to a block on the current path.
    back: Vec<(usize, usize)>,
    /// All other edges, as successors of each block.
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
        // Blocks of the current path, each with the number of its successors that have been followed.
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

/// Returns the immediate dominator of each block (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001).
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

/// Returns the nearest common dominator of `a` and `b`.
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
    fn arms_of_a_branch_are_not_iterations() {
        let branch = graph(&[&[1, 2], &[3], &[3], &[]]);
        assert!(!branch.are_iterations(&[1, 2]));
        assert!(branch.are_iterations(&[1, 3]) && branch.are_iterations(&[0, 2, 3]) && branch.are_iterations(&[1, 1]));
    }

    /// The arms can run one after the other, but not in the same iteration.
    #[test]
    fn arms_in_a_loop_are_not_iterations() {
        let inside = graph(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[]]);
        assert!(!inside.are_iterations(&[2, 3]));
        assert!(inside.are_iterations(&[1, 2]) && inside.are_iterations(&[3, 4]));
    }

    #[test]
    fn a_peeled_iteration_counts_if_no_thread_skips_it() {
        let peeled = graph(&[&[1], &[2, 3], &[2, 3], &[]]);
        assert!(peeled.are_iterations(&[1, 2]));
        // Threads that reach the loop from block 0 execute their first iteration in it.
        let entered = graph(&[&[1, 2], &[2], &[2, 3], &[]]);
        assert!(!entered.are_iterations(&[1, 2]));
    }

    #[test]
    fn in_a_loop_with_two_entries_nothing_is_known() {
        let irreducible = graph(&[&[1, 2], &[2], &[1, 3], &[]]);
        assert!(!irreducible.are_iterations(&[1, 2]));
    }
}
