//! The compiled kernels of this crate: a `static` for each module of slm-kernels. Without CUDA they have no images, which
//! emulated devices do not need.

cuda_std::include_kernels!();

/// Where this program's kernels come from: compiled together with it, or taken from the files that the kernel
/// package carries.
#[cfg(cuda)]
#[must_use]
pub fn ptx_origin() -> cuda_std::image::Origin {
    ORIGIN
}

#[cfg(all(test, cuda))]
mod tests {
    use super::*;
    use cuda_std::Entry;
    use cuda_std::image::{Module, verify_kernel};
    use slm_kernels::{filter1d, histogram};

    fn verify<E: Entry>(module: &Module) {
        assert!(!module.images().is_empty());
        module.images().iter().for_each(|image| assert_eq!(verify_kernel::<E>(image.text()), Ok(())));
    }

    #[test]
    fn kernels_are_in_their_modules() {
        macro_rules! verify {
            ($($module:ident: $($entry:path)*;)*) => {$($(verify::<$entry>(&$module);)*)*};
        }
        verify! {
            FILTER1D_SIMPLE_F32: filter1d::filter1d_global_f32 filter1d::filter1d_tile_f32;
            FILTER1D_SIMPLE_F64: filter1d::filter1d_global_f64 filter1d::filter1d_tile_f64;
            FILTER1D_SIMPLE_I32: filter1d::filter1d_global_i32 filter1d::filter1d_tile_i32;
            FILTER1D_ROWS_F32: filter1d::filter1d_register_rows_f32;
            FILTER1D_ROWS_F64: filter1d::filter1d_register_rows_f64;
            FILTER1D_ROWS_I32: filter1d::filter1d_register_rows_i32;
            FILTER1D_COLUMNS_F32: filter1d::filter1d_register_columns_f32;
            FILTER1D_COLUMNS_F64: filter1d::filter1d_register_columns_f64;
            FILTER1D_COLUMNS_I32: filter1d::filter1d_register_columns_i32;
            HISTOGRAM_PEAK: histogram::histogram_peak;
        }
    }
}
