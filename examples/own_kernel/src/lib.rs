//! A host function around a kernel of one's own.

use kernels::dilate::{self as device_code, BLOCK, Dilation, Tile};
use slm::{Device, LaunchShape, Result};

// The static `KERNELS`: the table of the compiled modules, made by build.rs.
cuda_std::include_kernels!();

/// The largest of the samples from `i - radius` to `i + radius`, for every `i`; NaN counts as -∞.
///
/// # Errors
///
/// [`slm::Error::SharedMemoryExceeded`] if the radius is too large for the device; otherwise those of
/// [`Device::kernel`], [`slm::Kernel::launch`] and buffers.
pub fn dilate(device: &Device, samples: &[f32], radius: u32) -> Result<Vec<f32>> {
    // A program with more to do keeps the kernel, and its data on the device.
    let kernel = device.kernel::<device_code::dilate>(&KERNELS)?;
    let input = device.upload(samples)?;
    let mut output = device.zeroed(samples.len())?;
    if !samples.is_empty() {
        let blocks = (samples.len() as u64).div_ceil(BLOCK.into());
        let shape = LaunchShape::new([blocks, 1, 1], [BLOCK, 1, 1]).shared_bytes(Tile::bytes(radius.into()));
        kernel.launch(shape, |windows| Dilation {
            input: windows.input(&input),
            output: windows.output(&mut output),
            radius,
        })?;
    }
    output.download()
}
