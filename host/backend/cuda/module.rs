//! Compiled kernels: choosing the image for a device, checking and loading it.

use super::driver::{is_unsupported_ptx, version};
use super::handle;
use super::queue::Limits;
use crate::{Error, Result, modules};
use cuda_std::Entry;
use cuda_std::image::{Header, ImageError, Module, verify_kernel};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// A module in a context.
#[derive(Debug)]
pub(super) struct Loaded {
    module: &'static Module,
    /// The digest of the sources that it was checked against.
    sources: &'static str,
    image: &'static str,
    pub(super) cuda: handle::Module,
}

impl Loaded {
    /// Refuses a module that has not this very kernel with its arguments.
    pub(super) fn verify<E: Entry>(&self) -> Result<()> {
        let module = self.module.name();
        verify_kernel::<E>(self.image).map_err(|source| Error::KernelModule { module, source })
    }
}

/// The modules that a queue has loaded so far.
#[derive(Debug, Default)]
pub(super) struct Modules(Mutex<Vec<Arc<Loaded>>>);

impl Modules {
    /// The module, compiled from sources with this digest; loaded if it is not yet. The context is current.
    pub(super) fn get(&self, module: &'static Module, sources: &'static str, limits: &Limits) -> Result<Arc<Loaded>> {
        // The list is whole at any time, so a panic elsewhere did it no harm.
        let mut loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // By its place, since two crates can have modules of the same name.
        let same = |loaded: &&Arc<Loaded>| ptr::eq(loaded.module, module) && loaded.sources == sources;
        if let Some(found) = loaded.iter().find(same) {
            return Ok(found.clone());
        }
        let (header, image) = choose(module, sources, &limits.device, limits.capability)?;
        // SAFETY: compiled from the sources of this program's kernels (`choose`).
        let cuda = unsafe { handle::Module::load(image) };
        let cuda = cuda.map_err(|error| explain(error, &header, image, version()))?;
        let new = Arc::new(Loaded { module, sources, image, cuda });
        loaded.push(new.clone());
        Ok(new)
    }
}

/// The lowest compute capability that there is an image for.
pub(super) fn lowest_target() -> (u32, u32) {
    let targets = modules::FILTER1D_ROWS_F32.images().iter().filter_map(|image| Header::read(image).ok());
    let lowest = targets.map(|header| header.target).min().unwrap_or_default();
    (lowest / 10, lowest % 10)
}

/// The image of `module` for the highest target that `device` supports; all have to be compiled from sources with this
/// digest.
fn choose(module: &'static Module, sources: &str, device: &str, actual: (u32, u32)) -> Result<(Header, &'static str)> {
    let wrong = |source| Error::KernelModule { module: module.name(), source };
    let read = |image: &&'static str| Header::verify(image, sources).map(|header| (header, *image)).map_err(wrong);
    let mut images = module.images().iter().map(read).collect::<Result<Vec<_>>>()?;
    images.sort_by_key(|(header, _)| header.target);
    let lowest = images.first().ok_or(wrong(ImageError::NoImages))?.0.target;
    let most = 10 * actual.0 + actual.1;
    let best = images.into_iter().rfind(|(header, _)| header.target <= most);
    let required = (lowest / 10, lowest % 10);
    best.ok_or_else(|| Error::DeviceTooOld { device: device.to_owned(), required, actual })
}

/// The refusal of a driver of this version to load `image`, in terms of versions if that is the reason.
fn explain(error: Error, header: &Header, image: &str, version: Result<(u32, u32)>) -> Error {
    let (true, Ok(actual)) = (is_unsupported_ptx(&error), version) else { return error };
    let ptx = ptx_version(image).unwrap_or_default();
    let needed_for = format!("the kernel module {} (PTX {}.{})", header.module, ptx.0, ptx.1);
    Error::DriverTooOld { required: cuda_of_ptx(ptx), actual, needed_for }
}

/// The PTX version in the line `.version M.m`.
fn ptx_version(image: &str) -> Option<(u32, u32)> {
    let version = image.lines().find_map(|line| line.strip_prefix(".version "))?;
    let (major, minor) = version.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The first version of CUDA that knows a PTX version (PTX ISA, "Release Notes").
fn cuda_of_ptx(ptx: (u32, u32)) -> (u32, u32) {
    match ptx {
        (6, minor @ ..=2) => (9, minor),
        (6, minor) => (10, minor.saturating_sub(3)),
        (7, minor) => (11, minor),
        (8, minor @ ..=5) => (12, minor),
        // CUDA 12.6 brought none.
        (8, minor) => (12, minor + 1),
        (9, minor) => (13, minor),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::check;
    use super::*;
    use crate::modules::{FILTER1D_COLUMNS_F64, FILTER1D_ROWS_F32, FILTER1D_ROWS_I32};

    fn ours() -> Header {
        let sources = slm_kernels::SOURCES.to_owned();
        Header { module: "m".into(), target: 75, sources, compiler: "c".into(), flags: "f".into() }
    }

    /// A module with these images.
    fn module(images: Vec<String>) -> &'static Module {
        let images = images.into_iter().map(|image| &*image.leak()).collect::<Vec<&'static str>>().leak();
        // SAFETY: `choose` only reads the texts; none of them is loaded.
        Box::leak(Box::new(unsafe { Module::new("m", images) }))
    }

    fn choose_ours(module: &'static Module, capability: (u32, u32)) -> Result<(Header, &'static str)> {
        choose(module, slm_kernels::SOURCES, "old", capability)
    }

    #[test]
    fn the_highest_supported_target_is_chosen() {
        let images = [75, 80, 90].map(|target| Header { target, ..ours() }.write(".version 6.3\n"));
        let module = module(images.to_vec());
        let chosen = |capability| choose_ours(module, capability).map(|(header, _)| header.target);
        assert_eq!(chosen((7, 5)), Ok(75));
        assert_eq!(chosen((8, 9)), Ok(80));
        assert_eq!(chosen((9, 0)), Ok(90));
        assert_eq!(chosen((12, 0)), Ok(90));
        let device = "old".to_owned();
        assert_eq!(chosen((7, 0)), Err(Error::DeviceTooOld { device, required: (7, 5), actual: (7, 0) }));
    }

    #[test]
    fn a_module_without_images_is_not_loaded() {
        let error = Error::KernelModule { module: "m", source: ImageError::NoImages };
        assert_eq!(choose_ours(module(Vec::new()), (9, 0)).err(), Some(error));
    }

    #[test]
    fn a_module_of_other_sources_is_not_loaded() {
        let stale = Header { sources: "other".into(), ..ours() }.write(".version 6.3\n");
        let Err(Error::KernelModule { module, source }) = choose_ours(module(vec![stale]), (9, 0)) else { panic!() };
        assert_eq!(module, "m");
        let expected = slm_kernels::SOURCES.to_owned();
        assert_eq!(source, ImageError::Stale { expected, actual: "other".into() });
    }

    #[test]
    fn an_altered_module_is_not_loaded() {
        let altered = ours().write(".version 6.3\n").replace("6.3", "6.4");
        let error = choose_ours(module(vec![altered]), (9, 0)).unwrap_err();
        assert!(matches!(error, Error::KernelModule { source: ImageError::Altered { .. }, .. }), "{error}");
    }

    #[test]
    fn this_programs_modules_are_good() {
        for module in [&FILTER1D_ROWS_F32, &FILTER1D_COLUMNS_F64, &FILTER1D_ROWS_I32] {
            for capability in [(7, 5), (8, 0), (9, 0)] {
                let (header, _) = choose_ours(module, capability).unwrap();
                assert_eq!((header.target / 10, header.target % 10), capability);
            }
        }
        assert_eq!(lowest_target(), (7, 5));
    }

    /// The error that a function's return code stands for.
    fn error(code: i32) -> Error {
        check("cuModuleLoadData", code).unwrap_err()
    }

    #[test]
    fn a_driver_too_old_for_the_ptx_is_told_in_versions() {
        let explained = explain(error(222), &ours(), "// m\n.version 7.8\n", Ok((11, 4)));
        let needed_for = "the kernel module m (PTX 7.8)".to_owned();
        assert_eq!(explained, Error::DriverTooOld { required: (11, 8), actual: (11, 4), needed_for });
        // Another failure, or a driver that does not tell its version, stays what it is.
        assert_eq!(explain(error(218), &ours(), ".version 7.8\n", Ok((11, 4))), error(218));
        assert_eq!(explain(error(222), &ours(), ".version 7.8\n", Err(error(3))), error(222));
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn the_driver_refuses_ptx_of_the_future() {
        let (queue, _) = super::super::open(0).unwrap();
        let image = ours().write(".version 99.9\n.target sm_75\n.address_size 64\n");
        let refused = queue.module(module(vec![image]), slm_kernels::SOURCES).unwrap_err();
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
