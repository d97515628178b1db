//! Profiles of devices.

use cuda_std::host::banks::Banks;

/// Limits of a device, and the banks of its shared memory.
///
/// The numbers are from the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". Only
/// the profiles below exist, because the counts are valid for their numbers of banks:
///
/// ```compile_fail,E0451
/// let three_banks = emulator::Profile { banks: 3, ..emulator::Profile::SM_90 };
/// ```
///
/// ```compile_fail,E0616
/// let mut no_banks = emulator::Profile::SM_90;
/// no_banks.banks = 0;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    name: &'static str,
    banks: u32,
    shared_bytes: u32,
    threads: u32,
    threads_per_multiprocessor: u32,
    block: [u32; 3],
    grid: [u32; 3],
    parameter_bytes: u32,
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $name(&self) -> $type {
            self.$name
        }
    )*};
}

impl Profile {
    /// Compute capability 7.5.
    pub const SM_75: Profile = Profile::cuda("sm_75", 64, 1024);
    /// Compute capability 8.0.
    pub const SM_80: Profile = Profile::cuda("sm_80", 163, 2048);
    /// Compute capability 9.0.
    pub const SM_90: Profile = Profile::cuda("sm_90", 227, 2048);
    /// A small device: 16 banks, 64 KiB.
    pub const SMALL: Profile = Profile { banks: 16, ..Profile::cuda("small", 64, 1024) };

    /// All profiles.
    pub const ALL: [Profile; 4] = [Profile::SM_75, Profile::SM_80, Profile::SM_90, Profile::SMALL];

    const fn cuda(name: &'static str, shared_kib: u32, threads_per_multiprocessor: u32) -> Self {
        Profile {
            name,
            banks: 32,
            shared_bytes: shared_kib << 10,
            threads: 1024,
            threads_per_multiprocessor,
            block: [1024, 1024, 64],
            grid: [i32::MAX as u32, 65535, 65535],
            parameter_bytes: 4096,
        }
    }

    /// Returns the banks, each four bytes wide.
    pub(crate) const fn shape_of_banks(&self) -> Banks {
        Banks::new(self.banks, 4).expect("all profiles have valid banks")
    }

    getters! {
        /// Name in reports.
        name: &'static str;
        /// Number of banks of shared memory, each four bytes wide: a power of two, at most 32.
        banks: u32;
        /// Maximum dynamic shared memory per block, in bytes.
        shared_bytes: u32;
        /// Maximum threads per block.
        threads: u32;
        /// Maximum resident threads per multiprocessor.
        threads_per_multiprocessor: u32;
        /// Maximum threads per block along x, y and z.
        block: [u32; 3];
        /// Maximum blocks per grid along x, y and z.
        grid: [u32; 3];
        /// Maximum bytes of a kernel's parameters.
        parameter_bytes: u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes of a request are distributed evenly over the banks.
    #[test]
    fn banks_are_a_power_of_two_and_no_more_than_lanes() {
        for profile in Profile::ALL {
            assert!(profile.banks.is_power_of_two() && (4..=32).contains(&profile.banks), "{profile:?}");
            assert_eq!(profile.shape_of_banks().count(), profile.banks);
        }
    }
}
