//! Modes: compiled or committed kernels.

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// Origin of the modules: the values of the environment variable `SLM_KERNELS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `committed`: the files in the folder `ptx` of the kernel crate. Needs no compiler for the device.
    Committed,
    /// `build`: compiled now. Without a compiler for the device the build fails.
    Build,
    /// `none`: modules have no images, so kernels run on emulated devices only. Needs neither a compiler for the device nor
    /// committed files.
    None,
    /// `auto`: compiled now if there is a compiler for the device, otherwise the committed files. Of the modules that this compiler
    /// has made from the same source files before, the committed files are taken. Errors in the kernels are errors in this mode
    /// too.
    Auto,
}

impl Mode {
    /// The environment variable that selects the mode.
    pub(crate) const VARIABLE: &str = "SLM_KERNELS";

    const ALL: [Mode; 4] = [Mode::Committed, Mode::Build, Mode::Auto, Mode::None];

    /// Returns the mode that the environment selects, or `default`.
    pub(crate) fn from_env(default: Mode) -> Result<Mode, UnknownMode> {
        Mode::from_value(env::var_os(Mode::VARIABLE).as_deref(), default)
    }

    /// Returns the mode for a variable's value. An empty variable counts as unset.
    fn from_value(value: Option<&OsStr>, default: Mode) -> Result<Mode, UnknownMode> {
        match value {
            Some(value) if !value.is_empty() => value.to_string_lossy().parse(),
            _ => Ok(default),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Mode::Committed => "committed",
            Mode::Build => "build",
            Mode::Auto => "auto",
            Mode::None => "none",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let mode = Mode::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| UnknownMode { value: text.to_owned() })
    }
}

/// An invalid value of `SLM_KERNELS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode {
    /// The value.
    pub value: String,
}

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is '{}', but must be committed, build, auto or none", Mode::VARIABLE, self.value)
    }
}

impl Error for UnknownMode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_its_mode() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse::<Mode>().unwrap(), mode);
        }
    }

    #[test]
    fn the_variable_wins_over_the_default() {
        let mode = |value: Option<&str>| Mode::from_value(value.map(OsStr::new), Mode::Auto).unwrap();
        assert_eq!(mode(None), Mode::Auto);
        assert_eq!(mode(Some("")), Mode::Auto);
        assert_eq!(mode(Some("build")), Mode::Build);
    }

    #[test]
    fn an_unknown_value_is_an_error_that_names_it() {
        let error = Mode::from_value(Some(OsStr::new("Build")), Mode::Auto).unwrap_err();
        assert_eq!(error.to_string(), "SLM_KERNELS is 'Build', but must be committed, build, auto or none");
    }
}
