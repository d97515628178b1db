//! Whether the compiler has copied an operation of a warp.
//!
//! A shuffle, a vote or a product of matrices is one instruction that the lanes of a warp execute together. rustc's
//! pass JumpThreading does not know that: what stands between two tests of one condition, it copies into each way
//! through both. Lanes of one warp then meet at different instructions.
//!
//! ```text
//!     source                      after the pass
//!     if t < n { v = … }          if t < n { v = …; helper(v); store } else { helper(v) }
//!     helper(v)
//!     if t < n { store }
//! ```
//!
//! What the compiler did is read from the code that LLVM has optimised, which it writes with the source line of each
//! instruction and of all calls that were inlined on the way to it. Two operations from the same lines may be turns of an
//! unrolled loop. That they can only be if one comes after the other in the same turn of all loops around them, or if no
//! thread comes to one without the other. If not, they are copies, and lanes may take their turns at different ones. A call
//! of a function that contains such operations is one, too, and so is a call through a pointer if it may reach one.
//!
//! Copies of the block's barrier are harmless: `cuda_std` asks for the unaligned one, at which threads may meet from
//! several places. But the driver's compiler makes better code of the aligned one, at which it knows that a warp's lanes
//! are together: it then keeps numbers that are the same for all lanes once for the warp. So a module without copied
//! barriers gets aligned ones ([`align_barriers`]).

mod graph;
mod ir;
mod metadata;

use graph::Graph;
use ir::{Call, Callee, Function, Module};
use metadata::Frame;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

/// An operation of a warp that was copied into several arms of a branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Copied {
    /// What the lanes do together: LLVM's name of the operation, or a function that contains one.
    pub(crate) operation: String,
    /// Where it stands: the innermost call first.
    pub(crate) frames: Vec<Frame>,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation)?;
        self.frames.iter().try_for_each(|frame| write!(f, "\n  in {frame}"))
    }
}

/// What was copied of a module.
#[derive(Debug)]
pub(crate) struct Copies {
    /// The operations of warps.
    pub(crate) of_warps: Vec<Copied>,
    /// Barriers of blocks, or functions with barriers, are among what was copied.
    pub(crate) barriers: bool,
}

impl Copies {
    /// Those in `ir`, optimised code in LLVM's language.
    pub(crate) fn find(ir: &str) -> Self {
        let module = Module::parse(ir);
        let [of_warps, barriers] =
            [Kind::Warp, Kind::Block].map(|kind| Together::of(&module, kind).all_copied(&module));
        Copies { of_warps: of_warps.into_iter().collect(), barriers: !barriers.is_empty() }
    }
}

/// `ptx` with aligned barriers. None of them was copied.
pub(crate) fn align_barriers(ptx: &str) -> String {
    ptx.replace("\tbarrier.sync \t0;\n", "\tbar.sync \t0;\n")
}

/// Whose operations are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Warp,
    Block,
}

/// Which calls of a module are operations of one kind.
struct Together<'a> {
    kind: Kind,
    /// The module's functions that contain one.
    functions: HashSet<&'a str>,
    /// Some of these are called through pointers, or could be.
    through_pointers: bool,
}

impl<'a> Together<'a> {
    fn of(module: &Module<'a>, kind: Kind) -> Self {
        let mut together = Together { kind, functions: HashSet::new(), through_pointers: false };
        while together.grow(module) {}
        together
    }

    /// Adds the functions that contain what is known to be an operation; whether there were any.
    fn grow(&mut self, module: &Module<'a>) -> bool {
        let before = (self.functions.len(), self.through_pointers);
        for function in &module.functions {
            if function.calls().any(|call| self.contains(module, call)) {
                self.functions.insert(function.name);
                self.through_pointers |= module.pointed_at.contains(function.name);
            }
        }
        before != (self.functions.len(), self.through_pointers)
    }

    fn contains(&self, module: &Module<'a>, call: &Call<'a>) -> bool {
        match call.callee {
            Callee::Named(name) if module.convergent.contains(name) => is_barrier(name) == (self.kind == Kind::Block),
            Callee::Named(name) => self.functions.contains(name),
            Callee::Assembly(text) => self.kind == Kind::Warp && text.contains(".sync"),
            Callee::Pointer => self.through_pointers,
        }
    }

    fn all_copied(&self, module: &Module<'a>) -> BTreeSet<Copied> {
        module.functions.iter().flat_map(|function| self.copied(module, function)).collect()
    }

    /// The operations in `function` from the same lines that are no turns of a loop.
    fn copied(&self, module: &Module<'a>, function: &Function<'a>) -> Vec<Copied> {
        let mut by_place: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (block, call) in function.placed_calls().filter(|(_, call)| self.contains(module, call)) {
            let frames = module.metadata.frames(call.location, function.name);
            by_place.entry((call.callee, frames)).or_default().push(block);
        }
        let graph = Graph::of(function);
        let copied = by_place.into_iter().filter(|(_, blocks)| !graph.are_turns(blocks));
        copied.map(|((callee, frames), _)| Copied { operation: callee.operation(), frames }).collect()
    }
}

/// Whether LLVM's intrinsic of this name is the unaligned barrier of the block.
fn is_barrier(name: &str) -> bool {
    name.starts_with("llvm.nvvm.barrier.cta.sync.all")
}

#[cfg(test)]
mod tests;
