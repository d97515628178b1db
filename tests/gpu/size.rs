//! More samples and elements than fit into 32 bits.

use super::{Trial, exclusive_trial};
use slm::Device;
use slm::filter1d::Filter1dAlgorithm;
use slm_test_support::filter1d::ALGORITHMS;
use slm_test_support::large::{PIXELS, Problem, copies, filter, pixels, transpose};

pub(super) fn trials() -> Vec<Trial> {
    let filtering = |name, samples: usize, algorithms: &'static [Filter1dAlgorithm]| {
        trial(name, 4 * samples as u64, move |device| filter(device, samples, algorithms))
    };
    let transposition =
        |name, shape: [usize; 2]| trial(name, (shape[0] * shape[1]) as u64, move |device| transpose(device, shape));
    vec![
        filtering("more_than_2_to_the_31_samples", (1 << 31) + 12_345, &ALGORITHMS),
        filtering(
            "more_than_2_to_the_32_samples",
            (1 << 32) + 12_345,
            &[Filter1dAlgorithm::Auto, Filter1dAlgorithm::GlobalMemory],
        ),
        // With a kernel for rows aligned to sectors, and with one for other rows.
        transposition("more_than_2_to_the_32_elements", [1 << 16, (1 << 16) + 32]),
        transposition("more_than_2_to_the_32_elements_of_odd_rows", [(1 << 16) + 3, (1 << 16) + 1]),
        // With and without gaps between rows.
        trial("matrices_of_more_than_2_to_the_31_bytes", 1 << 32, |device| {
            copies(device, [(1 << 15) + 3, (1 << 15) + 1])
        }),
        // More than 2^31 bytes from both ends, with words that are aligned and others.
        trial("pixels_in_the_middle_of_a_row", 4 * PIXELS as u64, pixels),
    ]
}

/// Returns a test with a signal or matrix of `bytes` bytes, and a result of the same size. It is ignored, with the reason,
/// if there is too little memory.
fn trial(name: &str, bytes: u64, work: impl Fn(&Device) -> Result<(), Problem> + Send + Sync + 'static) -> Trial {
    const GIGABYTE: u64 = 1 << 30;
    let trial = exclusive_trial(name, move |device| Ok(work(device)?));
    let on_device = Device::cuda(0).ok().and_then(|device| device.info().memory);
    if on_device.is_some_and(|memory| memory < 2 * bytes + 4 * GIGABYTE) {
        return trial.with_ignored_flag(true).with_kind("too little memory on the device");
    }
    if on_device.is_some() && free_memory().is_some_and(|memory| memory < bytes + 8 * GIGABYTE) {
        return trial.with_ignored_flag(true).with_kind("too little memory");
    }
    trial
}

/// Returns the machine's available memory in bytes.
fn free_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
