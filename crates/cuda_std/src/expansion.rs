//! What the macros of this crate expand to.
//!
//! A name that a macro writes means whatever it means where the macro is used: there may be another `stringify!`, another
//! `derive` or another `u64`. The macros make promises with `unsafe`, so each name in them that matters is one of these,
//! by way of `$crate`.

#[cfg(target_os = "cuda")]
pub use core::arch::asm;
pub use core::clone::Clone;
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
#[cfg(doctest)]
struct Refused;
