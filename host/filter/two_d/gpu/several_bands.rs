//! The kernel of two passes in several bands. An emulated device runs one block at a time, so it would make one band of a picture.

use super::Launches;
use super::banded::BandLaunches;
use super::passes::{Fitting, Passes};
use crate::filter1d::ErrorBound;
use crate::filter2d::Filter2dAlgorithm;
use crate::filter2d::element::{BufferMut, BufferRef, Scalar};
use crate::filter2d::rule::FilterRule;
use crate::filter2d::weights::Weights;
use crate::filter2d::window::{PictureProblem, Window};
use crate::{Device, Extent, Result};
use emulator::Profile;
use slm_kernels::signal::{Border, Kind};
use std::sync::Arc;

/// Returns the bands, and the outputs of two planes, for a device that runs this number of blocks at the same time.
fn filtered(resident: u64) -> Result<(u64, Vec<f32>)> {
    let device = Device::emulated(Profile::SM_90, 0);
    let gpu = device.gpu().expect("a GPU");
    let factors = [vec![0.5, -1.0, 2.0, 0.25], vec![1.0, 3.0, -0.5, 0.125, 7.0]].map(Arc::new);
    let fitting = Fitting::find(gpu.shared, [4, 5]).expect("few weights");
    let kernel = Passes::new(&gpu, fitting, &factors)?;
    let [column, row] = factors;
    let weights = Weights::separable(column, row);
    let window = Window::new(&weights, [Border::Reflect; 2], Extent::Full, [1, 1], [1, 1], None)?;
    let rule = FilterRule {
        bound: ErrorBound::PerOutput,
        window,
        outside: Scalar::F32(0.0),
        renormalise: false,
        boxes: true,
        divisor: None,
        algorithm: Filter2dAlgorithm::Separable,
        kinds: [Kind::F32; 2],
        weights: "f32",
    };
    let mut filter = BandLaunches::new(&gpu, rule, kernel)?;
    filter.resident = resident;
    let problem = PictureProblem::new(&window, 2, [50, 20])?;
    let samples: Vec<f32> = (0..2000u32).map(|i| (i * 37 % 101) as f32).collect();
    let (samples, mut outputs) = (device.upload(&samples)?, device.unwritten(problem.len()?)?);
    filter.enqueue(&problem, BufferRef::F32((&samples).into()), BufferMut::F32((&mut outputs).into()))?;
    let mut written = vec![0.0; outputs.len()];
    outputs.download_written_into(&mut written)?;
    Ok((filter.plan(&problem)[0].grid[1], written))
}

#[test]
fn bands_continue_each_other() {
    let (bands, expected) = filtered(1).unwrap();
    assert_eq!(bands, 1);
    for resident in [4, 40] {
        let (bands, actual) = filtered(resident).unwrap();
        assert!(bands > 1 && actual == expected, "{bands} bands");
    }
}
