//! What a case is: a kernel with a planted bug, and what is known about it.

#[cfg(not(target_os = "cuda"))]
use cuda_std::Entry;
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut, arguments};

/// Elements of each buffer.
pub const LEN: u32 = 256;

/// Bytes of shared memory of a block.
pub const SHARED_BYTES: u32 = 4096;

arguments! {
    /// What the kernels work on: buffers of `LEN` elements.
    pub struct Args {
        /// Element `i` is `i`.
        pub input: GlobalIn<u32>,
        /// Not written yet.
        pub output: GlobalInOut<u32>,
        /// Zeros.
        pub zeros: GlobalInOut<u32>,
        /// Not written yet, and to be written whole in the cases of `Bug::Unwritten`.
        pub result: GlobalOut<u32>,
        /// 1 for the correct twin, 0 for the bug.
        pub right: u32,
    }
}

/// What kind of bug there is.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Accesses without order.
    Race,
    /// An access to what an asynchronous copy may still be writing or reading.
    Copy,
    /// A load of what nobody has written.
    Uninitialised,
    /// An access outside of its window.
    OutOfRange,
    /// An access whose address is no multiple of its size.
    Misaligned,
    /// A barrier that not all threads of the block come to.
    BarrierDivergence,
    /// An operation of a warp whose lanes do not agree who takes part.
    Lanes,
    /// Code that panics.
    Panic,
    /// A wait for what does not come.
    Endless,
    /// Threads that split shared memory in different ways.
    Split,
    /// Elements of the result that nobody writes.
    Unwritten,
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
    /// What is wrong.
    pub bug: Bug,
    /// What else is, in some orders, on account of it.
    pub also: Option<Bug>,
    /// What the emulator says of the bug, among other things.
    pub says: &'static str,
    /// Whether the device's accessors prevent it: then `bypass.cu` has the same kernel without them.
    pub bypassed: bool,
}

/// Does something with every case.
#[cfg(not(target_os = "cuda"))]
pub trait CaseVisitor {
    /// Called once for each.
    fn visit<E: Entry<Args = Args, Constants = ()>>(&mut self, case: &Case);
}

/// The list of a file's cases: kernel, blocks and threads, bug (and what comes of it besides in some orders), and what
/// the emulator says of the bug; `bypassed` if the device's accessors prevent it.
///
/// In the kernels, a comment marks the lines that findings name as planted.
macro_rules! cases {
    ($(
        $kernel:ident: $blocks:literal of $threads:literal, $bug:ident $(+ $also:ident)?, $says:literal
        $(, $bypassed:ident)?;
    )*) => {
        /// Shows a visitor the cases of this file.
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
