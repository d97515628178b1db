//! The seam behind which kernels run without a GPU.
//!
//! Compiled for the host, every accessor of this crate asks the [`Machine`] that is installed for the current OS
//! thread. Whoever wants to run a kernel on the CPU implements that trait and calls the kernel inside [`with`].

pub mod banks;
mod installation;
mod slice;

pub use crate::atomic::{Operation, Scope};
use crate::{Atomic, Ordering, Value};
use installation::installed;
pub use installation::with;
use std::panic::Location;
use std::rc::Rc;

/// Which of a thread's indices is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// The thread in its block.
    Thread,
    /// The block in its grid.
    Block,
    /// The threads of a block.
    BlockDim,
    /// The blocks of the grid.
    GridDim,
}

/// A dimension of a grid or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The first dimension, whose neighbours are neighbouring lanes.
    X,
    /// The second dimension.
    Y,
    /// The third dimension.
    Z,
}

/// Memory of an access.
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

/// What a kernel may do with a window on global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKind {
    /// [`GlobalIn`](crate::GlobalIn).
    In,
    /// [`GlobalOut`](crate::GlobalOut).
    Out,
    /// [`GlobalInOut`](crate::GlobalInOut).
    InOut,
}

/// A window on global memory, whatever its element type: what a kernel that gets it can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// What the kernel may do with it.
    pub kind: WindowKind,
    /// The address of its first byte.
    pub address: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The size of an element.
    pub element_bytes: u32,
}

impl Window {
    /// Whether the other one lies inside this one and allows the same.
    #[must_use]
    pub fn contains(&self, other: &Window) -> bool {
        let beyond = other.address.checked_sub(self.address);
        let end = beyond.and_then(|beyond| beyond.checked_add(other.bytes));
        self.kind == other.kind && end.is_some_and(|end| end <= self.bytes)
    }
}

/// An access to `elements` neighbouring elements of a window.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The memory that holds the window.
    pub space: Space,
    /// The address of the window's first element, in bytes; 0 for constants.
    pub base: u64,
    /// The first element accessed.
    pub index: u64,
    /// The window's length in elements.
    pub len: u64,
    /// How many elements the access moves: a power of two up to 16.
    pub elements: u32,
    /// The size of an element.
    pub element_bytes: u32,
    /// The line of the kernel that asked.
    pub at: &'static Location<'static>,
}

impl Access {
    /// Whether its address is a multiple of its size.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        self.address().is_multiple_of((u64::from(self.elements) * u64::from(self.element_bytes)).max(1))
    }

    /// Whether all its elements are inside the window.
    #[must_use]
    pub fn in_range(&self) -> bool {
        self.index < self.len && self.len - self.index >= self.elements.into()
    }

    /// The address of the first element accessed; wraps if that is far out of range.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.base.wrapping_add(self.index.wrapping_mul(self.element_bytes.into()))
    }
}

/// An asynchronous copy ([`copy`](crate::copy)) of 4, 8 or 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct AsyncCopy {
    /// The elements that are copied, of a window on global memory.
    pub from: Access,
    /// As many elements of shared memory.
    pub to: Access,
    /// A masked form: that elements are beyond the window is intended.
    pub masked: bool,
}

impl AsyncCopy {
    /// How many elements there are to be copied; the others become zero.
    #[must_use]
    pub fn present(&self) -> u32 {
        self.from.len.saturating_sub(self.from.index).min(self.from.elements.into()) as u32
    }
}

/// What a masked form would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masked {
    /// `get_or`, `get_if`, `get_masked`, `get_pack_masked`, `get_pack_or`, `get4_strided`.
    Load,
    /// `set_if`, `set_pack_if`, `set4_strided`.
    Store,
    /// `add_if`.
    Update,
}

/// What an atomic operation does to the bits of an element.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// The operation.
    pub operation: Operation,
    /// Its operand's bits.
    pub operand: u64,
    apply: fn(Operation, u64, u64) -> u64,
}

impl Update {
    pub(crate) fn of<T: Atomic>(operation: Operation, operand: T) -> Self {
        let apply =
            |operation, old, operand| T::apply(operation, T::from_bits64(old), T::from_bits64(operand)).to_bits64();
        Update { operation, operand: operand.to_bits64(), apply }
    }

    /// The element's new bits.
    #[must_use]
    pub fn apply(&self, old: u64) -> u64 {
        (self.apply)(self.operation, old, self.operand)
    }
}

/// A value's bits in the low end, zeros above.
#[must_use]
pub fn to_bits<T: Value>(value: T) -> u64 {
    value.to_bits64()
}

/// The value with these low bits.
#[must_use]
pub fn from_bits<T: Value>(bits: u64) -> T {
    T::from_bits64(bits)
}

/// An operation of the lanes that a mask names: each gives a word and gets one back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpOperation {
    /// The word of the lane that is given.
    Shuffle {
        /// The lane asked.
        lane: u32,
    },
    /// The word of the lane `delta` (modulo 32) below; the own word where there is none.
    ShuffleUp {
        /// How many lanes below.
        delta: u32,
    },
    /// The word of the lane `delta` (modulo 32) above; the own word where there is none.
    ShuffleDown {
        /// How many lanes above.
        delta: u32,
    },
    /// The word of the lane whose number differs in the low five bits of `mask`.
    ShuffleXor {
        /// The bits that differ.
        mask: u32,
    },
    /// Bit `l` of the result says whether lane `l` gave something other than zero.
    Ballot,
    /// 1 if any lane gave something other than zero, otherwise 0.
    Any,
    /// 1 if all lanes gave something other than zero, otherwise 0.
    All,
    /// Bit `l` of the result says whether lane `l` gave the same word.
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

/// A lane's operands of a matrix product ([`mma_m8n8k16_s8`](crate::warp::mma_m8n8k16_s8) lists the elements).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragments {
    /// Four bytes of the left matrix.
    pub a: u32,
    /// Four bytes of the right one.
    pub b: u32,
    /// Two elements of what the product is added to.
    pub c: [i32; 2],
}

/// What runs a kernel on the host: it knows which thread is running and holds its memory.
///
/// All methods are called by the running thread for itself. Every accessor that a kernel calls is one call of a method,
/// a strided form four: what a lane does not do is told too ([`left_out`](Machine::left_out)), so lanes that come by
/// the same lines make the same calls.
pub trait Machine {
    /// One of the thread's indices.
    fn index(&self, index: Index, axis: Axis) -> u32;
    /// The thread's lane in its warp.
    fn lane(&self) -> u32;
    /// The bytes of shared memory that the block was launched with.
    fn shared_bytes(&self) -> u32;
    /// Loads the elements into `bits`, one each. `bits` are zeros before, and stay zeros if the access is out of range.
    fn load(&self, access: &Access, bits: &mut [u64]);
    /// Stores `bits`, one for each element. An access out of range stores nothing.
    fn store(&self, access: &Access, bits: &[u64]);
    /// A masked form ([`GlobalIn::get_or`](crate::GlobalIn::get_or) and others) makes no access, as intended: an element
    /// is out of range, or its condition does not hold.
    fn left_out(&self, access: &Access, masked: Masked);
    /// The thread reads constants, which the machine does not hold; out of range it gets the last ones of the table.
    fn constant(&self, access: &Access);
    /// Updates an element atomically and returns its old bits; zero out of range.
    fn read_modify_write(&self, access: &Access, update: &Update, ordering: Ordering) -> u64;
    /// Replaces an element's bits if they are `current`, atomically; returns the old ones, zero out of range.
    fn compare_exchange(&self, access: &Access, current: u64, new: u64, ordering: Ordering) -> u64;
    /// Begins an asynchronous copy, which is over when the thread has waited for it. All elements become zero if the first address
    /// is no multiple of the copy's size.
    fn copy_async(&self, copy: &AsyncCopy);
    /// Makes the thread's copies since the last time a group.
    fn commit_copies(&self, at: &'static Location<'static>);
    /// Waits until no more than the `latest` groups of copies are under way; if that is `None`, for all copies.
    fn wait_copies(&self, latest: Option<u32>, at: &'static Location<'static>);
    /// Returns a count that never decreases: what the machine takes for time.
    fn clock(&self, at: &'static Location<'static>) -> u64;
    /// The thread splits `bytes` bytes of shared memory off, from byte `base` on.
    fn split(&self, base: u32, bytes: u32, at: &'static Location<'static>);
    /// The block's barrier, behind which nobody needs the contents of the `bytes` bytes of shared memory from byte `base`
    /// on: they are unspecified from then on.
    fn reuse(&self, base: u32, bytes: u32, at: &'static Location<'static>);
    /// The block's barrier.
    fn sync_threads(&self, at: &'static Location<'static>);
    /// The barrier of the warp's lanes in `mask`.
    fn sync_warp(&self, mask: u32, at: &'static Location<'static>);
    /// A fence.
    fn fence(&self, scope: Scope, at: &'static Location<'static>);
    /// An exchange among the warp's lanes in `mask`.
    fn exchange(&self, operation: WarpOperation, mask: u32, word: u32, at: &'static Location<'static>) -> u32;
    /// A multiplication of matrices by all lanes of the warp: the lane's two elements of the result.
    fn mma(&self, fragments: Fragments, at: &'static Location<'static>) -> [i32; 2];
}

/// The machine of this OS thread.
///
/// # Panics
///
/// If there is none: kernel code was called as an ordinary function.
#[inline]
#[track_caller]
pub(crate) fn machine() -> Rc<dyn Machine> {
    match installed() {
        Some(machine) => machine,
        None => no_machine(),
    }
}

#[cold]
#[track_caller]
fn no_machine() -> ! {
    panic!("this is GPU code: on the host it runs only inside a machine (cuda_std::host::with), and none is installed")
}

/// Tells the machine, if there is one, that its thread splits its arena: arenas are numbers, and can be split without one.
#[track_caller]
pub(crate) fn split(base: u32, bytes: u32) {
    if let Some(machine) = installed() {
        machine.split(base, bytes, Location::caller());
    }
}

pub(crate) fn load<T: Value, const N: usize>(access: &Access) -> [T; N] {
    let mut bits = [0; N];
    machine().load(access, &mut bits);
    bits.map(T::from_bits64)
}

pub(crate) fn store<T: Value, const N: usize>(access: &Access, values: [T; N]) {
    machine().store(access, &values.map(T::to_bits64));
}

/// The elements of a masked form; `None` if one is out of range.
pub(crate) fn load_masked<T: Value, const N: usize>(access: &Access) -> Option<[T; N]> {
    load_if(true, access)
}

/// The elements of a masked form; `None` if one is out of range or `condition` does not hold.
pub(crate) fn load_if<T: Value, const N: usize>(condition: bool, access: &Access) -> Option<[T; N]> {
    if !condition || !access.in_range() {
        machine().left_out(access, Masked::Load);
        return None;
    }
    Some(load(access))
}

/// Stores the element of a masked form, if `condition` holds and it is in range.
pub(crate) fn store_masked<T: Value>(condition: bool, access: &Access, value: T) {
    store_if(condition, access, [value]);
}

/// Stores the elements of a masked form, if `condition` holds and all are in range; returns whether it did.
pub(crate) fn store_if<T: Value, const N: usize>(condition: bool, access: &Access, values: [T; N]) -> bool {
    let stores = condition && access.in_range();
    match stores {
        true => store(access, values),
        false => machine().left_out(access, Masked::Store),
    }
    stores
}

pub(crate) fn update<T: Atomic>(access: &Access, operation: Operation, operand: T, ordering: Ordering) -> T {
    T::from_bits64(machine().read_modify_write(access, &Update::of(operation, operand), ordering))
}

/// Updates the element of a masked form, if `condition` holds.
pub(crate) fn update_masked<T: Atomic>(
    condition: bool,
    access: &Access,
    operation: Operation,
    operand: T,
    ordering: Ordering,
) {
    match condition {
        true => drop(update(access, operation, operand, ordering)),
        false => machine().left_out(access, Masked::Update),
    }
}

pub(crate) fn swap_if<T: Atomic>(access: &Access, current: T, new: T, ordering: Ordering) -> T {
    T::from_bits64(machine().compare_exchange(access, current.to_bits64(), new.to_bits64(), ordering))
}
