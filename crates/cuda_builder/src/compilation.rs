//! Compiling every module for every target.

use crate::Arch;
use crate::compiler::Compiler;
use crate::device_build::{Compiled, DeviceBuild};
use crate::error::BuildError;
use crate::kernel_crate::KernelCrate;
use crate::wrapper::Module;
use cuda_std::image::Header;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is to be compiled, and where.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The folder of the kernel crate.
    pub(crate) dir: &'a Path,
    /// The features to compile as modules; empty: one module with the default features.
    pub(crate) features: &'a [String],
    pub(crate) archs: &'a [Arch],
    pub(crate) release: bool,
    /// The nested target folder.
    pub(crate) target_dir: &'a Path,
}

/// Compiled modules.
#[derive(Debug)]
pub(crate) struct Compilation {
    /// The names of the modules.
    pub(crate) modules: Vec<String>,
    pub(crate) images: Vec<Text>,
    /// Each once, whichever modules and targets have it.
    pub(crate) warnings: Vec<String>,
    /// The files that the modules were made of.
    pub(crate) files: BTreeSet<PathBuf>,
}

/// The text of one module for one target.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) module: String,
    pub(crate) arch: Arch,
    /// The header and what is below it.
    pub(crate) text: String,
}

impl Request<'_> {
    pub(crate) fn compile(&self, compiler: &Compiler) -> Result<Compilation, BuildError> {
        let kernels = KernelCrate::read(self.dir, &compiler.cargo)?;
        let modules = modules(self.features, &kernels)?;
        let (target_dir, release) = (self.target_dir, self.release);
        let build = DeviceBuild { compiler, kernels: &kernels, target_dir, release };
        let mut all = Compilation {
            modules: modules.iter().map(|module| module.name.clone()).collect(),
            images: Vec::new(),
            warnings: Vec::new(),
            files: BTreeSet::new(),
        };
        for module in &modules {
            for arch in self.archs {
                all.add(&module.name, *arch, build.run(module, *arch)?, compiler);
            }
        }
        Ok(all)
    }
}

impl Compilation {
    fn add(&mut self, module: &str, arch: Arch, compiled: Compiled, compiler: &Compiler) {
        let header = Header {
            module: module.to_owned(),
            target: arch.number(),
            sources: compiled.sources,
            compiler: compiler.version.clone(),
            flags: compiled.flags,
        };
        let text = header.write(&compiled.ptx);
        self.images.push(Text { module: module.to_owned(), arch, text });
        self.files.extend(compiled.files);
        for warning in compiled.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }
}

fn modules(features: &[String], kernels: &KernelCrate) -> Result<Vec<Module>, BuildError> {
    if features.is_empty() {
        return Ok(vec![Module { name: kernels.library.clone(), feature: None }]);
    }
    let module = |name: &String| match kernels.features.contains(name) {
        true => Ok(Module { name: name.clone(), feature: Some(name.clone()) }),
        false => Err(BuildError::NoSuchModule {
            module: name.clone(),
            package: kernels.package.clone(),
            features: kernels.features.clone(),
        }),
    };
    features.iter().map(module).collect()
}
