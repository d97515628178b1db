//! Targets of compilation.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Target of a module: a compute capability. A GPU runs modules of its own and of every lower capability.
///
/// ```
/// use cuda_builder::Arch;
///
/// let arch: Arch = "sm_86".parse()?;
/// assert!(Arch::SM_80 < arch && arch < Arch::SM_90);
/// assert_eq!(arch.to_string(), "sm_86");
/// # Ok::<(), cuda_builder::UnknownArch>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch(u32);

impl Arch {
    /// Turing.
    pub const SM_75: Arch = Arch(75);
    /// Ampere.
    pub const SM_80: Arch = Arch(80);
    /// Hopper.
    pub const SM_90: Arch = Arch(90);

    /// Default target of modules. Drivers generate nearly the same code from its PTX as from PTX for later GPUs, unless the
    /// source uses instructions that only later GPUs have.
    pub(crate) const DEFAULT: Arch = Arch::SM_75;

    /// Lowest capability that rustc's target supports.
    const OLDEST: u32 = 70;

    /// Returns the capability without the dot: 90 for `sm_90`.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(text: &str) -> Result<Self, UnknownArch> {
        let number = text.strip_prefix("sm_").and_then(|number| number.parse().ok());
        match number.filter(|number| *number >= Arch::OLDEST) {
            Some(number) => Ok(Arch(number)),
            None => Err(UnknownArch { value: text.to_owned() }),
        }
    }
}

/// A target that does not exist or is too old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownArch {
    /// Its name.
    pub value: String,
}

impl fmt::Display for UnknownArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a target: use sm_70 or later, such as sm_75, sm_80 or sm_90", self.value)
    }
}

impl Error for UnknownArch {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for arch in [Arch::SM_75, Arch::SM_80, Arch::SM_90] {
            assert_eq!(arch.to_string().parse::<Arch>().unwrap(), arch);
        }
        assert_eq!("sm_120".parse::<Arch>().unwrap().number(), 120);
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "90", "sm_", "sm_61", "sm_90a", "compute_90", "sm_-80"] {
            assert!(name.parse::<Arch>().is_err(), "{name}");
        }
    }
}
