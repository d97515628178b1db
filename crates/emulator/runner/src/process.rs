//! Processes of this program that launch one kernel: most of these end with an error, and some would not end.

use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Some thousand times what a kernel takes with the start of its process.
const LIMIT: Duration = Duration::from_secs(60);

/// What a process of this program with these arguments prints and how it ends; `None` if it had to be ended. It prints a few
/// lines only.
pub(crate) fn run(arguments: &[&str]) -> std::io::Result<Option<Output>> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let begin = Instant::now();
    while begin.elapsed() < LIMIT {
        if child.try_wait()?.is_some() {
            return child.wait_with_output().map(Some);
        }
        sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait().map(|_| None)
}

/// The first line that the process printed: of its errors, if it failed.
pub(crate) fn first_line(output: &Output) -> String {
    let text = if output.status.success() { &output.stdout } else { &output.stderr };
    String::from_utf8_lossy(text).lines().next().unwrap_or("nothing").to_owned()
}
