//! Says where this crate is and which files its kernels are compiled from.

fn main() -> std::io::Result<()> {
    cuda_std::build::kernel_crate(&[])
}
