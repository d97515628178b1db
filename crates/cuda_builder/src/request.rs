//! A request to compile modules, each for all its targets.

use crate::Arch;
use crate::committed;
use crate::compilation::{Compilation, CompiledModule};
use crate::compiler::Compiler;
use crate::device_build::{CompiledImage, DeviceBuild};
use crate::error::BuildError;
use crate::index::ImageRecord;
use crate::kernel_crate::{KernelCrate, Module};
use crate::up_to_date::UpToDate;
use cuda_std::image::{self, Sources};
use std::collections::BTreeSet;
use std::path::Path;

/// A request to compile modules.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The folder of the kernel crate.
    pub(crate) dir: &'a Path,
    /// The modules to compile; all of them if empty.
    pub(crate) modules: &'a [String],
    pub(crate) release: bool,
    /// The nested target folder.
    pub(crate) target_dir: &'a Path,
    /// Committed modules, which are not compiled again if they are up to date.
    pub(crate) committed: Option<UpToDate<'a>>,
}

impl Request<'_> {
    pub(crate) fn compile(&self, compiler: &Compiler) -> Result<Compilation, BuildError> {
        let kernels = KernelCrate::read(self.dir, &compiler.cargo)?;
        let (target_dir, release) = (self.target_dir, self.release);
        let build = DeviceBuild { compiler, kernels: &kernels, target_dir, release };
        let mut all = Compilation::default();
        for module in kernels.select(self.modules)? {
            let targets = kernels.targets(&module.name);
            let old = self.committed.as_ref().and_then(|old| old.module(&module.name, targets, compiler));
            if let Some(text) = old {
                all.modules.push(text);
                all.watched.insert(committed::folder(self.dir));
                continue;
            }
            let compiled = targets.iter().map(|arch| Ok((*arch, build.run(&module, *arch)?)));
            all.add(&kernels, &module, compiled.collect::<Result<_, BuildError>>()?, compiler)?;
        }
        Ok(all)
    }
}

impl Compilation {
    fn add(
        &mut self,
        kernels: &KernelCrate,
        module: &Module,
        compiled: Vec<(Arch, CompiledImage)>,
        compiler: &Compiler,
    ) -> Result<(), BuildError> {
        let mut text = CompiledModule { module: module.name.clone(), ..CompiledModule::default() };
        text.record.compiler.clone_from(&compiler.version);
        text.record.features = union(&compiled, |compiled| &compiled.sources.features);
        text.record.files = union(&compiled, |compiled| &compiled.sources.files);
        for (arch, CompiledImage { ptx, listed, flags, warnings, watched, .. }) in compiled {
            text.record.sources = digest(&text.record.files, &listed, kernels, module)?;
            text.record.images.insert(arch, ImageRecord { flags, digest: image::digest(&ptx) });
            text.ptx.insert(arch, ptx);
            self.watched.extend(watched);
            let new = warnings.into_iter().filter(|warning| !self.warnings.contains(warning));
            self.warnings.extend(new.collect::<Vec<_>>());
        }
        self.modules.push(text);
        self.is_new = true;
        Ok(())
    }
}

/// Returns the union of a module's names over its targets.
fn union(compiled: &[(Arch, CompiledImage)], of: impl Fn(&CompiledImage) -> &BTreeSet<String>) -> Vec<String> {
    let all: BTreeSet<&String> = compiled.iter().flat_map(|(_, compiled)| of(compiled)).collect();
    all.into_iter().cloned().collect()
}

/// Returns the digest of `files`, from the digests that the kernel crate's build script `listed`.
fn digest(files: &[String], listed: &str, kernels: &KernelCrate, module: &Module) -> Result<String, BuildError> {
    let unlisted = |file: &str| BuildError::UnlistedSource {
        module: module.name.clone(),
        package: kernels.package.clone(),
        file: file.to_owned(),
    };
    Sources::new(listed).digest(files.iter().map(String::as_str)).map_err(unlisted)
}
