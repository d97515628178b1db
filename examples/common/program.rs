//! The way from the command line to the exit status.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser};
use slm::Device;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fmt};

/// The option `--device`.
#[derive(Debug, Args)]
pub(crate) struct DeviceOption {
    /// The device: auto, cpu, cuda, cuda:N, emulated, emulated:PROFILE or emulated:PROFILE:SEED; without it, SLM_DEVICE
    /// decides
    #[arg(long, allow_hyphen_values = true)]
    device: Option<String>,
}

impl DeviceOption {
    pub(crate) fn open(&self) -> slm::Result<Device> {
        self.device.as_deref().map_or_else(Device::open, Device::named)
    }
}

/// Parses the command line and runs the example. Prints the report that it returns, or the error in one line.
pub(crate) fn main<A: Parser, E: Display>(run: impl FnOnce(&A) -> Result<String, E>) -> ExitCode {
    let arguments = A::try_parse().unwrap_or_else(|error| with_right_tip(error).exit());
    // A closed pipe on the other side is no failure of the example, so nothing is made of errors while printing.
    match run(&arguments) {
        Ok(report) => {
            let _ = write!(io::stdout(), "{report}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let message = failure.to_string().replace('\n', "; ");
            let _ = writeln!(io::stderr(), "error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Of a file called `-x.png` clap sees the option `-x` alone, and says so in its tip. This names the whole argument.
fn with_right_tip(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(seen)) = error.get(ContextKind::InvalidArg) else { return error };
    let is_cut = |argument: &String| argument.len() > seen.len() && argument.starts_with(&**seen);
    let is_short = seen.starts_with('-') && !seen.starts_with("--");
    let argument = env::args_os().skip(1).filter_map(|argument| argument.into_string().ok()).find(is_cut);
    let Some(argument) = argument.filter(|_| is_short && error.kind() == ErrorKind::UnknownArgument) else {
        return error;
    };
    if error.get(ContextKind::Suggested).is_some() {
        let tip = format!("to pass '{argument}' as a value, use '-- {argument}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error.insert(ContextKind::InvalidArg, ContextValue::String(argument));
    error
}

pub(crate) fn in_ms(time: Duration) -> impl Display {
    fmt::from_fn(move |f| write!(f, "{:.3} ms", time.as_secs_f64() * 1e3))
}
