//! Dilates some samples, on a GPU if there is one and otherwise on an emulated one, and checks the result:
//!
//! ```sh
//! cargo run -p own-kernel
//! ```

use slm::emulator::Profile;
use slm::{Backend, Device};

fn main() -> slm::Result<()> {
    let mut device = Device::open()?;
    if device.info().backend == Backend::Cpu {
        println!("{device}: kernels need a GPU, so an emulated one runs them");
        device = Device::emulated(Profile::SM_90, 0);
    }

    let (samples, radius): (Vec<f32>, _) = ((0..10_000).map(|i| (i * 7919 % 10_007) as f32).collect(), 8);
    let dilated = own_kernel::dilate(&device, &samples, radius)?;
    for (i, y) in dilated.iter().enumerate() {
        let end = samples.len().min(i + radius as usize + 1);
        let window = &samples[i.saturating_sub(radius as usize)..end];
        assert!(window.contains(y) && window.iter().all(|x| x <= y), "element {i} is {y}");
    }
    println!("{} samples dilated on {device}, every one checked", dilated.len());
    device.emulation_reports().iter().for_each(|report| println!("{report}"));
    Ok(())
}
