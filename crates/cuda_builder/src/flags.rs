//! What the compiler is told.

use crate::Arch;
use crate::compiler::Core;
use std::fmt;

/// Loops with a constant number of turns are unrolled whatever their size: an array is in registers only if every
/// index is known when compiling. Other loops are left as they are, since the driver compiles the code once more when
/// it is loaded, and that takes time in proportion to its length.
const UNROLLING: &str = "-Cllvm-args=-unroll-threshold=12000 \
     -Cllvm-args=-unroll-partial-threshold=100 -Cllvm-args=-unroll-runtime=false";

/// The oldest PTX that has `mma.sync` of integers, where LLVM would write an older one. Drivers know it since CUDA 10.2.
const PTX_6_5: &str = " -Ctarget-feature=+ptx65";

/// With line numbers: the one section of them that the driver's assembler does not understand is left out.
const NO_ARANGES: &str = "-Cllvm-args=-generate-arange-section=false";

/// The flags for one target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    pub(crate) arch: Arch,
    pub(crate) core: Core,
    pub(crate) release: bool,
}

impl Flags {
    /// Those for rustc, separated by spaces.
    pub(crate) fn rustflags(self) -> String {
        let core = self.core.flags().join(" ");
        let version = if self.arch < Arch::SM_80 { PTX_6_5 } else { "" };
        let flags = format!("-Ctarget-cpu={}{version} {core} {UNROLLING}", self.arch);
        if self.release { flags } else { format!("{flags} {NO_ARANGES}") }
    }

    /// The settings of cargo's profile. They go on the command line, so that no configuration file of the user changes
    /// what is compiled.
    pub(crate) fn profile(self) -> [&'static str; 8] {
        let [optimised, debug] = match self.release {
            true => ["opt-level=3", "debug=false"],
            false => ["opt-level=1", "debug='line-tables-only'"],
        };
        let [assertions, overflow] = ["debug-assertions=false", "overflow-checks=false"];
        let [lto, units, panic] = ["lto='fat'", "codegen-units=1", "panic='abort'"];
        [optimised, debug, lto, units, panic, assertions, overflow, "incremental=false"]
    }
}

impl fmt::Display for Flags {
    /// What the header of a module says: what decides about the code. There are no paths in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [optimised, debug, lto, units, ..] = self.profile();
        write!(f, "{} {optimised} {debug} {lto} {units}", self.rustflags())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_header_says() {
        let flags = Flags { arch: Arch::SM_90, core: Core::Sources, release: true };
        let expected = format!(
            "-Ctarget-cpu=sm_90 -Zunstable-options -Cpanic=immediate-abort {UNROLLING} \
             opt-level=3 debug=false lto='fat' codegen-units=1"
        );
        assert_eq!(flags.to_string(), expected);
    }

    #[test]
    fn old_targets_get_a_newer_ptx() {
        let rustflags = |arch| Flags { arch, core: Core::Sources, release: true }.rustflags();
        assert!(rustflags(Arch::SM_75).starts_with("-Ctarget-cpu=sm_75 -Ctarget-feature=+ptx65 -Z"));
        assert!(!rustflags(Arch::SM_80).contains("target-feature"));
    }

    #[test]
    fn line_numbers_are_for_other_than_release_builds() {
        let flags = Flags { arch: Arch::SM_75, core: Core::Prebuilt, release: false };
        assert!(flags.to_string().contains(NO_ARANGES));
        assert!(flags.profile().contains(&"debug='line-tables-only'"));
    }
}
