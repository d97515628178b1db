//! What a kernel can be launched with.

use crate::{GlobalIn, GlobalInOut, GlobalOut, Value};

/// Data that means the same on the host and on the device: numbers, windows on global memory, and structs of them.
///
/// Structs get it from [`arguments!`](crate::arguments).
///
/// # Safety
///
/// The type has the same layout on both sides and contains no host address.
pub unsafe trait Argument: Copy + Send + Sync + 'static {}

// SAFETY: numbers have the same layout on every target with 64-bit pointers, and are no addresses.
unsafe impl<T: Value> Argument for T {}
// SAFETY: nothing at all.
unsafe impl Argument for () {}
// SAFETY: `repr(C)`; the address is one of the device's, by the contract of `from_raw_parts`.
unsafe impl<T: Value> Argument for GlobalIn<T> {}
// SAFETY: as above.
unsafe impl<T: Value> Argument for GlobalOut<T> {}
// SAFETY: as above.
unsafe impl<T: Value> Argument for GlobalInOut<T> {}

/// Defines the struct that a kernel is launched with: `#[repr(C)]`, every field an [`Argument`].
///
/// ```
/// cuda_std::arguments! {
///     /// A scaled copy.
///     pub struct Scaling<T: cuda_std::Value> {
///         /// What is copied.
///         pub input: cuda_std::GlobalIn<T>,
///         /// Where to.
///         pub output: cuda_std::GlobalOut<T>,
///         /// The factor.
///         pub factor: T,
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! arguments {
    ($(#[$doc:meta])* pub struct $name:ident $(<$t:ident: $bound:path>)? { $($(#[$field_doc:meta])* pub $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name $(<$t: $bound>)? { $($(#[$field_doc])* pub $field: $type,)+ }

        #[allow(unsafe_code)]
        // SAFETY: `repr(C)` with fields that are all arguments, as the where clause requires.
        unsafe impl $(<$t: $bound>)? $crate::Argument for $name $(<$t>)? where $($type: $crate::Argument,)+ {}
    };
}
