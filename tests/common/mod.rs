//! What the test programs share: the devices to test, and data.

// Not every test program uses all of it, and `pub` reads better than `pub(crate)` in a test.
#![allow(dead_code, unreachable_pub)]

pub mod emulated;
pub mod exact;
pub mod example;
pub mod extension;
pub mod histogram;
pub mod oracle;
pub mod ptx;
pub mod shared_memory;

use libtest_mimic::{Failed, Trial};
use slm::filter1d::{Algorithm, HaloLoad};
use slm::{Backend, Device};
use std::sync::{Arc, OnceLock};

/// The seed of all test data.
pub const SEED: u64 = 0x5eed;

/// Every algorithm that there is on a GPU.
pub const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::Auto,
    Algorithm::GlobalMemory,
    Algorithm::SharedTile(HaloLoad::EdgeThread),
    Algorithm::SharedTile(HaloLoad::Cooperative),
    Algorithm::RegisterTiled,
];

/// What a test does on a device. Behind a pointer, since every closure that trials are made of would be compiled with all of
/// their machinery.
pub type Test = Arc<dyn Fn(&Device) -> Result<(), Failed> + Send + Sync>;

/// One test of a suite on every backend: on the CPU and on an emulated device always, on a CUDA device where there is one. Without
/// one it is listed as ignored, with the reason; with `SLM_REQUIRE_CUDA=1` it fails.
pub fn on_every_backend(
    suite: &'static str,
    name: &str,
    test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static,
) -> [Trial; 3] {
    let test: Test = Arc::new(test);
    let on_cpu = test.clone();
    let on_cpu = Trial::test(format!("{suite}::cpu::{name}"), move || on_cpu(&Device::cpu()));
    [on_cpu, emulated::trial_of(suite, name, test.clone()), on_cuda_of(suite, name, || (), test)]
}

/// One test on a CUDA device, as above. While the device is open, what `hold` gives is held.
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

/// Why there is no CUDA device, if there is none; said once.
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

/// Pseudo-random numbers (SplitMix64, Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    pub fn new(stream: u64) -> Self {
        Random(SEED ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// At least 0 and less than 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn values<T: Sample>(&mut self, count: usize) -> Vec<T> {
        (0..count).map(|_| T::random(self.next())).collect()
    }
}

/// What tests need to know of an element type.
pub trait Sample: slm::filter1d::FilterElement + std::fmt::Display {
    const NAME: &'static str;
    /// A number between -1 and 1 for floats, any one for integers.
    fn random(bits: u64) -> Self;
    /// Whether `actual` is the exact sum `expected` within the documented rounding, for `taps` taps.
    fn agrees(actual: Self, expected: oracle::Sum, taps: usize) -> bool;
    /// The sum of the products.
    fn sum(pairs: impl Iterator<Item = (Self, Self)>) -> oracle::Sum;
    /// For comparing bit by bit.
    fn bits(self) -> u64;
}

macro_rules! floats {
    ($($t:ty, $unit:expr;)*) => {$(
        impl Sample for $t {
            const NAME: &'static str = stringify!($t);
            fn random(bits: u64) -> Self {
                (bits >> 11) as Self / (1u64 << 52) as Self - 1.0
            }
            fn agrees(actual: Self, expected: oracle::Sum, taps: usize) -> bool {
                let oracle::Sum::Real(expected) = expected else { unreachable!() };
                // Products are not that small.
                expected.agrees(actual.into(), taps, $unit, 0.0)
            }
            fn sum(pairs: impl Iterator<Item = (Self, Self)>) -> oracle::Sum {
                oracle::Sum::Real(pairs.fold(oracle::Real::default(), |sum, (x, tap)| sum.add(x.into(), tap.into())))
            }
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }
    )*};
}
floats! {
    f32, (-24f64).exp2();
    f64, (-53f64).exp2();
}

impl Sample for i32 {
    const NAME: &'static str = "i32";
    fn random(bits: u64) -> Self {
        bits as i32
    }
    fn agrees(actual: Self, expected: oracle::Sum, _taps: usize) -> bool {
        oracle::Sum::Wrapped(actual) == expected
    }
    fn sum(pairs: impl Iterator<Item = (Self, Self)>) -> oracle::Sum {
        oracle::Sum::Wrapped(pairs.fold(0, |sum: i32, (x, tap)| sum.wrapping_add(x.wrapping_mul(tap))))
    }
    fn bits(self) -> u64 {
        self as u64
    }
}
