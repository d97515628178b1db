//! Chooses, checks and loads the image of a compiled module for a device.

use super::driver::{is_unsupported_ptx, version};
use super::handle;
use super::places::Places;
use crate::device::modules::KERNELS;
use crate::{Error, Result};
use cuda_std::image::{Image, Module};
use std::ptr;
use std::sync::Arc;

/// Verified images, by their modules, sources and targets. Each is verified once for a process, because texts are constants.
static VERIFIED: Places<(Key, u32), Option<&'static Image>> = Places::new();

/// A module in a context.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) text: &'static str,
    pub(super) cuda: handle::Module,
}

/// Modules that a context has loaded so far.
///
/// No module is dropped before the context, because kernels may still run. Their number is bounded, because safe code only
/// has the `'static` modules that `include_kernels!` has defined.
#[derive(Debug)]
pub(super) struct Modules(Places<Key, Option<Arc<Loaded>>>);

/// A module, and the list of sources against which it is checked.
#[derive(Debug)]
struct Key {
    module: &'static Module,
    sources: &'static str,
}

impl PartialEq for Key {
    /// Compares the addresses of the images, because two crates can have modules of the same name.
    fn eq(&self, other: &Key) -> bool {
        ptr::eq(self.module.images(), other.module.images()) && self.sources == other.sources
    }
}

impl Default for Modules {
    fn default() -> Self {
        Modules(Places::new())
    }
}

impl Modules {
    /// Returns the module compiled from these sources, loaded on first use. The context, on `device`, is current.
    pub(super) fn get(
        &self,
        module: &'static Module,
        sources: &'static str,
        device: &str,
        capability: (u32, u32),
    ) -> Result<Arc<Loaded>> {
        self.0.with(Key { module, sources }, |place| match place {
            Some(loaded) => Ok(loaded.clone()),
            None => Ok(place.insert(load(module, sources, device, capability)?).clone()),
        })
    }
}

fn load(module: &'static Module, sources: &'static str, device: &str, capability: (u32, u32)) -> Result<Arc<Loaded>> {
    let image = choose(module, sources, device, capability)?;
    // SAFETY: compiled from the sources of this program's kernels (`choose`).
    let cuda = unsafe { handle::Module::load(image.text()) };
    let cuda = cuda.map_err(|error| explain(error, module.name(), image.text(), version()))?;
    Ok(Arc::new(Loaded { text: image.text(), cuda }))
}

/// Returns the lowest compute capability with an image.
pub(super) fn lowest_target() -> (u32, u32) {
    let lowest = KERNELS.iter().flat_map(Module::images).map(Image::target).min().unwrap_or_default();
    (lowest / 10, lowest % 10)
}

/// Returns the image of `module` for the highest target that `device` supports. Returns an error if its text was altered, or
/// if the module was compiled from other sources.
fn choose(module: &'static Module, sources: &'static str, device: &str, actual: (u32, u32)) -> Result<&'static Image> {
    let most = 10 * actual.0 + actual.1;
    let supported = module.images().iter().filter(|image| image.target() <= most);
    let Some(image) = supported.max_by_key(|image| image.target()) else {
        let lowest = module.images().iter().map(Image::target).min().unwrap_or_default();
        let required = (lowest / 10, lowest % 10);
        return Err(Error::DeviceTooOld { device: device.to_owned(), required, actual });
    };
    VERIFIED.with((Key { module, sources }, image.target()), |place| match place {
        Some(image) => Ok(*image),
        None => Ok(*place.insert(verified(module, image, sources)?)),
    })
}

/// Returns `image`, which is one of the module's, unless its text was altered or the module was compiled from other sources.
fn verified(module: &Module, image: &'static Image, sources: &str) -> Result<&'static Image> {
    let checked = module.verify(sources).and_then(|()| image.verify());
    checked.map(|()| image).map_err(|source| Error::KernelModule { module: module.name(), source })
}

/// Converts the driver's error to [`Error::DriverTooOld`] if the driver is too old for the text of `module`.
fn explain(error: Error, module: &str, text: &str, version: Result<(u32, u32)>) -> Error {
    let (true, Ok(actual)) = (is_unsupported_ptx(&error), version) else { return error };
    let ptx = ptx_version(text).unwrap_or_default();
    let needed_for = format!("the kernel module {module} (PTX {}.{})", ptx.0, ptx.1);
    Error::DriverTooOld { required: cuda_of_ptx(ptx), actual, needed_for }
}

/// Returns the PTX version in the line `.version M.m`.
fn ptx_version(text: &str) -> Option<(u32, u32)> {
    let version = text.lines().find_map(|line| line.strip_prefix(".version "))?;
    let (major, minor) = version.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the first version of CUDA with a PTX version (PTX ISA, "Release Notes").
fn cuda_of_ptx(ptx: (u32, u32)) -> (u32, u32) {
    match ptx {
        (6, minor @ ..=2) => (9, minor),
        (6, minor) => (10, minor.saturating_sub(3)),
        (7, minor) => (11, minor),
        (8, minor @ ..=5) => (12, minor),
        // CUDA 12.6 has no PTX version of its own.
        (8, minor) => (12, minor + 1),
        (9, minor) => (13, minor),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::check;
    use super::*;
    use cuda_std::image::{ModuleError, Sources, digest};

    const FILES: &[&str] = &["slm-kernels/lib.rs"];

    fn ours() -> &'static str {
        Sources::new(slm_kernels::SOURCES).digest(FILES.iter().copied()).unwrap().leak()
    }

    fn image(target: u32, text: &'static str) -> Image {
        Image::new(target, text, digest(text).leak())
    }

    /// Returns a module with these images, compiled from `FILES` with this digest.
    fn module(sources: &'static str, images: Vec<Image>) -> &'static Module {
        // SAFETY: `choose` only reads the texts, and the driver refuses the only one that a test loads.
        Box::leak(Box::new(unsafe { Module::new("m", FILES, sources, images.leak()) }))
    }

    fn choose_ours(module: &'static Module, capability: (u32, u32)) -> Result<&'static Image> {
        choose(module, slm_kernels::SOURCES, "old", capability)
    }

    #[test]
    fn the_highest_supported_target_is_chosen() {
        let module = module(ours(), [90, 75, 80].map(|target| image(target, ".version 6.3\n")).to_vec());
        let chosen = |capability| choose_ours(module, capability).map(Image::target);
        assert_eq!(chosen((7, 5)), Ok(75));
        assert_eq!(chosen((8, 9)), Ok(80));
        assert_eq!(chosen((9, 0)), Ok(90));
        assert_eq!(chosen((12, 0)), Ok(90));
        let device = "old".to_owned();
        assert_eq!(chosen((7, 0)), Err(Error::DeviceTooOld { device, required: (7, 5), actual: (7, 0) }));
    }

    #[test]
    fn a_module_of_other_sources_is_not_loaded() {
        let stale = module("other", vec![image(75, ".version 6.3\n")]);
        let Err(Error::KernelModule { module, source }) = choose_ours(stale, (9, 0)) else { panic!() };
        assert_eq!(module, "m");
        assert_eq!(source, ModuleError::Stale { expected: ours().to_owned(), actual: "other".into() });
    }

    #[test]
    fn an_altered_module_is_not_loaded() {
        let altered = Image::new(75, ".version 6.4\n", digest(".version 6.3\n").leak());
        let error = choose_ours(module(ours(), vec![altered]), (9, 0)).unwrap_err();
        assert!(matches!(error, Error::KernelModule { source: ModuleError::Altered { .. }, .. }), "{error}");
    }

    #[test]
    fn this_programs_modules_are_good() {
        assert!(KERNELS.iter().next().is_some());
        for module in KERNELS.iter() {
            // The first GPUs that have what a module needs, such as products of bytes.
            let first = module.images().iter().map(Image::target).min();
            assert!(matches!(first, Some(75 | 80)), "{first:?}");
            for (capability, newest) in [((7, 5), 75), ((8, 0), 80), ((9, 0), 90)] {
                let chosen = choose_ours(module, capability).ok().map(Image::target);
                let targets = module.images().iter().map(Image::target);
                assert_eq!(chosen, targets.filter(|target| *target <= newest).max());
            }
        }
        assert_eq!(lowest_target(), (7, 5));
    }

    /// Returns the error for a function's return code.
    fn error(code: i32) -> Error {
        check("cuModuleLoadData", code).unwrap_err()
    }

    #[test]
    fn a_driver_too_old_for_the_ptx_is_an_error_with_versions() {
        let explained = explain(error(222), "m", "// m\n.version 7.8\n", Ok((11, 4)));
        let needed_for = "the kernel module m (PTX 7.8)".to_owned();
        assert_eq!(explained, Error::DriverTooOld { required: (11, 8), actual: (11, 4), needed_for });
        // Other failures, and drivers that do not report their version, keep their error.
        assert_eq!(explain(error(218), "m", ".version 7.8\n", Ok((11, 4))), error(218));
        assert_eq!(explain(error(222), "m", ".version 7.8\n", Err(error(3))), error(222));
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn the_driver_refuses_ptx_of_the_future() {
        let context = super::super::context::Context::of(0).unwrap();
        let image = image(75, ".version 99.9\n.target sm_75\n.address_size 64\n");
        let refused = context.module(module(ours(), vec![image]), slm_kernels::SOURCES).unwrap_err();
        let Error::DriverTooOld { required, actual, needed_for } = &refused else { panic!("{refused}") };
        assert_eq!((*required, needed_for.as_str()), ((99, 9), "the kernel module m (PTX 99.9)"));
        assert_eq!(*actual, version().unwrap());
    }

    #[test]
    fn versions() {
        assert_eq!(ptx_version("// x\n.version 7.8\n.target sm_90"), Some((7, 8)));
        assert_eq!(cuda_of_ptx((6, 3)), (10, 0));
        assert_eq!(cuda_of_ptx((7, 8)), (11, 8));
        assert_eq!([(8, 5), (8, 6), (8, 8), (9, 0)].map(cuda_of_ptx), [(12, 5), (12, 7), (12, 9), (13, 0)]);
    }
}
