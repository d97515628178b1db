//! Entry points.

use crate::Argument;
use crate::digest::Digest;

/// A kernel's entry point: its name in the compiled module and what it is launched with.
///
/// # Safety
///
/// If a module compiled from files of [`SOURCES`](Entry::SOURCES) has an entry point `NAME` with this
/// [`LAYOUT`](Entry::LAYOUT), its parameters are `Args` and, unless that is `()`, `Constants`.
/// [`WITHOUT_STD`](Entry::WITHOUT_STD) is true only of kernels that reach none of the facilities of `std`. Only
/// [`kernel!`](crate::kernel) can know that.
pub unsafe trait Entry: 'static {
    /// What the kernel is launched with.
    type Args: Argument;
    /// The constants that it is launched with: a [`Table`](crate::Table), or `()`.
    type Constants: Argument;
    /// The entry point's name.
    const NAME: &'static str;
    /// The files that the entry point's crate was compiled from, and that modules with it may be compiled from
    /// ([`image::Sources`](crate::image::Sources)).
    const SOURCES: Option<&'static str>;
    /// A digest of where the kernel is defined, and of the layout of its arguments and constants. Compiled modules carry
    /// the device's ([`image::verify_kernel`](crate::image::verify_kernel)): the same sources can mean different things
    /// to host and device, since a module is compiled with its own feature alone.
    const LAYOUT: Digest;
    /// Whether the kernel's crate, and all that it depends on, is known to do without `std` on the host as well
    /// ([`build::kernel_crate`](crate::build)). Only then may a machine run several of its threads on one OS thread.
    #[cfg(not(target_os = "cuda"))]
    const WITHOUT_STD: bool;
    /// Runs the kernel's code as one thread, inside a host [`Machine`](crate::host::Machine).
    #[cfg(not(target_os = "cuda"))]
    fn run(args: Self::Args, constants: Self::Constants);
}

/// [`Entry::LAYOUT`] of the kernel at `path`.
#[doc(hidden)]
#[must_use]
pub const fn layout<Args: Argument, Constants: Argument>(path: &str) -> Digest {
    Digest::new().add(path.as_bytes()).add_digest(Args::LAYOUT).add_digest(Constants::LAYOUT)
}

/// Defines a kernel.
///
/// `pub fn name(arena, args: Args) { … }` becomes an entry point `name` on the device. On the host it becomes the
/// type `name`, an [`Entry`](crate::Entry) with the code as [`Entry::run`](crate::Entry::run). The arena is the
/// block's shared memory ([`Arena`](crate::Arena)). A third parameter `constants: Constants<T, N>` is the launch's
/// constant memory ([`Constants`](crate::Constants)).
///
/// The name is that of the entry point in the compiled module, so it must be unique in its crate. Attributes other than
/// documentation, `derive`, `allow`, `expect`, `deprecated` and `must_use` are refused, and a kernel with constants needs arguments
/// that have a size.
///
/// `where registers <= 32` in front of the code limits the registers of a thread, so that so many threads are resident on
/// a multiprocessor as its 65,536 registers are enough for. A lower limit than the code needs makes it keep values in
/// memory. (For `cuda_builder`, which turns it into the directive `.maxnreg`.)
///
/// The code contains no `unsafe`, whatever it says of itself:
///
/// ```compile_fail,E0453
/// cuda_std::arguments! {
///     /// A number.
///     pub struct Number {
///         /// It.
///         pub n: u32,
///     }
/// }
/// cuda_std::kernel! {
///     /// Does not compile.
///     pub fn careless(_arena, args: Number) {
///         let pointer = &args.n as *const u32;
///         #[allow(unsafe_code)]
///         let _ = unsafe { *pointer };
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
// The kernel crate need not know that constants are found by inline assembly.
#[cfg_attr(target_os = "cuda", allow_internal_unstable(asm_experimental_arch))]
macro_rules! kernel {
    ($(#[$($attribute:tt)*])* pub fn $name:ident($arena:ident, $args:ident: $type:ty)
        $(where registers <= $registers:literal)? $body:block) => {
        // Documented on the host, where the attributes are.
        #[cfg(target_os = "cuda")]
        #[allow(missing_docs, unsafe_code)]
        #[unsafe(no_mangle)]
        pub extern "ptx-kernel" fn $name($args: $type) {
            #[inline(always)]
            #[forbid(unsafe_code)]
            fn inner($arena: $crate::Arena, $args: $type) $body
            // SAFETY: the one call in this thread.
            inner(unsafe { $crate::Arena::of_block() }, $args)
        }
        $crate::kernel!(@layout $name ($type) (()));
        $($crate::kernel!(@registers $name $registers);)?
        $crate::kernel!(@host [$(#[$($attribute)*])*] $name ($arena, $args: $type, _constants: ()) (()) $body);
    };
    ($(#[$($attribute:tt)*])* pub fn $name:ident($arena:ident, $args:ident: $type:ty, $constants:ident: Constants<$t:ty, $n:tt>)
        $(where registers <= $registers:literal)? $body:block) => {
        // Documented on the host, where the attributes are.
        #[cfg(target_os = "cuda")]
        #[allow(missing_docs, unsafe_code)]
        #[unsafe(no_mangle)]
        pub extern "ptx-kernel" fn $name($args: $type, _table: $crate::Table<$t, $n>) {
            #[inline(always)]
            #[forbid(unsafe_code)]
            fn inner($arena: $crate::Arena, $args: $type, $constants: $crate::Constants<$t, $n>) $body
            let table: $crate::expansion::u64;
            // SAFETY: takes the address of the second parameter, as the compiler names it.
            unsafe {
                $crate::expansion::asm!(
                    $crate::expansion::concat!("mov.b64 {}, ", $crate::expansion::stringify!($name), "_param_1;"),
                    out(reg64) table,
                    options(pure, nomem, nostack)
                )
            }
            // SAFETY: the one call in this thread, and the parameter has this type.
            unsafe { inner($crate::Arena::of_block(), $args, $crate::Constants::at(table)) }
        }
        const _: () = $crate::expansion::check_sizes::<$type, $t, $n>();
        $crate::kernel!(@layout $name ($type) ($crate::Table<$t, $n>));
        $($crate::kernel!(@registers $name $registers);)?
        $crate::kernel!(@host [$(#[$($attribute)*])*] $name
            ($arena, $args: $type, $constants: $crate::Constants<$t, $n>) ($crate::Table<$t, $n>) $body);
    };
    (@layout $name:ident ($type:ty) ($constants:ty)) => {
        #[cfg(target_os = "cuda")]
        const _: () = {
            #[allow(unsafe_code)]
            #[unsafe(export_name = $crate::expansion::concat!($crate::expansion::stringify!($name), "_layout"))]
            static LAYOUT: [$crate::expansion::u8; 16] =
                $crate::layout::<$type, $constants>($crate::kernel!(@path $name)).to_bytes();
        };
    };
    (@registers $name:ident $registers:literal) => {
        #[cfg(target_os = "cuda")]
        const _: () = {
            #[allow(unsafe_code)]
            #[unsafe(export_name = $crate::expansion::concat!($crate::expansion::stringify!($name), "_registers"))]
            static REGISTERS: $crate::expansion::u8 = $registers;
        };
    };
    (@path $name:ident) => {
        $crate::expansion::concat!($crate::expansion::module_path!(), "::", $crate::expansion::stringify!($name))
    };
    (@host [$(#[$($attribute:tt)*])*] $name:ident ($arena:ident, $args:ident: $type:ty, $constants:ident: $seen:ty) ($given:ty) $body:block) => {
        $($crate::accepted_attribute! { $($attribute)* })*

        $(#[$($attribute)*])*
        #[cfg(not(target_os = "cuda"))]
        #[allow(non_camel_case_types)]
        #[$crate::expansion::derive($crate::expansion::Clone, $crate::expansion::Copy, $crate::expansion::Debug)]
        pub enum $name {}

        #[cfg(not(target_os = "cuda"))]
        #[allow(unsafe_code)]
        // SAFETY: the device build of this same source exports `$name` with these parameters (above).
        unsafe impl $crate::Entry for $name {
            type Args = $type;
            type Constants = $given;
            const NAME: &'static $crate::expansion::str = $crate::expansion::stringify!($name);
            const SOURCES: $crate::expansion::Option<&'static $crate::expansion::str> =
                $crate::expansion::option_env!("SLM_KERNEL_SOURCES");
            const LAYOUT: $crate::digest::Digest = $crate::layout::<$type, $given>($crate::kernel!(@path $name));
            const WITHOUT_STD: $crate::expansion::bool = $crate::is_without_std(
                $crate::expansion::module_path!(),
                $crate::expansion::option_env!("SLM_KERNELS_WITHOUT_STD"),
                [
                    $crate::expansion::option_env!("CARGO_BIN_NAME"),
                    $crate::expansion::option_env!("CARGO_TARGET_TMPDIR"),
                ],
            );
            fn run(args: Self::Args, constants: Self::Constants) {
                #[forbid(unsafe_code)]
                fn inner($arena: $crate::Arena, $args: $type, $constants: $seen) $body
                // SAFETY: on the host any number of arenas is harmless, however often this function is called.
                inner(unsafe { $crate::Arena::of_block() }, args, $crate::Given::seen(constants))
            }
        }
    };
}

/// Whether a kernel in the module `path` is in the library that the build script of its package vouches for. Cargo tells
/// that package's binaries, tests and benchmarks what it tells the library, and they may have its name; `others` are the
/// variables that only they are given. Documentation tests have other names.
#[doc(hidden)]
#[must_use]
#[cfg(not(target_os = "cuda"))]
pub const fn is_without_std(path: &str, library: Option<&str>, others: [Option<&str>; 2]) -> bool {
    let (Some(library), [None, None]) = (library, others) else { return false };
    let (path, library) = (path.as_bytes(), library.as_bytes());
    let mut same = 0;
    while same < library.len() && same < path.len() && library[same] == path[same] {
        same += 1;
    }
    same > 0 && same == library.len() && (same == path.len() || path[same] == b':')
}

/// Constants as given by the host, turned into what the kernel sees.
#[doc(hidden)]
#[cfg(not(target_os = "cuda"))]
pub trait Given {
    /// What the kernel sees.
    type Seen;
    /// The same constants, seen by the kernel.
    fn seen(self) -> Self::Seen;
}

#[cfg(not(target_os = "cuda"))]
impl Given for () {
    type Seen = ();
    fn seen(self) {}
}

#[cfg(not(target_os = "cuda"))]
impl<T: crate::Value, const N: usize> Given for crate::Table<T, N> {
    type Seen = crate::Constants<T, N>;
    fn seen(self) -> Self::Seen {
        crate::Constants::of(self)
    }
}

#[cfg(test)]
mod tests {
    use super::is_without_std;

    #[test]
    fn only_the_library_is_vouched_for() {
        let library = Some("kernels");
        let all = [
            ("kernels", library, [None, None], true),
            ("kernels::blur::rows", library, [None, None], true),
            ("kernels_too::blur", library, [None, None], false),
            ("kernel", library, [None, None], false),
            ("rust_out", library, [None, None], false),
            ("kernels", None, [None, None], false),
            ("kernels", Some(""), [None, None], false),
            ("kernels", library, [library, None], false),
            ("kernels", library, [None, Some("target/tmp")], false),
        ];
        for (path, library, others, expected) in all {
            assert_eq!(is_without_std(path, library, others), expected, "{path} {library:?} {others:?}");
        }
    }
}
