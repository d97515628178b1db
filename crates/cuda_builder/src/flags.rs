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

/// How rustc is kept from copying operations of warps ([`convergence`](crate::convergence)): the next one is taken where
/// the one before was not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precaution {
    /// Not at all: `cuda_std` keeps those that stand in a kernel's own code in one place.
    Nothing,
    /// Functions with the attribute `inline` become a kernel's own code, whatever their length, before anything is copied.
    Inlining,
    /// The pass that copies does not run. Without it loops over arrays may not be unrolled, and the arrays are in memory.
    NoJumpThreading,
}

impl Precaution {
    pub(crate) const ALL: [Precaution; 3] = [Precaution::Nothing, Precaution::Inlining, Precaution::NoJumpThreading];

    /// Those for rustc, with a space in front.
    fn flags(self) -> &'static str {
        match self {
            Precaution::Nothing => "",
            Precaution::Inlining => " -Zinline-mir-hint-threshold=100000",
            Precaution::NoJumpThreading => " -Zinline-mir-hint-threshold=100000 -Zmir-enable-passes=-JumpThreading",
        }
    }

    /// What is added to the name of the folder that has everything compiled with these flags.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Precaution::Nothing => "",
            Precaution::Inlining => "-inlined",
            Precaution::NoJumpThreading => "-unthreaded",
        }
    }
}

/// The flags for one target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    pub(crate) arch: Arch,
    pub(crate) core: Core,
    pub(crate) release: bool,
    pub(crate) precaution: Precaution,
}

impl Flags {
    /// Those for rustc, separated by spaces.
    pub(crate) fn rustflags(self) -> String {
        let core = self.core.flags().join(" ");
        let version = if self.arch < Arch::SM_80 { PTX_6_5 } else { "" };
        let precaution = self.precaution.flags();
        let flags = format!("-Ctarget-cpu={}{version} {core} {UNROLLING}{precaution}", self.arch);
        if self.release { flags } else { format!("{flags} {NO_ARANGES}") }
    }

    /// The settings of cargo's profile. They go on the command line, so that no configuration file of the user changes
    /// what is compiled.
    pub(crate) fn profile(self) -> [&'static str; 8] {
        let [optimised, debug] = match self.release {
            true => ["opt-level=3", "debug='line-directives-only'"],
            false => ["opt-level=1", "debug='line-tables-only'"],
        };
        let [assertions, overflow] = ["debug-assertions=false", "overflow-checks=false"];
        let [lto, units, panic] = ["lto='fat'", "codegen-units=1", "panic='abort'"];
        [optimised, debug, lto, units, panic, assertions, overflow, "incremental=false"]
    }
}

impl fmt::Display for Flags {
    /// What the list of modules says: what decides about the code. There are no paths in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [optimised, debug, lto, units, ..] = self.profile();
        // Source lines are removed from optimised modules.
        let debug = if self.release { "debug=false" } else { debug };
        write!(f, "{} {optimised} {debug} {lto} {units}", self.rustflags())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_list_says() {
        let flags = Flags { arch: Arch::SM_90, core: Core::Sources, release: true, precaution: Precaution::Nothing };
        let expected = format!(
            "-Ctarget-cpu=sm_90 -Zunstable-options -Cpanic=immediate-abort {UNROLLING} \
             opt-level=3 debug=false lto='fat' codegen-units=1"
        );
        assert_eq!(flags.to_string(), expected);
    }

    #[test]
    fn old_targets_get_a_newer_ptx() {
        let rustflags =
            |arch| Flags { arch, core: Core::Sources, release: true, precaution: Precaution::Nothing }.rustflags();
        assert!(rustflags(Arch::SM_75).starts_with("-Ctarget-cpu=sm_75 -Ctarget-feature=+ptx65 -Z"));
        assert!(!rustflags(Arch::SM_80).contains("target-feature"));
    }

    #[test]
    fn the_list_says_what_keeps_operations_in_one_place() {
        let flags = |precaution| Flags { arch: Arch::SM_90, core: Core::Sources, release: true, precaution };
        assert!(!flags(Precaution::Nothing).to_string().contains("mir"));
        assert!(flags(Precaution::Inlining).to_string().contains("-Zinline-mir-hint-threshold=100000 opt-level=3"));
        assert!(
            flags(Precaution::NoJumpThreading).to_string().contains("-Zmir-enable-passes=-JumpThreading opt-level=3")
        );
    }

    #[test]
    fn line_numbers_are_for_other_than_release_builds() {
        let flags = Flags { arch: Arch::SM_75, core: Core::Prebuilt, release: false, precaution: Precaution::Nothing };
        assert!(flags.to_string().contains(NO_ARANGES));
        assert!(flags.profile().contains(&"debug='line-tables-only'"));
    }
}
