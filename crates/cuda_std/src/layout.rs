//! Descriptions of a block's shared memory, for both the host's launch and the kernel.

use crate::{Arena, Shared, Value};

impl<'l> Arena<'l> {
    /// Returns a window of `N` elements and the rest of the arena: [`split`](Arena::split) with a constant length.
    ///
    /// ```
    /// use cuda_std::{GlobalOut, arguments, kernel, thread};
    ///
    /// arguments! {
    ///     /// Arguments of `turn`.
    ///     pub struct Turning<'l> {
    ///         /// Receives 255 … 0.
    ///         pub output: GlobalOut<'l, u32>,
    ///     }
    /// }
    ///
    /// kernel! {
    ///     /// A block of 256 threads.
    ///     pub fn turn<'l>(arena, args: Turning<'l>) {
    ///         let (tile, _) = arena.array::<u32, 256>();
    ///         let t = thread::thread_linear();
    ///         tile.set(t, t);
    ///         thread::sync_threads();
    ///         args.output.set(t.into(), tile.get(255 - t));
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn array<T: Value, const N: usize>(self) -> (Shared<'l, T>, Arena<'l>) {
        const { assert!(N as u64 * size_of::<T>() as u64 <= u32::MAX as u64, "the array is larger than any shared memory") };
        self.split(N as u32)
    }

    /// Like [`split`](Arena::split), with a 64-bit length: a window of more than 2^32 - 1 elements does not fit either. Only
    /// for [`shared!`](crate::shared).
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn split_off<T: Value>(self, len: u64) -> (Shared<'l, T>, Arena<'l>) {
        self.split(if len > u32::MAX as u64 { u32::MAX } else { len as u32 })
    }
}

/// Describes a block's shared memory: a struct of windows, with all lengths in one place.
///
/// The host launches with the bytes of the description, and the kernel splits its arena by the same description, so the two
/// cannot disagree. If the lengths are constants:
///
/// * the constant `BYTES` is the number of bytes that the windows take (`u64`);
/// * `split(arena)` returns the windows and the rest of the arena.
///
/// If a launch decides the lengths, they are expressions of parameters, which are listed in parentheses after the name;
/// `bytes(…)` and `split(arena, …)` then take these parameters. Lengths are integers of any type, converted by `as u64`. Use
/// `u64` in expressions that could exceed a `u32`.
///
/// ```
/// use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, shared, thread};
///
/// /// Threads of a block.
/// const BLOCK: u32 = 256;
///
/// shared! {
///     /// What a block keeps.
///     pub struct Tile(radius: u64) {
///         /// Its samples and those on either side.
///         pub samples: [f32; BLOCK as u64 + 2 * radius],
///         /// A sum for each warp.
///         pub sums: [f32; BLOCK / 32],
///     }
/// }
///
/// arguments! {
///     /// What `first` works on.
///     pub struct First<'l> {
///         /// Receives one number.
///         pub output: GlobalOut<'l, f32>,
///         /// Samples on either side.
///         pub radius: u32,
///     }
/// }
///
/// kernel! {
///     /// Stores the length of the block's samples.
///     pub fn length<'l>(arena, args: First<'l>) {
///         let (tile, _) = Tile::split(arena, args.radius.into());
///         args.output.set_if(thread::global_linear() == 0, 0, tile.samples.len() as f32);
///     }
/// }
///
/// # fn main() {
/// // For the host's launch.
/// assert_eq!(Tile::bytes(8), 4 * (256 + 16) + 4 * 8);
/// # }
/// ```
#[macro_export]
macro_rules! shared {
    (
        $(#[doc = $doc:literal])* pub struct $name:ident {
            $($(#[doc = $field_doc:literal])* pub $field:ident: [$t:ty; $len:expr]),+ $(,)?
        }
    ) => {
        $crate::shared!(@windows [$($doc)*] $name { $([$($field_doc)*] $field: $t,)+ });

        impl<'l> $name<'l> {
            /// The number of bytes of shared memory that the windows take.
            pub const BYTES: u64 = $crate::shared!(@bytes $([$t; $len])+);

            /// Returns the windows and the rest of `arena`. A window that does not fit ends the kernel with an error.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn split(arena: $crate::Arena<'l>) -> (Self, $crate::Arena<'l>) {
                $(let ($field, arena) = arena.split_off::<$t>(const { $len as u64 });)+
                (Self { $($field),+ }, arena)
            }
        }
    };
    (
        $(#[doc = $doc:literal])* pub struct $name:ident($($parameter:ident: $parameter_type:ty),+ $(,)?) {
            $($(#[doc = $field_doc:literal])* pub $field:ident: [$t:ty; $len:expr]),+ $(,)?
        }
    ) => {
        $crate::shared!(@windows [$($doc)*] $name { $([$($field_doc)*] $field: $t,)+ });

        impl<'l> $name<'l> {
            /// Returns the number of bytes of shared memory that the windows take, or `u64::MAX`, which no launch can have,
            /// if the number does not fit into a `u64`.
            #[must_use]
            pub const fn bytes($($parameter: $parameter_type),+) -> u64 {
                $crate::shared!(@bytes $([$t; $len])+)
            }

            /// Returns the windows and the rest of `arena`. A window that does not fit ends the kernel with an error.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn split(arena: $crate::Arena<'l>, $($parameter: $parameter_type),+) -> (Self, $crate::Arena<'l>) {
                $(let ($field, arena) = arena.split_off::<$t>($len as u64);)+
                (Self { $($field),+ }, arena)
            }
        }
    };
    (@windows [$($doc:literal)*] $name:ident { $([$($field_doc:literal)*] $field:ident: $t:ty,)+ }) => {
        $(#[doc = $doc])*
        #[derive(Debug)]
        pub struct $name<'l> {
            $($(#[doc = $field_doc])* pub $field: $crate::Shared<'l, $t>,)+
        }
    };
    (@bytes $([$t:ty; $len:expr])+) => {
        0u64$(.saturating_add($crate::shared_bytes::<$t>($len as u64)))+
    };
}
