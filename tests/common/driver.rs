//! Drivers that tests compile. A child process loads one instead of the machine's driver.

use super::{Folder, ensure};
use libtest_mimic::{Failed, Trial};
use std::process::Command;

/// A compiled driver, in its folder, which `LD_LIBRARY_PATH` names for a process that loads it.
pub struct Driver(pub Folder);

impl Driver {
    pub fn compile(source: &str) -> Result<Self, Failed> {
        let folder = Folder::new()?;
        let (source, library) = (folder.put("driver.c", source.as_bytes())?, folder.path("libcuda.so.1"));
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-pthread", "-o"]).args([library, source]).output()?;
        ensure(compiled.status.success(), || String::from_utf8_lossy(&compiled.stderr).into_owned())?;
        Ok(Driver(folder))
    }
}

/// Returns the trial of a test that compiles a driver, which is ignored without a compiler.
pub fn with_driver(name: String, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    let compiles = Command::new("cc").arg("--version").output().is_ok();
    let trial = Trial::test(name, test).with_ignored_flag(!compiles);
    if compiles { trial } else { trial.with_kind("there is no cc to compile a driver with") }
}
