//! Enums that kernels receive as numbers.

/// Defines an enum with these numbers, and a type with the numbers as constants that have the names of the variants: patterns cannot
/// contain casts. (Not a module: crates without `std` declare none in macros.)
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

        #[allow(non_camel_case_types)]
        pub(crate) enum $numbers {}

        #[allow(dead_code, non_upper_case_globals)]
        impl $numbers {
            $(pub(crate) const $variant: u32 = $number;)*
        }
    };
}
pub(crate) use numbered;
