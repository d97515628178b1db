//! The crate `imageproc` with the same medians and minima, on the CPU.
//!
//! Its median filter and its erosion are of bytes, in one thread. The filter continues a picture with its last pixels. The erosion leaves out what
//! is outside, with the same result: squares and discs that reach beyond an edge contain the last pixels before it.

use super::{Case, Problem, compare};
use image::{GrayImage, ImageBuffer};
use imageproc::filter::median_filter;
use imageproc::morphology::{Mask, grayscale_erode};
use slm::ndarray::Array2;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

const MEDIANS: &[Case] = &[Case::Median(3), Case::Median(5), Case::Median(15)];

const MINIMA: &[Case] = &[Case::DiscMinimum(4), Case::DiscMinimum(7), Case::Minimum(15)];

/// No run of a series follows one that took longer than this.
const LONG: Duration = Duration::from_secs(5);

/// Prints a line for each window.
pub(crate) fn table(problem: &Problem<u8>) {
    let (rows, columns) = problem.host.dim();
    let picture = ImageBuffer::from_raw(columns as u32, rows as u32, problem.host.iter().copied().collect());
    let picture: GrayImage = picture.expect("a picture has as many samples as pixels");
    series(problem, "imageproc median_filter, 1 thread", MEDIANS, |case| {
        let radius = case.shape()[0] as u32 / 2;
        median_filter(&picture, radius, radius)
    });
    series(problem, "imageproc grayscale_erode, 1 thread", MINIMA, |case| {
        let radius = (case.shape()[0] / 2) as u8;
        let mask = if case.has(0, 0) { Mask::square(radius) } else { Mask::disk(radius) };
        grayscale_erode(&picture, &mask)
    });
}

/// Prints a line for each case, in the order of their cost.
fn series(problem: &Problem<u8>, name: &str, cases: &[Case], run: impl Fn(Case) -> GrayImage) {
    for &case in cases {
        let expected = problem.expected(case);
        let mut times = Vec::new();
        while times.len() < ROUNDS && times.iter().all(|&time| time < LONG) {
            let start = Instant::now();
            let filtered = run(case);
            times.push(start.elapsed());
            let outputs = Array2::from_shape_vec(problem.host.dim(), filtered.into_raw());
            compare(case, name, &outputs.expect("a picture of the same size"), &expected);
        }
        problem.report(name, case, &mut times, "ok exact");
        if times.iter().any(|&time| time >= LONG) {
            println!("# slm {name}: larger windows are skipped after a run of more than {LONG:?}");
            return;
        }
    }
}
