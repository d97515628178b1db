//! The interface for running kernels without a GPU.
//!
//! Compiled for the host, every accessor of this crate calls the [`Machine`] that is installed for the current OS thread. To
//! run a kernel on the CPU, implement that trait and call the kernel inside [`with`].

pub mod banks;
mod entry;
mod installation;
mod strays;
mod windows;

pub use crate::argument::{Window, WindowKind};
pub use crate::atomic::{Operation, Scope};
use crate::machine::atomic::Arithmetic;
use crate::{Ordering, Value};
#[doc(hidden)]
pub use entry::{Given, is_without_std, library};
pub(crate) use installation::installed;
pub use installation::with;
use std::panic::Location;
use std::rc::Rc;
pub use strays::observe_strays;
use strays::stray_call;

/// An index of a thread or block, or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// The thread's index in its block.
    Thread,
    /// The block's index in its grid.
    Block,
    /// The number of threads of a block.
    BlockDim,
    /// The number of blocks of the grid.
    GridDim,
}

/// A dimension of a grid or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The first dimension: neighbours along it are neighbouring lanes.
    X,
    /// The second dimension.
    Y,
    /// The third dimension.
    Z,
}

/// The memory of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The block's shared memory.
    Shared,
    /// Global memory that the kernel only reads ([`GlobalIn`](crate::GlobalIn)).
    GlobalConstant,
    /// Global memory that the kernel may write.
    Global,
    /// The launch's constants ([`Constants`](crate::Constants)).
    Constant,
}

/// An access to `elements` consecutive elements of a window.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The memory that holds the window.
    pub space: Space,
    /// The address of the window's first element, in bytes; 0 for constants.
    pub base: u64,
    /// The index of the first element accessed.
    pub index: u64,
    /// The window's length in elements.
    pub len: u64,
    /// The number of elements: a power of two up to 16.
    pub elements: u32,
    /// The size of an element, in bytes.
    pub element_bytes: u32,
    /// The place of the access in the kernel's source.
    pub at: &'static Location<'static>,
}

impl Access {
    /// Returns whether the address is a multiple of the access's size.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        self.address().is_multiple_of((u64::from(self.elements) * u64::from(self.element_bytes)).max(1))
    }

    /// Returns whether all elements are inside the window.
    #[must_use]
    pub fn in_range(&self) -> bool {
        self.index < self.len && self.len - self.index >= self.elements.into()
    }

    /// Returns the address of the first element accessed, which wraps if it is far out of range.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.base.wrapping_add(self.index.wrapping_mul(self.element_bytes.into()))
    }
}

/// An asynchronous copy ([`copy`](crate::copy)) of 4, 8 or 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct AsyncCopy {
    /// The elements to copy, in a window on global memory.
    pub from: Access,
    /// The same number of elements of shared memory.
    pub to: Access,
    /// Whether it is a masked form, in which elements may be beyond the window on purpose.
    pub masked: bool,
}

impl AsyncCopy {
    /// Returns the number of elements inside the window; the others become zero.
    #[must_use]
    pub fn present(&self) -> u32 {
        self.from.len.saturating_sub(self.from.index).min(self.from.elements.into()) as u32
    }
}

/// The kind of a masked form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masked {
    /// `get_or`, `get_if`, `get_masked`, `get_pack_masked`, `get_pack_or`, `get4_strided`.
    Load,
    /// `set_if`, `set_pack_if`, `set_pack_masked`, `set4_strided`.
    Store,
    /// `add_if`.
    Update,
}

/// The update of an element's bits by an atomic operation.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// The operation.
    pub operation: Operation,
    /// Its operand's bits.
    pub operand: u64,
    apply: fn(Operation, u64, u64) -> u64,
}

impl Update {
    pub(crate) fn of<T: Arithmetic>(operation: Operation, operand: T) -> Self {
        let apply =
            |operation, old, operand| T::apply(operation, T::from_bits64(old), T::from_bits64(operand)).to_bits64();
        Update { operation, operand: operand.to_bits64(), apply }
    }

    /// Returns the element's new bits.
    #[must_use]
    pub fn apply(&self, old: u64) -> u64 {
        (self.apply)(self.operation, old, self.operand)
    }
}

/// Returns a value's bits in the low end, with zeros above.
#[must_use]
pub fn to_bits<T: Value>(value: T) -> u64 {
    value.to_bits64()
}

/// Returns the value with these low bits.
#[must_use]
pub fn from_bits<T: Value>(bits: u64) -> T {
    T::from_bits64(bits)
}

/// An operation of the lanes in a mask. Each lane passes a word, and receives the word described here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpOperation {
    /// The word of lane `lane`.
    Shuffle {
        /// The source lane.
        lane: u32,
    },
    /// The word of the lane `delta` (modulo 32) positions below, or the lane's own word if there is none.
    ShuffleUp {
        /// The distance in lanes.
        delta: u32,
    },
    /// The word of the lane `delta` (modulo 32) positions above, or the lane's own word if there is none.
    ShuffleDown {
        /// The distance in lanes.
        delta: u32,
    },
    /// The word of lane `lane ^ (mask % 32)`, where `lane` is the receiving lane.
    ShuffleXor {
        /// The bits in which the lanes' numbers differ.
        mask: u32,
    },
    /// A mask of the lanes whose words are not zero.
    Ballot,
    /// 1 if the word of any lane is not zero, otherwise 0.
    Any,
    /// 1 if the words of all lanes are not zero, otherwise 0.
    All,
    /// A mask of the lanes with the same word.
    MatchAny,
    /// The wrapping sum of all words.
    ReduceAdd,
    /// The smallest word.
    ReduceMin,
    /// The largest word.
    ReduceMax,
    /// The smallest word, as an `i32`.
    ReduceMinSigned,
    /// The largest word, as an `i32`.
    ReduceMaxSigned,
    /// The bits set in all words.
    ReduceAnd,
    /// The bits set in any word.
    ReduceOr,
}

/// The shape of a matrix product, and the type of its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Product {
    /// [`mma_m8n8k16_s8`](crate::warp::mma_m8n8k16_s8).
    #[default]
    M8N8K16S8,
    /// [`mma_m16n8k32_u8`](crate::warp::mma_m16n8k32_u8).
    M16N8K32U8,
}

/// A lane's operands of a matrix product, whose function lists the elements. Words that the product does not have are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragments {
    /// What is computed.
    pub product: Product,
    /// Words of four bytes of the left matrix.
    pub a: [u32; 4],
    /// Words of four bytes of the right one.
    pub b: [u32; 2],
    /// Elements of the matrix that is added to the product.
    pub c: [i32; 4],
}

/// A machine that runs kernels on the host. It knows which thread is running, and holds the memory.
///
/// The running thread calls all methods for itself. Most accessors make one call, strided forms four. Accesses that a masked
/// form skips are reported too ([`left_out`](Machine::left_out)), so lanes that execute the same accessors make the same
/// calls. Only `get_pack_or` and `set_pack_if` make more calls at the end of a window.
pub trait Machine {
    /// Returns an index of the thread or its block, or a size.
    fn index(&self, index: Index, axis: Axis) -> u32;
    /// Returns the thread's lane in its warp.
    fn lane(&self) -> u32;
    /// Returns the bytes of shared memory that the block was launched with.
    fn shared_bytes(&self) -> u32;
    /// Loads the bits of each element into one of `bits`, which are zero before the call, and stay zero if the access is out
    /// of range.
    fn load(&self, access: &Access, bits: &mut [u64]);
    /// Stores `bits`, one for each element. An access out of range stores nothing.
    fn store(&self, access: &Access, bits: &[u64]);
    /// Records that a masked form ([`GlobalIn::get_or`](crate::GlobalIn::get_or) and others) skips its access on purpose,
    /// because an element is out of range or the condition does not hold.
    fn left_out(&self, access: &Access, masked: Masked);
    /// Records a load of constants, which the machine does not hold. Out of range, the thread gets the last ones of the
    /// table.
    fn constant(&self, access: &Access);
    /// Updates an element atomically. Returns its old bits, or zero if it is out of range.
    fn read_modify_write(&self, access: &Access, update: &Update, ordering: Ordering) -> u64;
    /// Replaces an element's bits atomically if they are `current`. Returns the old bits, or zero if it is out of range.
    fn compare_exchange(&self, access: &Access, current: u64, new: u64, ordering: Ordering) -> u64;
    /// Begins an asynchronous copy, which ends when the thread has waited for it. All elements become zero if the source
    /// address is not a multiple of the copy's size.
    fn copy_async(&self, copy: &AsyncCopy);
    /// Closes a group: the thread's copies since the last group.
    fn commit_copies(&self, at: &'static Location<'static>);
    /// Waits until at most the latest `latest` groups of copies are in progress, or for all copies if it is `None`.
    fn wait_copies(&self, latest: Option<u32>, at: &'static Location<'static>);
    /// Returns the machine's time: a count that never decreases.
    fn clock(&self, at: &'static Location<'static>) -> u64;
    /// Records that the thread splits off `bytes` bytes of shared memory from byte `base` on.
    fn split(&self, base: u32, bytes: u32, at: &'static Location<'static>);
    /// Waits at the block's barrier, after which the contents of the `bytes` bytes of shared memory from byte `base` on are
    /// unspecified.
    fn reuse(&self, base: u32, bytes: u32, at: &'static Location<'static>);
    /// Waits at the block's barrier.
    fn sync_threads(&self, at: &'static Location<'static>);
    /// Waits at the barrier of the warp's lanes in `mask`.
    fn sync_warp(&self, mask: u32, at: &'static Location<'static>);
    /// Executes a fence.
    fn fence(&self, scope: Scope, at: &'static Location<'static>);
    /// Exchanges words among the warp's lanes in `mask`, and returns the lane's result.
    fn exchange(&self, operation: WarpOperation, mask: u32, word: u32, at: &'static Location<'static>) -> u32;
    /// Multiplies matrices with all lanes of the warp, and returns the lane's elements of the result.
    fn mma(&self, fragments: Fragments, at: &'static Location<'static>) -> [i32; 4];
}

/// Returns the machine of this OS thread.
///
/// # Panics
///
/// Panics if there is none: kernel code was called as an ordinary function, or on an OS thread that a kernel started.
//
// Not inlined, and neither is `installed`: kernels are compiled without optimisation, and this crate is not.
#[track_caller]
pub(crate) fn machine() -> Rc<dyn Machine> {
    match installed() {
        Some(machine) => machine,
        None => stray_call(),
    }
}
