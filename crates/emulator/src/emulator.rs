//! The emulator: memory, and launches on it.

use crate::blocks::resident_blocks;
use crate::launch::{Launch, LaunchError};
use crate::machine::Emulated;
use crate::memory::{Allocations, Buffer, MAX_WARPS, MOST_BUFFERS, Outputs, Reach, Region, from_bytes, to_bytes};
use crate::profile::Profile;
use crate::report::Report;
use crate::running::Running;
use crate::threads::{
    Control, EmulatorId, Fibres, Hosting, LaunchGuard, Target, UNWIND, catch, in_kernel, install, keep_panics,
    kernel_code,
};
use cuda_std::host::{Window, with};
use cuda_std::{Argument, Entry, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A kernel and its parameters, without their types.
struct Code {
    kernel: &'static str,
    hosting: Hosting,
    parameter_bytes: usize,
    /// The windows in its arguments, with the names of their fields.
    windows: Vec<(&'static str, Window)>,
    /// Runs the kernel's code as one thread.
    code: Box<dyn Fn()>,
}

/// A simulated GPU: global memory, and kernels that run on the CPU with every access checked.
#[derive(Debug)]
pub struct Emulator {
    id: EmulatorId,
    profile: Profile,
    memory: Allocations,
}

/// Panic message if threads cannot be ended because panics do not unwind.
const CANNOT_END: &str = "with panic = \"abort\" a kernel that does not end normally ends the process";

/// Panic message when buffer numbers run out.
const NO_NUMBERS: &str = "the process has used up all buffer numbers";

impl Emulator {
    /// Maximum number of buffers per process, including freed ones and those of other emulators.
    pub const MOST_BUFFERS: usize = MOST_BUFFERS;

    /// Returns a device with these limits, and as much global memory as the host has.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Emulator { id: EmulatorId::new(), profile, memory: Allocations::default() }
    }

    /// Returns the identity of this emulator.
    #[must_use]
    pub fn id(&self) -> EmulatorId {
        self.id
    }

    /// Returns the limits of the device.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns a buffer in global memory with a copy of `data`.
    ///
    /// # Panics
    ///
    /// Beyond 64 GiB, or [`MOST_BUFFERS`](Self::MOST_BUFFERS).
    #[must_use]
    pub fn upload<T: Value>(&mut self, data: &[T]) -> Buffer<T> {
        self.try_upload(data).expect(NO_NUMBERS)
    }

    /// As [`upload`](Self::upload). Returns `None` beyond [`MOST_BUFFERS`](Self::MOST_BUFFERS).
    ///
    /// # Panics
    ///
    /// Beyond 64 GiB.
    #[must_use]
    pub fn try_upload<T: Value>(&mut self, data: &[T]) -> Option<Buffer<T>> {
        self.memory.add(data.len(), |_| Region::of(to_bytes(data)))
    }

    /// Returns a buffer of `len` elements in global memory, which a kernel must write before it is read.
    ///
    /// # Panics
    ///
    /// As [`upload`](Self::upload).
    #[must_use]
    pub fn allocate<T: Value>(&mut self, len: usize) -> Buffer<T> {
        self.try_allocate(len).expect(NO_NUMBERS)
    }

    /// As [`allocate`](Self::allocate). Returns `None` beyond [`MOST_BUFFERS`](Self::MOST_BUFFERS).
    ///
    /// # Panics
    ///
    /// Beyond 64 GiB.
    #[must_use]
    pub fn try_allocate<T: Value>(&mut self, len: usize) -> Option<Buffer<T>> {
        self.memory.add(len, |bytes| Region::new(bytes, MAX_WARPS))
    }

    /// Frees a buffer's memory. If a kernel uses a remaining window on it, that is a finding.
    ///
    /// # Panics
    ///
    /// If the buffer belongs to another emulator. After this call every use of the buffer panics.
    pub fn free<T: Value>(&mut self, buffer: &Buffer<T>) {
        self.memory.free(buffer);
    }

    /// Returns the elements of a buffer. Unwritten elements have all bits set.
    ///
    /// # Panics
    ///
    /// If the buffer has been freed, or belongs to another emulator.
    #[must_use]
    pub fn download<T: Value>(&self, buffer: &Buffer<T>) -> Vec<T> {
        from_bytes(self.memory.region(buffer).bytes())
    }

    /// Returns the index of the first unwritten element of a buffer.
    ///
    /// # Panics
    ///
    /// If the buffer has been freed, or belongs to another emulator.
    #[must_use]
    pub fn first_unwritten<T: Value>(&self, buffer: &Buffer<T>) -> Option<usize> {
        let region = self.memory.region(buffer);
        (0..buffer.len()).find(|i| !region.is_written(i * size_of::<T>(), size_of::<T>() as u32))
    }

    /// Copies `data` to the buffer's elements from index `first` on.
    ///
    /// # Panics
    ///
    /// If the buffer has fewer elements, has been freed, or belongs to another emulator.
    pub fn overwrite<T: Value>(&mut self, buffer: &Buffer<T>, first: usize, data: &[T]) {
        assert!(first <= buffer.len() && data.len() <= buffer.len() - first, "a buffer of {} elements", buffer.len());
        self.memory.region_mut(buffer).copy_from(first * size_of::<T>(), &to_bytes(data));
    }

    /// Runs the kernel `E`, and returns the report of the launch.
    ///
    /// # Errors
    ///
    /// If the device does not allow the launch. What is wrong with the kernel is in the report.
    pub fn launch<E: Entry>(
        &mut self,
        launch: Launch,
        args: E::Args<'_>,
        constants: E::Constants,
    ) -> Result<Report, LaunchError> {
        let mut windows = Vec::new();
        args.windows("", &mut |name, window| windows.push((name, window)));
        let parameter_bytes = size_of_val(&args) + size_of::<E::Constants>();
        let hosting = Hosting::of(E::WITHOUT_STD);
        let code = kernel_code::<E>(args, constants);
        self.launch_code(Code { kernel: E::NAME, hosting, parameter_bytes, windows, code }, launch)
    }

    /// Runs the code as each thread. This is not generic, so that it is compiled once for all kernels.
    fn launch_code(&mut self, code: Code, launch: Launch) -> Result<Report, LaunchError> {
        let Code { kernel, hosting, parameter_bytes, windows, code } = code;
        launch.check(&self.profile, parameter_bytes)?;
        let budget = launch.budget_for(&windows);
        let reach = Reach::new(&windows);
        let outputs = Outputs::among(windows, &launch)?;
        let _kept = keep_panics();
        install();
        let threads = launch.threads() as usize;
        let resident = resident_blocks(&launch);
        let control = Control::new(resident * threads, hosting);
        let target = Target::current().filter(|_| hosting == Hosting::Fibres);
        let guard = LaunchGuard::new(self.id, kernel, hosting, launch.time_limit, &control.watch, target);
        self.memory.begin_launch();
        let memory = std::mem::take(&mut self.memory);
        let machine = Rc::new(Emulated {
            running: RefCell::new(Running::new(
                kernel,
                launch,
                budget,
                resident,
                (reach, outputs),
                &self.profile,
                memory,
            )),
            control: control.clone(),
            block_indices: vec![Cell::default(); resident],
            threads,
            block: launch.block,
            grid: launch.grid,
            shared_bytes: launch.shared_bytes,
            last: Cell::new(None),
            tops: vec![Cell::new(0); resident * threads],
            places: vec![Cell::new(None); resident * threads],
        });
        let thread = thread_code(machine.clone(), guard.launch(), code);
        let ran = Fibres::new(control, Rc::new(thread)).map(|fibres| with(machine.clone(), || run(&machine, fibres)));
        let mut running = machine.running.borrow_mut();
        self.memory = std::mem::take(&mut running.memory);
        self.memory.intervals = running.order.intervals();
        ran.ok_or(LaunchError::NoStacks)?;
        guard.strays().into_iter().for_each(|stray| running.add_stray(stray));
        Ok(Report {
            kernel,
            profile: self.profile.name(),
            launch,
            launches: 1,
            findings: running.findings.take(),
            sites: running.counts(),
        })
    }
}

/// Returns the code that a thread runs for each block.
fn thread_code(machine: Rc<Emulated>, launch: u64, code: Box<dyn Fn()>) -> impl Fn() {
    let run = move |machine: &Emulated| {
        let panic = catch(|| {
            let top = 0usize;
            machine.tops[machine.control.thread()].set(&raw const top as usize);
            machine.control.watch.run_kernel(&code);
        });
        machine.running.borrow_mut().end_thread(panic);
    };
    move || match machine.control.hosting() {
        Hosting::Fibres => run(&machine),
        Hosting::OsThreads => {
            in_kernel(|| with(machine.clone(), || LaunchGuard::in_thread(launch, || run(&machine))));
        }
    }
}

/// Runs all blocks.
fn run(machine: &Emulated, mut fibres: Fibres) {
    loop {
        let turn = machine.running.borrow_mut().next_turn();
        let Some(turn) = turn else { break };
        let fibre = machine.prepare(&turn);
        let ended = in_kernel(|| fibres.run(fibre));
        machine.record_yield(fibre, ended);
        if let Some(trap) = fibres.take_trap() {
            machine.running.borrow_mut().abandon_thread(trap, machine.last.get());
        }
        if machine.running.borrow().stopped {
            break;
        }
    }
    if !machine.running.borrow().stopped {
        return machine.running.borrow_mut().check_outputs();
    }
    if !UNWIND {
        panic!("{CANNOT_END}:{}", machine.running.borrow().findings);
    }
    in_kernel(|| fibres.end());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;
    use cuda_std::{kernel, thread};

    kernel! {
        /// Waits at `count` barriers.
        pub fn barriers(_arena, count: u32) {
            for _ in 0..count {
                thread::sync_threads();
            }
        }
    }

    /// Returns the problems of launches with a limit of 20 intervals, all on one emulator.
    fn launches(launches: [(u32, u32); 3]) -> [Vec<Problem>; 3] {
        let mut emulator = Emulator::new(Profile::SM_90);
        emulator.memory.max_intervals = 20;
        launches.map(|(blocks, count)| {
            let report = emulator.launch::<barriers>(Launch::new([blocks, 1, 1], [40, 1, 1]), count, ()).unwrap();
            report.findings.into_iter().map(|finding| finding.problem).collect()
        })
    }

    #[test]
    fn too_many_intervals_end_the_launch() {
        let ended = || vec![Problem::TooManyIntervals { intervals: 20 }];
        assert_eq!(launches([(1, 19), (1, 9), (2, 4)]), [vec![], vec![], vec![]]);
        assert_eq!(launches([(1, 20), (1, 5), (1, 100)]), [ended(), vec![], ended()]);
        assert_eq!(launches([(21, 0), (20, 0), (7, 3)]), [ended(), vec![], ended()]);
    }
}
