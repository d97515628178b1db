//! Entry points.

use crate::Argument;

/// A kernel's entry point: its name in the compiled module and what it is launched with.
///
/// # Safety
///
/// The module compiled from the sources with the digest [`SOURCES`](Entry::SOURCES) has an entry point `NAME` whose
/// one parameter is `Args`. Only [`kernel!`](crate::kernel) can know that.
pub unsafe trait Entry: 'static {
    /// What the kernel is launched with.
    type Args: Argument;
    /// The entry point's name.
    const NAME: &'static str;
    /// The digest of the sources that the entry point was written in ([`build::kernel_crate`](crate::build)).
    const SOURCES: Option<&'static str>;
    /// Runs the kernel's code as one thread, inside a host [`Machine`](crate::host::Machine).
    #[cfg(not(target_os = "cuda"))]
    fn run(args: Self::Args);
}

/// Defines a kernel.
///
/// `pub fn name(arena, args: Args) { … }` becomes an entry point `name` on the device. On the host it becomes the
/// type `name`, an [`Entry`](crate::Entry) with the code as [`Entry::run`](crate::Entry::run). The arena is the
/// block's shared memory ([`Arena`](crate::Arena)).
///
/// The name is that of the entry point in the compiled module, so it must be unique in its crate.
#[macro_export]
macro_rules! kernel {
    ($(#[$doc:meta])* pub fn $name:ident($arena:ident, $args:ident: $type:ty) $body:block) => {
        $(#[$doc])*
        #[cfg(target_os = "cuda")]
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        pub extern "ptx-kernel" fn $name($args: $type) {
            #[inline(always)]
            #[deny(unsafe_code)]
            fn inner($arena: $crate::Arena, $args: $type) $body
            // SAFETY: the one call in this thread.
            inner(unsafe { $crate::Arena::of_block() }, $args)
        }

        $(#[$doc])*
        #[cfg(not(target_os = "cuda"))]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        #[cfg(not(target_os = "cuda"))]
        #[allow(unsafe_code)]
        // SAFETY: the device build of this same source exports `$name` with this parameter (above).
        unsafe impl $crate::Entry for $name {
            type Args = $type;
            const NAME: &'static str = stringify!($name);
            const SOURCES: Option<&'static str> = option_env!("SLM_KERNEL_SOURCES");
            fn run(args: Self::Args) {
                #[deny(unsafe_code)]
                fn inner($arena: $crate::Arena, $args: $type) $body
                // SAFETY: the one call in this thread of the machine.
                inner(unsafe { $crate::Arena::of_block() }, args)
            }
        }
    };
}
