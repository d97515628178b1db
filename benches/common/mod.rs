//! What the benchmarks share: deterministic data, medians, and the lines of a table.

use std::time::Duration;

/// Prints the line of one case, in the columns that `peers/README.md` explains; `per_run` is what a run moves or
/// computes, of each kind that has a column.
pub(crate) fn report(peer: &str, case: &str, time: Duration, per_run: &[u64], verdict: &str) {
    let seconds = time.as_secs_f64();
    print!("slm {peer}\t{case}\t{:.2}", seconds * 1e6);
    for &amount in per_run {
        print!("\t{:.4e}", amount as f64 / seconds);
    }
    println!("\t{verdict}");
}

/// Number `i` of a stream of random ones: SplitMix64.
pub(crate) fn random(i: u64, seed: u64) -> u64 {
    let z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}
