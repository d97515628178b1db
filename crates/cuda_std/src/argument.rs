//! Arguments of kernels.

use crate::digest::{Digest, Hasher};
use crate::{GlobalIn, GlobalInOut, GlobalOut, Value};

/// What a kernel may do with a window on global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKind {
    /// [`GlobalIn`](crate::GlobalIn).
    In,
    /// [`GlobalOut`](crate::GlobalOut).
    Out,
    /// [`GlobalInOut`](crate::GlobalInOut).
    InOut,
}

/// A window on global memory, of any element type: the memory that a kernel can reach through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// What the kernel may do with it.
    pub kind: WindowKind,
    /// The address of its first byte.
    pub address: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The size of an element, in bytes.
    pub element_bytes: u32,
}

impl Window {
    /// Returns whether `other` lies inside this window and is of the same kind.
    #[must_use]
    pub fn contains(&self, other: &Window) -> bool {
        let beyond = other.address.checked_sub(self.address);
        let end = beyond.and_then(|beyond| beyond.checked_add(other.bytes));
        self.kind == other.kind && end.is_some_and(|end| end <= self.bytes)
    }
}

/// Data with the same meaning on the host and on the device: numbers, windows on global memory, and structs of them.
///
/// [`arguments!`](crate::arguments) implements it for structs. The compiler's error for any other struct names the macro:
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
/// `LAYOUT` must cover the whole layout, the type must not contain a host address, and `windows` must report all its
/// windows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the argument of a kernel",
    label = "not an argument: neither a number, nor a window on global memory, nor made by `arguments!`",
    note = "define the struct inside `cuda_std::arguments! {{ … }}`, which makes it an argument if all of its fields are"
)]
pub unsafe trait Argument: Copy + Send + Sync {
    /// Digest of the type's layout: the names, types and offsets of its fields, recursively. Host and device compute it
    /// separately, each for the type as compiled there.
    const LAYOUT: Digest;

    /// Calls `visit` for every window in the value, with the name of its field; `name` is the name of the value itself. It
    /// tells the launcher which memory the kernel can reach.
    fn windows(&self, name: &'static str, visit: &mut dyn FnMut(&'static str, Window));
}

/// An argument whose windows all have the lifetime `'l` of a launch, and no other one.
///
/// Host and device check it separately for each kernel, because `cfg` can give a type different lifetimes on either side, which
/// digests do not contain:
///
/// ```compile_fail
/// cuda_std::kernel! {
///     /// Could keep its window.
///     pub fn lasting<'l>(_arena, output: cuda_std::GlobalOut<'static, u32>) {}
/// }
/// # fn main() {}
/// ```
///
/// # Safety
///
/// All windows in the value must have the lifetime `'l`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the argument of a kernel",
    label = "not an argument: neither a number, nor a window on global memory, nor made by `arguments!`",
    note = "define the struct inside `cuda_std::arguments! {{ … }}`, which makes it an argument if all of its fields are"
)]
pub unsafe trait ArgumentOf<'l>: Argument {}

// SAFETY: numbers are not windows.
unsafe impl<T: Value> ArgumentOf<'_> for T {}

// SAFETY: it contains nothing.
unsafe impl ArgumentOf<'_> for () {}

/// Returns a hasher with the parts that the `LAYOUT` of every type begins with.
#[doc(hidden)]
#[must_use]
pub const fn layout_of<T>(kind: &str) -> Hasher {
    Hasher::new().add(kind.as_bytes()).add_number(size_of::<T>() as u64).add_number(align_of::<T>() as u64)
}

// SAFETY: `LAYOUT` identifies numbers by their names; they are neither addresses nor windows.
unsafe impl<T: Value> Argument for T {
    const LAYOUT: Digest = layout_of::<T>(T::VALUE_NAME).finish();

    fn windows(&self, _name: &'static str, _visit: &mut dyn FnMut(&'static str, Window)) {}
}

// SAFETY: it contains nothing.
unsafe impl Argument for () {
    const LAYOUT: Digest = layout_of::<()>("()").finish();

    fn windows(&self, _name: &'static str, _visit: &mut dyn FnMut(&'static str, Window)) {}
}

macro_rules! windows {
    ($($name:ident)*) => {$(
        // SAFETY: `repr(C)`; the address is the device's, by the contract of `from_raw_parts`; `windows` reports the window
        // itself.
        unsafe impl<T: Value> Argument for $name<'_, T> {
            const LAYOUT: Digest = layout_of::<Self>(stringify!($name)).add_digest(T::LAYOUT).finish();

            fn windows(&self, name: &'static str, visit: &mut dyn FnMut(&'static str, Window)) {
                visit(name, self.description());
            }
        }

        // SAFETY: the only window is itself.
        unsafe impl<'l, T: Value> ArgumentOf<'l> for $name<'l, T> {}
    )*};
}
windows!(GlobalIn GlobalOut GlobalInOut);

/// Defines the struct of a kernel's arguments: `#[repr(C)]`, with every field an [`Argument`].
///
/// Windows have the lifetime of the launch, which is the struct's first parameter. A struct of numbers needs none.
///
/// All fields exist on the host and on the device. The only accepted attributes are documentation, `derive`, `allow`,
/// `expect`, `deprecated` and `must_use`.
///
/// ```
/// cuda_std::arguments! {
///     /// A scaled copy.
///     pub struct Scaling<'l, T: cuda_std::Value> {
///         /// The elements to copy.
///         pub input: cuda_std::GlobalIn<'l, T>,
///         /// Receives them.
///         pub output: cuda_std::GlobalOut<'l, T>,
///         /// The factor. The trailing comma is optional.
///         pub factor: T
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! arguments {
    ($(#[$($attribute:tt)*])* pub struct $name:ident $(<$($launch:lifetime)? $(,)? $($t:ident: $bound:path),*>)? {
        $($(#[$($field_attribute:tt)*])* pub $field:ident: $type:ty),+ $(,)?
    }) => {
        $($crate::accepted_attribute! { $($attribute)* })*
        $($($crate::accepted_attribute! { $($field_attribute)* })*)+

        $(#[$($attribute)*])*
        #[repr(C)]
        #[$crate::expansion::derive($crate::expansion::Clone, $crate::expansion::Copy, $crate::expansion::Debug)]
        pub struct $name $(<$($launch,)? $($t: $bound),*>)? { $($(#[$($field_attribute)*])* pub $field: $type,)+ }

        #[allow(unsafe_code)]
        // SAFETY: all fields are arguments (the where clause); `LAYOUT` has each with its offset, and `windows` reports the
        // windows of each. There are no other fields (the pattern in `LAYOUT`).
        unsafe impl $(<$($launch,)? $($t: $bound),*>)? $crate::Argument for $name $(<$($launch,)? $($t),*>)?
        where
            $($type: $crate::Argument,)+
        {
            const LAYOUT: $crate::digest::Digest = {
                // Checks that the struct of this name has exactly these fields, because another one could be in scope. A
                // closure, because the name of a function here could change the meaning of the types.
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
                )+.finish()
            };

            fn windows(
                &self,
                _name: &'static $crate::expansion::str,
                visit: &mut dyn $crate::expansion::FnMut(&'static $crate::expansion::str, $crate::expansion::Window),
            ) {
                $($crate::Argument::windows(&self.$field, $crate::expansion::stringify!($field), visit);)+
            }
        }

        $crate::arguments!(@of $name [$($($launch)?)?] [$($($t: $bound),*)?] [$($type),+]);
    };
    // A struct of numbers is an argument of any launch.
    (@of $name:ident [] $generics:tt $types:tt) => {
        $crate::arguments!(@impl $name ['launch] [] $generics $types);
    };
    (@of $name:ident [$launch:lifetime] $generics:tt $types:tt) => {
        $crate::arguments!(@impl $name [$launch] [$launch,] $generics $types);
    };
    (@impl $name:ident [$launch:lifetime] [$($own:tt)*] [$($t:ident: $bound:path),*] [$($type:ty),+]) => {
        #[allow(unsafe_code)]
        // SAFETY: all fields have this lifetime (the where clause), and there are no others (the pattern in `LAYOUT`).
        unsafe impl<$launch, $($t: $bound),*> $crate::ArgumentOf<$launch> for $name<$($own)* $($t),*>
        where
            $($type: $crate::ArgumentOf<$launch>,)+
        {
        }
    };
}
