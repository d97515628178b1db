//! The choice between sums and transforms, from times that were measured.
//!
//! `benches/taps.rs` measures both for 3 to 16,384 taps and 2^10 to 2^28 samples. For a single line and up to 129 taps, where the choice is a
//! close one, the times below are within a fifth (sums) and a third (transforms) of those measured on an H100. More taps, and many short
//! lines, take longer as sums than the times below say.

use slm_kernels::filter1d::Orientation;

/// Times of filters on a GPU. All GPUs have the same so far: those of an H100.
pub(crate) struct Times {
    /// Time of sums per output that does not depend on the taps, in picoseconds.
    output: f64,
    /// Time of a sum per tap while memory is waited for, too.
    tap: f64,
    /// Time of a sum per tap at least.
    least_tap: f64,
    /// Least time of transforms per output, along rows and along columns.
    transformed: [f64; 2],
}

pub(crate) const F32: Times = Times { output: 2.6, tap: 0.027, least_tap: 0.0, transformed: [3.3, 23.0] };
pub(crate) const F64: Times = Times { output: 5.4, tap: 0.006, least_tap: 0.073, transformed: [5.5, 29.0] };

/// Time of the shortest launch, in picoseconds.
const LAUNCH: f64 = 10e6;

/// Time of the shortest launch with transforms.
const LAUNCH_OF_TRANSFORMS: f64 = 10.5e6;

/// Time of a single sum per tap.
const SERIAL_TAP: f64 = 25e3;

/// Time of a part of the taps in a block that transforms its segments for one part after another.
pub(super) const SERIAL_PART: f64 = 2e6;

/// The outputs of lines, and what they take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) outputs: f64,
    pub(crate) taps: f64,
    /// Time of transforms if memory is not waited for, in picoseconds.
    pub(crate) transforms: f64,
    pub(crate) orientation: Orientation,
}

impl Times {
    /// Returns whether transforms take less time than sums.
    pub(crate) fn prefer_transforms(&self, work: &Work) -> bool {
        let of_output = (self.output + self.tap * work.taps).max(self.least_tap * work.taps);
        let sums = LAUNCH + (SERIAL_TAP * work.taps).max(of_output * work.outputs);
        let transformed = match work.orientation {
            Orientation::Rows => self.transformed[0],
            Orientation::Columns => self.transformed[1],
        };
        LAUNCH_OF_TRANSFORMS + work.transforms.max(transformed * work.outputs) < sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_for_many_taps() {
        let is_chosen = |times: &Times, log2: u32, taps: f64| {
            let outputs = f64::from(log2).exp2();
            // Of 4,096 points.
            let transforms = 2.71 * (outputs / (4097.0 - taps)).ceil() * 4096.0;
            times.prefer_transforms(&Work { outputs, taps, transforms, orientation: Orientation::Rows })
        };
        // What took less time on an H100.
        let direct = [(26, 17.0), (24, 17.0), (22, 17.0), (20, 3.0), (16, 3.0), (10, 3.0)];
        let transformed = [(28, 33.0), (26, 65.0), (24, 65.0), (22, 97.0), (20, 193.0), (16, 385.0), (10, 257.0)];
        assert!(direct.iter().all(|&(log2, taps)| !is_chosen(&F32, log2, taps)));
        assert!(transformed.iter().all(|&(log2, taps)| is_chosen(&F32, log2, taps)));
        assert!(!is_chosen(&F64, 26, 3.0) && !is_chosen(&F64, 22, 17.0) && !is_chosen(&F64, 10, 3.0));
        assert!(is_chosen(&F64, 26, 129.0) && is_chosen(&F64, 22, 129.0) && is_chosen(&F64, 20, 193.0));
    }
}
