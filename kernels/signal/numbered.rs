//! Enums that kernels receive as numbers.

/// Defines an enum with these numbers, and a module with the numbers under the names of the variants: patterns cannot contain
/// casts.
macro_rules! numbered {
    (
        $(#[$doc:meta])*
        pub enum $name:ident in $numbers:ident {
            $($(#[$of_variant:meta])* $variant:ident = $number:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $name {
            $($(#[$of_variant])* $variant = $number,)*
        }

        #[allow(dead_code, non_upper_case_globals)]
        pub(crate) mod $numbers {
            $(pub(crate) const $variant: u32 = $number;)*
        }
    };
}
pub(crate) use numbered;
