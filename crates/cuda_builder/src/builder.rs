//! The interface of the crate.

use crate::arch::Arch;
use crate::committed::{self, Check};
use crate::compilation::{Compilation, Request, Text};
use crate::compiler::{Compiler, Search};
use crate::error::{BuildError, INSTALL};
use crate::kernel_crate::{self, KernelCrate};
use crate::mode::Mode;
use crate::output::{self, Built, Committed, Image, Origin, file_name, write_if_changed};
use crate::{target_dir, watch};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Compiles a crate of GPU kernels, or takes what was compiled before.
///
/// ```no_run
/// // build.rs
/// use cuda_builder::{Arch, CudaBuilder, Mode};
///
/// CudaBuilder::new("kernels")
///     .module("filter1d")
///     .arch(Arch::SM_80)
///     .default_mode(Mode::Auto)
///     .build()
///     .unwrap_or_else(|error| error.exit());
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is compiled before `build`"]
pub struct CudaBuilder {
    dir: PathBuf,
    features: Vec<String>,
    archs: Vec<Arch>,
    release: bool,
    default_mode: Mode,
    target_dir: Option<PathBuf>,
}

impl CudaBuilder {
    /// For the kernel crate in the folder `dir`: absolute, or relative to the package that is being built.
    pub fn new(dir: impl AsRef<Path>) -> Self {
        CudaBuilder {
            dir: dir.as_ref().to_owned(),
            features: Vec::new(),
            archs: Vec::new(),
            release: true,
            default_mode: Mode::Committed,
            target_dir: None,
        }
    }

    /// Adds a target. If none is added, there are `sm_75`, `sm_80` and `sm_90`.
    pub fn arch(mut self, arch: Arch) -> Self {
        self.archs.push(arch);
        self
    }

    /// Adds a module: the kernel crate compiled with the feature of this name and no other. If none is added, there is
    /// one module with the default features, named after the crate's library.
    pub fn module(mut self, name: impl Into<String>) -> Self {
        self.features.push(name.into());
        self
    }

    /// Whether the kernels are optimised for speed (the default). Otherwise they are optimised a little, and have the
    /// line numbers of their sources for profilers and debuggers. Such modules contain the paths of the sources; do not
    /// commit them.
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Where the modules come from if the environment variable `SLM_KERNELS` does not say it. [`Mode::Committed`] if
    /// this is not called.
    pub fn default_mode(mut self, mode: Mode) -> Self {
        self.default_mode = mode;
        self
    }

    /// The folder in which kernels are compiled. Otherwise `slm-device` in the target folder of the program that runs.
    pub fn target_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(dir.into());
        self
    }

    /// Puts the modules into the output folder of the build script, with the code that `cuda_std::include_kernels!`
    /// includes, and tells cargo when to do so again. For build scripts only.
    ///
    /// # Errors
    ///
    /// Any [`BuildError`]; [`BuildError::exit`] shows it.
    pub fn build(self) -> Result<Built, BuildError> {
        for variable in [Mode::VARIABLE, Search::VARIABLE, "RUSTUP_HOME"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        const OUT_DIR: &str = "OUT_DIR";
        let out_dir = env::var_os(OUT_DIR).map(PathBuf::from);
        let out_dir = out_dir.ok_or(BuildError::NotABuildScript { variable: OUT_DIR })?;
        let dir = kernel_crate::locate(&self.dir)?;
        let mode = Mode::from_env(self.default_mode)?;
        rerun_if_changed(watch::kernel_crate(&dir));
        let (done, compiler) = self.modules(&dir, &out_dir, &Search::from_env(), mode)?;
        for line in done.warnings.iter().flat_map(|warning| warning.lines()) {
            println!("cargo::warning={line}");
        }
        let origin = match compiler {
            Some(compiler) => Origin::Built { compiler: compiler.version },
            None if mode == Mode::None => Origin::None,
            None => Origin::Committed,
        };
        self.write(&out_dir, done, origin)
    }

    /// Compiles the modules and writes them into the folder `ptx` of the kernel crate. Gives the files and the kernels'
    /// warnings.
    ///
    /// # Errors
    ///
    /// Any [`BuildError`].
    pub fn commit(self) -> Result<Committed, BuildError> {
        let (dir, done, _) = self.compile_apart()?;
        let folder = committed::folder(&dir);
        fs::create_dir_all(&folder).map_err(BuildError::io(&folder))?;
        let mut files = Vec::new();
        for text in &done.images {
            let file = committed::file(&dir, &text.module, text.arch);
            write_if_changed(&file, &text.text)?;
            files.push(file);
        }
        Ok(Committed { files, warnings: done.warnings })
    }

    /// Compiles the modules and compares them with the files in the folder `ptx` of the kernel crate, byte for byte if
    /// the same compiler made them.
    ///
    /// # Errors
    ///
    /// Any [`BuildError`]. A difference is none.
    pub fn check(self) -> Result<Check, BuildError> {
        let (dir, done, compiler) = self.compile_apart()?;
        let mut check = Check::new(compiler.version, done.warnings);
        for text in &done.images {
            check.compare(&dir, text);
        }
        Ok(check)
    }

    /// The modules for a build script, and what compiled them now, if anything did.
    fn modules(
        &self,
        dir: &Path,
        out_dir: &Path,
        search: &Search,
        mode: Mode,
    ) -> Result<(Compilation, Option<Compiler>), BuildError> {
        match mode {
            Mode::Committed => return Ok((self.committed(dir)?, None)),
            Mode::None => return Ok((self.without_images(dir)?, None)),
            Mode::Build | Mode::Auto => {}
        }
        rerun_if_changed(search.watched());
        match search.find() {
            Ok(compiler) => Ok((self.compile(dir, out_dir, &compiler)?, Some(compiler))),
            Err(BuildError::NoCompiler { .. }) if mode == Mode::Auto => {
                let mut done = self.committed(dir)?;
                let ways = INSTALL.join("; ");
                done.warnings.push(format!(
                    "no compiler for the device was found, so the committed kernels are used; any of these gives one: {ways}"
                ));
                Ok((done, None))
            }
            Err(error) => Err(error),
        }
    }

    /// Compiles outside of a build script.
    fn compile_apart(&self) -> Result<(PathBuf, Compilation, Compiler), BuildError> {
        let dir = kernel_crate::locate(&self.dir)?;
        let compiler = Search::from_env().find()?;
        let program = env::current_exe().map_err(BuildError::io(Path::new("this program")))?;
        let done = self.compile(&dir, &program, &compiler)?;
        Ok((dir, done, compiler))
    }

    fn compile(&self, dir: &Path, inside: &Path, compiler: &Compiler) -> Result<Compilation, BuildError> {
        let found = || target_dir::nested(inside);
        let request = Request {
            dir,
            features: &self.checked_features()?,
            archs: &self.sorted_archs(),
            release: self.release,
            target_dir: &self.target_dir.clone().unwrap_or_else(found),
        };
        request.compile(compiler)
    }

    /// The modules' names, without asking a compiler for the device.
    fn names(&self, dir: &Path) -> Result<Vec<String>, BuildError> {
        let mut modules = self.checked_features()?;
        if modules.is_empty() {
            modules.push(KernelCrate::read(dir, &kernel_crate::host_cargo())?.library);
        }
        Ok(modules)
    }

    fn without_images(&self, dir: &Path) -> Result<Compilation, BuildError> {
        let modules = self.names(dir)?;
        Ok(Compilation { modules, images: Vec::new(), warnings: Vec::new(), files: BTreeSet::new() })
    }

    fn committed(&self, dir: &Path) -> Result<Compilation, BuildError> {
        let modules = self.names(dir)?;
        let images = committed::read(dir, &modules, &self.sorted_archs())?;
        Ok(Compilation { modules, images, warnings: Vec::new(), files: BTreeSet::from([committed::folder(dir)]) })
    }

    fn write(&self, out_dir: &Path, done: Compilation, origin: Origin) -> Result<Built, BuildError> {
        rerun_if_changed(done.files);
        let mut images = Vec::new();
        for Text { module, arch, text } in done.images {
            let file = out_dir.join(file_name(&module, arch));
            write_if_changed(&file, &text)?;
            images.push(Image { module, arch, text, file });
        }
        let include = out_dir.join("slm_kernels.rs");
        let code = output::render(&done.modules, &self.sorted_archs(), &origin);
        write_if_changed(&include, &code)?;
        Ok(Built { images, origin, include })
    }

    fn sorted_archs(&self) -> Vec<Arch> {
        let mut archs = if self.archs.is_empty() { Arch::DEFAULT.to_vec() } else { self.archs.clone() };
        archs.sort_unstable();
        archs.dedup();
        archs
    }

    /// The names of the modules become names of files and, in capitals, of statics.
    fn checked_features(&self) -> Result<Vec<String>, BuildError> {
        let mut seen = BTreeSet::new();
        for name in &self.features {
            if !is_identifier(name) || !seen.insert(name.to_uppercase()) {
                return Err(BuildError::ModuleName { name: name.clone() });
            }
        }
        Ok(self.features.clone())
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn rerun_if_changed(paths: impl IntoIterator<Item = PathBuf>) {
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
