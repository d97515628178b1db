//! Running an example: what it prints, what it complains about, and a folder for its files.

use image::ColorType;
use libtest_mimic::{Failed, Trial};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, process};

/// The trials of an example; without it they are listed as ignored, with the reason.
pub fn of_example(example: &str, trials: Vec<Trial>) -> Vec<Trial> {
    if find(example).is_some() {
        return trials;
    }
    eprintln!("the example {example} is not built: cargo build --example {example}");
    // Where GPU tests must run, they fail for want of it instead.
    let ignored = env::var_os("SLM_REQUIRE_CUDA").is_none_or(|value| value != "1");
    let kind = format!("{example} is not built");
    trials.into_iter().map(|trial| trial.with_ignored_flag(ignored).with_kind(kind.clone())).collect()
}

/// The built example: beside the folder of this program, where Cargo puts it, or else where a machine without Cargo
/// gets it.
fn find(example: &str) -> Option<PathBuf> {
    let name = format!("{example}{}", env::consts::EXE_SUFFIX);
    let test = env::current_exe().ok()?;
    let folders = [test.parent()?.parent()?.join("examples"), PathBuf::from(".gpu/examples")];
    folders.into_iter().map(|folder| folder.join(&name)).find(|path| path.is_file())
}

pub fn command(example: &str) -> Command {
    let mut command = Command::new(find(example).unwrap_or_default());
    // The tests that are not about it must not depend on it.
    command.env_remove("SLM_DEVICE");
    command
}

/// What an example is told to name the device.
pub fn name(device: &slm::Device) -> String {
    let name = if super::is_cuda(device) { "cuda" } else { "cpu" };
    if super::is_emulated(device) { device.info().selection.clone() } else { name.to_owned() }
}

/// Runs the example: what it prints.
pub fn succeeds(command: &mut Command) -> Result<String, Failed> {
    let Output { status, stdout, stderr } = command.output()?;
    let errors = String::from_utf8_lossy(&stderr);
    ensure(status.success() && errors.is_empty(), || format!("{status}: {errors}"))?;
    Ok(String::from_utf8(stdout)?)
}

/// Runs the example: it must end with this code, and an error in which all the parts occur. Those of its own making
/// (code 1) are one line.
pub fn fails(command: &mut Command, code: i32, parts: &[&str]) -> Result<(), Failed> {
    let output = command.output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let complain = |what: &str| format!("{command:?}: {what}: {}: {errors}", output.status);
    ensure(output.status.code() == Some(code), || complain("another exit code"))?;
    ensure(errors.starts_with("error: "), || complain("no error"))?;
    ensure(code == 2 || errors.lines().count() == 1, || complain("more than a line"))?;
    ensure(output.stdout.is_empty(), || complain("printed something"))?;
    ensure(parts.iter().all(|part| errors.contains(part)), || complain(&format!("not all of {parts:?}")))
}

pub fn ensure(condition: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(message().into()) }
}

/// A new folder, removed in the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("slm-example-{}-{number}", process::id()));
        fs::create_dir(&path)?;
        Ok(Folder(path))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        fs::write(self.path(name), bytes)?;
        Ok(self.path(name))
    }

    pub fn put_pixels(&self, name: &str, color: ColorType, width: u32, bytes: Vec<u8>) -> Result<PathBuf, Failed> {
        let height = bytes.len() as u32 / (width * u32::from(color.bytes_per_pixel()));
        image::save_buffer(self.path(name), &bytes, width, height, color)?;
        Ok(self.path(name))
    }

    /// Fails unless the folder has these entries, which are in order, and no others.
    pub fn holds(&self, expected: &[&str]) -> Result<(), Failed> {
        let mut names = fs::read_dir(&self.0)?.map(|e| Ok(e?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        let same = names.iter().map(|name| name.as_os_str()).eq(expected.iter().map(OsStr::new));
        ensure(same, || format!("the folder holds {names:?}, expected {expected:?}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left lies in the system's folder for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}
