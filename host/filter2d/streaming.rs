//! Filters on GPUs with weights of a size that kernels are compiled for.

use super::accumulator::Accumulator;
use super::element::{BufferMut, BufferRef};
use super::gpu::{Filter2d, Rule, plan, problem};
use super::sums::{Sums, with_sums};
use super::weights::{Values, Weights};
use super::{Filter2dAlgorithm, Filter2dError, Plan, window};
use crate::info::SharedMemory;
use crate::kernel::Launch;
use crate::{Device, LaunchShape, Result, Windows};
use cuda_std::{GlobalIn, GlobalOut, Table};
use slm_kernels::filter2d::{
    BandPart, Bands, Problem, ROW, Size, StreamingArgs, TABLE, filter2d_separable, filter2d_streaming,
};
use slm_kernels::signal::{Kind, Same};

/// The types of the numbers.
type Floats = Same<f32>;

type Loaded = Box<dyn Launch<StreamingArgs<Floats>>>;

/// Returns the filter if there is a kernel for it that the algorithm allows.
///
/// # Errors
///
/// * [`Filter2dError::NoKernel`] if the algorithm requires such a kernel.
/// * [`Filter2dError::NotSeparable`] if it requires an outer product.
pub(super) fn prepare(
    device: &Device,
    shared: SharedMemory,
    sums: &Sums,
    rule: Rule,
) -> Result<Option<Box<dyn Filter2d>>> {
    let weights = match sums {
        Sums::F32(weights) if rule.allows_streaming() => Some(weights),
        _ => None,
    };
    let found = match (rule.algorithm, weights) {
        (Filter2dAlgorithm::Separable, Some(weights)) => Compiled::separable(device, weights, "requested")?,
        (Filter2dAlgorithm::Streaming, Some(weights)) => Compiled::dense(device, weights, "requested")?,
        (Filter2dAlgorithm::Auto, Some(weights)) => match Compiled::separable(device, weights, "an outer product")? {
            None => Compiled::dense(device, weights, "weights of a size that the kernel is compiled for")?,
            found => found,
        },
        _ => None,
    };
    match (found, rule.algorithm) {
        (Some(found), _) => Ok(Some(Box::new(Streaming::new(device, shared, rule, found)?))),
        (None, Filter2dAlgorithm::Streaming | Filter2dAlgorithm::Separable) => Err(no_kernel(sums, &rule).into()),
        (None, _) => Ok(None),
    }
}

impl Rule {
    /// Returns whether types, channels, steps and treatment of NaNs are those of the kernels.
    fn allows_streaming(&self) -> bool {
        let Rule { window, kinds, renormalise, .. } = *self;
        let steps = [window.rows, window.columns].map(|axis| [axis.stride(), axis.dilation()]);
        kinds == [Kind::F32; 2] && window.channels() == 1 && steps == [[1; 2]; 2] && !renormalise
    }
}

/// Returns why there is no kernel.
fn no_kernel(sums: &Sums, rule: &Rule) -> Filter2dError {
    let Rule { window, algorithm, kinds, renormalise, .. } = *rule;
    let weights = with_sums!(sums, weights => weights.shape);
    let is_square = weights[0] == weights[1] && weights[0] > 2;
    if algorithm == Filter2dAlgorithm::Separable && is_square && !sums.clone().factorised().is_separable() {
        return Filter2dError::NotSeparable { weights };
    }
    Filter2dError::NoKernel {
        algorithm,
        weights,
        types: Box::new([kinds[0], rule.weights, kinds[1]].map(Kind::name)),
        channels: window.channels(),
        strides: [window.rows.stride(), window.columns.stride()],
        dilations: [window.rows.dilation(), window.columns.dilation()],
        renormalise,
    }
}

/// A kernel for a size of weights, and its weights.
struct Compiled {
    loaded: Loaded,
    /// Rows and columns of the weights.
    taps: usize,
    table: Table<f32, TABLE>,
    reason: &'static str,
}

/// Loads the kernel for weights of some size. Returns `None` if there is none.
macro_rules! load {
    ($device:expr, $taps:expr, $kernel:ident: $($size:literal)*) => {
        match $taps {
            $($size => Some(Box::new($device.own_kernel::<$kernel<Size<Floats, 1, $size>>>()?) as Loaded),)*
            _ => None,
        }
    };
}

impl Compiled {
    fn dense(device: &Device, weights: &Weights<f32>, reason: &'static str) -> Result<Option<Self>> {
        let [taps, columns] = weights.shape;
        if taps != columns {
            return Ok(None);
        }
        let Some(loaded) = load!(device, taps, filter2d_streaming: 3 5 7 9) else { return Ok(None) };
        let table = table([(0, &weights.row_after_row()?)]);
        Ok(Some(Compiled { loaded, taps, table, reason }))
    }

    /// Returns `None`, too, if the weights are no outer product.
    fn separable(device: &Device, weights: &Weights<f32>, reason: &'static str) -> Result<Option<Self>> {
        let [taps, columns] = weights.shape;
        let Values::Separable { column, row } = weights.clone().factorised().values else { return Ok(None) };
        if taps != columns {
            return Ok(None);
        }
        let loaded = load!(device, taps, filter2d_separable: 3 5 7 9 15 31);
        let table = || table([(0, &column), (ROW, &row)]);
        Ok(loaded.map(|loaded| Compiled { loaded, taps, table: table(), reason }))
    }
}

/// Returns a table with numbers from some places on.
fn table<const N: usize>(parts: [(usize, &[f32]); N]) -> Table<f32, TABLE> {
    let mut table = Table([0.0; TABLE]);
    for (place, numbers) in parts {
        table.0[place..place + numbers.len()].copy_from_slice(numbers);
    }
    table
}

/// A filter of pictures of one channel, whose samples, sums and outputs are `f32`.
struct Streaming {
    device: Device,
    shared: SharedMemory,
    rule: Rule,
    compiled: Compiled,
    /// Blocks that run at the same time.
    resident: u64,
}

impl Streaming {
    fn new(device: &Device, shared: SharedMemory, rule: Rule, compiled: Compiled) -> Result<Self> {
        let residency =
            compiled.loaded.residency(shape([1; 3], Bands::shared_bytes::<Floats>(128, compiled.taps, 1)))?;
        let blocks = residency.map_or(1, |residency| residency.blocks_per_multiprocessor);
        // At least 1, even if the driver should answer 0: bands are divided by it.
        let resident = (device.info().processors as u64 * u64::from(blocks)).max(1);
        Ok(Streaming { device: device.clone(), shared, rule, compiled, resident })
    }

    fn bands(&self, problem: &Problem) -> Bands {
        Bands::new::<Floats>(problem, self.compiled.taps, self.resident)
    }

    fn args(
        &self,
        picture: &window::Problem,
        (input, output): (GlobalIn<f32>, GlobalOut<f32>),
        bands: &Bands,
        part: &BandPart,
    ) -> StreamingArgs<Floats> {
        let Problem { rows, columns, .. } = problem(picture);
        StreamingArgs {
            input,
            output,
            rows,
            columns,
            input_pitch: picture.input_pitch as u64,
            output_pitch: picture.output_pitch as u64,
            first_band: part.first_band,
            first_plane: part.first_plane,
            outside: f32::of_scalar(self.rule.outside),
            border: self.rule.border as u32,
            band: bands.band,
            weights: self.compiled.table,
        }
    }
}

impl Filter2d for Streaming {
    fn run(&self, picture: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let (BufferRef::F32(samples), BufferMut::F32(outputs)) = (samples, outputs) else {
            unreachable!("`allows_streaming` has checked the types")
        };
        if picture.is_empty() {
            return Ok(());
        }
        let bands = self.bands(&problem(picture));
        let mut windows = Windows::new(&self.device);
        let memory = (windows.input(samples), windows.output(outputs));
        let _submission = self.device.submission_lock()?;
        bands.parts().try_for_each(|part| {
            let args = self.args(picture, memory, &bands, &part);
            self.compiled.loaded.launch(&windows, shape(part.grid, bands.shared_bytes).steps(bands.steps), args, &())
        })
    }

    fn plan(&self, picture: &window::Problem) -> Plan {
        let Compiled { loaded, reason, .. } = &self.compiled;
        let launches = (!picture.is_empty()).then(|| {
            let bands = self.bands(&problem(picture));
            let first = bands.parts().next().map_or([0; 3], |part| part.grid);
            (shape(first, bands.shared_bytes), bands.parts().count() as u64)
        });
        let residency = |shape| loaded.residency(shape);
        plan(&self.device, self.shared, &self.rule, picture, launches, [loaded.name(), reason], residency)
    }
}

fn shape(grid: [u64; 3], shared_bytes: u64) -> LaunchShape {
    let [x, y] = Bands::BLOCK;
    LaunchShape::new(grid, [x, y, 1]).shared_bytes(shared_bytes)
}
