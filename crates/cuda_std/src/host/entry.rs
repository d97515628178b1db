//! What the expansion of [`kernel!`](crate::kernel) needs on the host.

use crate::{Constants, Table, Value};

/// Returns the library that a module's path begins with.
#[must_use]
pub const fn library(path: &str) -> &str {
    let mut len = 0;
    while len < path.len() && path.as_bytes()[len] != b':' {
        len += 1;
    }
    path.split_at(len).0
}

/// Returns whether a kernel in the module `path` is in the library that the build script of its package vouches for. Cargo
/// sets `library` for that package's binaries, tests and benchmarks too, and they may have the library's name. `others` are
/// the variables that Cargo sets only for them. Documentation tests have other names.
#[must_use]
pub const fn is_without_std(path: &str, library: Option<&str>, others: [Option<&str>; 2]) -> bool {
    let (Some(library), [None, None]) = (library, others) else { return false };
    let (path, library) = (path.as_bytes(), library.as_bytes());
    let mut same = 0;
    while same < library.len() && same < path.len() && library[same] == path[same] {
        same += 1;
    }
    same > 0 && same == library.len() && (same == path.len() || path[same] == b':')
}

/// Conversion of constants from the host's type to the kernel's.
pub trait Given {
    /// The type that the kernel receives, for the launch `'l`.
    type Seen<'l>;
    /// Returns the same constants for the kernel.
    fn seen<'l>(self) -> Self::Seen<'l>;
}

impl Given for () {
    type Seen<'l> = ();
    fn seen<'l>(self) -> Self::Seen<'l> {}
}

impl<T: Value, const N: usize> Given for Table<T, N> {
    type Seen<'l> = Constants<'l, T, N>;
    fn seen<'l>(self) -> Self::Seen<'l> {
        Constants::of(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{is_without_std, library};

    #[test]
    fn a_path_begins_with_its_library() {
        assert_eq!(["kernels", "kernels::blur::rows", ""].map(library), ["kernels", "kernels", ""]);
    }

    #[test]
    fn only_the_library_is_vouched_for() {
        let library = Some("kernels");
        let all = [
            ("kernels", library, [None, None], true),
            ("kernels::blur::rows", library, [None, None], true),
            ("kernels_too::blur", library, [None, None], false),
            ("kernel", library, [None, None], false),
            ("rust_out", library, [None, None], false),
            ("kernels", None, [None, None], false),
            ("kernels", Some(""), [None, None], false),
            ("kernels", library, [library, None], false),
            ("kernels", library, [None, Some("target/tmp")], false),
        ];
        for (path, library, others, expected) in all {
            assert_eq!(is_without_std(path, library, others), expected, "{path} {library:?} {others:?}");
        }
    }
}
