//! The crate `imageproc` with the same medians, on the CPU.
//!
//! Its median filter is of bytes, in one thread, and continues a picture with its last pixels.

use super::{Case, Problem, compare};
use image::{GrayImage, ImageBuffer};
use imageproc::filter::median_filter;
use slm::ndarray::Array2;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

const SIDES: [usize; 3] = [3, 5, 15];

/// No run follows one that took longer than this.
const LONG: Duration = Duration::from_secs(5);

/// Prints a line for each window.
pub(crate) fn table(problem: &Problem<u8>) {
    const NAME: &str = "imageproc median_filter, 1 thread";
    let (rows, columns) = problem.host.dim();
    let picture = ImageBuffer::from_raw(columns as u32, rows as u32, problem.host.iter().copied().collect());
    let picture: GrayImage = picture.expect("a picture has as many samples as pixels");
    for side in SIDES {
        let (case, radius) = (Case::Median(side), side as u32 / 2);
        let expected = problem.expected(case);
        let mut times = Vec::new();
        while times.len() < ROUNDS && times.iter().all(|&time| time < LONG) {
            let start = Instant::now();
            let filtered = median_filter(&picture, radius, radius);
            times.push(start.elapsed());
            let outputs = Array2::from_shape_vec((rows, columns), filtered.into_raw());
            compare(case, NAME, &outputs.expect("a picture of the same size"), &expected);
        }
        problem.report(NAME, case, &mut times, "ok exact");
        if times.iter().any(|&time| time >= LONG) {
            println!("# slm {NAME}: larger windows are skipped after a run of more than {LONG:?}");
            return;
        }
    }
}
