//! What a device allows.

/// The limits of a device and the shape of its shared memory.
///
/// The numbers are those of the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// A name for reports.
    pub name: &'static str,
    /// Banks of shared memory, each four bytes wide; a power of two, 32 at most.
    pub banks: u32,
    /// The most dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The most threads of a block.
    pub threads: u32,
    /// The most threads of a block along x, y and z.
    pub block: [u32; 3],
    /// The most blocks of a grid along x, y and z.
    pub grid: [u32; 3],
    /// The most bytes of a kernel's parameters.
    pub parameter_bytes: u32,
}

impl Profile {
    /// Compute capability 7.5.
    pub const SM_75: Profile = Profile::cuda("sm_75", 64);
    /// Compute capability 8.0.
    pub const SM_80: Profile = Profile::cuda("sm_80", 163);
    /// Compute capability 9.0.
    pub const SM_90: Profile = Profile::cuda("sm_90", 227);
    /// A small device: 16 banks, 64 KiB.
    pub const SMALL: Profile = Profile { banks: 16, ..Profile::cuda("small", 64) };

    /// All of these.
    pub const ALL: [Profile; 4] = [Profile::SM_75, Profile::SM_80, Profile::SM_90, Profile::SMALL];

    const fn cuda(name: &'static str, shared_kib: u32) -> Self {
        Profile {
            name,
            banks: 32,
            shared_bytes: shared_kib << 10,
            threads: 1024,
            block: [1024, 1024, 64],
            grid: [i32::MAX as u32, 65535, 65535],
            parameter_bytes: 4096,
        }
    }
}
