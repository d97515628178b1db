//! The times that outer products take on an NVIDIA H200, by kernels for pictures and by filters of lines. `benches/gaussians.rs` measures
//! them. No other GPU has times of its own so far.
//!
//! The choice does not depend on the number of rows and pictures, because parts of a picture are computed as the whole one is: sums in
//! another order would have other bits.

use super::any_weights::AnyWeights;
use super::choose::LinePasses;
use super::gpu::Steps;
use super::window::{Axis, PictureProblem};
use crate::filter1d::{GpuOfLines, Number, duration, time_on_gpu};
use slm_kernels::signal::Kind;
use std::time::Duration;

/// Times of a kernel for pictures, in picoseconds.
#[derive(Clone, Copy)]
struct Times {
    /// Without weights.
    launches: f64,
    /// Of a row or a column of weights, if the picture is small.
    tap: f64,
    /// Of a product of an output with a row or a column of weights, if the picture is large. Many weights take longer than that.
    product: f64,
}

/// Rows of the picture that times are compared for.
const ROWS: usize = 1 << 12;

const ONE_LAUNCH: Times = Times { launches: 10e6, tap: 0.18e6, product: 0.055 };
const TWO_LAUNCHES: Times = Times { launches: 30e6, tap: 0.25e6, product: 0.16 };
const TWO_LAUNCHES_OF_F64: Times = Times { product: 0.3, ..TWO_LAUNCHES };

/// Time of a launch that transposes or converts, in picoseconds.
const LAUNCH: f64 = 8e6;

/// Time by which a launch begins before the one ahead of it has ended, in picoseconds. The comparison with other kernels, whose constants were
/// found without it, does not know it.
const OVERLAP: f64 = 4e6;

/// Time of a transposition, in picoseconds for each byte that it reads or writes.
const TRANSPOSED_BYTE: f64 = 0.29;

/// The same of a conversion.
const CONVERTED_BYTE: f64 = 0.37;

impl LinePasses {
    /// Returns whether filters of lines take less time than other kernels for pictures of this width.
    pub(super) fn are_faster(&self, gpu: GpuOfLines, picture: &PictureProblem) -> bool {
        let rows = Axis { samples: ROWS, outputs: ROWS, ..picture.rows };
        let picture = &PictureProblem { planes: 1, rows, ..*picture };
        let others = match &self.product {
            AnyWeights::F32(_) if self.competes_with_one_launch => ONE_LAUNCH,
            AnyWeights::F64(_) => TWO_LAUNCHES_OF_F64,
            AnyWeights::F32(_) | AnyWeights::I32(_) | AnyWeights::I64(_) => TWO_LAUNCHES,
        };
        let outputs = picture.output_rows() as f64 * picture.output_width() as f64;
        let [rows, columns] = self.product.shape();
        // One pass is made by one launch.
        let launches = if rows == 1 || columns == 1 { others.launches / 2.0 } else { others.launches };
        self.time(gpu, picture) < launches + (rows + columns) as f64 * others.tap.max(others.product * outputs)
    }

    /// Returns the time of filters of lines for a whole picture.
    pub(super) fn predicted(&self, gpu: GpuOfLines, picture: &PictureProblem) -> Duration {
        let conversions = self.rule.kinds.iter().filter(|&&kind| kind != self.sums).count();
        let following = 3 + conversions + usize::from(picture.channels > 1);
        duration(self.time(gpu, picture) - following as f64 * OVERLAP)
    }

    /// Returns the sum of the times of all launches, in picoseconds.
    fn time(&self, gpu: GpuOfLines, picture: &PictureProblem) -> f64 {
        match &self.product {
            AnyWeights::F32(_) => self.time_of::<f32>(gpu, picture),
            AnyWeights::F64(_) => self.time_of::<f64>(gpu, picture),
            AnyWeights::I32(_) | AnyWeights::I64(_) => self.time_of::<i32>(gpu, picture),
        }
    }

    /// Returns that for sums of type `A`.
    fn time_of<A: Number>(&self, gpu: GpuOfLines, picture: &PictureProblem) -> f64 {
        let (steps, [rows, columns]) = (Steps::new(picture), self.product.shape());
        let (of_sum, bound) = (self.sums.bytes(), self.rule.bound);
        let launch = |elements: usize, bytes: u64, of_byte: f64| LAUNCH + elements as f64 * bytes as f64 * of_byte;
        let transposition = |elements| launch(elements, 2 * of_sum, TRANSPOSED_BYTE);
        let conversion = |elements, kind: Kind| match kind == self.sums {
            true => 0.0,
            false => launch(elements, kind.bytes() + of_sum, CONVERTED_BYTE),
        };
        let [samples, outputs] = self.rule.kinds;
        let [read, written] = [&steps.to_columns, &steps.to_pixels].map(|matrices| matrices.len());
        let to_pixels = if picture.channels == 1 { 0.0 } else { transposition(written) };
        conversion(read, samples)
            + transposition(read)
            + time_on_gpu::<A>(gpu, rows, &steps.down, bound)
            + transposition(steps.to_rows.len())
            + time_on_gpu::<A>(gpu, columns, &steps.along, bound)
            + to_pixels
            + conversion(written, outputs)
    }
}
