//! The kernel modules of the library: a static for each, which `build.rs` makes. Without CUDA they have no images.

cuda_std::include_kernels!();
