//! Command line, report and exit status.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser};
use slm::Device;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fmt};

/// The option `--device`.
#[derive(Debug, Args)]
pub(crate) struct DeviceOption {
    /// Device: auto, cpu, cuda, cuda:N, emulated, emulated:PROFILE or emulated:PROFILE:SEED; by default SLM_DEVICE selects it
    #[arg(long, allow_hyphen_values = true)]
    device: Option<String>,
}

impl DeviceOption {
    pub(crate) fn open(&self) -> slm::Result<Device> {
        self.device.as_deref().map_or_else(Device::open, Device::named)
    }
}

/// What an example prints at its end, and its exit status.
pub(crate) struct Report {
    pub(crate) text: String,
    pub(crate) status: ExitCode,
}

impl From<String> for Report {
    fn from(text: String) -> Self {
        Report { text, status: ExitCode::SUCCESS }
    }
}

/// Parses the command line and runs the example. Prints its report, or its error in one line.
pub(crate) fn main<A: Parser, R: Into<Report>, E: Display>(run: impl FnOnce(&A) -> Result<R, E>) -> ExitCode {
    let arguments = parse::<A>(env::args_os().collect()).unwrap_or_else(|error| error.exit());
    // A closed pipe on the other side is not a failure of the example, so errors of printing are ignored.
    match run(&arguments) {
        Ok(report) => {
            let Report { text, status } = report.into();
            let _ = write!(io::stdout(), "{text}");
            status
        }
        Err(failure) => {
            let message = failure.to_string().replace('\n', "; ");
            say(format!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// Parses a command line. Its first word is the name of the program.
pub(crate) fn parse<A: Parser>(words: Vec<OsString>) -> Result<A, clap::Error> {
    A::try_parse_from(&words).map_err(|error| with_right_tip::<A>(error, &words))
}

/// Prints what the user of a file should know, in one line to standard error.
pub(crate) fn note(file: &Path, text: impl Display) {
    say(format!("note: {}: {text}", file.display()));
}

/// Prints a line on stderr.
pub(crate) fn say(line: String) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Replaces clap's tip for an argument that it reads as an option. clap suggests `--` before it, which does not help if options
/// follow, or if no positional argument is left. A file name can begin with `./` instead, so the tip says that where it helps.
fn with_right_tip<A: Parser>(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(seen))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return error;
    };
    // For `-x.png` clap reports `-x` alone.
    let is_it = |argument: &String| argument == seen || !seen.starts_with("--") && argument.starts_with(&**seen);
    let mut arguments: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some(argument) = arguments.iter_mut().skip(1).find(|argument| is_it(argument)) else { return error };
    let (whole, file) = (argument.clone(), format!("./{argument}"));
    *argument = file.clone();
    let helps = A::try_parse_from(arguments).err().is_none_or(|error| !error.to_string().contains(&file));
    error.remove(ContextKind::Suggested);
    if helps && error.get(ContextKind::SuggestedArg).is_none() {
        let tip = format!("if it is a file, write '{file}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error.insert(ContextKind::InvalidArg, ContextValue::String(whole));
    error
}

pub(crate) fn in_ms(time: Duration) -> impl Display {
    fmt::from_fn(move |f| write!(f, "{:.3} ms", time.as_secs_f64() * 1e3))
}
