//! The machine behind the accessors of the fibres' kernel code.

use crate::fibres::Reins;
use crate::panics::unwinds;
use crate::running::Running;
use crate::site::Action;
use crate::warp::Part;
use cuda_std::host::{Access, Axis, Fragments, Index, Machine, Masked, Scope, Update, WarpOperation};
use cuda_std::{Ordering, warp};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

pub(crate) struct Emulated {
    pub(crate) running: RefCell<Running>,
    pub(crate) reins: Rc<Reins>,
    pub(crate) block_index: Cell<[u32; 3]>,
    pub(crate) block: [u32; 3],
    pub(crate) grid: [u32; 3],
    pub(crate) shared_bytes: u32,
    /// Where the running thread called an accessor last.
    pub(crate) last: Cell<Option<&'static Location<'static>>>,
    /// The same of those that wait.
    pub(crate) places: Vec<Cell<Option<&'static Location<'static>>>>,
    /// An address in the first frame of each thread.
    pub(crate) tops: Vec<Cell<usize>>,
}

impl Emulated {
    /// Makes a step of the running thread, which may have to give way afterwards. A thread that unwinds makes none: on the
    /// device a panic runs no destructors, and here they must not wait.
    #[inline]
    fn act<R: Default>(&self, at: &'static Location<'static>, act: impl FnOnce(&mut Running) -> R) -> R {
        let _inside = self.reins.watch.enter();
        if unwinds() {
            return R::default();
        }
        self.reins.watch.visit();
        self.last.set(Some(at));
        self.reins.check_stack();
        if self.reins.ending() {
            // It has caught the unwinding that was to end it.
            self.reins.pause();
        }
        let mut running = self.running.borrow_mut();
        running.step(at);
        let result = act(&mut running);
        let pause = std::mem::take(&mut running.pause);
        drop(running);
        if pause {
            self.reins.pause();
        }
        result
    }

    /// `thread` is to run.
    pub(crate) fn prepare(&self, thread: u32) {
        self.last.set(self.places[thread as usize].get());
        self.reins.watch.run(self.running.borrow().index_of(thread as u16), self.block_index.get());
    }

    /// `thread` has given way, because it waits or because it `ended`.
    pub(crate) fn note(&self, thread: u32, ended: bool) {
        self.places[thread as usize].set(self.last.get().filter(|_| !ended));
    }

    /// Gives other threads the chance to run before an atomic operation.
    fn before_atomic(&self) {
        let _inside = self.reins.watch.enter();
        let pause = !unwinds() && self.running.borrow_mut().may_give_way();
        if pause {
            self.reins.pause();
        }
    }
}

impl Machine for Emulated {
    fn index(&self, index: Index, axis: Axis) -> u32 {
        let _inside = self.reins.watch.enter();
        let indices = match index {
            Index::Thread => self.running.borrow().index_of(self.reins.thread() as u16),
            Index::Block => self.block_index.get(),
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
        self.reins.thread() as u32 % 32
    }

    fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    fn load(&self, access: &Access) -> [u64; 4] {
        let mut bits = [0; 4];
        self.act(access.at, |running| running.load(access, &mut bits));
        bits
    }

    fn store(&self, access: &Access, bits: [u64; 4]) {
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
        self.before_atomic();
        self.act(access.at, |running| running.atomic(access, ordering, |old| Some(update.apply(old))))
    }

    fn compare_exchange(&self, access: &Access, current: u64, new: u64, ordering: Ordering) -> u64 {
        self.before_atomic();
        self.act(access.at, |running| running.atomic(access, ordering, |old| (old == current).then_some(new)))
    }

    fn clock(&self, at: &'static Location<'static>) -> u64 {
        self.act(at, |running| running.requests.passes())
    }

    fn sync_threads(&self, at: &'static Location<'static>) {
        let top = self.tops[self.reins.thread()].get();
        self.act(at, |running| {
            let path = running.paths.number(at, top);
            running.sync_threads(at, path);
        });
    }

    fn sync_warp(&self, mask: u32, at: &'static Location<'static>) {
        self.act(at, |running| running.meet(Part::Wait, mask, at));
    }

    fn fence(&self, scope: Scope, at: &'static Location<'static>) {
        self.act(at, |running| running.fence(scope, at));
    }

    fn exchange(&self, operation: WarpOperation, mask: u32, word: u32, at: &'static Location<'static>) -> u32 {
        let _inside = self.reins.watch.enter();
        self.act(at, |running| running.meet(Part::Exchange(operation, word), mask, at));
        let [word, _] = self.running.borrow().answer(self.reins.thread());
        word
    }

    fn mma(&self, fragments: Fragments, at: &'static Location<'static>) -> [i32; 2] {
        let _inside = self.reins.watch.enter();
        self.act(at, |running| running.meet(Part::Mma(fragments), warp::FULL, at));
        self.running.borrow().answer(self.reins.thread()).map(|word| word as i32)
    }
}
