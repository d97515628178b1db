//! The `cu*` functions: one jump each, through a table in memory.
//!
//! The table and the jumps are one piece of assembly text, so they are in one object file: linking the table also links the
//! functions. The README of this crate describes how the linker treats it.

use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::FUNCTIONS;
use crate::api::{CUresult, cuInit};

/// The jump of one function on x86-64, in AT&T syntax.
#[cfg(any(test, target_arch = "x86_64"))]
macro_rules! jump_x86_64 {
    ($name:ident) => {
        concat!("jmp *.Lcuda_driver_", stringify!($name), "(%rip)\n")
    };
}

/// The jump of one function on aarch64. `x16` is the register that the procedure call standard reserves for code between
/// caller and callee.
#[cfg(any(test, target_arch = "aarch64"))]
macro_rules! jump_aarch64 {
    ($name:ident) => {
        concat!(
            "adrp x16, .Lcuda_driver_",
            stringify!($name),
            "\n",
            "ldr x16, [x16, :lo12:.Lcuda_driver_",
            stringify!($name),
            "]\n",
            "br x16\n"
        )
    };
}

/// One entry of the table, with the local label that the jump of the same function refers to.
macro_rules! entry {
    (cuInit) => {
        ".Lcuda_driver_cuInit: .8byte {load_and_init}\n"
    };
    ($name:ident) => {
        concat!(".Lcuda_driver_", stringify!($name), ": .8byte {not_initialized}\n")
    };
}

/// The symbol of one function: visible to the other objects of the program, invisible outside of it.
macro_rules! function {
    ($jump:ident $name:ident) => {
        concat!(
            ".globl ",
            stringify!($name),
            "\n.hidden ",
            stringify!($name),
            "\n.type ",
            stringify!($name),
            ", %function\n.p2align 2\n",
            stringify!($name),
            ":\n",
            $jump!($name),
            ".size ",
            stringify!($name),
            ", . - ",
            stringify!($name),
            "\n"
        )
    };
}

/// The whole text for one architecture: the table, then the functions.
macro_rules! text {
    ($jump:ident $($name:ident)*) => {
        concat!(
            ".pushsection .data.cuda_driver_table, \"aw\", %progbits\n",
            ".globl slm_cuda_driver_table\n",
            ".hidden slm_cuda_driver_table\n",
            ".type slm_cuda_driver_table, %object\n",
            ".p2align 3\n",
            "slm_cuda_driver_table:\n",
            $(entry!($name),)*
            ".size slm_cuda_driver_table, . - slm_cuda_driver_table\n",
            ".popsection\n",
            ".pushsection .text.cuda_driver, \"ax\", %progbits\n",
            $(function!($jump $name),)*
            ".popsection\n",
        )
    };
}

#[cfg(any(test, target_arch = "x86_64"))]
macro_rules! text_x86_64 {
    ($($name:ident)*) => { text!(jump_x86_64 $($name)*) };
}

#[cfg(any(test, target_arch = "aarch64"))]
macro_rules! text_aarch64 {
    ($($name:ident)*) => { text!(jump_aarch64 $($name)*) };
}

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    for_each_function!(text_x86_64),
    not_initialized = sym not_initialized,
    load_and_init = sym load_and_init,
    options(att_syntax)
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    for_each_function!(text_aarch64),
    not_initialized = sym not_initialized,
    load_and_init = sym load_and_init
);

// SAFETY: the assembly text above defines the table with one entry of pointer size and alignment per function of
// `FUNCTIONS`, in writable memory. Rust code reaches it only as atomics.
unsafe extern "C" {
    #[link_name = "slm_cuda_driver_table"]
    safe static TABLE: [AtomicPtr<c_void>; FUNCTIONS.len()];
}

/// Replaces every function except `cuInit` until the driver is loaded. It ignores the function's arguments: in the C calling
/// conventions of both architectures, the caller removes them.
extern "C" fn not_initialized() -> CUresult {
    3 // CUDA_ERROR_NOT_INITIALIZED
}

/// Replaces `cuInit` until the driver is loaded, and loads it: a program that calls the driver without using this crate
/// directly begins with `cuInit`.
extern "C" fn load_and_init(flags: c_uint) -> CUresult {
    match crate::load() {
        // SAFETY: `cuInit` has no preconditions, and after `load` it is the driver's.
        Ok(_) => unsafe { cuInit(flags) },
        Err(_) => not_initialized(),
    }
}

/// Replaces a function that the loaded driver lacks, in the same way as [`not_initialized`].
pub(crate) extern "C" fn not_found() -> CUresult {
    500 // CUDA_ERROR_NOT_FOUND
}

/// Connects the function with this index in `FUNCTIONS` to `function`.
///
/// Other threads may call the function at the same time. A jump reads its entry with one aligned load of pointer size, so it
/// reaches the old or the new function, never a mixture. The store releases what was written to load the library; a thread
/// that calls [`load`](crate::load) first acquires it through the `OnceLock` there.
///
/// # Safety
///
/// `function` must be callable with the signature of the driver function of this index, for as long as the
/// process lives.
pub(crate) unsafe fn connect(index: usize, function: *mut c_void) {
    TABLE[index].store(function, Ordering::Release);
}

#[cfg(test)]
mod tests;
