//! The crate `imageproc` with the same problems, on the CPU.
//!
//! It continues a picture with its last pixels, so only outputs that need nothing outside are compared.

use super::common::{Times, report};
use super::{INNER, Kernel, Number, Problem};
use image::{ImageBuffer, Luma, Pixel, Rgba};
use imageproc::definitions::{Clamp, Image};
use imageproc::filter::{filter_parallel, separable_filter};
use slm::ndarray::Array2;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

/// A run of a large filter takes up to a minute, so none follows one that took longer than this.
const LONG: Duration = Duration::from_secs(5);

/// A type of pixels that `imageproc` filters.
pub(crate) trait Sample: Number + Clamp<f32> + Into<f32> {
    type Pixel: Pixel<Subpixel = Self> + Sync + Send;

    /// Returns the output for a sum.
    fn of(sum: f32) -> Self;
}

impl Sample for f32 {
    type Pixel = Luma<f32>;

    fn of(sum: f32) -> Self {
        sum
    }
}

impl Sample for u8 {
    type Pixel = Rgba<u8>;

    fn of(sum: f32) -> Self {
        // Rounds positive sums, and saturates.
        (sum + 0.5) as u8
    }
}

/// Prints the line of a filter, if `imageproc` has it.
pub(crate) fn measure<T: Sample>(problem: &Problem<T>, kernel: Kernel) {
    let (rows, columns) = problem.host.dim();
    let samples = problem.host.iter().copied().collect();
    let image = ImageBuffer::from_raw((columns / problem.channels) as u32, rows as u32, samples);
    let image: Image<T::Pixel> = image.expect("a picture has as many samples as its pixels need");
    let (name, products) = match kernel {
        Kernel::Dense(_) => ("imageproc filter_parallel", problem.products(kernel)),
        // Between its passes, pixels are rounded to their own type.
        Kernel::Separable(_) if problem.channels > 1 => return,
        Kernel::Separable(_) => ("imageproc separable_filter", problem.products(kernel)),
        // Its box filter is of bytes of one channel.
        Kernel::Box(_) => return,
    };
    let mut times = Vec::new();
    while times.len() < ROUNDS && times.iter().all(|&time| time < LONG) {
        let start = Instant::now();
        let filtered = filter::<T>(&image, kernel);
        times.push(start.elapsed());
        check(problem, kernel, name, filtered);
    }
    report(name, &problem.case(kernel), Times::of(&mut times), &[problem.bytes(), products], "ok");
}

fn filter<T: Sample>(image: &Image<T::Pixel>, kernel: Kernel) -> Image<T::Pixel> {
    if let Kernel::Separable(_) = kernel {
        let [column, row] = kernel.vectors();
        return separable_filter(image, &row, &column);
    }
    let (side, weights) = (kernel.side() as u32, kernel.weights().into_iter().collect::<Vec<_>>());
    filter_parallel(image, imageproc::kernel::Kernel::new(&weights, side, side), T::of)
}

fn check<T: Sample>(problem: &Problem<T>, kernel: Kernel, name: &str, filtered: Image<T::Pixel>) {
    let (rows, columns) = problem.host.dim();
    let outputs = Array2::from_shape_vec((rows, columns), filtered.into_raw()).expect("a picture of the same size");
    let [halo, wide] = [1, problem.channels].map(|step| kernel.side() / 2 * step);
    let is_inside = |&[r, c]: &[usize; 2]| (halo..rows - halo).contains(&r) && (wide..columns - wide).contains(&c);
    let places: Vec<_> = problem.inner().filter(is_inside).collect();
    assert!(places.len() > INNER / 2, "{} places are inside", places.len());
    problem.compare(kernel, name, &outputs, places);
}
