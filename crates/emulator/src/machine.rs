//! The machine behind the accessors of kernel code.

use crate::report::Action;
use crate::running::{Running, Turn};
use crate::threads::{Control, PATHS_ARE_FAST, unwinds};
use crate::warp::LaneInput;
use cuda_std::host::{Access, AsyncCopy, Axis, Fragments, Index, Machine, Masked, Scope, Update, WarpOperation};
use cuda_std::{Ordering, warp};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

pub(crate) struct Emulated {
    pub(crate) running: RefCell<Running>,
    pub(crate) control: Rc<Control>,
    /// By slot: index of the block in the grid.
    pub(crate) block_indices: Vec<Cell<[u32; 3]>>,
    /// Number of threads per block. The fibres of a slot are consecutive.
    pub(crate) threads: usize,
    pub(crate) block: [u32; 3],
    pub(crate) grid: [u32; 3],
    pub(crate) shared_bytes: u32,
    /// Location of the running thread's last accessor call.
    pub(crate) last: Cell<Option<&'static Location<'static>>>,
    /// By fibre: location of the last accessor call of a suspended thread.
    pub(crate) places: Vec<Cell<Option<&'static Location<'static>>>>,
    /// By fibre: an address in its first frame.
    pub(crate) tops: Vec<Cell<usize>>,
}

impl Emulated {
    /// Returns the number of the running thread in its block.
    fn thread(&self) -> usize {
        self.control.thread() % self.threads
    }

    /// Makes a step of the running thread, which may have to yield afterwards. An unwinding thread makes no steps: on the
    /// device a panic runs no destructors, and here they must not wait.
    #[inline]
    fn act<R: Default>(&self, at: &'static Location<'static>, act: impl FnOnce(&mut Running) -> R) -> R {
        let _inside = self.control.watch.enter();
        if unwinds() { R::default() } else { self.step(at, act) }
    }

    /// As `act`, for a barrier. `act` receives the number of the path by which the thread reached it.
    #[inline]
    fn act_at_barrier(&self, at: &'static Location<'static>, act: impl FnOnce(&mut Running, u32)) {
        let top = self.tops[self.control.thread()].get();
        self.act(at, |running| {
            let path = running.paths.number(at, top);
            act(running, path);
        });
    }

    /// As `act_at_barrier`, for an operation of the warp in `mask`.
    #[inline]
    fn meet(&self, input: LaneInput, mask: u32, at: &'static Location<'static>) {
        match PATHS_ARE_FAST {
            true => self.act_at_barrier(at, |running, path| running.meet(input, mask, at, path)),
            // There are many of these operations, and each would unwind the stack.
            false => self.act(at, |running| running.meet(input, mask, at, 0)),
        }
    }

    /// As `act`, for an atomic operation. Other threads may run before it.
    #[inline]
    fn act_atomically(&self, at: &'static Location<'static>, act: impl FnOnce(&mut Running) -> u64) -> u64 {
        let _inside = self.control.watch.enter();
        if unwinds() {
            return 0;
        }
        if self.running.borrow_mut().yields_before_atomic() {
            self.pause();
        }
        self.step(at, act)
    }

    #[inline(always)]
    fn step<R>(&self, at: &'static Location<'static>, act: impl FnOnce(&mut Running) -> R) -> R {
        self.control.watch.visit();
        self.last.set(Some(at));
        self.control.check_stack();
        if self.control.ending() {
            // The thread has caught the unwinding that was to end it.
            self.control.pause();
        }
        let mut running = self.running.borrow_mut();
        running.step(at);
        let result = act(&mut running);
        let pause = std::mem::take(&mut running.pause);
        drop(running);
        if pause {
            self.control.pause();
        }
        result
    }

    /// Prepares the next turn. Returns the number of the thread's fibre.
    #[inline]
    pub(crate) fn prepare(&self, turn: &Turn) -> usize {
        let fibre = turn.slot * self.threads + turn.thread as usize;
        self.block_indices[turn.slot].set(turn.block);
        self.last.set(self.places[fibre].get());
        self.control.watch.run(self.running.borrow().index_of(turn.thread as u16), turn.block);
        fibre
    }

    /// Records that a thread has yielded, because it waits or because it `ended`.
    #[inline]
    pub(crate) fn record_yield(&self, fibre: usize, ended: bool) {
        self.places[fibre].set(self.last.get().filter(|_| !ended));
    }

    #[cold]
    fn pause(&self) {
        self.control.pause();
    }
}

impl Machine for Emulated {
    fn index(&self, index: Index, axis: Axis) -> u32 {
        let _inside = self.control.watch.enter();
        let indices = match index {
            Index::Thread => self.running.borrow().index_of(self.thread() as u16),
            Index::Block => self.block_indices[self.control.thread() / self.threads].get(),
            Index::BlockDim => self.block,
            Index::GridDim => self.grid,
        };
        match axis {
            Axis::X => indices[0],
            Axis::Y => indices[1],
            Axis::Z => indices[2],
        }
    }

    fn lane(&self) -> u32 {
        self.thread() as u32 % 32
    }

    fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    fn load(&self, access: &Access, bits: &mut [u64]) {
        self.act(access.at, |running| running.load(access, bits));
    }

    fn store(&self, access: &Access, bits: &[u64]) {
        self.act(access.at, |running| running.store(access, bits));
    }

    fn left_out(&self, access: &Access, masked: Masked) {
        let action = match masked {
            Masked::Load => Action::Load,
            Masked::Store => Action::Store,
            Masked::Update => Action::Atomic,
        };
        self.act(access.at, |running| running.left_out(access, action));
    }

    fn constant(&self, access: &Access) {
        self.act(access.at, |running| running.constant(access));
    }

    fn read_modify_write(&self, access: &Access, update: &Update, ordering: Ordering) -> u64 {
        self.act_atomically(access.at, |running| running.atomic(access, ordering, |old| Some(update.apply(old))))
    }

    fn compare_exchange(&self, access: &Access, current: u64, new: u64, ordering: Ordering) -> u64 {
        self.act_atomically(access.at, |running| {
            running.atomic(access, ordering, |old| (old == current).then_some(new))
        })
    }

    fn copy_async(&self, copy: &AsyncCopy) {
        self.act(copy.from.at, |running| running.copy_async(copy));
    }

    fn commit_copies(&self, at: &'static Location<'static>) {
        self.act(at, |running| running.commit_copies());
    }

    fn wait_copies(&self, latest: Option<u32>, at: &'static Location<'static>) {
        self.act(at, |running| running.wait_copies(latest));
    }

    fn clock(&self, at: &'static Location<'static>) -> u64 {
        self.act(at, |running| running.block.requests.passes())
    }

    fn split(&self, base: u32, bytes: u32, at: &'static Location<'static>) {
        self.act(at, |running| running.split(base, bytes, at));
    }

    fn reuse(&self, base: u32, bytes: u32, at: &'static Location<'static>) {
        self.act_at_barrier(at, |running, path| running.reuse(base, bytes, at, path));
    }

    fn sync_threads(&self, at: &'static Location<'static>) {
        self.act_at_barrier(at, |running, path| running.sync_threads(at, path));
    }

    fn sync_warp(&self, mask: u32, at: &'static Location<'static>) {
        self.meet(LaneInput::Wait, mask, at);
    }

    fn fence(&self, scope: Scope, at: &'static Location<'static>) {
        self.act(at, |running| running.fence(scope, at));
    }

    fn exchange(&self, operation: WarpOperation, mask: u32, word: u32, at: &'static Location<'static>) -> u32 {
        let _inside = self.control.watch.enter();
        self.meet(LaneInput::Exchange(operation, word), mask, at);
        let [word, ..] = self.running.borrow().answer(self.thread());
        word
    }

    fn mma(&self, fragments: Fragments, at: &'static Location<'static>) -> [i32; 4] {
        let _inside = self.control.watch.enter();
        self.meet(LaneInput::Mma(fragments), warp::FULL, at);
        self.running.borrow().answer(self.thread()).map(|word| word as i32)
    }
}
