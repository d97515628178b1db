//! What a kernel can be launched with.

use crate::digest::Digest;
use crate::{GlobalIn, GlobalInOut, GlobalOut, Value};

/// Data that means the same on the host and on the device: numbers, windows on global memory, and structs of them.
///
/// Structs get it from [`arguments!`](crate::arguments); the error says so where a struct lacks it:
///
/// ```compile_fail,E0277
/// /// Not made by `arguments!`.
/// #[derive(Clone, Copy)]
/// pub struct Plain {
///     /// A number.
///     pub n: u32,
/// }
/// cuda_std::kernel! {
///     /// Does not compile.
///     pub fn refused(_arena, args: Plain) {}
/// }
/// # fn main() {}
/// ```
///
/// # Safety
///
/// `LAYOUT` covers the whole layout, the type contains no host address, and `windows` leaves out none of its windows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the argument of a kernel",
    label = "not an argument: neither a number, nor a window on global memory, nor made by `arguments!`",
    note = "define the struct inside `cuda_std::arguments! {{ … }}`, which makes it an argument if all of its fields are"
)]
pub unsafe trait Argument: Copy + Send + Sync + 'static {
    /// A digest of what the type is made of: the names, types and places of fields, all the way down. Host and device
    /// compute it apart, each for the type as it is compiled there.
    const LAYOUT: Digest;

    /// Shows `visit` every window in the value, with the name of the field that it is in; the value itself is called
    /// `name`. Who launches a kernel knows by it which memory the kernel can reach.
    #[cfg(not(target_os = "cuda"))]
    fn windows(&self, name: &'static str, visit: &mut dyn FnMut(&'static str, crate::host::Window));
}

/// What `LAYOUT` of every type begins with.
#[doc(hidden)]
#[must_use]
pub const fn layout_of<T>(kind: &str) -> Digest {
    Digest::new().add(kind.as_bytes()).add_number(size_of::<T>() as u64).add_number(align_of::<T>() as u64)
}

// SAFETY: numbers are told by their names, and are neither addresses nor windows.
unsafe impl<T: Value> Argument for T {
    const LAYOUT: Digest = layout_of::<T>(T::VALUE_NAME);

    #[cfg(not(target_os = "cuda"))]
    fn windows(&self, _name: &'static str, _visit: &mut dyn FnMut(&'static str, crate::host::Window)) {}
}

// SAFETY: nothing at all.
unsafe impl Argument for () {
    const LAYOUT: Digest = layout_of::<()>("()");

    #[cfg(not(target_os = "cuda"))]
    fn windows(&self, _name: &'static str, _visit: &mut dyn FnMut(&'static str, crate::host::Window)) {}
}

macro_rules! windows {
    ($($name:ident)*) => {$(
        // SAFETY: `repr(C)`; the address is one of the device's, by the contract of `from_raw_parts`. It shows itself.
        unsafe impl<T: Value> Argument for $name<T> {
            const LAYOUT: Digest = layout_of::<Self>(stringify!($name)).add_digest(T::LAYOUT);

            #[cfg(not(target_os = "cuda"))]
            fn windows(&self, name: &'static str, visit: &mut dyn FnMut(&'static str, crate::host::Window)) {
                visit(name, self.description());
            }
        }
    )*};
}
windows!(GlobalIn GlobalOut GlobalInOut);

/// Defines the struct that a kernel is launched with: `#[repr(C)]`, every field an [`Argument`].
///
/// All fields are there on the host and on the device. Attributes other than documentation, `derive`, `allow`,
/// `expect`, `deprecated` and `must_use` are refused.
///
/// ```
/// cuda_std::arguments! {
///     /// A scaled copy.
///     pub struct Scaling<T: cuda_std::Value> {
///         /// What is copied.
///         pub input: cuda_std::GlobalIn<T>,
///         /// Where to.
///         pub output: cuda_std::GlobalOut<T>,
///         /// The factor. The last comma may be missing.
///         pub factor: T
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! arguments {
    ($(#[$($attribute:tt)*])* pub struct $name:ident $(<$($t:ident: $bound:path),+>)? {
        $($(#[$($field_attribute:tt)*])* pub $field:ident: $type:ty),+ $(,)?
    }) => {
        $($crate::accepted_attribute! { $($attribute)* })*
        $($($crate::accepted_attribute! { $($field_attribute)* })*)+

        $(#[$($attribute)*])*
        #[repr(C)]
        #[$crate::expansion::derive($crate::expansion::Clone, $crate::expansion::Copy, $crate::expansion::Debug)]
        pub struct $name $(<$($t: $bound),+>)? { $($(#[$($field_attribute)*])* pub $field: $type,)+ }

        #[allow(unsafe_code)]
        // SAFETY: fields that are all arguments, as the where clause requires; each is in `LAYOUT` with its place and shows
        // its windows. There are no others (the pattern in `LAYOUT`).
        unsafe impl $(<$($t: $bound),+>)? $crate::Argument for $name $(<$($t),+>)? where $($type: $crate::Argument,)+ {
            const LAYOUT: $crate::digest::Digest = {
                // The struct of this name has these fields and no others: there could be another one in scope. In no scope
                // of its own, where the types could mean others.
                let _ = |arguments: &Self| {
                    let $name { $($field),+ } = arguments;
                    $(
                        let field = $crate::expansion::type_of($field);
                        let _: $crate::expansion::PhantomData<$type> = field;
                    )+
                };
                $crate::layout_of::<Self>("struct")$(
                    .add($crate::expansion::stringify!($field).as_bytes())
                    .add_number($crate::expansion::offset_of!(Self, $field) as $crate::expansion::u64)
                    .add_digest(<$type as $crate::Argument>::LAYOUT)
                )+
            };

            #[cfg(not(target_os = "cuda"))]
            fn windows(
                &self,
                _name: &'static $crate::expansion::str,
                visit: &mut dyn $crate::expansion::FnMut(&'static $crate::expansion::str, $crate::host::Window),
            ) {
                $($crate::Argument::windows(&self.$field, $crate::expansion::stringify!($field), visit);)+
            }
        }
    };
}
