//! Outer products with many weights on GPUs by one-dimensional filters of lines: down the columns first, then along the rows. These take
//! less time than two-dimensional ones, which have to fit into shared memory. Lines that lie in rows are read and written fastest, so
//! transpositions make columns rows:
//!
//! ```text
//!                   transpose              h weights             transpose           v weights            transpose
//!  R x C x K samples --------> C x K columns --------> C x K sums --------> K x R' rows --------> K x R' sums --------> outputs R' x C' x K
//!                               of R                    of R'                of C                  of C'
//! ```
//!
//! Samples and outputs of other types are converted by pointwise kernels. With one channel, `K = 1`, the last transposition is
//! not needed. All temporary data have the type of the sums, and at most two of them exist at a time. Outside of a constant border, a column
//! consists of the constant, and its sum is that of the constant.
//!
//! With the [error bound per segment](crate::filter1d#fourier-transforms), each of the two filters takes transforms or sums, whichever
//! take less time.

use crate::device::buffer2::extent;
use crate::device::gpu::Gpu;
use crate::device::kernel::{OnDemand, Recent};
use crate::element::any::Erase;
use crate::filter::generated::WeightSource;
use crate::filter::part::{PACK, Placement};
use crate::filter1d::{ErrorBound, Filtering, GpuLines, Lines, Number, Reach, Taps, on_gpu_by};
use crate::filter2d::accumulator::Accumulator;
use crate::filter2d::any_weights::AnyWeights;
use crate::filter2d::choose::LinePasses;
use crate::filter2d::details::PlannedPicture;
use crate::filter2d::element::{BufferMut, BufferRef};
use crate::filter2d::weights::{Values, Weights};
use crate::filter2d::window::{AxisRule, PictureProblem};
use crate::plan::Planned;
use crate::pointwise::{self, GpuFunction, conversion};
use crate::transpose::{GpuTranspose, Matrices, TransposeAlgorithm};
use crate::{Buffer, BufferSlice, BufferSliceMut, Extent, LaunchPlan, Result};
use slm_kernels::filter1d::Orientation;
use slm_kernels::signal::Kind;
use std::sync::Arc;

/// A filter by passes of lines, for sums of any type.
pub(super) trait ByLines: Send + Sync {
    /// Filters a picture that is not empty. Both buffers are on this device and have the types of the filter's rule.
    fn run(&self, picture: &PictureProblem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()>;

    /// Returns the plan for a picture that is not empty.
    fn plan(&self, picture: &PictureProblem) -> Result<PlannedPicture>;
}

/// Why filters of lines are taken.
const BY_SUMS: &str = "an outer product with many weights: sums of lines, down the columns, then along the rows";
const BY_TRANSFORMS: &str =
    "an outer product with many weights: transforms of lines, down the columns, then along the rows";

impl LinePasses {
    /// Returns whether kernels of lines can filter a part of a picture: taps are aligned for the first output of the whole one.
    pub(super) fn are_aligned(&self, picture: &PictureProblem) -> bool {
        let first = self.rule.window.rows.placement().start;
        (picture.rows.start - first).rem_euclid(PACK as i64) == 0
    }

    pub(super) fn load(&self, gpu: &Gpu) -> Result<Box<dyn ByLines>> {
        Ok(match &self.product {
            AnyWeights::F32(product) => Box::new(LoadedPasses::new(gpu, product, self)?),
            AnyWeights::F64(product) => Box::new(LoadedPasses::new(gpu, product, self)?),
            AnyWeights::I32(product) => Box::new(LoadedPasses::new(gpu, product, self)?),
            AnyWeights::I64(_) => unreachable!("there are no lines of `i64`"),
        })
    }
}

/// The lines of both passes, and the conversions and transpositions around them.
pub(in crate::filter::two_d) struct Steps {
    read: pointwise::Lines<1>,
    pub(in crate::filter::two_d) to_columns: Matrices,
    pub(in crate::filter::two_d) down: Lines,
    pub(in crate::filter::two_d) to_rows: Matrices,
    pub(in crate::filter::two_d) along: Lines,
    pub(in crate::filter::two_d) to_pixels: Matrices,
    write: pointwise::Lines<1>,
}

impl Steps {
    pub(in crate::filter::two_d) fn new(picture: &PictureProblem) -> Self {
        let &PictureProblem { planes: count, rows, columns, channels, input_pitch, output_pitch, .. } = picture;
        let (width, output_width) = (columns.samples * channels, picture.output_width());
        let matrices = |rows, columns| Matrices { rows, columns, count, components: 1 };
        let lines = |lines: usize, samples, outputs, start| Lines {
            lines: count * lines,
            samples,
            outputs,
            start,
            orientation: Orientation::Rows,
            input_pitch: samples,
            output_pitch: outputs,
        };
        Steps {
            read: pointwise::Lines::new([count * rows.samples, width], [input_pitch], width),
            to_columns: matrices(rows.samples, width),
            down: lines(width, rows.samples, rows.outputs, rows.start),
            to_rows: matrices(columns.samples, channels * rows.outputs),
            along: lines(channels * rows.outputs, columns.samples, columns.outputs, columns.start),
            to_pixels: matrices(channels, rows.outputs * columns.outputs),
            write: pointwise::Lines::new([picture.output_rows(), output_width], [output_width], output_pitch),
        }
    }
}

/// A conversion between types, loaded on first use. Between equal ones it is a copy, which can leave gaps between rows.
struct Conversion {
    kinds: [Kind; 2],
    loaded: OnDemand<Box<dyn GpuFunction<1>>>,
}

impl Conversion {
    fn new(kinds: [Kind; 2]) -> Self {
        Conversion { kinds, loaded: OnDemand::default() }
    }

    fn changes_type(&self) -> bool {
        self.kinds[0] != self.kinds[1]
    }

    fn loaded(&self, gpu: &Gpu) -> Result<&dyn GpuFunction<1>> {
        Ok(&**self.loaded.get(|| conversion(gpu, self.kinds))?)
    }
}

/// What the last launches are.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    /// Sums along the rows.
    Sums,
    /// The transposition to pixels.
    Pixels,
    /// A conversion. It also leaves gaps between rows of pixels.
    Stored,
}

/// Passes whose sums have type `A`.
struct LoadedPasses<A: Accumulator + Number> {
    gpu: Gpu,
    down: Box<dyn GpuLines<A>>,
    along: Box<dyn GpuLines<A>>,
    /// Conversions of samples and of sums.
    conversions: [Conversion; 2],
    transpositions: Recent<Matrices, Arc<GpuTranspose>>,
}

impl<A: Accumulator + Number + Erase> LoadedPasses<A> {
    fn new(gpu: &Gpu, product: &Weights<A>, passes: &LinePasses) -> Result<Self> {
        let rule = &passes.rule;
        let [row, column] = product.passes().expect("an outer product");
        let (outside, window) = (A::of_scalar(rule.outside), rule.window);
        Ok(LoadedPasses {
            gpu: gpu.clone(),
            down: filter_of(gpu, &column, &window.rows, outside, rule.bound)?,
            along: filter_of(gpu, &row, &window.columns, column.fused_sum_of(rule.outside), rule.bound)?,
            conversions: [[rule.kinds[0], A::KIND], [A::KIND, rule.kinds[1]]].map(Conversion::new),
            transpositions: Recent::default(),
        })
    }

    fn ending(&self, picture: &PictureProblem) -> Ending {
        let has_gaps = picture.output_pitch != picture.output_width();
        match picture.channels {
            _ if self.conversions[1].changes_type() => Ending::Stored,
            1 => Ending::Sums,
            _ if has_gaps => Ending::Stored,
            _ => Ending::Pixels,
        }
    }

    /// Returns the samples in the type of the sums, without gaps.
    fn converted(&self, steps: &Steps, samples: BufferRef<'_>) -> Result<Buffer<A>> {
        let mut converted = self.gpu.unwritten(steps.to_columns.len())?;
        let conversion = self.conversions[0].loaded(&self.gpu)?;
        conversion.run(&steps.read, [samples], A::buffer_mut((&mut converted).into()))?;
        Ok(converted)
    }

    /// Converts sums without gaps to outputs.
    fn store(&self, steps: &Steps, sums: &Buffer<A>, outputs: BufferMut<'_>) -> Result<()> {
        self.conversions[1].loaded(&self.gpu)?.run(&steps.write, [A::buffer(sums.into())], outputs)
    }

    fn transposition(&self, matrices: &Matrices) -> Result<Arc<GpuTranspose>> {
        let make = || GpuTranspose::new::<A>(&self.gpu, matrices, TransposeAlgorithm::Auto).map(Arc::new);
        self.transpositions.get(*matrices, make)
    }

    /// Returns transposed matrices, of rows with this pitch.
    fn transposed(&self, matrices: &Matrices, input: BufferSlice<'_, A>, pitch: usize) -> Result<Buffer<A>> {
        let mut transposed = self.gpu.unwritten(matrices.len())?;
        self.transpose(matrices, input, pitch, (&mut transposed).into())?;
        Ok(transposed)
    }

    fn transpose(
        &self,
        matrices: &Matrices,
        input: BufferSlice<'_, A>,
        pitch: usize,
        output: BufferSliceMut<'_, A>,
    ) -> Result<()> {
        let [_, transposed] = matrices.pitches();
        self.transposition(matrices)?.run(input, output, [pitch, transposed])
    }

    /// Returns the sums of lines, without gaps.
    fn filtered(&self, filter: &dyn GpuLines<A>, lines: &Lines, input: &Buffer<A>) -> Result<Buffer<A>> {
        let mut sums = self.gpu.unwritten(extent(lines.lines, lines.outputs, lines.outputs)?)?;
        filter.run(lines, input.into(), (&mut sums).into())?;
        Ok(sums)
    }

    /// Returns the rows of all channels, after the pass down the columns.
    fn rows(&self, steps: &Steps, picture: &PictureProblem, samples: BufferRef<'_>) -> Result<Buffer<A>> {
        let columns = match A::typed_buffer(samples) {
            Some(samples) => self.transposed(&steps.to_columns, samples, picture.input_pitch)?,
            None => {
                let converted = self.converted(steps, samples)?;
                self.transposed(&steps.to_columns, (&converted).into(), steps.to_columns.pitches()[0])?
            }
        };
        let sums = self.filtered(&*self.down, &steps.down, &columns)?;
        drop(columns);
        self.transposed(&steps.to_rows, (&sums).into(), steps.to_rows.pitches()[0])
    }
}

impl<A: Accumulator + Number + Erase> ByLines for LoadedPasses<A> {
    fn run(&self, picture: &PictureProblem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let steps = Steps::new(picture);
        let rows = self.rows(&steps, picture, samples)?;
        let ending = self.ending(picture);
        if ending == Ending::Sums {
            let lines = Lines { output_pitch: picture.output_pitch, ..steps.along };
            return self.along.run(&lines, (&rows).into(), of_sums(outputs));
        }
        let sums = self.filtered(&*self.along, &steps.along, &rows)?;
        drop(rows);
        let pitch = steps.to_pixels.pitches()[0];
        match ending {
            Ending::Pixels => self.transpose(&steps.to_pixels, (&sums).into(), pitch, of_sums(outputs)),
            _ if picture.channels == 1 => self.store(&steps, &sums, outputs),
            _ => self.store(&steps, &self.transposed(&steps.to_pixels, (&sums).into(), pitch)?, outputs),
        }
    }

    fn plan(&self, picture: &PictureProblem) -> Result<PlannedPicture> {
        let (steps, [read, write]) = (Steps::new(picture), &self.conversions);
        let transposed = |matrices: &Matrices, is_needed: bool| -> Result<Vec<LaunchPlan>> {
            let planned = |matrices: &Matrices| self.transposition(matrices)?.plan::<A>(matrices.pitches());
            if is_needed { planned(matrices).map(Planned::into_launches) } else { Ok(Vec::new()) }
        };
        let converted =
            |conversion: &Conversion, lines: &pointwise::Lines<1>, is_needed: bool| -> Result<Vec<LaunchPlan>> {
                Ok(if is_needed { vec![conversion.loaded(&self.gpu)?.plan(lines)] } else { Vec::new() })
            };
        let ending = self.ending(picture);
        let (down, along) = (self.down.plan(&steps.down)?, self.along.plan(&steps.along)?);
        let details = [down.details, along.details];
        let reason = if details.iter().any(Filtering::is_transformed) { BY_TRANSFORMS } else { BY_SUMS };
        let launches = [
            converted(read, &steps.read, read.changes_type())?,
            transposed(&steps.to_columns, true)?,
            down.planned.into_launches(),
            transposed(&steps.to_rows, true)?,
            along.planned.into_launches(),
            transposed(&steps.to_pixels, picture.channels > 1)?,
            converted(write, &steps.write, ending == Ending::Stored)?,
        ];
        Ok(PlannedPicture::of_lines(Planned::new(reason, launches.concat()), details))
    }
}

/// Returns outputs that have the type of the sums.
fn of_sums<A: Erase>(outputs: BufferMut<'_>) -> BufferSliceMut<'_, A> {
    A::typed_buffer_mut(outputs).expect("outputs have the type of the rule")
}

/// Returns the filter of lines along an axis.
fn filter_of<A: Accumulator + Number>(
    gpu: &Gpu,
    weights: &Weights<A>,
    axis: &AxisRule,
    outside: A,
    bound: ErrorBound,
) -> Result<Box<dyn GpuLines<A>>> {
    let Values::Dense(values) = &weights.values else { unreachable!("a pass has one row or one column of weights") };
    let Placement { border, start, .. } = axis.placement();
    // Kernels align taps for the first output of a line.
    let reach = Reach { taps: values.len(), left: -start as usize, extent: Extent::Same, channels: 1, stride: 1 };
    let taps = Taps { taps: values.clone(), source: WeightSource::Given, border, outside, reach };
    on_gpu_by(gpu, &taps, bound)
}

#[cfg(all(test, feature = "emulator"))]
mod tests;
