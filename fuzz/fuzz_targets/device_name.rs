//! Values of `SLM_DEVICE`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::Device;

fuzz_target!(|name: &str| {
    match Device::named(name) {
        Ok(device) => assert!(!device.info().selection.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
