//! Entry points.

use crate::digest::{Digest, Hasher};
use crate::{Argument, ArgumentOf};

/// A kernel's entry point: its name in the compiled module, and its arguments.
///
/// # Safety
///
/// If a module compiled from files of [`SOURCES`](Entry::SOURCES) has an entry point `NAME` with this
/// [`LAYOUT`](Entry::LAYOUT), its parameters are `Args` and, unless that is `()`, `Constants`.
/// [`WITHOUT_STD`](Entry::WITHOUT_STD) is true only of kernels that cannot reach `std`. Only [`kernel!`](crate::kernel) can
/// ensure this.
pub unsafe trait Entry: 'static {
    /// The kernel's arguments, with windows that last as long as the launch `'l`.
    type Args<'l>: ArgumentOf<'l>;
    /// The kernel's constants: a [`Table`](crate::Table), or `()`.
    type Constants: Argument + 'static;
    /// The entry point's name.
    const NAME: &'static str;
    /// The name of the compiled module with the entry point ([`image::Modules`](crate::image::Modules)).
    const MODULE: &'static str;
    /// The files that the entry point's crate was compiled from. A module with the entry point must be compiled from some of
    /// these ([`image::Sources`](crate::image::Sources)).
    const SOURCES: Option<&'static str>;
    /// Digest of the kernel's path, and of the layout of its arguments and constants. Compiled modules contain the device's
    /// digest ([`image::verify_kernel`](crate::image::verify_kernel)): the same sources can have different meanings on host
    /// and device, because a module is compiled with its own feature only.
    const LAYOUT: Digest;
    /// Whether the kernel's crate and all its dependencies are known not to use `std`, on the host too
    /// ([`build::kernel_crate`](crate::build)). Only then may a machine run several of its threads on one OS thread.
    const WITHOUT_STD: bool;
    /// Runs the kernel's code as one thread, inside a host [`Machine`](crate::host::Machine).
    fn run(args: Self::Args<'_>, constants: Self::Constants);
}

/// Returns the [`Entry::LAYOUT`] of the kernel at `path`. That of the device is computed for any `'l`, so the windows in the
/// arguments have no other lifetime there.
#[doc(hidden)]
#[must_use]
pub const fn layout<'l, Args: ArgumentOf<'l>, Constants: Argument>(path: &'static str) -> Digest {
    Hasher::new().add(path.as_bytes()).add_digest(Args::LAYOUT).add_digest(Constants::LAYOUT).finish()
}

/// Defines a kernel, or several kernels for the same types.
///
/// `pub fn name<'l>(arena, args: Args<'l>) in "module" { … }` defines the entry point `name` on the device, in the compiled module
/// of this name, which is a feature of the crate. It also defines the type `name`, which on the host is an
/// [`Entry`](crate::Entry) with the code as [`Entry::run`](crate::Entry::run). Without `in "module"` the entry point is in
/// the module that is named after the library, the only one of a crate without features.
///
/// `'l` is the lifetime of the launch, and of all windows in the arguments. A kernel is generic over it, so it cannot keep them.
/// Arguments that are numbers need no lifetime: `pub fn name(arena, args: u32)`.
///
/// The arena is the block's shared memory ([`Arena`](crate::Arena)). A third parameter `constants: Constants<T, N>` is the
/// launch's constant memory ([`Constants`](crate::Constants)).
///
/// # Generic kernels
///
/// A list before the kernels has the modules that they are compiled into, their types, and the suffixes of the entry points'
/// names.
///
/// ```
/// use cuda_std::{Entry, GlobalIn, GlobalOut, Value, arguments, kernel, thread};
///
/// arguments! {
///     /// Arguments of the kernels.
///     pub struct Args<'l, T: Value> {
///         /// The elements.
///         pub input: GlobalIn<'l, T>,
///         /// Receives the results.
///         pub output: GlobalOut<'l, T>,
///     }
/// }
///
/// kernel! {
///     for<T: Value> {
///         "floats" { f32 => f32; f64 => f64; }
///         "integers" { u32 => u32; }
///     }
///
///     /// Copies.
///     pub fn copy<'l>(_arena, args: Args<'l, T>) {
///         let i = thread::global_x();
///         args.output.set_if(i < args.output.len(), i, args.input.get_or(i, T::default()));
///     }
///
///     /// Reverses.
///     pub fn reverse<'l>(_arena, args: Args<'l, T>) {
///         let (i, len) = (thread::global_x(), args.output.len());
///         args.output.set_if(i < len, len.wrapping_sub(i + 1), args.input.get_or(i, T::default()));
///     }
/// }
///
/// # fn main() {
/// type Reverse = reverse<f64>;
/// assert_eq!([Reverse::MODULE, Reverse::NAME], ["floats", "reverse_f64"]);
/// # }
/// ```
///
/// `copy` is a type with these parameters and bounds, and an `Entry` for each list of types. The code is compiled for each
/// list as if its types stood in place of the parameters. The parameters are aliases: an associated type is written
/// `<T as Trait>::Name`, and constants may depend on them.
///
/// # Rules
///
/// The name is that of the entry point in the compiled module, so it must be unique in its crate. The only accepted
/// attributes are documentation, `derive`, `allow`, `expect`, `deprecated` and `must_use`. A kernel with constants needs
/// arguments that have a size.
///
/// `where registers <= 32` before the code limits the registers of a thread, so that the 65,536 registers of a
/// multiprocessor suffice for more resident threads. A constant expression needs braces. With a lower limit than the code
/// needs, some values are in memory. (`cuda_builder` turns the limit into the directive `.maxnreg`.)
///
/// The code must not contain `unsafe`, even with `#[allow(unsafe_code)]`:
///
/// ```compile_fail,E0453
/// cuda_std::arguments! {
///     /// A number.
///     pub struct Number {
///         /// The number.
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
// Kernel crates need not enable the feature for the inline assembly that finds the constants.
#[cfg_attr(target_os = "cuda", allow_internal_unstable(asm_experimental_arch))]
macro_rules! kernel {
    // One kernel: an instance without types.
    ($(#[$($attribute:tt)*])* pub fn $name:ident $(<$launch:lifetime>)? ($($parameter:tt)*)
        $(in $module:literal)? $(where registers <= $registers:tt)? $body:block) => {
        $($crate::accepted_attribute! { $($attribute)* })*

        $(#[$($attribute)*])*
        #[allow(non_camel_case_types)]
        #[$crate::expansion::derive($crate::expansion::Clone, $crate::expansion::Copy, $crate::expansion::Debug)]
        pub enum $name {}

        $crate::kernel!(@instance [] [] [] [$($module)?] { $name [$($launch)?] ($($parameter)*) [$($registers)?] $body });
    };
    // Several kernels, each for all lists of types.
    (for<$($t:ident: $bound:path),+ $(,)?> $lists:tt $($kernels:tt)+) => {
        $crate::kernel!(@names $lists);
        $crate::kernel!(@generic [$($t: $bound),+] $lists $($kernels)+);
    };
    (@names { $($module:literal { $($($given:ty),+ => $suffix:tt;)+ })+ }) => {
        const _: () = $crate::expansion::check_names(&[$($($crate::expansion::stringify!($suffix)),+),+]);
    };
    (@generic $generics:tt $lists:tt $($(#[$($attribute:tt)*])* pub fn $name:ident $(<$launch:lifetime>)? ($($parameter:tt)*)
        $(where registers <= $registers:tt)? $body:block)+) => {$(
        $crate::kernel!(@type [$(#[$($attribute)*])*] $name $generics);
        $crate::kernel!(@each $generics $lists { $name [$($launch)?] ($($parameter)*) [$($registers)?] $body });
    )+};
    (@type [$(#[$($attribute:tt)*])*] $name:ident [$($t:ident: $bound:path),+]) => {
        $($crate::accepted_attribute! { $($attribute)* })*

        $(#[$($attribute)*])*
        #[allow(non_camel_case_types, dead_code)]
        #[$crate::expansion::derive($crate::expansion::Clone, $crate::expansion::Copy, $crate::expansion::Debug)]
        pub struct $name<$($t: $bound),+>(
            $crate::expansion::Infallible,
            $crate::expansion::PhantomData<fn() -> ($($t,)+)>,
        );
    };
    (@each $generics:tt { $($module:literal { $($($given:ty),+ => $suffix:tt;)+ })+ } $kernel:tt) => {
        $($($crate::kernel!(@instance $generics [$($given),+] [$suffix] [$module] $kernel);)+)+
    };
    (@instance [$($t:ident: $bound:path),*] [$($given:ty),*] $suffix:tt $module:tt
        { $name:ident $launch:tt $parameters:tt $registers:tt $body:block }) => {
        const _: () = {
            // From here on, the parameters are aliases of the types of this instance.
            $(
                #[allow(dead_code, non_camel_case_types)]
                type $t = $given;
            )*
            $crate::kernel!(@entry $name [$($t),*] $suffix $module $launch $parameters $registers $body);
        };
    };
    // Arguments without windows: a lifetime of our own, which the kernel does not use.
    (@entry $name:ident $types:tt $suffix:tt $module:tt [] $parameters:tt $registers:tt $body:block) => {
        $crate::kernel!(@entry $name $types $suffix $module ['launch] $parameters $registers $body);
    };
    (@entry $name:ident $types:tt $suffix:tt $module:tt [$launch:lifetime] ($arena:ident, $args:ident: $type:ty $(,)?)
        $registers:tt $body:block) => {
        const _: () = $crate::expansion::check_names(&[$crate::entry_name!($name $suffix)]);
        $crate::kernel!(@device $name $suffix $module [$launch] ($arena, $args: $type) $registers $body);
        $crate::kernel!(@host $name $types $suffix $module [$launch] ($arena, $args: $type, _constants: ()) (()) $body);
    };
    (@entry $name:ident $types:tt $suffix:tt $module:tt [$launch:lifetime]
        ($arena:ident, $args:ident: $type:ty, $constants:ident: Constants<$t:ty, $n:tt> $(,)?)
        $registers:tt $body:block) => {
        // The name is part of the assembly, so it is checked wherever it comes from.
        const _: () = $crate::expansion::check_names(&[$crate::entry_name!($name $suffix)]);
        $crate::kernel!(@device $name $suffix $module [$launch]
            ($arena, $args: $type, $constants: Constants<$t, $n>) $registers $body);
        $crate::kernel!(@host $name $types $suffix $module [$launch]
            ($arena, $args: $type, $constants: $crate::Constants<$launch, $t, $n>) ($crate::Table<$t, $n>) $body);
        $crate::kernel!(@sizes $name $types $t, $n);
    };
    // The entry point and its description in the compiled module, always together, so that the description is correct. Where
    // more items are in scope (`inner`, `LAYOUT`), the types may have other meanings; then the constants of the entry
    // point's type do not compile.
    (@device $name:ident $suffix:tt [$($module:literal)?] [$launch:lifetime] ($arena:ident, $args:ident: $type:ty)
        $registers:tt $body:block) => {
        #[cfg(all(target_os = "cuda" $(, feature = $module)?))]
        #[allow(unsafe_code)]
        #[unsafe(export_name = $crate::entry_name!($name $suffix))]
        extern "ptx-kernel" fn $name<$launch>($args: $type) {
            const _: for<$launch> extern "ptx-kernel" fn($type) = $name;
            #[inline(always)]
            #[forbid(unsafe_code)]
            fn inner<$launch>($arena: $crate::Arena<$launch>, $args: $type) $body
            // SAFETY: the only call in this thread.
            inner(unsafe { $crate::Arena::of_block() }, $args)
        }
        $crate::kernel!(@description $name $suffix [$($module)?] [$launch] ($type) () $registers);
    };
    (@device $name:ident $suffix:tt [$($module:literal)?] [$launch:lifetime]
        ($arena:ident, $args:ident: $type:ty, $constants:ident: Constants<$t:ty, $n:tt>)
        $registers:tt $body:block) => {
        #[cfg(all(target_os = "cuda" $(, feature = $module)?))]
        #[allow(unsafe_code)]
        #[unsafe(export_name = $crate::entry_name!($name $suffix))]
        extern "ptx-kernel" fn $name<$launch>($args: $type, _table: $crate::Table<$t, $n>) {
            const _: for<$launch> extern "ptx-kernel" fn($type, $crate::Table<$t, $n>) = $name;
            const { $crate::expansion::check_sizes::<$type, $t, $n>() }
            #[inline(always)]
            #[forbid(unsafe_code)]
            fn inner<$launch>(
                $arena: $crate::Arena<$launch>,
                $args: $type,
                $constants: $crate::Constants<$launch, $t, $n>,
            ) $body
            let table: $crate::expansion::u64;
            // SAFETY: only takes the address of the second parameter, by the compiler's name for it.
            unsafe {
                $crate::expansion::asm!(
                    $crate::expansion::concat!("mov.b64 {}, ", $crate::entry_name!($name $suffix), "_param_1;"),
                    out(reg64) table,
                    options(pure, nomem, nostack)
                )
            }
            // SAFETY: the only call in this thread, and the second parameter has this type.
            unsafe { inner($crate::Arena::of_block(), $args, $crate::Constants::at(table)) }
        }
        $crate::kernel!(@description $name $suffix [$($module)?] [$launch] ($type) ($crate::Table<$t, $n>) $registers);
    };
    (@description $name:ident $suffix:tt [$($module:literal)?] [$launch:lifetime] ($type:ty) ($($table:ty)?)
        [$($registers:tt)?]) => {
        #[cfg(all(target_os = "cuda" $(, feature = $module)?))]
        const _: () = {
            const _: for<$launch> extern "ptx-kernel" fn($type $(, $table)?) = $name;
            #[allow(unused_parens)]
            const fn layout<$launch>() -> $crate::digest::Digest {
                $crate::layout::<$launch, $type, ($($table)?)>($crate::kernel!(@path $name $suffix))
            }
            #[allow(unsafe_code)]
            #[unsafe(export_name = $crate::expansion::concat!($crate::entry_name!($name $suffix), "_layout"))]
            static LAYOUT: [$crate::expansion::u8; 16] = layout().to_bytes();
            $(
                #[allow(unsafe_code, unused_braces)]
                #[unsafe(export_name = $crate::expansion::concat!($crate::entry_name!($name $suffix), "_registers"))]
                static REGISTERS: $crate::expansion::u8 = $registers;
            )?
        };
    };
    (@path $name:ident $suffix:tt) => {
        $crate::expansion::concat!($crate::expansion::module_path!(), "::", $crate::entry_name!($name $suffix))
    };
    (@module $module:literal) => { $module };
    (@module) => { $crate::host::library($crate::expansion::module_path!()) };
    (@sizes $name:ident [$($t:ident),*] $element:ty, $n:tt) => {
        #[cfg(not(target_os = "cuda"))]
        const _: () = $crate::expansion::check_sizes::<<$name<$($t),*> as $crate::Entry>::Args<'static>, $element, $n>();
    };
    (@host $name:ident [$($t:ident),*] $suffix:tt [$($module:literal)?] [$launch:lifetime]
        ($arena:ident, $args:ident: $type:ty, $constants:ident: $seen:ty) ($given:ty) $body:block) => {
        #[cfg(not(target_os = "cuda"))]
        #[allow(unsafe_code)]
        // SAFETY: the device build of this same source exports an entry point of this name with these parameters (above).
        unsafe impl $crate::Entry for $name<$($t),*> {
            type Args<$launch> = $type;
            type Constants = $given;
            const NAME: &'static $crate::expansion::str = $crate::entry_name!($name $suffix);
            const MODULE: &'static $crate::expansion::str = $crate::kernel!(@module $($module)?);
            const SOURCES: $crate::expansion::Option<&'static $crate::expansion::str> =
                $crate::expansion::option_env!("SLM_KERNEL_SOURCES");
            const LAYOUT: $crate::digest::Digest =
                $crate::layout::<'static, Self::Args<'static>, $given>($crate::kernel!(@path $name $suffix));
            const WITHOUT_STD: $crate::expansion::bool = $crate::host::is_without_std(
                $crate::expansion::module_path!(),
                $crate::expansion::option_env!("SLM_KERNELS_WITHOUT_STD"),
                [
                    $crate::expansion::option_env!("CARGO_BIN_NAME"),
                    $crate::expansion::option_env!("CARGO_TARGET_TMPDIR"),
                ],
            );
            fn run(args: Self::Args<'_>, constants: Self::Constants) {
                #[forbid(unsafe_code)]
                fn inner<$launch>($arena: $crate::Arena<$launch>, $args: $type, $constants: $seen) $body
                // SAFETY: on the host any number of arenas is harmless, however often this function is called.
                inner(unsafe { $crate::Arena::of_block() }, args, $crate::host::Given::seen(constants))
            }
        }
    };
}

/// The name of an entry point: the kernel's name and, if the kernel is generic, the suffix for its types.
#[doc(hidden)]
#[macro_export]
macro_rules! entry_name {
    ($name:ident []) => {
        $crate::expansion::stringify!($name)
    };
    ($name:ident [$suffix:tt]) => {
        $crate::expansion::concat!($crate::expansion::stringify!($name), "_", $crate::expansion::stringify!($suffix))
    };
}
