//! Search for warp operations that the compiler has copied.
//!
//! A shuffle, a vote or a matrix product is one instruction that the lanes of a warp must execute together. rustc's pass
//! JumpThreading does not know that: it copies code between two tests of the same condition into both arms of the branch.
//! Lanes of one warp then execute different copies.
//!
//! ```text
//!     source                      after the pass
//!     if t < n { v = … }          if t < n { v = …; helper(v); store } else { helper(v) }
//!     helper(v)
//!     if t < n { store }
//! ```
//!
//! The search reads LLVM's optimised code, in which each instruction has its source line and those of the inlined calls that
//! lead to it. Two operations from the same lines may be iterations of an unrolled loop: if one runs after the other in the
//! same iteration of all loops around them, or if one dominates the other. Otherwise they are copies, and lanes may execute
//! different ones. A call of a function that contains such operations counts as one, and so does a call through a pointer if
//! it may reach one.
//!
//! Copies of the block's barrier are harmless: `cuda_std` uses the unaligned barrier, so threads may wait at different
//! copies. But the driver's compiler generates better code for the aligned barrier, which the lanes of a warp execute
//! together: it then keeps values that are the same for all lanes once for the warp. So a module without copied barriers
//! gets aligned ones ([`align_barriers`]).

mod graph;
mod ir;
mod metadata;

use graph::Graph;
use ir::{Callee, Function, Module};
use metadata::Frame;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

/// A warp operation that was copied into several arms of a branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Copied {
    /// LLVM's name of the operation, or the function that contains it.
    pub(crate) operation: String,
    /// Source locations, innermost call first.
    pub(crate) frames: Vec<Frame>,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation)?;
        self.frames.iter().try_for_each(|frame| write!(f, "\n  in {frame}"))
    }
}

/// Copied operations of a module.
#[derive(Debug)]
pub(crate) struct Copies {
    /// Warp operations.
    pub(crate) warp_operations: Vec<Copied>,
    /// Whether block barriers, or calls of functions with barriers, were copied.
    pub(crate) barriers: bool,
}

impl Copies {
    /// Returns the copied operations in `ir`, optimised LLVM IR.
    pub(crate) fn find(ir: &str) -> Self {
        let module = Module::parse(ir);
        let [warp_operations, barriers] =
            [Kind::Warp, Kind::Block].map(|kind| Operations::of(&module, kind).all_copied(&module));
        Copies { warp_operations: warp_operations.into_iter().collect(), barriers: !barriers.is_empty() }
    }
}

/// Returns `ptx` with aligned barriers. No barrier may have been copied.
pub(crate) fn align_barriers(ptx: &str) -> String {
    ptx.replace("\tbarrier.sync \t0;\n", "\tbar.sync \t0;\n")
}

/// Kind of the operations to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Warp,
    Block,
}

/// The calls of a module that are operations of one kind.
struct Operations<'a> {
    kind: Kind,
    /// Functions of the module that contain such an operation.
    functions: HashSet<&'a str>,
    /// Whether any of these functions may be called through a pointer.
    through_pointers: bool,
}

impl<'a> Operations<'a> {
    fn of(module: &Module<'a>, kind: Kind) -> Self {
        let mut operations = Operations { kind, functions: HashSet::new(), through_pointers: false };
        // Functions with a known operation whose callers are not known yet.
        let mut open = Vec::new();
        // For all other callees, the functions that call them.
        let mut callers: HashMap<_, Vec<_>> = HashMap::new();
        for function in &module.functions {
            for call in function.calls() {
                match operations.contains(module, &call.callee) {
                    true => open.push(function.name),
                    false => callers.entry(call.callee).or_default().push(function.name),
                }
            }
        }
        while let Some(name) = open.pop() {
            operations.functions.insert(name);
            operations.through_pointers |= module.pointed_at.contains(name);
            for callee in [Callee::Named(name), Callee::Pointer] {
                if operations.contains(module, &callee) {
                    // Removed, so that each call is followed once.
                    open.extend(callers.remove(&callee).unwrap_or_default());
                }
            }
        }
        operations
    }

    fn contains(&self, module: &Module<'a>, callee: &Callee<'a>) -> bool {
        match callee {
            Callee::Named(name) if module.convergent.contains(name) => is_barrier(name) == (self.kind == Kind::Block),
            Callee::Named(name) => self.functions.contains(name),
            Callee::Assembly(text) => self.kind == Kind::Warp && text.contains(".sync"),
            Callee::Pointer => self.through_pointers,
        }
    }

    fn all_copied(&self, module: &Module<'a>) -> BTreeSet<Copied> {
        module.functions.iter().flat_map(|function| self.copied(module, function)).collect()
    }

    /// Returns the operations in `function` that come from the same lines and are not iterations of a loop.
    fn copied(&self, module: &Module<'a>, function: &Function<'a>) -> Vec<Copied> {
        let mut by_place: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (block, call) in function.calls_with_blocks().filter(|(_, call)| self.contains(module, &call.callee)) {
            let frames = module.metadata.frames(call.location, function.name);
            by_place.entry((call.callee, frames)).or_default().push(block);
        }
        let graph = Graph::of(function);
        let copied = by_place.into_iter().filter(|(_, blocks)| !graph.are_iterations(blocks));
        copied.map(|((callee, frames), _)| Copied { operation: callee.operation(), frames }).collect()
    }
}

/// Returns whether `name` is LLVM's intrinsic for the unaligned block barrier.
fn is_barrier(name: &str) -> bool {
    name.starts_with("llvm.nvvm.barrier.cta.sync.all")
}

#[cfg(test)]
mod tests;
