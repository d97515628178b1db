//! Description of a case: a kernel with a planted bug.

#[cfg(not(target_os = "cuda"))]
use cuda_std::Entry;
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut, arguments};

/// Elements of each buffer.
pub const LEN: u32 = 256;

/// Bytes of shared memory of a block.
pub const SHARED_BYTES: u32 = 4096;

arguments! {
    /// Arguments of the kernels: buffers of `LEN` elements.
    pub struct Args<'l> {
        /// Element `i` is `i`.
        pub input: GlobalIn<'l, u32>,
        /// Not yet written.
        pub output: GlobalInOut<'l, u32>,
        /// Zeros.
        pub zeros: GlobalInOut<'l, u32>,
        /// Not yet written. Kernels with `Bug::Unwritten` should write all elements.
        pub result: GlobalOut<'l, u32>,
        /// 1 for the correct twin, 0 for the bug.
        pub right: u32,
    }
}

/// Kind of a bug.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Conflicting accesses that nothing orders.
    Race,
    /// An access to memory that an asynchronous copy may still be writing or reading.
    Copy,
    /// A load of memory that has not been written.
    Uninitialised,
    /// An access outside of its window.
    OutOfRange,
    /// An access whose address is not a multiple of its size.
    Misaligned,
    /// A barrier that not all threads of the block reach.
    BarrierDivergence,
    /// A warp operation whose lanes disagree about the participating lanes.
    Lanes,
    /// Code that panics.
    Panic,
    /// A wait for an event that never happens.
    Endless,
    /// Threads that split shared memory in different ways.
    Split,
    /// Elements of the result that no thread writes.
    Unwritten,
    /// Elements of `zeros` that the launch should write and does not.
    NotWhole,
}

/// A kernel with a planted bug, whose twin, the same kernel with `right`, is correct.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The kernel.
    pub name: &'static str,
    /// Blocks of the launch.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Kind of the bug.
    pub bug: Bug,
    /// Another kind of finding that the bug causes in some orders.
    pub also: Option<Bug>,
    /// Part of the emulator's text for the bug.
    pub says: &'static str,
    /// Whether the accessors prevent the bug on the device. If so, `bypass.cu` has the same kernel without accessors.
    pub bypassed: bool,
}

/// A visitor of all cases.
#[cfg(not(target_os = "cuda"))]
pub trait CaseVisitor {
    /// Called once for each case.
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, case: &Case);
}

/// The list of a file's cases: kernel, blocks and threads, kind of the bug (and another kind of finding in some orders),
/// part of the emulator's text, and `bypassed` if the accessors prevent the bug on the device.
///
/// In the kernels, the comment `planted` marks the lines that findings name.
macro_rules! cases {
    ($(
        $kernel:ident: $blocks:literal of $threads:literal, $bug:ident $(+ $also:ident)?, $says:literal
        $(, $bypassed:ident)?;
    )*) => {
        /// Calls the visitor for the cases of this file.
        #[cfg(not(target_os = "cuda"))]
        pub fn visit(visitor: &mut impl $crate::CaseVisitor) {
            $(visitor.visit::<$kernel>(&$crate::Case {
                name: stringify!($kernel),
                blocks: $blocks,
                threads: $threads,
                bug: $crate::Bug::$bug,
                also: None$(.or(Some($crate::Bug::$also)))?,
                says: $says,
                bypassed: $crate::case::cases!(@ $($bypassed)?),
            });)*
        }
    };
    (@ bypassed) => { true };
    (@) => { false };
}
pub(crate) use cases;
