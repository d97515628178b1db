//! Signal handlers on Linux.

use super::{Ending, HOSTED, Hosted, Trap};
use crate::threads::watch::Watch;
use libc::{c_int, c_void, sigaction, siginfo_t, ucontext_t};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Once, OnceLock};
use std::thread::panicking;

/// Size of a signal handler's stack, in bytes, for OS threads that have none.
const SIGNAL_STACK_BYTES: usize = 64 << 10;

/// Size of the guard page below a stack, in bytes: the smallest page size.
const GUARD_BYTES: usize = 4 << 10;

const SIGNALS: [c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGURG];

/// Previous actions for the signals.
static PREVIOUS: [OnceLock<sigaction>; 3] = [const { OnceLock::new() }; 3];

/// An OS thread that runs fibres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target(libc::pid_t);

impl Target {
    /// Returns this OS thread.
    pub(crate) fn current() -> Option<Self> {
        // SAFETY: has no preconditions.
        Some(Target(unsafe { libc::gettid() }))
    }

    /// Ends the running fibre, if it has made no more visits and may be abandoned; otherwise does nothing.
    pub(crate) fn ask_to_end(self, watch: &Watch, visits: u64) {
        watch.end_after(visits);
        // The launch removes itself from the list before its OS thread ends, unless the stack that it is on was leaked. Then there
        // is no such thread, or another one with the same number, which the handler finds to run no such fibre.
        // SAFETY: has no preconditions; for a number without a thread it returns an error.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), self.0, libc::SIGURG) };
    }
}

/// Installs the handlers, and gives this OS thread a stack for them.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
            install_for(signal, previous);
        }
    });
    ensure_signal_stack();
}

fn install_for(signal: c_int, previous: &OnceLock<sigaction>) {
    // SAFETY: zeros are a valid action, and both pointers are to actions.
    unsafe {
        let (mut action, mut before) = (MaybeUninit::<sigaction>::zeroed().assume_init(), MaybeUninit::zeroed());
        if sigaction(signal, ptr::null(), before.as_mut_ptr()) != 0 {
            return;
        }
        // Before the handler is installed, because the handler uses it.
        let _ = previous.set(before.assume_init());
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        sigaction(signal, &action, ptr::null_mut());
    }
}

/// Gives this OS thread a signal stack, if it has none. The standard library gives one to its own OS threads, until their
/// destructors run. The stack is never freed, because the end of the OS thread is not known.
fn ensure_signal_stack() {
    // SAFETY: zeros are a valid description, both pointers are to descriptions, and the new stack is never freed.
    unsafe {
        let mut stack = MaybeUninit::<libc::stack_t>::zeroed().assume_init();
        if libc::sigaltstack(ptr::null(), &mut stack) != 0 || stack.ss_flags & libc::SS_DISABLE == 0 {
            return;
        }
        stack.ss_sp = Box::leak(vec![0u8; SIGNAL_STACK_BYTES].into_boxed_slice()).as_mut_ptr().cast();
        (stack.ss_size, stack.ss_flags) = (SIGNAL_STACK_BYTES, 0);
        libc::sigaltstack(&stack, ptr::null_mut());
    }
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system calls a handler with SA_SIGINFO with pointers to these types.
    let (fault, state) = unsafe { (&*info, &mut *context.cast::<ucontext_t>()) };
    if signal == libc::SIGURG {
        match hosted().filter(|fibre| fibre.must_end() && fibre.may_be_left(state)) {
            Some(fibre) => abandon(fibre, state, Trap::NoAccess),
            None => pass_on(signal, info, context),
        }
        return;
    }
    // SAFETY: these signals have an address, even if it is meaningless for signals that a process sends.
    let address = unsafe { fault.si_addr() } as usize;
    match hosted().filter(|fibre| fibre.guards(address)) {
        Some(fibre) if fibre.may_be_left(state) => return abandon(fibre, state, Trap::StackOverflow),
        Some(_) => print("a thread of an emulated kernel has no stack left for its panic, or for the emulator\n"),
        None => {}
    }
    pass_on(signal, info, context);
}

/// Returns the fibre that this OS thread runs.
fn hosted<'a>() -> Option<&'a Hosted> {
    // SAFETY: `HOSTED` points to what `trap::hosted` borrows until the fibre has yielded, and the handler ends before that.
    unsafe { HOSTED.get().as_ref() }
}

impl Hosted {
    fn watch(&self) -> &Watch {
        // SAFETY: `HOSTED` is set while a fibre runs, and the launch, which owns the watch, outlives that.
        unsafe { &*self.watch }
    }

    fn must_end(&self) -> bool {
        self.watch().must_end()
    }

    /// Returns whether the address is in the guard page below the stack.
    fn guards(&self, address: usize) -> bool {
        (self.lowest..self.lowest + GUARD_BYTES).contains(&address)
    }

    /// Returns whether the signal interrupted kernel code on the fibre's stack that is not panicking.
    fn may_be_left(&self, state: &ucontext_t) -> bool {
        !self.watch().is_inside() && self.handler.stack_ptr_in_bounds(stack_pointer(state)) && !panicking()
    }
}

/// Makes the interrupted fibre return.
fn abandon(fibre: &Hosted, state: &mut ucontext_t, trap: Trap) {
    // SAFETY: the fibre runs, and the interrupted code is on its stack (`may_be_left`). That code is a kernel's that can
    // reach neither `std` nor anything that allocates, so it leaves nothing half-changed outside of the stack. The registers
    // are set as `setup_trap_handler` requires.
    unsafe {
        let registers = fibre.handler.setup_trap_handler(move || Ending::Abandoned(trap));
        set_registers(state, &registers);
    }
}

#[cfg(target_arch = "x86_64")]
fn stack_pointer(state: &ucontext_t) -> usize {
    state.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(target_arch = "x86_64")]
fn set_registers(state: &mut ucontext_t, registers: &corosensei::trap::TrapHandlerRegs) {
    /// Direction flag: functions expect string instructions to move upwards.
    const DIRECTION: i64 = 1 << 10;
    let corosensei::trap::TrapHandlerRegs { rip, rsp, rbp, rdi, rsi } = *registers;
    let all = &mut state.uc_mcontext.gregs;
    let new =
        [(libc::REG_RIP, rip), (libc::REG_RSP, rsp), (libc::REG_RBP, rbp), (libc::REG_RDI, rdi), (libc::REG_RSI, rsi)];
    for (register, value) in new {
        all[register as usize] = value as i64;
    }
    all[libc::REG_EFL as usize] &= !DIRECTION;
}

#[cfg(target_arch = "aarch64")]
fn stack_pointer(state: &ucontext_t) -> usize {
    state.uc_mcontext.sp as usize
}

#[cfg(target_arch = "aarch64")]
fn set_registers(state: &mut ucontext_t, registers: &corosensei::trap::TrapHandlerRegs) {
    let corosensei::trap::TrapHandlerRegs { pc, sp, x0, x1, x29, lr } = *registers;
    let all = &mut state.uc_mcontext;
    (all.pc, all.sp) = (pc, sp);
    (all.regs[0], all.regs[1], all.regs[29], all.regs[30]) = (x0, x1, x29, lr);
}

/// Prints `text` with a function that signal handlers may call.
fn print(text: &str) {
    // SAFETY: the pointer and the length are those of the text.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
}

/// Performs the previous action for the signal.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let place = SIGNALS.iter().position(|other| *other == signal);
    let Some(previous) = place.and_then(|place| PREVIOUS[place].get()) else { return };
    match previous.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN if signal == libc::SIGURG => {}
        // SAFETY: the system returned this action. The instruction is executed again, and ends the process.
        libc::SIG_DFL | libc::SIG_IGN => unsafe {
            let mut default = *previous;
            default.sa_sigaction = libc::SIG_DFL;
            sigaction(signal, &default, ptr::null_mut());
        },
        // SAFETY: the flags state whether the address is that of a handler with three arguments or one.
        handler => unsafe {
            if previous.sa_flags & libc::SA_SIGINFO != 0 {
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
                handler(signal, info, context);
            } else {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        },
    }
}
