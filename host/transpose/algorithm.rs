//! Algorithms of transpositions.

/// Kernel that transposes on a GPU. The CPU ignores this setting.
///
/// All algorithms return the same result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransposeAlgorithm {
    /// The fastest algorithm for these matrices. [`plan`](super::PreparedTranspose::plan) returns the choice and its reason.
    /// Elements of 1, 2, 3, 4, 6, 8, 12 and 16 bytes have kernels that move whole words. They move 16 bytes at a time if
    /// rows of the input begin at multiples of 16 bytes (4 bytes for elements of 3 bytes), rows of the output begin at
    /// multiples of 32 bytes, and the numbers of rows and columns are multiples of the elements in 16 bytes (of 4 for
    /// elements of 3 and 12 bytes). Of many small matrices without gaps, a block transposes several at a time.
    #[default]
    Auto,
    /// No shared memory: neighbouring threads read neighbouring elements. Their stores are one row, or several rows, of the
    /// output apart. Shows the cost of such stores; good for long elements and for small matrices.
    Naive,
    /// A tile in shared memory, so that neighbouring threads also write neighbouring elements. The rows of the tile are
    /// contiguous. Most threads of a warp that read a column access the same bank. Shows the cost of these bank conflicts.
    SharedUnpadded,
    /// A tile in shared memory with padded rows, without bank conflicts.
    SharedPadded,
}
