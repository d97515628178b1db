//! The machine behind the accessors of the fibres' kernel code.

use crate::fibres::Reins;
use crate::panics::unwinds;
use crate::running::Running;
use crate::site::Action;
use crate::warp::Part;
use cuda_std::host::{Access, AsyncCopy, Axis, Fragments, Index, Machine, Masked, Scope, Update, WarpOperation};
use cuda_std::{Ordering, warp};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

pub(crate) struct Emulated {
    pub(crate) running: RefCell<Running>,
    pub(crate) reins: Rc<Reins>,
    /// By slot: the block in the grid.
    pub(crate) block_indices: Vec<Cell<[u32; 3]>>,
    /// Threads of a block: slot by slot each has a fibre.
    pub(crate) threads: usize,
    pub(crate) block: [u32; 3],
    pub(crate) grid: [u32; 3],
    pub(crate) shared_bytes: u32,
}

impl Emulated {
    /// The running thread in its block.
    fn thread(&self) -> usize {
        self.reins.thread() % self.threads
    }

    /// Makes a step of the running thread, which may have to give way afterwards. A thread that unwinds makes none: on the
    /// device a panic runs no destructors, and here they must not wait.
    #[inline]
    fn act<R: Default>(&self, at: &'static Location<'static>, act: impl FnOnce(&mut Running) -> R) -> R {
        if unwinds() {
            return R::default();
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

    /// Gives other threads the chance to run before an atomic operation.
    fn before_atomic(&self) {
        let pause = !unwinds() && self.running.borrow_mut().may_give_way();
        if pause {
            self.reins.pause();
        }
    }
}

impl Machine for Emulated {
    fn index(&self, index: Index, axis: Axis) -> u32 {
        let indices = match index {
            Index::Thread => self.running.borrow().index_of(self.thread() as u16),
            Index::Block => self.block_indices[self.reins.thread() / self.threads].get(),
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
        if !unwinds() {
            self.running.borrow_mut().split(base, bytes, at);
        }
    }

    fn reuse(&self, base: u32, bytes: u32, at: &'static Location<'static>) {
        self.act(at, |running| running.reuse(base, bytes, at));
    }

    fn sync_threads(&self, at: &'static Location<'static>) {
        self.act(at, |running| running.sync_threads(at));
    }

    fn sync_warp(&self, mask: u32, at: &'static Location<'static>) {
        self.act(at, |running| running.meet(Part::Wait, mask, at));
    }

    fn fence(&self, scope: Scope, at: &'static Location<'static>) {
        self.act(at, |running| running.fence(scope, at));
    }

    fn exchange(&self, operation: WarpOperation, mask: u32, word: u32, at: &'static Location<'static>) -> u32 {
        self.act(at, |running| running.meet(Part::Exchange(operation, word), mask, at));
        let [word, _] = self.running.borrow().answer(self.thread());
        word
    }

    fn mma(&self, fragments: Fragments, at: &'static Location<'static>) -> [i32; 2] {
        self.act(at, |running| running.meet(Part::Mma(fragments), warp::FULL, at));
        self.running.borrow().answer(self.thread()).map(|word| word as i32)
    }
}
