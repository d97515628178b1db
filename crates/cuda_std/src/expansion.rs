//! What the macros of this crate expand to.
//!
//! A name that a macro writes means whatever it means where the macro is used: there may be another `stringify!`, another
//! `derive` or another `u64`. The macros make promises with `unsafe`, so each name in them that matters is one of these,
//! by way of `$crate`.

#[cfg(target_os = "cuda")]
pub use core::arch::asm;
pub use core::clone::Clone;
pub use core::convert::Infallible;
pub use core::fmt::Debug;
pub use core::marker::Copy;
pub use core::marker::PhantomData;
pub use core::mem::offset_of;
pub use core::ops::FnMut;
pub use core::option::Option;
pub use core::prelude::v1::derive;
pub use core::primitive::{bool, str, u8, u64};
pub use core::{compile_error, concat, env, include, include_str, module_path, option_env, stringify};

use crate::{Table, Value};

/// Refuses attributes that could make something else of an item than the macro around it takes it for.
///
/// An attribute that another macro hands on cannot be looked into. It does no harm: `arguments!` checks that its
/// `unsafe impl` is about the struct with these very fields, and entry points get no attributes.
#[doc(hidden)]
#[macro_export]
macro_rules! accepted_attribute {
    (doc $($rest:tt)*) => {};
    (allow $($rest:tt)*) => {};
    (derive $($rest:tt)*) => {};
    (expect $($rest:tt)*) => {};
    (deprecated $($rest:tt)*) => {};
    (must_use $($rest:tt)*) => {};
    ($name:ident $($rest:tt)*) => {
        $crate::expansion::compile_error! {
            $crate::expansion::concat!(
                "the attribute `", $crate::expansion::stringify!($name),
                "` cannot stand here: only documentation, `derive`, `allow`, `expect`, `deprecated` and `must_use` can"
            )
        }
    };
    ($handed_on:meta) => {};
}

/// The type of a value, for comparison with another type: unlike a reference it is not converted.
#[must_use]
pub const fn type_of<T>(_: &T) -> PhantomData<T> {
    PhantomData
}

/// Checks when compiling that a kernel's parameters are there: one without a size does not exist on the device, and the
/// constants would be looked for behind it.
pub const fn check_sizes<Args, T: Value, const N: usize>() {
    assert!(size_of::<Args>() > 0, "a kernel with constants needs arguments that have a size");
    assert!(size_of::<Table<T, N>>() > 0, "a table of constants needs elements");
}

/// Checks when compiling that names of entry points, or what they end with, are names and differ from each other.
pub const fn check_names(names: &[&str]) {
    let mut i = 0;
    while i < names.len() {
        assert!(is_name(names[i]), "names of entry points are made of ASCII letters, digits and `_`");
        let mut j = 0;
        while j < i {
            assert!(!are_equal(names[i], names[j]), "two instances of a kernel have the same name");
            j += 1;
        }
        i += 1;
    }
}

const fn is_name(text: &str) -> bool {
    let mut i = 0;
    while i < text.len() {
        if !text.as_bytes()[i].is_ascii_alphanumeric() && text.as_bytes()[i] != b'_' {
            return false;
        }
        i += 1;
    }
    i > 0
}

const fn are_equal(a: &str, b: &str) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a.as_bytes()[i] == b.as_bytes()[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// What does not compile.
///
/// A struct that `cfg` leaves out, so that the promise would be about another one of its name:
///
/// ```compile_fail
/// cuda_std::arguments! {
///     /// Left out.
///     #[cfg(any())]
///     pub struct Hidden {
///         /// Some elements.
///         pub output: cuda_std::GlobalOut<u32>,
///     }
/// }
/// # fn main() {}
/// ```
///
/// The same by way of another macro, with a struct whose second window no launch would know:
///
/// ```compile_fail,E0027
/// use cuda_std::GlobalOut;
///
/// macro_rules! hand_on {
///     ($(#[$attribute:meta])*) => {
///         cuda_std::arguments! {
///             $(#[$attribute])*
///             pub struct Hidden {
///                 /// Some elements.
///                 pub output: GlobalOut<u32>,
///             }
///         }
///     };
/// }
/// hand_on! { #[cfg(any())] }
///
/// #[derive(Clone, Copy)]
/// pub struct Hidden {
///     pub output: GlobalOut<u32>,
///     pub secret: GlobalOut<u32>,
/// }
/// # fn main() {}
/// ```
///
/// And with a field of another type, that passes for the declared one where a reference to it is converted:
///
/// ```compile_fail,E0308
/// use cuda_std::GlobalOut;
///
/// macro_rules! hand_on {
///     ($(#[$attribute:meta])*) => {
///         cuda_std::arguments! {
///             $(#[$attribute])*
///             pub struct Hidden {
///                 /// Some elements.
///                 pub output: GlobalOut<u32>,
///             }
///         }
///     };
/// }
/// hand_on! { #[cfg(any())] }
///
/// #[derive(Clone, Copy)]
/// pub struct Hidden {
///     pub output: Wrapped,
/// }
///
/// #[derive(Clone, Copy)]
/// pub struct Wrapped(GlobalOut<u32>);
///
/// impl std::ops::Deref for Wrapped {
///     type Target = GlobalOut<u32>;
///     fn deref(&self) -> &GlobalOut<u32> {
///         &self.0
///     }
/// }
/// # fn main() {}
/// ```
///
/// And with a field whose type means one thing in the struct and another where the macro compares:
///
/// ```compile_fail,E0308
/// use cuda_std::GlobalOut;
///
/// pub trait Choose<const N: usize> {
///     type T;
/// }
///
/// impl Choose<0> for () {
///     type T = GlobalOut<u32>;
/// }
///
/// impl Choose<64> for () {
///     type T = u64;
/// }
///
/// #[allow(non_upper_case_globals)]
/// const check: [u8; 64] = [0; 64];
///
/// macro_rules! hand_on {
///     ($(#[$attribute:meta])*) => {
///         cuda_std::arguments! {
///             $(#[$attribute])*
///             pub struct Hidden {
///                 /// A number, or a window where `check` is a function.
///                 pub output: <() as Choose<{ size_of_val(&check) }>>::T,
///             }
///         }
///     };
/// }
/// hand_on! { #[cfg(any())] }
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Hidden {
///     pub output: GlobalOut<u32>,
/// }
/// # fn main() {}
/// ```
///
/// An entry point of another name:
///
/// ```compile_fail
/// cuda_std::kernel! {
///     /// Would have another name on the device than its digest.
///     #[unsafe(export_name = "other")]
///     pub fn renamed(_arena, args: u32) {
///         let _ = args;
///     }
/// }
/// # fn main() {}
/// ```
///
/// A kernel with constants, but without arguments that exist on the device:
///
/// ```compile_fail,E0080
/// cuda_std::kernel! {
///     /// The device would look for the constants behind the arguments.
///     pub fn misplaced(_arena, args: (), table: Constants<f32, 4>) {
///         let _ = (args, table.pack::<4>(0));
///     }
/// }
/// # fn main() {}
/// ```
///
/// And one without constants:
///
/// ```compile_fail,E0080
/// cuda_std::kernel! {
///     /// There is no second parameter.
///     pub fn nothing(_arena, args: u32, table: Constants<f32, 0>) {
///         let _ = (args, table);
///     }
/// }
/// # fn main() {}
/// ```
/// Generic kernels: two lists of types whose entry points would have the same name,
///
/// ```compile_fail,E0080
/// cuda_std::kernel! {
///     for<T: cuda_std::Value> { "a" { u32 => word; } "b" { i32 => word; } }
///
///     /// Twice `same_word`.
///     pub fn same(_arena, args: cuda_std::GlobalIn<T>) {
///         let _ = args;
///     }
/// }
/// # fn main() {}
/// ```
///
/// the same types under two names,
///
/// ```compile_fail,E0119
/// cuda_std::kernel! {
///     for<T: cuda_std::Value> { "a" { u32 => word; } "b" { u32 => number; } }
///
///     /// `twice<u32>` would be two entry points.
///     pub fn twice(_arena, args: cuda_std::GlobalIn<T>) {
///         let _ = args;
///     }
/// }
/// # fn main() {}
/// ```
///
/// what is no part of a name, and would be a part of the assembly that looks for constants,
///
/// ```compile_fail,E0080
/// cuda_std::kernel! {
///     for<T: cuda_std::Value> { "a" { f32 => "_param_0; trap; //"; } }
///
///     /// Some assembly.
///     pub fn assembly(_arena, args: T, table: Constants<T, 4>) {
///         let _ = (args, table.pack::<4>(0));
///     }
/// }
/// # fn main() {}
/// ```
///
/// the same by way of a part of the macro,
///
/// ```compile_fail,E0080
/// pub enum assembly {}
/// cuda_std::kernel! {
///     @instance [] [] ["_param_0; trap; //"] [] {
///         assembly (_arena, args: f32, table: Constants<f32, 4>) [] { let _ = (args, table.pack::<4>(0)); }
///     }
/// }
/// # fn main() {}
/// ```
///
/// an entry point apart from what is said about it,
///
/// ```compile_fail
/// pub enum apart {}
/// cuda_std::kernel! { @device apart [] [] [args: cuda_std::GlobalOut<u32>] { args.set(0, 1) } }
/// # fn main() {}
/// ```
///
/// types that the bound does not allow,
///
/// ```compile_fail,E0277
/// cuda_std::kernel! {
///     for<T: cuda_std::Atomic> { "a" { u8 => u8; } }
///
///     /// Bytes have no atomic operations.
///     pub fn small(_arena, args: cuda_std::GlobalIn<T>) {
///         let _ = args;
///     }
/// }
/// # fn main() {}
/// ```
///
/// another number of types than of parameters,
///
/// ```compile_fail
/// cuda_std::kernel! {
///     for<T: cuda_std::Value, U: cuda_std::Value> { "a" { u8 => u8; } }
///
///     /// Lacks a type.
///     pub fn lacking(_arena, args: cuda_std::GlobalIn<T>) {
///         let _ = args;
///     }
/// }
/// # fn main() {}
/// ```
///
/// an entry point of another name,
///
/// ```compile_fail
/// cuda_std::kernel! {
///     for<T: cuda_std::Value> { "a" { u32 => word; } }
///
///     /// Would have another name on the device than its digest.
///     #[unsafe(export_name = "other")]
///     pub fn renamed(_arena, args: T) {
///         let _ = args;
///     }
/// }
/// # fn main() {}
/// ```
///
/// arguments that do not exist on the device,
///
/// ```compile_fail,E0080
/// cuda_std::kernel! {
///     for<T: cuda_std::Value> { "a" { f32 => f32; } }
///
///     /// The device would look for the constants behind the arguments.
///     pub fn misplaced(_arena, args: (), table: Constants<T, 4>) {
///         let _ = (args, table.pack::<4>(0));
///     }
/// }
/// # fn main() {}
/// ```
///
/// and `unsafe`:
///
/// ```compile_fail,E0453
/// cuda_std::kernel! {
///     for<T: cuda_std::Value> { "a" { u32 => word; } }
///
///     /// Reads by a pointer.
///     pub fn careless(_arena, args: T) {
///         let pointer = &args as *const T;
///         #[allow(unsafe_code)]
///         let _ = unsafe { *pointer };
///     }
/// }
/// # fn main() {}
/// ```
#[cfg(doctest)]
struct Refused;
