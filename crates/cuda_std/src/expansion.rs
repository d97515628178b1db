//! Names for the expansions of this crate's macros.
//!
//! A name in an expansion has the meaning that it has where the macro is used: there may be another `stringify!`, another
//! `derive` or another `u64`. The expansions contain `unsafe`, so each name in them that matters is a path to this module,
//! through `$crate`.

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

pub use crate::argument::Window;
use crate::{Table, Value};

/// Rejects attributes that could make an item differ from what the surrounding macro assumes.
///
/// An attribute that another macro passes on cannot be inspected. It does no harm: `arguments!` checks that its
/// `unsafe impl` is for the struct with exactly these fields, and entry points get no attributes.
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
    ($passed_on:meta) => {};
}

/// Returns the type of a value, for comparison with another type. Unlike a reference, it is not coerced.
#[must_use]
pub const fn type_of<T>(_: &T) -> PhantomData<T> {
    PhantomData
}

/// Checks at compile time that a kernel's parameters have a size. A parameter without a size does not exist on the device,
/// so the constants would not be the second parameter.
pub const fn check_sizes<Args, T: Value, const N: usize>() {
    assert!(size_of::<Args>() > 0, "a kernel with constants needs arguments that have a size");
    assert!(size_of::<Table<T, N>>() > 0, "a table of constants needs elements");
}

/// Checks at compile time that names of entry points, or their suffixes, are valid and differ from each other.
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

/// Uses of the macros that do not compile.
///
/// A struct that `cfg` removes, so that the `unsafe impl` would be for another struct of its name:
///
/// ```compile_fail
/// cuda_std::arguments! {
///     /// Removed.
///     #[cfg(any())]
///     pub struct Hidden<'l> {
///         /// Some elements.
///         pub output: cuda_std::GlobalOut<'l, u32>,
///     }
/// }
/// # fn main() {}
/// ```
///
/// The same through another macro, with a struct whose second window would be unknown to launches:
///
/// ```compile_fail
/// use cuda_std::GlobalOut;
///
/// macro_rules! pass_on {
///     ($(#[$attribute:meta])*) => {
///         cuda_std::arguments! {
///             $(#[$attribute])*
///             pub struct Hidden<'l> {
///                 /// Some elements.
///                 pub output: GlobalOut<'l, u32>,
///             }
///         }
///     };
/// }
/// pass_on! { #[cfg(any())] }
///
/// #[derive(Clone, Copy)]
/// pub struct Hidden<'l> {
///     pub output: GlobalOut<'l, u32>,
///     pub secret: GlobalOut<'l, u32>,
/// }
/// # fn main() {}
/// ```
///
/// The same with a field of another type, a reference to which is coerced to a reference to the declared type:
///
/// ```compile_fail,E0308
/// use cuda_std::GlobalOut;
///
/// macro_rules! pass_on {
///     ($(#[$attribute:meta])*) => {
///         cuda_std::arguments! {
///             $(#[$attribute])*
///             pub struct Hidden<'l> {
///                 /// Some elements.
///                 pub output: GlobalOut<'l, u32>,
///             }
///         }
///     };
/// }
/// pass_on! { #[cfg(any())] }
///
/// #[derive(Clone, Copy)]
/// pub struct Hidden<'l> {
///     pub output: Wrapped<'l>,
/// }
///
/// #[derive(Clone, Copy)]
/// pub struct Wrapped<'l>(GlobalOut<'l, u32>);
///
/// impl<'l> std::ops::Deref for Wrapped<'l> {
///     type Target = GlobalOut<'l, u32>;
///     fn deref(&self) -> &GlobalOut<'l, u32> {
///         &self.0
///     }
/// }
/// # fn main() {}
/// ```
///
/// The same with a field whose type has one meaning in the struct and another where the macro compares types:
///
/// ```compile_fail,E0308
/// use cuda_std::GlobalOut;
///
/// pub trait Choose<const N: usize> {
///     type T;
/// }
///
/// impl Choose<0> for () {
///     type T = GlobalOut<'static, u32>;
/// }
///
/// impl Choose<64> for () {
///     type T = u64;
/// }
///
/// #[allow(non_upper_case_globals)]
/// const check: [u8; 64] = [0; 64];
///
/// macro_rules! pass_on {
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
/// pass_on! { #[cfg(any())] }
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Hidden {
///     pub output: GlobalOut<'static, u32>,
/// }
/// # fn main() {}
/// ```
///
/// An entry point of another name:
///
/// ```compile_fail
/// cuda_std::kernel! {
///     /// On the device, its name would differ from that of its digest.
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
///     /// The constants would not be the second parameter.
///     pub fn misplaced(_arena, args: (), table: Constants<f32, 4>) {
///         let _ = (args, table.pack::<4>(0));
///     }
/// }
/// # fn main() {}
/// ```
///
/// A kernel with an empty table of constants:
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
///
/// Generic kernels: two lists of types whose entry points would have the same name,
///
/// ```compile_fail,E0080
/// cuda_std::kernel! {
///     for<T: cuda_std::Value> { "a" { u32 => word; } "b" { i32 => word; } }
///
///     /// Twice `same_word`.
///     pub fn same<'l>(_arena, args: cuda_std::GlobalIn<'l, T>) {
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
///     pub fn twice<'l>(_arena, args: cuda_std::GlobalIn<'l, T>) {
///         let _ = args;
///     }
/// }
/// # fn main() {}
/// ```
///
/// a suffix that is not valid in a name, and would be part of the assembly that finds the constants,
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
/// the same through an internal arm of the macro,
///
/// ```compile_fail,E0080
/// pub enum assembly {}
/// cuda_std::kernel! {
///     @instance [] [] ["_param_0; trap; //"] [] {
///         assembly [] (_arena, args: f32, table: Constants<f32, 4>) [] { let _ = (args, table.pack::<4>(0)); }
///     }
/// }
/// # fn main() {}
/// ```
///
/// an entry point without its description,
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
///     pub fn small<'l>(_arena, args: cuda_std::GlobalIn<'l, T>) {
///         let _ = args;
///     }
/// }
/// # fn main() {}
/// ```
///
/// fewer types than parameters,
///
/// ```compile_fail
/// cuda_std::kernel! {
///     for<T: cuda_std::Value, U: cuda_std::Value> { "a" { u8 => u8; } }
///
///     /// Lacks a type.
///     pub fn lacking<'l>(_arena, args: cuda_std::GlobalIn<'l, T>) {
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
///     /// On the device, its name would differ from that of its digest.
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
///     /// The constants would not be the second parameter.
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
///     /// Reads through a pointer.
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
