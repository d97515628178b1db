//! Windows that are kept beyond their launch.
//!
//! The compiler refuses to keep them, but a known defect of rustc lets safe code lengthen any lifetime (rust-lang/rust, issue
//! 25860). So the checks of a launch, and of emulated devices, do not rely on lifetimes alone.

use cuda_std::{GlobalIn, GlobalInOut};

macro_rules! lengthened {
    ($($name:ident: $window:ident;)*) => {$(
        /// Returns the same window, for any launch.
        #[must_use]
        pub fn $name<T: 'static>(window: $window<T>) -> $window<'static, T> {
            // For a reference to a reference, the compiler assumes that `'b` is not shorter than `'a`.
            fn same<'a, 'b, T>(_: &'a &'b (), window: $window<'b, T>) -> $window<'a, T> {
                window
            }
            let lengthened: for<'l> fn(_, $window<'l, T>) -> $window<'static, T> = same;
            lengthened(&&(), window)
        }
    )*};
}
lengthened! {
    input: GlobalIn;
    in_out: GlobalInOut;
}
