//! Trials on every backend, and on CUDA devices.

use super::emulated;
use libtest_mimic::{Failed, Trial};
use slm::emulator::Profile;
use slm::{Backend, Device};
use std::sync::{Arc, OnceLock};

/// A test on a device. It is behind a pointer, because otherwise the code that makes trials would be compiled for every
/// closure.
pub type Test = Arc<dyn Fn(&Device) -> Result<(), Failed> + Send + Sync>;

/// Returns one test of a suite on every backend: on the CPU, on an emulated device, and on a CUDA device if there is one.
/// Without a CUDA device, that trial is listed as ignored, with the reason, or fails with `SLM_REQUIRE_CUDA=1`.
pub fn on_every_backend(
    suite: &'static str,
    name: &str,
    test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static,
) -> [Trial; 3] {
    on_profiles(suite, name, &Profile::ALL, test)
}

/// The same, with an emulated device of one of these profiles, for kernels that need more shared memory than others have.
pub fn on_profiles(
    suite: &'static str,
    name: &str,
    profiles: &[Profile],
    test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static,
) -> [Trial; 3] {
    let test: Test = Arc::new(test);
    let on_cpu = test.clone();
    let on_cpu = Trial::test(format!("{suite}::cpu::{name}"), move || on_cpu(&Device::cpu()));
    [on_cpu, emulated::trial_of(suite, name, profiles, test.clone()), on_cuda_of(suite, name, || (), test)]
}

/// Returns one test on a CUDA device, as above. The result of `hold` is kept while the device is open.
pub fn on_cuda<G: 'static>(
    suite: &str,
    name: &str,
    hold: fn() -> G,
    test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static,
) -> Trial {
    on_cuda_of(suite, name, hold, Arc::new(test))
}

fn on_cuda_of<G: 'static>(suite: &str, name: &str, hold: fn() -> G, test: Test) -> Trial {
    let name = format!("{suite}::cuda::{name}");
    let required = std::env::var_os("SLM_REQUIRE_CUDA").is_some_and(|v| v == "1");
    match cuda_missing() {
        Some(reason) if required => Trial::test(name, move || Err(format!("SLM_REQUIRE_CUDA=1, but {reason}").into())),
        Some(_) => Trial::test(name, || Ok(())).with_ignored_flag(true).with_kind("no CUDA device"),
        None => Trial::test(name, move || {
            let _held = hold();
            test(&Device::cuda(0).map_err(|e| e.to_string())?)
        }),
    }
}

/// Returns the reason if there is no CUDA device, and prints it once.
fn cuda_missing() -> Option<String> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let look = || {
        let reason = Device::cuda(0).err()?.to_string();
        eprintln!("CUDA tests are ignored: {reason}");
        Some(reason)
    };
    MISSING.get_or_init(look).clone()
}

pub fn is_cuda(device: &Device) -> bool {
    device.info().backend == Backend::Cuda
}

pub fn is_emulated(device: &Device) -> bool {
    device.info().backend == Backend::Emulated
}

/// Returns whether problems are small, because the device is slow: emulated, or a GPU under a sanitizer, for which `SLM_SMALL_PROBLEMS` is 1.
pub fn is_slow(device: &Device) -> bool {
    is_emulated(device) || (is_cuda(device) && std::env::var_os("SLM_SMALL_PROBLEMS").is_some_and(|value| value == "1"))
}
