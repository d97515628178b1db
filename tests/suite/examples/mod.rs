//! Runs the examples: their output, pictures and errors.

mod blur;
mod denoise;
mod equalise;
mod grids;
mod histogram;
mod life;
mod long_runs;
mod picture;
mod profiles;
mod readme;
mod stream;
mod svg;
mod tables;
mod transpose;

use crate::common::{ensure, equal, is_cuda, is_emulated};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        blur::trials(),
        histogram::trials(),
        transpose::trials(),
        tables::trials(),
        picture::trials(),
        equalise::trials(),
        denoise::trials(),
        profiles::trials(),
        life::trials(),
        stream::trials(),
        readme::trials(),
    ];
    trials.into_iter().flatten().collect()
}

/// Returns the trials of an example. If it is not built, they are listed as ignored, with the reason.
fn of_example(example: &str, trials: Vec<Trial>) -> Vec<Trial> {
    if find(example).is_some() {
        return trials;
    }
    eprintln!("the example {example} is not built: cargo build --example {example}");
    // If GPU tests are required, they are not ignored, and fail without the example.
    let ignored = env::var_os("SLM_REQUIRE_CUDA").is_none_or(|value| value != "1");
    let kind = format!("{example} is not built");
    trials.into_iter().map(|trial| trial.with_ignored_flag(ignored).with_kind(kind.clone())).collect()
}

/// Returns the built example: from Cargo's folder, next to the one of this program, or from `.gpu/examples` on a machine
/// without Cargo.
fn find(example: &str) -> Option<PathBuf> {
    let name = format!("{example}{}", env::consts::EXE_SUFFIX);
    let test = env::current_exe().ok()?;
    let folders = [test.parent()?.parent()?.join("examples"), env::current_dir().ok()?.join(".gpu/examples")];
    folders.into_iter().map(|folder| folder.join(&name)).find(|path| path.is_file())
}

fn command(example: &str) -> Command {
    let mut command = Command::new(find(example).unwrap_or_default());
    // Tests must not depend on the variable unless they set it.
    command.env_remove("SLM_DEVICE");
    command
}

/// Returns the device's name for the examples' option `--device`.
fn name(device: &slm::Device) -> String {
    let name = if is_cuda(device) { "cuda" } else { "cpu" };
    if is_emulated(device) { device.info().selection.clone() } else { name.to_owned() }
}

/// Without `SLM_DEVICE`, the first line of an example is the device that is opened automatically, in the form of its
/// `Display`. `command` returns the command for a file to write.
fn begins_with_the_device(output: &Path, command: impl Fn(&Path) -> Command) -> Result<(), Failed> {
    let said = succeeds(&mut command(output))?;
    equal(said.lines().next(), Some(&*slm::Device::named("auto")?.to_string()))
}

/// An existing file is overwritten with `--force` only, and the example prints the file that it wrote. `command` returns the
/// command for a file to write.
fn overwrites_with_force_only(output: &Path, command: impl Fn(&Path) -> Command) -> Result<(), Failed> {
    let wrote = format!("\nwrote {}\n", output.display());
    let said = succeeds(&mut command(output))?;
    ensure(said.contains(&wrote), || said)?;
    let written = fs::read(output)?;
    fs::write(output, b"of somebody else")?;
    fails(&mut command(output), 1, &[&*output.to_string_lossy(), ": the file exists; --force overwrites it"])?;
    equal(fs::read(output)?, b"of somebody else".to_vec())?;
    let said = succeeds(command(output).arg("--force"))?;
    ensure(said.contains(&wrote), || said)?;
    equal(fs::read(output)? == written, true)
}

/// Runs an example, which must succeed. Returns its output.
fn succeeds(command: &mut Command) -> Result<String, Failed> {
    let Output { status, stdout, stderr } = command.output()?;
    let errors = String::from_utf8_lossy(&stderr);
    ensure(status.success() && errors.is_empty(), || format!("{status}: {errors}"))?;
    Ok(String::from_utf8(stdout)?)
}

/// Runs an example, which must succeed and print one note to standard error. Returns the note.
fn succeeds_with_note(command: &mut Command) -> Result<String, Failed> {
    let Output { status, stderr, .. } = command.output()?;
    let note = String::from_utf8(stderr)?;
    let is_note = note.starts_with("note: ") && note.lines().count() == 1;
    ensure(status.success() && is_note, || format!("{status}: {note}"))?;
    Ok(note)
}

/// Runs an example, which must fail with the given code and an error that contains all parts. The example's own errors (code
/// 1) have one line.
fn fails(command: &mut Command, code: i32, parts: &[&str]) -> Result<(), Failed> {
    let output = command.output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let complain = |what: &str| format!("{command:?}: {what}: {}: {errors}", output.status);
    ensure(output.status.code() == Some(code), || complain("another exit code"))?;
    ensure(errors.starts_with("error: "), || complain("no error"))?;
    ensure(code == 2 || errors.lines().count() == 1, || complain("more than a line"))?;
    ensure(output.stdout.is_empty(), || complain("printed something"))?;
    ensure(parts.iter().all(|part| errors.contains(part)), || complain(&format!("not all of {parts:?}")))
}
