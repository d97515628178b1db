//! What the fuzz targets share: [`Reader`] makes descriptions and samples of an input's bytes, [`devices`] are compared with an
//! oracle, and [`floods`] says which results are too large to compute.

mod devices;
mod files;
mod matrices;
mod patterns;
mod reader;
mod settings;

pub use devices::{devices, is_refusal};
pub use files::in_file;
pub use matrices::{contents, matrix};
pub use patterns::written_is_read;
pub use reader::Reader;
pub use settings::{boundary, compatible, extent, origin, typed};

use std::fmt::Debug;

/// Elements that a result may have. Descriptions with extreme numbers are legal, and then take as long as their results are
/// large.
const MOST: usize = 1 << 12;

/// Returns the instances of a generic function for all types of samples of ranks and morphology, each with its kind.
#[macro_export]
macro_rules! for_rank_types {
    ($function:ident) => {
        $crate::for_rank_types!($function: U8 u8, U16 u16, I16 i16, I32 i32, F32 f32, F64 f64)
    };
    ($function:ident: $($kind:ident $t:ty),*) => {
        [$((::slm_test_support::numbers::Kind::$kind, $function::<$t>)),*]
    };
}

/// Returns whether a result of this shape has too many elements to compute them for every input.
#[must_use]
pub fn floods(shape: &[usize]) -> bool {
    shape.iter().try_fold(1, |product: usize, side| product.checked_mul(*side)).is_none_or(|product| product > MOST)
}

/// Ends the run if a check fails, with what was checked: libFuzzer keeps the input.
///
/// # Panics
///
/// If `result` is an error.
pub fn expect<T, E: Debug>(result: Result<T, E>, what: &dyn Debug) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}\n{what:?}"))
}
