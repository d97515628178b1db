//! Child processes of this program that launch one kernel. Many end with an error, and some hang.

use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time limit, some thousand times what starting a process and running a kernel take.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs this program with the given arguments, and returns its output and status, or `None` if it exceeded the limit and was
/// killed. The pipes are read only after the process has ended, so it may print only a few lines.
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

/// Returns the first line of the process's output, or of its errors if it failed.
pub(crate) fn first_line(output: &Output) -> String {
    let text = if output.status.success() { &output.stdout } else { &output.stderr };
    String::from_utf8_lossy(text).lines().next().unwrap_or("nothing").to_owned()
}
