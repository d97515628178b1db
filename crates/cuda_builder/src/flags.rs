//! Flags of the compiler.

use crate::Arch;
use crate::compiler::Core;
use std::fmt;

/// Unrolls loops with a constant number of iterations, even large ones, because an array is in registers only if every index
/// is known at compile time. Other loops are not unrolled, because the driver compiles the code when it loads it, in time
/// proportional to its length.
const UNROLLING: &str = "-Cllvm-args=-unroll-threshold=12000 \
     -Cllvm-args=-unroll-partial-threshold=100 -Cllvm-args=-unroll-runtime=false";

/// The oldest PTX version that has `mma.sync` of integers, for targets whose default in LLVM is older. Drivers support it
/// since CUDA 10.2.
const PTX_6_5: &str = " -Ctarget-feature=+ptx65";

/// The oldest PTX version that has minima and maxima of pairs of 16-bit integers. Drivers support it since CUDA 12.0.
const PTX_8_0: &str = " -Ctarget-feature=+ptx80";

/// Omits the one section of the line numbers that the driver's assembler does not understand.
const NO_ARANGES: &str = "-Cllvm-args=-generate-arange-section=false";

/// Omits LLVM's passes. They are a third of the compilation of `core`, whose functions that a module calls are optimised when they
/// are linked with it, if it is compiled with `opt-level` 3. They are half of that of `compiler_builtins`.
const WITHOUT_LLVM_PASSES: &str = "-Cno-prepopulate-passes";

/// A precaution against copied warp operations ([`convergence`](crate::convergence)). Each one is tried if the one before
/// was not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precaution {
    /// None. `cuda_std` prevents copies of operations that are in a kernel's own code.
    Nothing,
    /// Inlines functions with the attribute `inline` into the kernel, whatever their length, before the copying pass runs.
    Inlining,
    /// Disables the copying pass. Without it, loops over arrays may not be unrolled, so that the arrays are in memory.
    NoJumpThreading,
}

impl Precaution {
    pub(crate) const ALL: [Precaution; 3] = [Precaution::Nothing, Precaution::Inlining, Precaution::NoJumpThreading];

    /// Returns rustc's flags for the precaution.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Precaution::Nothing => &[],
            Precaution::Inlining => &["-Zinline-mir-hint-threshold=100000"],
            Precaution::NoJumpThreading => {
                &["-Zinline-mir-hint-threshold=100000", "-Zmir-enable-passes=-JumpThreading"]
            }
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
    /// Returns rustc's flags for all crates, separated by spaces.
    pub(crate) fn rustflags(self) -> String {
        let core = self.core.flags().join(" ");
        let version = match self.arch {
            arch if arch < Arch::SM_80 => PTX_6_5,
            Arch::SM_90 => PTX_8_0,
            _ => "",
        };
        let flags = format!("-Ctarget-cpu={}{version} {core} {UNROLLING}", self.arch);
        if self.release { flags } else { format!("{flags} {NO_ARANGES}") }
    }

    /// Returns the settings of cargo's profile for rustc's flags that differ between crates.
    ///
    /// Build scripts, their dependencies and `compiler_builtins` do not have the flags of the precaution, because no module contains
    /// their code. So another precaution alone does not cause cargo to compile them again.
    pub(crate) fn crate_settings(self) -> Vec<String> {
        let mut settings =
            vec![format!("rustflags={:?}", self.precaution.flags()), "build-override.rustflags=[]".into()];
        if self.core == Core::Sources {
            settings.push(format!("package.compiler_builtins.rustflags={:?}", [WITHOUT_LLVM_PASSES]));
            settings.push(format!("package.core.rustflags={:?}", self.of_core()));
        }
        settings
    }

    /// Returns rustc's flags for `core`, whose compilation takes most of the time. So it has those of the precaution only where the
    /// copying pass is disabled, because its functions may call closures that contain operations of warps.
    fn of_core(self) -> Vec<&'static str> {
        let precaution = match self.precaution {
            Precaution::Nothing | Precaution::Inlining => &[],
            Precaution::NoJumpThreading => self.precaution.flags(),
        };
        precaution.iter().copied().chain(self.release.then_some(WITHOUT_LLVM_PASSES)).collect()
    }

    /// Returns the settings of cargo's profile. They are passed on the command line, so that the user's configuration files
    /// cannot change them.
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
    /// Writes the flags for the list of modules: everything that affects the code. They contain no paths.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [optimised, debug, lto, units, ..] = self.profile();
        // Source lines are removed from optimised modules.
        let debug = if self.release { "debug=false" } else { debug };
        write!(f, "{}", self.rustflags())?;
        self.precaution.flags().iter().try_for_each(|flag| write!(f, " {flag}"))?;
        write!(f, " {optimised} {debug} {lto} {units}")?;
        match self.core {
            Core::Sources => write!(f, " core.rustflags='{}'", self.of_core().join(" ")),
            Core::Prebuilt => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_in_the_list() {
        let flags = Flags { arch: Arch::SM_90, core: Core::Sources, release: true, precaution: Precaution::Nothing };
        let expected = format!(
            "-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx80 -Zunstable-options -Cpanic=immediate-abort {UNROLLING} \
             opt-level=3 debug=false lto='fat' codegen-units=1 core.rustflags='-Cno-prepopulate-passes'"
        );
        assert_eq!(flags.to_string(), expected);
    }

    #[test]
    fn old_targets_get_a_newer_ptx_version() {
        let rustflags =
            |arch| Flags { arch, core: Core::Sources, release: true, precaution: Precaution::Nothing }.rustflags();
        assert!(rustflags(Arch::SM_75).starts_with("-Ctarget-cpu=sm_75 -Ctarget-feature=+ptx65 -Z"));
        assert!(!rustflags(Arch::SM_80).contains("target-feature"));
        assert!(rustflags(Arch::SM_90).starts_with("-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx80 -Z"));
    }

    #[test]
    fn the_list_has_the_flags_of_precautions() {
        let flags = |precaution| Flags { arch: Arch::SM_90, core: Core::Sources, release: true, precaution };
        assert!(!flags(Precaution::Nothing).to_string().contains("mir"));
        assert!(flags(Precaution::Inlining).to_string().contains("-Zinline-mir-hint-threshold=100000 opt-level=3"));
        assert!(
            flags(Precaution::NoJumpThreading).to_string().contains("-Zmir-enable-passes=-JumpThreading opt-level=3")
        );
        // `core` has them in one case only.
        assert!(flags(Precaution::Inlining).to_string().ends_with("core.rustflags='-Cno-prepopulate-passes'"));
        assert!(flags(Precaution::NoJumpThreading).to_string().ends_with("=-JumpThreading -Cno-prepopulate-passes'"));
    }

    #[test]
    fn core_is_optimised_before_it_is_linked_if_linking_does_not() {
        let flags =
            |release| Flags { arch: Arch::SM_75, core: Core::Sources, release, precaution: Precaution::Nothing };
        let of_core = |release| flags(release).crate_settings().pop();
        assert_eq!(of_core(true).as_deref(), Some("package.core.rustflags=[\"-Cno-prepopulate-passes\"]"));
        assert_eq!(of_core(false).as_deref(), Some("package.core.rustflags=[]"));
    }

    #[test]
    fn crates_without_kernel_code_have_no_precaution() {
        let settings = |core, precaution| {
            Flags { arch: Arch::SM_75, core, release: true, precaution }.crate_settings()[1..].join(" ")
        };
        for precaution in Precaution::ALL {
            let build_scripts = "build-override.rustflags=[]";
            assert_eq!(settings(Core::Prebuilt, precaution), build_scripts);
            let builtins = "package.compiler_builtins.rustflags=[\"-Cno-prepopulate-passes\"]";
            let expected = format!("{build_scripts} {builtins} package.core.rustflags=[");
            assert!(settings(Core::Sources, precaution).starts_with(&expected));
        }
    }

    #[test]
    fn only_debug_builds_have_line_numbers() {
        let flags = Flags { arch: Arch::SM_75, core: Core::Prebuilt, release: false, precaution: Precaution::Nothing };
        assert!(flags.to_string().contains(NO_ARANGES));
        assert!(flags.profile().contains(&"debug='line-tables-only'"));
    }
}
