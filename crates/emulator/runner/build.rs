//! Provides the compiled catalogue: compiled now if there is a device compiler, otherwise the committed modules.

use cuda_builder::{CudaBuilder, Mode};

fn main() {
    CudaBuilder::new("../catalogue").default_mode(Mode::Auto).build().unwrap_or_else(|error| error.exit());
}
