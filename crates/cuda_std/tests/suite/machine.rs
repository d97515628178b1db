//! A machine that runs one thread at a time, and records the accessors' calls.

// `pub` reads better than `pub(crate)` in a test.
#![allow(unreachable_pub)]
#![allow(unsafe_code)] // Makes windows on the machine's memory.

use cuda_std::host::{
    Access, AsyncCopy, Axis, Fragments, Index, Machine, Masked, Operation, Scope, Space, Update, WarpOperation, with,
};
use cuda_std::{Arena, Entry, GlobalIn, GlobalInOut, GlobalOut, Ordering, Value};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

/// Where global memory begins: a number that no host memory has, so that nothing can be read by accident.
pub const GLOBAL: u64 = 0x7f_0000_0000_0000;

/// A call of an accessor.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    Load(Access),
    /// The access, the bits of its elements, and zeros.
    Store(Access, [u64; 16]),
    LeftOut(Access, Masked),
    Constant(Access),
    Copy(AsyncCopy),
    Commit(&'static Location<'static>),
    WaitCopies(Option<u32>, &'static Location<'static>),
    Update(Access, Operation, Ordering),
    CompareExchange(Access, Ordering),
    Clock(&'static Location<'static>),
    /// First byte and bytes.
    Split(u32, u32, &'static Location<'static>),
    /// First byte and bytes.
    Reuse(u32, u32, &'static Location<'static>),
    SyncThreads(&'static Location<'static>),
    SyncWarp(u32, &'static Location<'static>),
    Fence(Scope, &'static Location<'static>),
    Exchange(WarpOperation, u32, u32, &'static Location<'static>),
    Mma(Fragments, &'static Location<'static>),
}

impl Event {
    pub fn at(&self) -> &'static Location<'static> {
        match *self {
            Event::Load(access)
            | Event::Store(access, _)
            | Event::LeftOut(access, _)
            | Event::Constant(access)
            | Event::Update(access, ..)
            | Event::CompareExchange(access, _) => access.at,
            Event::Copy(copy) => copy.from.at,
            Event::Clock(at)
            | Event::Commit(at)
            | Event::WaitCopies(_, at)
            | Event::Split(.., at)
            | Event::Reuse(.., at)
            | Event::SyncThreads(at)
            | Event::SyncWarp(_, at)
            | Event::Fence(_, at)
            | Event::Exchange(.., at)
            | Event::Mma(_, at) => at,
        }
    }

    pub fn access(&self) -> Access {
        match *self {
            Event::Load(access)
            | Event::Store(access, _)
            | Event::LeftOut(access, _)
            | Event::Constant(access)
            | Event::Update(access, ..)
            | Event::CompareExchange(access, _) => access,
            other => panic!("{other:?} is no access to memory"),
        }
    }
}

/// One block's shared memory, global memory, and a log.
#[derive(Debug, Default)]
pub struct Tester {
    pub shared: RefCell<Vec<u8>>,
    pub global: RefCell<Vec<u8>>,
    /// Thread, block, threads of a block, blocks of the grid.
    pub indices: [Cell<[u32; 3]>; 4],
    pub lane: Cell<u32>,
    /// The result of exchanges.
    pub answer: Cell<u32>,
    /// The result of matrix products.
    pub product: Cell<[i32; 4]>,
    /// The time of the clock.
    pub clock: Cell<u64>,
    pub log: RefCell<Vec<Event>>,
}

impl Tester {
    /// Returns a machine with these numbers of zero bytes of shared and global memory.
    pub fn new(shared: usize, global: usize) -> Rc<Self> {
        let tester = Tester::default();
        tester.shared.borrow_mut().resize(shared, 0);
        tester.global.borrow_mut().resize(global, 0);
        tester.indices[2].set([1; 3]);
        tester.indices[3].set([1; 3]);
        Rc::new(tester)
    }

    /// Runs `work` on the machine. Returns its result and its calls, and checks that they come from the lines of the test
    /// that follow the call of this function.
    #[track_caller]
    pub fn observe<R>(self: &Rc<Self>, work: impl FnOnce() -> R) -> (R, Vec<Event>) {
        self.log.borrow_mut().clear();
        let result = with(self.clone(), work);
        (result, self.events_of(Location::caller()))
    }

    /// Returns the recorded calls, and checks that they come from the lines that follow `caller`.
    fn events_of(&self, caller: &Location<'_>) -> Vec<Event> {
        const LINES: u32 = 8;
        let events = self.log.take();
        for event in &events {
            let at = event.at();
            assert_eq!(at.file(), caller.file(), "{event:?}");
            assert!((caller.line()..caller.line() + LINES).contains(&at.line()), "{event:?} is not from {caller}");
        }
        events
    }

    /// Like `observe`, for a single call.
    #[track_caller]
    pub fn observe_one<R>(self: &Rc<Self>, work: impl FnOnce() -> R) -> (R, Event) {
        let (result, events) = self.observe(work);
        (result, single(&events))
    }

    /// Returns all of the shared memory.
    pub fn arena(self: &Rc<Self>) -> Arena<'static> {
        // SAFETY: on the host any number of arenas is harmless.
        with(self.clone(), || unsafe { Arena::of_block() })
    }

    /// Runs the kernel `E` on a grid along x, one thread after another: for kernels without barriers, and for blocks
    /// of one thread.
    pub fn launch<E: Entry>(self: &Rc<Self>, blocks: u32, threads: u32, args: E::Args<'_>, constants: E::Constants) {
        self.indices[2].set([threads, 1, 1]);
        self.indices[3].set([blocks, 1, 1]);
        with(self.clone(), || {
            for (block, thread) in (0..blocks).flat_map(|block| (0..threads).map(move |thread| (block, thread))) {
                self.indices[0].set([thread, 0, 0]);
                self.indices[1].set([block, 0, 0]);
                self.lane.set(thread % 32);
                E::run(args, constants);
            }
        });
    }

    /// Fills global memory from byte `first` on.
    pub fn put<const N: usize>(&self, first: usize, bytes: impl IntoIterator<Item = [u8; N]>) {
        let bytes: Vec<u8> = bytes.into_iter().flatten().collect();
        self.global.borrow_mut()[first..first + bytes.len()].copy_from_slice(&bytes);
    }

    fn memory(&self, access: &Access) -> (&RefCell<Vec<u8>>, usize) {
        match access.space {
            Space::Shared => (&self.shared, access.address() as usize),
            Space::GlobalConstant | Space::Global => (&self.global, (access.address() - GLOBAL) as usize),
            Space::Constant => panic!("the machine does not hold the constants: {access:?}"),
        }
    }

    fn read(&self, access: &Access, bits: &mut [u64]) {
        assert_eq!(bits.len(), access.elements as usize);
        if access.in_range() {
            let (memory, first) = self.memory(access);
            let bytes = access.element_bytes as usize;
            for (k, bits) in bits.iter_mut().enumerate() {
                let mut element = [0; 8];
                element[..bytes].copy_from_slice(&memory.borrow()[first + k * bytes..][..bytes]);
                *bits = u64::from_le_bytes(element);
            }
        }
    }

    /// Reads one element.
    fn read_one(&self, access: &Access) -> u64 {
        let mut bits = [0];
        self.read(access, &mut bits);
        bits[0]
    }

    fn write(&self, access: &Access, bits: &[u64]) {
        if access.in_range() {
            let (memory, first) = self.memory(access);
            let bytes = access.element_bytes as usize;
            assert_eq!(bits.len(), access.elements as usize);
            for (k, bits) in bits.iter().enumerate() {
                memory.borrow_mut()[first + k * bytes..][..bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
            }
        }
    }

    fn note(&self, event: Event) {
        self.log.borrow_mut().push(event);
    }
}

impl Machine for Tester {
    fn index(&self, index: Index, axis: Axis) -> u32 {
        let index = match index {
            Index::Thread => 0,
            Index::Block => 1,
            Index::BlockDim => 2,
            Index::GridDim => 3,
        };
        self.indices[index].get()[match axis {
            Axis::X => 0,
            Axis::Y => 1,
            Axis::Z => 2,
        }]
    }

    fn lane(&self) -> u32 {
        self.lane.get()
    }

    fn shared_bytes(&self) -> u32 {
        self.shared.borrow().len() as u32
    }

    fn load(&self, access: &Access, bits: &mut [u64]) {
        self.note(Event::Load(*access));
        self.read(access, bits);
    }

    fn store(&self, access: &Access, bits: &[u64]) {
        let mut noted = [0; 16];
        noted[..bits.len()].copy_from_slice(bits);
        self.note(Event::Store(*access, noted));
        self.write(access, bits);
    }

    fn left_out(&self, access: &Access, masked: Masked) {
        self.note(Event::LeftOut(*access, masked));
    }

    fn constant(&self, access: &Access) {
        self.note(Event::Constant(*access));
    }

    fn read_modify_write(&self, access: &Access, update: &Update, ordering: Ordering) -> u64 {
        self.note(Event::Update(*access, update.operation, ordering));
        let old = self.read_one(access);
        self.write(access, &[update.apply(old)]);
        old
    }

    fn compare_exchange(&self, access: &Access, current: u64, new: u64, ordering: Ordering) -> u64 {
        self.note(Event::CompareExchange(*access, ordering));
        let old = self.read_one(access);
        if old == current {
            self.write(access, &[new]);
        }
        old
    }

    /// Copies at once. Of a copy that is partly out of range, it copies the elements inside the window.
    fn copy_async(&self, copy: &AsyncCopy) {
        self.note(Event::Copy(*copy));
        let (bytes, from) = (copy.from.element_bytes as usize, Access { elements: copy.present(), ..copy.from });
        let mut copied = vec![0; copy.to.elements as usize * bytes];
        if from.elements > 0 && copy.from.is_aligned() {
            let (memory, first) = self.memory(&from);
            let present = from.elements as usize * bytes;
            copied[..present].copy_from_slice(&memory.borrow()[first..first + present]);
        }
        let first = copy.to.address() as usize;
        self.shared.borrow_mut()[first..first + copied.len()].copy_from_slice(&copied);
    }

    fn commit_copies(&self, at: &'static Location<'static>) {
        self.note(Event::Commit(at));
    }

    fn wait_copies(&self, latest: Option<u32>, at: &'static Location<'static>) {
        self.note(Event::WaitCopies(latest, at));
    }

    fn clock(&self, at: &'static Location<'static>) -> u64 {
        self.note(Event::Clock(at));
        self.clock.get()
    }

    fn split(&self, base: u32, bytes: u32, at: &'static Location<'static>) {
        self.note(Event::Split(base, bytes, at));
    }

    fn reuse(&self, base: u32, bytes: u32, at: &'static Location<'static>) {
        self.note(Event::Reuse(base, bytes, at));
    }

    fn sync_threads(&self, at: &'static Location<'static>) {
        self.note(Event::SyncThreads(at));
    }

    fn sync_warp(&self, mask: u32, at: &'static Location<'static>) {
        self.note(Event::SyncWarp(mask, at));
    }

    fn fence(&self, scope: Scope, at: &'static Location<'static>) {
        self.note(Event::Fence(scope, at));
    }

    fn exchange(&self, operation: WarpOperation, mask: u32, word: u32, at: &'static Location<'static>) -> u32 {
        self.note(Event::Exchange(operation, mask, word, at));
        self.answer.get()
    }

    fn mma(&self, fragments: Fragments, at: &'static Location<'static>) -> [i32; 4] {
        self.note(Event::Mma(fragments, at));
        self.product.get()
    }
}

/// Returns a window of `len` elements on global memory, from byte `first` on.
pub fn input<T: Value>(first: u64, len: u64) -> GlobalIn<'static, T> {
    // SAFETY: the address means something to a `Tester` only, which checks it.
    unsafe { GlobalIn::from_raw_parts(GLOBAL + first, len) }
}

/// Like `input`, for writing.
pub fn output<T: Value>(first: u64, len: u64) -> GlobalOut<'static, T> {
    // SAFETY: as for `input`.
    unsafe { GlobalOut::from_raw_parts(GLOBAL + first, len) }
}

/// Like `input`, for reading and writing.
pub fn in_out<T: Value>(first: u64, len: u64) -> GlobalInOut<'static, T> {
    // SAFETY: as for `input`.
    unsafe { GlobalInOut::from_raw_parts(GLOBAL + first, len) }
}

/// Returns the message of the panic in `work`.
pub fn message_of(work: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(work).expect_err("no panic");
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a text")
}

#[track_caller]
fn single(events: &[Event]) -> Event {
    match *events {
        [event] => event,
        _ => panic!("not one call: {events:?}"),
    }
}
