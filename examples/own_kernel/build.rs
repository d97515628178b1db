//! Adds the compiled kernel to the program: built if a device compiler is installed, otherwise the committed one.

use cuda_builder::{CudaBuilder, Mode};

fn main() {
    CudaBuilder::new("kernels").default_mode(Mode::Auto).build().unwrap_or_else(|error| error.exit());
}
