//! The kernels, whatever the size of their units.

use crate::kernel::cast;
use crate::modules::{TRANSPOSE_PACKED, TRANSPOSE_SKEWED, TRANSPOSE_U8, TRANSPOSE_U16, TRANSPOSE_U32};
use crate::{Device, LaunchShape, Residency, Result, Windows};
use cuda_std::image::Module;
use cuda_std::{Argument, Entry, GlobalIn, GlobalOut, Value};
use slm_kernels::transpose as kernels;
use slm_kernels::transpose::{Args, Geometry, Kernel, Part, SkewedArgs, Unit};
use std::sync::Arc;

/// A launch of so many blocks.
pub(super) fn shape(geometry: &Geometry, grid: [u64; 3]) -> LaunchShape {
    LaunchShape::new(grid, [geometry.threads, 1, 1]).shared_bytes(geometry.shared_bytes)
}

/// A loaded kernel, whatever the units are.
pub(super) trait Launch: Send + Sync {
    fn name(&self) -> &'static str;
    fn launch(
        &self,
        windows: &Windows<'_>,
        geometry: &Geometry,
        part: Part,
        input: GlobalIn<u8>,
        output: GlobalOut<u8>,
    ) -> Result<()>;
    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>>;
}

/// The arguments of a kernel, made from windows on bytes.
trait Arguments: Argument {
    /// An error if the windows do not begin at multiples of what the kernel moves at a time.
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Result<Self>;
}

impl<U: Value> Arguments for Args<U> {
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Result<Self> {
        let at_once = geometry.at_once;
        Ok(Args { input: cast(input, at_once)?, output: cast(output, at_once)?, layout: geometry.layout(part) })
    }
}

impl<U: Unit> Arguments for SkewedArgs<U>
where
    SkewedArgs<U>: Argument,
{
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Result<Self> {
        Ok(SkewedArgs {
            input: cast(input, 1)?,
            output: cast(output, 1)?,
            input_words: cast(input, 1)?,
            output_words: cast(output, 1)?,
            layout: geometry.layout(part),
            places: geometry.skewed,
        })
    }
}

impl<E: Entry<Args: Arguments, Constants = ()>> Launch for crate::Kernel<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn launch(
        &self,
        windows: &Windows<'_>,
        geometry: &Geometry,
        part: Part,
        input: GlobalIn<u8>,
        output: GlobalOut<u8>,
    ) -> Result<()> {
        let args = E::Args::new(geometry, part, input, output)?;
        self.launch_in(windows, shape(geometry, part.grid), &args, &())
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        crate::Kernel::residency(self, shape)
    }
}

/// Which entry point, in which module, a kernel is.
macro_rules! entries {
    ($($unit:literal $module:ident: $naive:ident $shared:ident;)* $(packs $packed_module:ident: $($packed:ident)*;)*) => {
        pub(super) fn name(kernel: Kernel) -> &'static str {
            match kernel {
                $(
                    Kernel::Naive($unit) => kernels::$naive::NAME,
                    Kernel::Shared { unit: $unit, .. } => kernels::$shared::NAME,
                )*
                Kernel::Packed(packed) => packed.name,
                Kernel::Skewed(skewed) => skewed.name,
                _ => unreachable!("units have 1, 2 or 4 bytes, and what works in place is another matter"),
            }
        }

        pub(super) fn load(device: &Device, kernel: Kernel) -> Result<Arc<dyn Launch>> {
            let name = name(kernel);
            $(
                if name == kernels::$naive::NAME {
                    return launch::<kernels::$naive>(device, &$module);
                }
                if name == kernels::$shared::NAME {
                    return launch::<kernels::$shared>(device, &$module);
                }
            )*
            $($(
                if name == kernels::$packed::NAME {
                    return launch::<kernels::$packed>(device, &$packed_module);
                }
            )*)*
            unreachable!("there is no kernel {name}")
        }
    };
}
entries! {
    1 TRANSPOSE_U8: transpose_naive_u8 transpose_shared_u8;
    2 TRANSPOSE_U16: transpose_naive_u16 transpose_shared_u16;
    4 TRANSPOSE_U32: transpose_naive_u32 transpose_shared_u32;
    packs TRANSPOSE_PACKED: transpose_packed_1 transpose_packed_2 transpose_packed_3 transpose_packed_4
        transpose_packed_8 transpose_packed_12 transpose_packed_16;
    packs TRANSPOSE_SKEWED: transpose_skewed_1 transpose_skewed_2 transpose_skewed_3 transpose_skewed_4
        transpose_skewed_6 transpose_skewed_8 transpose_skewed_8_by_4 transpose_skewed_12 transpose_skewed_16
        transpose_skewed_16_by_4;
}

fn launch<E: Entry<Args: Arguments, Constants = ()>>(
    device: &Device,
    module: &'static Module,
) -> Result<Arc<dyn Launch>> {
    Ok(Arc::new(device.kernel::<E>(module)?))
}
