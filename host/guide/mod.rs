//! Pages about the whole crate: safety, operation, platforms, own kernels and compilation.
//!
//! All of them begin with a device:
//!
//! ```
//! # fn main() -> slm::Result<()> {
//! let device = slm::Device::open()?;
//! println!("{device}"); // CPU, 2 threads (no CUDA driver)
//! println!("{}", device.info().selection); // the whole reason for the choice
//! # Ok(())
//! # }
//! ```

#[doc = include_str!("compilation.md")]
pub mod compilation {}
#[doc = include_str!("operators.md")]
pub mod operators {}
#[doc = include_str!("own_kernels.md")]
pub mod own_kernels {}
#[doc = include_str!("platforms.md")]
pub mod platforms {}
#[doc = include_str!("safety.md")]
pub mod safety {}
