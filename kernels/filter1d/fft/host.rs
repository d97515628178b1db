//! The order of spectra in memory, and the launch parameters.

use super::{Transformed, shared_elements};
use cuda_std::shared_bytes;

/// Maximum number of segments of a launch: two for each block of a grid.
const MOST_SEGMENTS: u64 = u32::MAX as u64 - 1;

/// Returns the frequencies of a spectrum's numbers, in the order in which the kernels read them.
pub fn frequencies<F: Transformed>() -> impl ExactSizeIterator<Item = usize> {
    // Complex numbers of an access, and those of all threads at the same time.
    let (pack, threads) = (F::PACK / 2, F::THREADS as usize);
    (0..F::POINTS).map(move |number| {
        let (thread, point) = (number / pack % threads, number / pack / threads * pack + number % pack);
        let place = 16 * (thread + threads * (point / 16)) + point % 16;
        place / 256 + F::RADIX * (place / 16 % 16) + 16 * F::RADIX * (place % 16)
    })
}

/// The segments of lines, and the parts of the taps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FftGeometry {
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u64,
    /// Outputs of a segment.
    pub step: u32,
    /// Taps of a part.
    pub taps_per_part: u32,
    /// Number of parts.
    pub parts: u32,
}

/// Lines of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FftPart {
    /// Index of the first line.
    pub first_line: u64,
    /// Number of lines.
    pub lines: u32,
    /// Segments of a line.
    pub segments: u32,
    /// Blocks along x.
    pub blocks: u32,
}

impl FftGeometry {
    /// Returns the geometry for this number of taps, in parts of at most `per_part` taps, which is at most the number of points.
    #[must_use]
    pub fn new<F: Transformed>(taps: usize, per_part: usize) -> Self {
        let parts = taps.div_ceil(per_part);
        let taps_per_part = if parts == 1 { taps } else { per_part };
        // The casts are exact: there are fewer than 2^31 taps.
        FftGeometry {
            threads: F::THREADS,
            shared_bytes: shared_bytes::<F::Real>(shared_elements(F::POINTS as u32).into()),
            step: (F::POINTS - taps_per_part + 1) as u32,
            taps_per_part: taps_per_part as u32,
            parts: parts as u32,
        }
    }

    /// Returns the number of points that are transformed for lines of this number of outputs.
    #[must_use]
    pub fn points(&self, lines: u64, outputs: u64) -> u64 {
        let pairs = lines.saturating_mul(outputs.div_ceil(self.step.into())).div_ceil(2);
        // A segment has as many points as outputs and taps, less one.
        let points = u64::from(self.step + self.taps_per_part - 1);
        pairs.saturating_mul(2 * points).saturating_mul(self.parts.into())
    }

    /// Returns the launches for lines of this number of outputs: one, unless there are more segments than a grid has blocks for.
    pub fn launches(&self, lines: u64, outputs: u64) -> impl Iterator<Item = FftPart> {
        let segments = outputs.div_ceil(self.step.into());
        // No device has memory for a line with more segments.
        let most = (MOST_SEGMENTS / segments.max(1)).max(1);
        let launches = if outputs == 0 { 0 } else { lines.div_ceil(most) };
        (0..launches).map(move |launch| {
            let first_line = launch * most;
            let lines = most.min(lines - first_line);
            let of = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
            let blocks = of(lines.saturating_mul(segments).div_ceil(2));
            FftPart { first_line, lines: of(lines), segments: of(segments), blocks }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Points;
    use super::*;

    #[test]
    fn every_frequency_has_one_place() {
        fn check<F: Transformed>() {
            let mut is_there = [false; 8192];
            frequencies::<F>().for_each(|frequency| is_there[frequency] = true);
            assert!(is_there[..F::POINTS].iter().all(|is_there| *is_there) && frequencies::<F>().count() == F::POINTS);
        }
        check::<Points<f32, 4096>>();
        check::<Points<f32, 8192>>();
        check::<Points<f64, 1024>>();
    }

    #[test]
    fn launches_have_all_segments() {
        let geometry = FftGeometry::new::<Points<f32, 4096>>(257, 2049);
        assert_eq!((geometry.step, geometry.parts), (3840, 1));
        let launch = FftPart { first_line: 0, lines: 3, segments: 3, blocks: 5 };
        assert!(geometry.launches(3, 10_000).eq([launch]));
        assert_eq!(geometry.launches(3, 0).count(), 0);
        assert_eq!(geometry.launches(1 << 33, 1).map(|part| u64::from(part.lines)).sum::<u64>(), 1 << 33);
        let parts = FftGeometry::new::<Points<f32, 4096>>(16_384, 2049);
        assert_eq!((parts.step, parts.parts, parts.taps_per_part), (2048, 8, 2049));
    }
}
