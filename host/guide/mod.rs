//! Pages about the whole crate: safety, platforms, own kernels and compilation.

#[doc = include_str!("compilation.md")]
pub mod compilation {}
#[doc = include_str!("own_kernels.md")]
pub mod own_kernels {}
#[doc = include_str!("platforms.md")]
pub mod platforms {}
#[doc = include_str!("safety.md")]
pub mod safety {}
