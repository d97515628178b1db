//! The interface of the crate.

use crate::check::Check;
use crate::committed;
use crate::compilation::{Compilation, file_name};
use crate::compiler::{Compiler, Search};
use crate::error::{BuildError, INSTALL};
use crate::files::write_if_changed;
use crate::kernel_crate;
use crate::mode::Mode;
use crate::module_names::check_names;
use crate::request::Request;
use crate::results::{Built, Committed, Image, Origin};
use crate::up_to_date::UpToDate;
use crate::{included_code, target_dir, watched_files};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Compiles a crate of GPU kernels, or takes its committed modules.
///
/// ```no_run
/// // build.rs
/// use cuda_builder::{CudaBuilder, Mode};
///
/// CudaBuilder::new("kernels")
///     .module("filter1d")
///     .default_mode(Mode::Auto)
///     .build()
///     .unwrap_or_else(|error| error.exit());
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is compiled before `build`"]
pub struct CudaBuilder {
    dir: PathBuf,
    modules: Vec<String>,
    images: bool,
    release: bool,
    default_mode: Mode,
    target_dir: Option<PathBuf>,
}

impl CudaBuilder {
    /// Returns a builder for the kernel crate in the folder `dir`: absolute, or relative to the package that is being built.
    pub fn new(dir: impl AsRef<Path>) -> Self {
        CudaBuilder {
            dir: dir.as_ref().to_owned(),
            modules: Vec::new(),
            images: true,
            release: true,
            default_mode: Mode::Committed,
            target_dir: None,
        }
    }

    /// Adds a module, the kernel crate compiled with the feature of this name only, and returns the builder. If no module is
    /// added, all modules are taken: one for each feature except `default`, or a single one named after the crate's library
    /// if there are no features.
    pub fn module(mut self, name: impl Into<String>) -> Self {
        self.modules.push(name.into());
        self
    }

    /// Sets whether [`build`](Self::build) gives the program modules (the default), and returns the builder. Otherwise it
    /// acts as with [`Mode::None`] and ignores the environment, for a program with emulated devices only.
    pub fn images(mut self, images: bool) -> Self {
        self.images = images;
        self
    }

    /// Sets whether the kernels are fully optimised (the default), and returns the builder. Otherwise they are compiled with
    /// `opt-level` 1, and have source lines for profilers and debuggers. Such modules contain the paths of the sources; do
    /// not commit them.
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Sets the mode for builds without the environment variable `SLM_KERNELS`, and returns the builder. The default is
    /// [`Mode::Committed`].
    pub fn default_mode(mut self, mode: Mode) -> Self {
        self.default_mode = mode;
        self
    }

    /// Sets the folder in which kernels are compiled, and returns the builder. The default is `slm-device` in the target
    /// folder of the running program.
    pub fn target_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(dir.into());
        self
    }

    /// Writes the modules to the output folder of the build script, with the code that `cuda_std::include_kernels!`
    /// includes, and tells cargo when to run the script again. Returns the modules. For build scripts only.
    ///
    /// # Errors
    ///
    /// Any [`BuildError`]. [`BuildError::exit`] shows it.
    pub fn build(self) -> Result<Built, BuildError> {
        for variable in [Mode::VARIABLE, Search::VARIABLE, "RUSTUP_HOME"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        const OUT_DIR: &str = "OUT_DIR";
        let out_dir = env::var_os(OUT_DIR).map(PathBuf::from);
        let out_dir = out_dir.ok_or(BuildError::NotABuildScript { variable: OUT_DIR })?;
        let dir = kernel_crate::locate(&self.dir)?;
        let mode = if self.images { Mode::from_env(self.default_mode)? } else { Mode::None };
        rerun_if_changed(watched_files::kernel_crate(&dir));
        let (done, compiler) = self.modules(&dir, &out_dir, &Search::from_env(), mode)?;
        for line in done.warnings.iter().flat_map(|warning| warning.lines()) {
            println!("cargo::warning={line}");
        }
        let origin = match compiler {
            Some(compiler) if done.is_new => Origin::Built { compiler: compiler.version },
            None if mode == Mode::None => Origin::None,
            _ => Origin::Committed,
        };
        self.write(&out_dir, done, origin)
    }

    /// Compiles the modules and writes them to the folder `ptx` of the kernel crate, with a list of them. If no module was
    /// added, it removes the files of modules that the crate no longer has. Returns the files and the kernels' warnings.
    ///
    /// # Errors
    ///
    /// Any [`BuildError`].
    pub fn commit(self) -> Result<Committed, BuildError> {
        let (dir, done, _) = self.compile_standalone()?;
        committed::write(&dir, done, self.modules.is_empty())
    }

    /// Compiles the modules and compares them with the files in the folder `ptx` of the kernel crate, byte by byte if the
    /// same compiler made them. Returns the differences.
    ///
    /// # Errors
    ///
    /// Any [`BuildError`]. A difference is not an error.
    pub fn check(self) -> Result<Check, BuildError> {
        let (dir, done, compiler) = self.compile_standalone()?;
        let check = Check::new(&dir, compiler.version, &done.modules, self.modules.is_empty())?;
        Ok(Check { warnings: done.warnings, ..check })
    }

    /// Returns the modules for a build script, and the compiler if one was looked for.
    fn modules(
        &self,
        dir: &Path,
        out_dir: &Path,
        search: &Search,
        mode: Mode,
    ) -> Result<(Compilation, Option<Compiler>), BuildError> {
        match mode {
            Mode::Committed => return Ok((committed::read(dir, self.checked_modules()?)?, None)),
            Mode::None => return Ok((Compilation::default(), None)),
            Mode::Build | Mode::Auto => {}
        }
        rerun_if_changed(search.watched());
        match search.find() {
            Ok(compiler) => {
                // Modules with source lines are never committed.
                let may_reuse = mode == Mode::Auto && self.release;
                let committed = if may_reuse { UpToDate::new(dir, env::vars_os()) } else { None };
                Ok((self.compile(dir, out_dir, &compiler, committed)?, Some(compiler)))
            }
            Err(BuildError::NoCompiler { .. }) if mode == Mode::Auto => {
                let mut done = committed::read(dir, self.checked_modules()?)?;
                let ways = INSTALL.join("; ");
                done.warnings.push(format!(
                    "no compiler for the device was found, so the committed kernels are used; either of these commands installs one: {ways}"
                ));
                Ok((done, None))
            }
            Err(error) => Err(error),
        }
    }

    /// Compiles the modules outside of a build script. Returns the kernel crate's folder, the modules and the compiler.
    fn compile_standalone(&self) -> Result<(PathBuf, Compilation, Compiler), BuildError> {
        let dir = kernel_crate::locate(&self.dir)?;
        let compiler = Search::from_env().find()?;
        let program = env::current_exe().map_err(BuildError::io(Path::new("this program")))?;
        let done = self.compile(&dir, &program, &compiler, None)?;
        Ok((dir, done, compiler))
    }

    fn compile(
        &self,
        dir: &Path,
        inside: &Path,
        compiler: &Compiler,
        committed: Option<UpToDate<'_>>,
    ) -> Result<Compilation, BuildError> {
        let target_dir = self.target_dir.clone().unwrap_or_else(|| target_dir::nested(inside));
        fs::create_dir_all(&target_dir).map_err(BuildError::io(&target_dir))?;
        // Cargo reports paths without symbolic links.
        let target_dir = &fs::canonicalize(&target_dir).map_err(BuildError::io(&target_dir))?;
        let request = Request { dir, modules: self.checked_modules()?, release: self.release, target_dir, committed };
        request.compile(compiler)
    }

    /// Returns the names of the added modules.
    fn checked_modules(&self) -> Result<&[String], BuildError> {
        check_names(&self.modules)?;
        Ok(&self.modules)
    }

    fn write(&self, out_dir: &Path, done: Compilation, origin: Origin) -> Result<Built, BuildError> {
        rerun_if_changed(done.watched);
        let include = out_dir.join("slm_kernels.rs");
        write_if_changed(&include, &included_code::render(&done.modules, &origin))?;
        let mut images = Vec::new();
        for module in done.modules {
            for (arch, text) in module.ptx {
                let file = out_dir.join(file_name(&module.module, arch));
                write_if_changed(&file, &text)?;
                images.push(Image { module: module.module.clone(), arch, text, file });
            }
        }
        Ok(Built { images, origin, include })
    }
}

fn rerun_if_changed(paths: impl IntoIterator<Item = PathBuf>) {
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
