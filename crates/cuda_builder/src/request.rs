//! A request to compile modules, each for all its targets.

use crate::Arch;
use crate::committed;
use crate::compilation::{Compilation, CompiledModule};
use crate::compiler::Compiler;
use crate::device_build::{CompiledImage, DeviceBuild, write_rustc_wrapper};
use crate::error::BuildError;
use crate::index::ImageRecord;
use crate::kernel_crate::{KernelCrate, Module};
use crate::up_to_date::UpToDate;
use cuda_std::image::{self, Sources};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::{env, panic};

/// Maximum number of modules that are compiled at the same time. For each, `core` is compiled and memory is needed.
const MOST_JOBS: usize = 4;

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

/// A module's images for its targets.
type Images = Vec<(Arch, CompiledImage)>;

impl Request<'_> {
    pub(crate) fn compile(&self, compiler: &Compiler) -> Result<Compilation, BuildError> {
        let kernels = KernelCrate::read(self.dir, &compiler.cargo)?;
        let modules = kernels.select(self.modules)?;
        let up_to_date =
            |module: &Module| self.committed.as_ref()?.module(&module.name, kernels.targets(&module.name), compiler);
        let old: Vec<_> = modules.iter().map(up_to_date).collect();
        let mut new = self.images(&kernels, &modules, |place| old[place].is_none(), compiler)?.into_iter();
        let mut all = Compilation::default();
        for (module, old) in modules.iter().zip(old) {
            if let Some(text) = old {
                all.modules.push(text);
                all.watched.insert(committed::folder(self.dir));
            } else if let Some(images) = new.next() {
                all.add(&kernels, module, images, compiler)?;
            }
        }
        Ok(all)
    }

    /// Compiles the modules at these places, several at the same time, and returns them in order. With the same number of cores, a
    /// module always belongs to the same job, whose folders have what cargo compiled before.
    fn images(
        &self,
        kernels: &KernelCrate,
        modules: &[Module],
        is_new: impl Fn(usize) -> bool,
        compiler: &Compiler,
    ) -> Result<Vec<Images>, BuildError> {
        let (target_dir, release) = (self.target_dir, self.release);
        let places: Vec<_> = (0..modules.len()).filter(|&place| is_new(place)).collect();
        let cores = cores();
        let jobs = cores.min(MOST_JOBS);
        let own = |job| places.iter().copied().filter(move |&place| kernels.number(&modules[place]) % jobs == job);
        let busy: Vec<_> = (0..jobs).filter(|&job| own(job).next().is_some()).collect();
        if busy.is_empty() {
            return Ok(Vec::new());
        }
        let rustc_wrapper = &write_rustc_wrapper(target_dir)?;
        let crates = cores / busy.len();
        let has_failed = AtomicBool::new(false);
        let run = |job: usize| {
            let build = DeviceBuild { compiler, kernels, target_dir, release, rustc_wrapper, job, crates };
            let images = |module: &Module| -> Result<Images, BuildError> {
                kernels.targets(&module.name).iter().map(|arch| Ok((*arch, build.run(module, *arch)?))).collect()
            };
            let mut done = Vec::new();
            for place in own(job).take_while(|_| !has_failed.load(Ordering::Relaxed)) {
                let images = images(&modules[place]);
                has_failed.fetch_or(images.is_err(), Ordering::Relaxed);
                done.push((place, images));
            }
            done
        };
        let mut all: Vec<_> = thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = busy.iter().map(|&job| scope.spawn(move || run(job))).collect();
            let join = |thread: ScopedJoinHandle<_>| thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            threads.into_iter().flat_map(join).collect()
        });
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, images)| images).collect()
    }
}

/// Returns the number of modules or crates to compile at the same time.
fn cores() -> usize {
    let number = |variable| env::var(variable).ok().and_then(|jobs| jobs.parse().ok()).filter(|&jobs| jobs > 0);
    let of_cargo = number("NUM_JOBS").or_else(|| number("CARGO_BUILD_JOBS"));
    of_cargo.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get))
}

impl Compilation {
    fn add(
        &mut self,
        kernels: &KernelCrate,
        module: &Module,
        compiled: Images,
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
