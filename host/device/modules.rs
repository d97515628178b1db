//! The compiled kernels of this crate. A build without CUDA has none, and emulated devices need none.

use crate::{Device, Kernel, Result};
use cuda_std::Entry;

cuda_std::include_kernels!();

/// Returns the origin of this program's kernels: compiled together with the program, or taken from the committed modules of
/// the kernel package.
#[cfg(cuda)]
#[cfg_attr(docsrs, doc(cfg(feature = "cuda")))]
#[must_use]
pub fn ptx_origin() -> cuda_std::image::Origin {
    ORIGIN
}

impl Device {
    /// Returns the kernel `E` of this crate.
    pub(crate) fn own_kernel<E: Entry>(&self) -> Result<Kernel<E>> {
        self.kernel(&KERNELS)
    }
}

#[cfg(all(test, cuda))]
mod tests {
    use super::*;
    use cuda_std::image::verify_kernel;
    use slm_kernels::signal::Same;
    use slm_kernels::{Misaligned, banks, filter1d, histogram, transpose};

    fn verify<E: Entry>() {
        let module = KERNELS.of::<E>().unwrap();
        assert!(!module.images().is_empty());
        module.images().iter().for_each(|image| assert_eq!(verify_kernel::<E>(image.text()), Ok(())));
    }

    struct Verify;

    impl transpose::Visitor for Verify {
        type Output = ();

        fn visit<E>(self)
        where
            E: Entry<Constants = ()>,
            for<'l> E::Args<'l>: TryFrom<transpose::Work<'l>, Error = Misaligned>,
        {
            verify::<E>();
        }
    }

    #[test]
    fn kernels_are_in_their_modules() {
        verify::<banks::banks_accumulate>();
        verify::<filter1d::filter1d_tile<Same<f64>>>();
        verify::<filter1d::filter1d_register_rows<Same<f32>>>();
        verify::<filter1d::filter1d_register_columns<Same<i32>>>();
        verify::<histogram::histogram_peaks<histogram::Bytes<'static>>>();
        verify::<histogram::histogram_shared<histogram::Bytes<'static>>>();
        verify::<histogram::histogram_alone<histogram::LowBits>>();
        verify::<transpose::transpose_swap<u16>>();
        verify::<transpose::transpose_shuffle<u8>>();
        verify::<transpose::transpose_gather_packs>();
        verify::<transpose::transpose_rotate_chunks>();
        for packed in transpose::PACKED {
            transpose::TransposeKernel::Packed(packed).visit(Verify);
        }
        for skewed in transpose::SKEWED {
            transpose::TransposeKernel::Skewed(skewed).visit(Verify);
        }
        for whole in transpose::WHOLE {
            transpose::TransposeKernel::Whole(whole).visit(Verify);
        }
    }
}
