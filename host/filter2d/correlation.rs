//! Filters on GPUs by kernels that take any weights.

use super::accumulator::Accumulator;
use super::element::{BufferMut, BufferRef, Scalar};
use super::rule::{Filter2d, Rule, plan, problem};
use super::sums::{Sums, with_sums};
use super::weights::Weights;
use super::{Filter2dAlgorithm, Plan, window};
use crate::info::SharedMemory;
use crate::kernel::{Launch, WithConstants};
use crate::{Buffer, Device, LaunchShape, Result, Windows};
use cuda_std::{Entry, GlobalIn, Table};
use slm_kernels::filter2d::{
    Args, Geometry, Kernel, Part, Problem, filter2d_global, filter2d_register, filter2d_tile, table_shape,
};
use slm_kernels::signal::{AnyIn, AnyOut};
use std::cmp::Reverse;

/// Returns the filter by a kernel that takes any weights.
pub(super) fn prepare(device: &Device, shared: SharedMemory, sums: &Sums, rule: Rule) -> Result<Box<dyn Filter2d>> {
    Ok(with_sums!(sums, weights => Box::new(Correlation::new(device, shared, weights, rule)?)))
}

/// Returns whether a kernel that takes any weights would be the register-tiled one.
pub(super) fn is_register_tiled(shared: SharedMemory, sums: &Sums, rule: &Rule) -> bool {
    fn kernel<A: Accumulator>(_: &Weights<A>, shared: SharedMemory, rule: &Rule) -> Result<(Kernel, &'static str)>
    where
        filter2d_global<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants = ()>,
        filter2d_tile<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants = ()>,
        filter2d_register<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants: WeightTable<A>>,
    {
        Correlation::<A>::choose(shared, rule)
    }
    let rule = Rule { algorithm: Filter2dAlgorithm::Auto, ..*rule };
    matches!(with_sums!(sums, weights => kernel(weights, shared, &rule)), Ok((Kernel::Register { .. }, _)))
}

/// A filter with sums of type `A`.
struct Correlation<A: Accumulator> {
    device: Device,
    shared: SharedMemory,
    rule: Rule,
    weights: Buffer<A>,
    /// Sum of the weights, or the divisor of the sums, as [`Args`] has it.
    total: A,
    kernel: Kernel,
    reason: &'static str,
    loaded: Box<dyn for<'l> Launch<Args<'l, A>>>,
}

impl<A: Accumulator> Correlation<A>
where
    filter2d_global<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants = ()>,
    filter2d_tile<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants = ()>,
    filter2d_register<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants: WeightTable<A>>,
{
    fn new(device: &Device, shared: SharedMemory, weights: &Weights<A>, rule: Rule) -> Result<Self> {
        let (kernel, reason) = Self::choose(shared, &rule)?;
        let total = match rule.divisor {
            Some(divisor) => A::of_scalar(Scalar::F64(divisor)),
            None if rule.renormalise => weights.total(),
            None => A::ONE,
        };
        let weights = weights.row_after_row()?;
        let loaded: Box<dyn for<'l> Launch<Args<'l, A>>> = match kernel {
            Kernel::Global => Box::new(device.own_kernel::<filter2d_global<A>>()?),
            Kernel::Tile => Box::new(device.own_kernel::<filter2d_tile<A>>()?),
            Kernel::Register { .. } => {
                let kernel = device.own_kernel::<filter2d_register<A>>()?;
                Box::new(WithConstants { kernel, constants: WeightTable::new(&weights, &rule.without_outputs()?) })
            }
        };
        let weights = device.upload(&weights)?;
        Ok(Correlation { device: device.clone(), shared, rule, weights, total, kernel, reason, loaded })
    }

    /// Returns the kernel, and the reason for it.
    fn choose(shared: SharedMemory, rule: &Rule) -> Result<(Kernel, &'static str)> {
        // A block needs the same shared memory for pictures of any size.
        let problem = rule.without_outputs()?;
        let fits = |kernel, name| shared.check(name, Geometry::new::<A>(kernel, &problem).shared_bytes);
        let tile = || fits(Kernel::Tile, filter2d_tile::<A>::NAME);
        let register = || {
            rule.check_register_tiled()?;
            let kernel = Self::register_tiled(shared, &problem);
            fits(kernel, filter2d_register::<A>::NAME).map(|()| kernel)
        };
        Ok(match rule.algorithm {
            Filter2dAlgorithm::GlobalMemory => (Kernel::Global, "requested"),
            Filter2dAlgorithm::SharedTile => tile().map(|()| (Kernel::Tile, "requested"))?,
            Filter2dAlgorithm::RegisterTiled => (register()?, "requested"),
            _ => match register() {
                Ok(kernel) => (kernel, "the filter allows register tiles"),
                Err(_) if tile().is_ok() && rule.check_register_tiled().is_ok() => {
                    (Kernel::Tile, "a register tile does not fit into shared memory")
                }
                Err(_) if tile().is_ok() => (Kernel::Tile, "the filter does not allow register tiles"),
                Err(_) => (Kernel::Global, "a tile does not fit into shared memory"),
            },
        })
    }

    /// Returns the register-tiled kernel with the height at which a multiprocessor holds most warps. If heights are equal in that,
    /// the first of [`HEIGHTS`](Kernel::HEIGHTS) is taken, because more blocks do different things at the same time. But if some rows
    /// of weights are not kernel parameters, the greatest one is taken: probably the instruction cache holds the code for both kinds
    /// of rows only if most warps run the same part of it. (H200, 8192 x 8192 `f32`, heights 4 and 8, 16 warps with both: 11 x 11
    /// takes 531 and 554 µs, 17 x 17 846 and 865 µs, 29 x 29 2,295 and 2,309 µs; 31 x 31, where two rows are not parameters, 2,808
    /// and 2,330 µs. 45 x 45 on 4096 x 4096 pixels has 8 and 16 warps and takes 1,664 and 1,478 µs.) If there is room for no block,
    /// the last height says how much the lowest block needs.
    fn register_tiled(shared: SharedMemory, problem: &Problem) -> Kernel {
        let warps = |height: u32| {
            let bytes = Geometry::new::<A>(Kernel::Register { height }, problem).shared_bytes;
            let height = u64::from(height);
            shared.resident_blocks(bytes).min(Kernel::MOST_WARPS / height) * height
        };
        let [table_rows, _] = table_shape::<A>([problem.rows.taps, problem.columns.taps]);
        let rank = |height: u32| if table_rows < problem.rows.taps { height } else { 0 };
        let [.., lowest] = Kernel::HEIGHTS;
        let fitting = Kernel::HEIGHTS.into_iter().filter(|&height| warps(height) > 0);
        let height = fitting.min_by_key(|&height| Reverse((warps(height), rank(height)))).unwrap_or(lowest);
        Kernel::Register { height }
    }
}

/// The first rows of weights of a register-tiled kernel.
trait WeightTable<A>: Sized {
    /// Returns the table for weights that stand row after row.
    fn new(weights: &[A], problem: &Problem) -> Self;
}

impl<A: Accumulator, const N: usize> WeightTable<A> for Table<A, N> {
    fn new(weights: &[A], problem: &Problem) -> Self {
        let (mut table, taps) = ([A::ZERO; N], problem.columns.taps as usize);
        let [rows, packs] = table_shape::<A>([problem.rows.taps, problem.columns.taps]);
        let pitch = packs as usize * (16 / size_of::<A>());
        for (line, weights) in table.chunks_exact_mut(pitch).zip(weights.chunks_exact(taps)).take(rows as usize) {
            line[pitch - taps..].copy_from_slice(weights);
        }
        Table(table)
    }
}

impl<A: Accumulator> Correlation<A> {
    fn args<'l>(
        &self,
        picture: &window::Problem,
        (input, output): (AnyIn<'l>, AnyOut<'l>),
        weights: GlobalIn<'l, A>,
        geometry: &Geometry,
        part: Part,
    ) -> Args<'l, A> {
        let Problem { planes, rows, columns, channels } = problem(picture);
        let [table_rows, weight_packs] = table_shape::<A>([rows.taps, columns.taps]);
        Args {
            input,
            output,
            weights,
            rows,
            columns,
            input_pitch: picture.input_pitch as u64,
            output_pitch: picture.output_pitch as u64,
            planes,
            first_group: part.first_group,
            total: self.total,
            outside: A::of_scalar(self.rule.outside),
            border: self.rule.border as u32,
            channels,
            // At most the number of blocks, which the launch checks against 31 bits.
            tiles: geometry.tiles as u32,
            renormalise: self.rule.renormalise.into(),
            table_rows,
            weight_packs,
        }
    }
}

impl<A: Accumulator> Filter2d for Correlation<A> {
    fn enqueue(&self, picture: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let geometry = Geometry::new::<A>(self.kernel, &problem(picture));
        let mut windows = Windows::new(&self.device);
        let memory = (samples.window(&mut windows), outputs.window(&mut windows));
        let weights = windows.input(&self.weights);
        geometry.parts().try_for_each(|part| {
            let args = self.args(picture, memory, weights, &geometry, part);
            self.loaded.launch(&windows, shape(&geometry, part.blocks), args, &())
        })
    }

    fn plan(&self, picture: &window::Problem) -> Plan {
        let launches = (!picture.is_empty()).then(|| {
            let geometry = Geometry::new::<A>(self.kernel, &problem(picture));
            let first = geometry.parts().next().map_or(0, |part| part.blocks);
            (shape(&geometry, first), geometry.launches())
        });
        let residency = |shape| self.loaded.residency(shape);
        let kernel = [self.loaded.name(), self.reason];
        plan(&self.device, self.shared, &self.rule, picture, launches, kernel, residency)
    }
}

fn shape(geometry: &Geometry, blocks: u64) -> LaunchShape {
    let [x, y] = geometry.block;
    LaunchShape::new([blocks, 1, 1], [x, y, 1]).shared_bytes(geometry.shared_bytes).steps(geometry.steps)
}
