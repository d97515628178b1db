//! The machine of an OS thread.

use super::Machine;
use std::cell::Cell;
use std::mem::forget;
use std::ptr::NonNull;
use std::rc::Rc;

thread_local! {
    /// The machine that the innermost [`with`] installed. It has no destructor, so it lives as long as the OS thread. It has
    /// no borrow flag, so code that is abandoned while it reads this leaves nothing locked.
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
    /// The number of installations so far.
    static INSTALLED: Cell<u64> = const { Cell::new(0) };
}

/// An installed machine, and the number of its installation, which is unique in the OS thread.
type Current = (NonNull<dyn Machine>, u64);

/// Keeps a machine installed until this is dropped.
struct Installation {
    number: u64,
    previous: Option<Current>,
    machine: Rc<dyn Machine>,
}

impl Installation {
    fn new(machine: Rc<dyn Machine>) -> Self {
        let number = INSTALLED.get() + 1;
        INSTALLED.set(number);
        let pointer = NonNull::new(Rc::as_ptr(&machine).cast_mut());
        let previous = CURRENT.replace(pointer.map(|pointer| (pointer, number)));
        Installation { number, previous, machine }
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        if CURRENT.get().is_some_and(|(_, number)| number == self.number) {
            CURRENT.set(self.previous);
        } else {
            // A later installation, on a stack of its own, has not ended. It will restore this one, so the machine must not
            // be dropped.
            forget(self.machine.clone());
        }
    }
}

/// Runs `work` with `machine` installed for this OS thread, and returns its result.
pub fn with<R>(machine: Rc<dyn Machine>, work: impl FnOnce() -> R) -> R {
    let _installation = Installation::new(machine);
    work()
}

/// Returns the machine of this OS thread, if there is one.
pub(crate) fn installed() -> Option<Rc<dyn Machine>> {
    let machine = CURRENT.get()?.0.as_ptr().cast_const();
    // SAFETY: the pointer comes from `Rc::as_ptr`, and its `Installation` holds that reference while the pointer is in
    // `CURRENT` or another installation can restore it. If the latter is possible when it ends, `drop` forgets a reference.
    unsafe {
        Rc::increment_strong_count(machine);
        Some(Rc::from_raw(machine))
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;

    /// A machine whose methods are not called.
    struct Idle;

    impl Machine for Idle {
        fn index(&self, _: Index, _: Axis) -> u32 {
            unreachable!()
        }
        fn lane(&self) -> u32 {
            unreachable!()
        }
        fn shared_bytes(&self) -> u32 {
            unreachable!()
        }
        fn load(&self, _: &Access, _: &mut [u64]) {
            unreachable!()
        }
        fn store(&self, _: &Access, _: &[u64]) {
            unreachable!()
        }
        fn left_out(&self, _: &Access, _: Masked) {
            unreachable!()
        }
        fn constant(&self, _: &Access) {
            unreachable!()
        }
        fn read_modify_write(&self, _: &Access, _: &Update, _: Ordering) -> u64 {
            unreachable!()
        }
        fn compare_exchange(&self, _: &Access, _: u64, _: u64, _: Ordering) -> u64 {
            unreachable!()
        }
        fn copy_async(&self, _: &AsyncCopy) {
            unreachable!()
        }
        fn commit_copies(&self, _: &'static Location<'static>) {
            unreachable!()
        }
        fn wait_copies(&self, _: Option<u32>, _: &'static Location<'static>) {
            unreachable!()
        }
        fn clock(&self, _: &'static Location<'static>) -> u64 {
            unreachable!()
        }
        fn split(&self, _: u32, _: u32, _: &'static Location<'static>) {
            unreachable!()
        }
        fn reuse(&self, _: u32, _: u32, _: &'static Location<'static>) {
            unreachable!()
        }
        fn sync_threads(&self, _: &'static Location<'static>) {
            unreachable!()
        }
        fn sync_warp(&self, _: u32, _: &'static Location<'static>) {
            unreachable!()
        }
        fn fence(&self, _: Scope, _: &'static Location<'static>) {
            unreachable!()
        }
        fn exchange(&self, _: WarpOperation, _: u32, _: u32, _: &'static Location<'static>) -> u32 {
            unreachable!()
        }
        fn mma(&self, _: Fragments, _: &'static Location<'static>) -> [i32; 4] {
            unreachable!()
        }
    }

    /// Installations on the stacks of coroutines can end in any order.
    #[test]
    fn a_machine_stays_until_it_cannot_be_restored() {
        let machines: [Rc<dyn Machine>; 3] = [Rc::new(Idle), Rc::new(Idle), Rc::new(Idle)];
        let known = machines.each_ref().map(Rc::downgrade);
        let [first, second, third] = machines.map(Installation::new);
        drop(second);
        drop(third);
        // The second one is restored, although it has ended.
        assert_eq!(known.each_ref().map(|machine| machine.strong_count()), [1, 1, 0]);
        assert!(installed().is_some_and(|machine| Rc::downgrade(&machine).ptr_eq(&known[1])));
        drop(first);
        assert_eq!(known.each_ref().map(|machine| machine.strong_count()), [1, 1, 0]);
    }

    #[test]
    fn machines_that_end_in_order_are_dropped() {
        let machine: Rc<dyn Machine> = Rc::new(Idle);
        with(machine.clone(), || with(machine.clone(), || assert!(installed().is_some())));
        assert!(installed().is_none());
        assert_eq!(Rc::strong_count(&machine), 1);
    }
}
