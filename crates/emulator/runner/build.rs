//! Brings the compiled catalogue to the program: built if a device compiler is there, otherwise the committed one.

use cuda_builder::{Arch, CudaBuilder, Mode};

fn main() {
    CudaBuilder::new("../catalogue")
        .module("calls_barriers")
        .module("calls_inlined")
        .module("calls_outlined")
        .module("catalogue")
        .arch(Arch::SM_80)
        .default_mode(Mode::Auto)
        .build()
        .unwrap_or_else(|error| error.exit());
}
