//! Kernels that take any weights: all products of an output at once.

use super::Launches;
use crate::device::gpu::Gpu;
use crate::device::kernel::{Launch, WithConstants};
use crate::filter2d::accumulator::Accumulator;
use crate::filter2d::any_weights::{AnyWeights, with_weights};
use crate::filter2d::choose::Direct;
use crate::filter2d::element::{BufferMut, BufferRef, Scalar};
use crate::filter2d::rule::{FilterRule, problem};
use crate::filter2d::weights::Weights;
use crate::filter2d::window::PictureProblem;
use crate::{Buffer, LaunchPlan, LaunchShape, Result, Windows};
use cuda_std::{Entry, GlobalIn, Table};
use slm_kernels::filter2d::{
    Args, DirectKernel, DirectPart, Filter2dProblem, Geometry, filter2d_global, filter2d_register, filter2d_tile,
    table_shape,
};
use slm_kernels::signal::{AnyIn, AnyOut};

type Loaded<A> = Box<dyn for<'l> Launch<Args<'l, A>>>;

/// A type of sums for which there are kernels that take any weights.
pub(in crate::filter::two_d) trait DirectSum: Accumulator {
    /// Returns the name of a kernel.
    fn kernel_name(kernel: DirectKernel) -> &'static str;

    /// Loads a kernel for weights that stand row after row.
    fn load(gpu: &Gpu, kernel: DirectKernel, weights: &[Self], problem: &Filter2dProblem) -> Result<Loaded<Self>>;
}

impl<A: Accumulator> DirectSum for A
where
    filter2d_global<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants = ()>,
    filter2d_tile<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants = ()>,
    filter2d_register<A>: for<'l> Entry<Args<'l> = Args<'l, A>, Constants: WeightTable<A>>,
{
    fn kernel_name(kernel: DirectKernel) -> &'static str {
        match kernel {
            DirectKernel::Global => filter2d_global::<A>::NAME,
            DirectKernel::Tile => filter2d_tile::<A>::NAME,
            DirectKernel::Register { .. } => filter2d_register::<A>::NAME,
        }
    }

    fn load(gpu: &Gpu, kernel: DirectKernel, weights: &[A], problem: &Filter2dProblem) -> Result<Loaded<A>> {
        Ok(match kernel {
            DirectKernel::Global => Box::new(gpu.own_kernel::<filter2d_global<A>>()?),
            DirectKernel::Tile => Box::new(gpu.own_kernel::<filter2d_tile<A>>()?),
            DirectKernel::Register { .. } => {
                let kernel = gpu.own_kernel::<filter2d_register<A>>()?;
                Box::new(WithConstants { kernel, constants: WeightTable::new(weights, problem) })
            }
        })
    }
}

/// The first rows of weights of a register-tiled kernel.
trait WeightTable<A>: Sized {
    /// Returns the table for weights that stand row after row.
    fn new(weights: &[A], problem: &Filter2dProblem) -> Self;
}

impl<A: Accumulator, const N: usize> WeightTable<A> for Table<A, N> {
    fn new(weights: &[A], problem: &Filter2dProblem) -> Self {
        let (mut table, taps) = ([A::ZERO; N], problem.columns.taps as usize);
        let [rows, packs] = table_shape::<A>([problem.rows.taps, problem.columns.taps]);
        let pitch = packs as usize * (16 / size_of::<A>());
        for (line, weights) in table.chunks_exact_mut(pitch).zip(weights.chunks_exact(taps)).take(rows as usize) {
            line[pitch - taps..].copy_from_slice(weights);
        }
        Table(table)
    }
}

impl Direct {
    /// Loads the kernel and uploads the weights.
    pub(super) fn load(self, gpu: &Gpu) -> Result<Box<dyn Launches>> {
        let Direct { kernel, weights, rule } = self;
        Ok(with_weights!(weights, weights => Box::new(DirectLaunches::new(gpu, kernel, &weights, rule)?)))
    }
}

/// Launches of a kernel with sums of type `A`.
struct DirectLaunches<A: Accumulator> {
    gpu: Gpu,
    rule: FilterRule,
    weights: Buffer<A>,
    /// Sum of the weights, or the divisor of the sums, as [`Args`] has it.
    total: A,
    kernel: DirectKernel,
    loaded: Loaded<A>,
}

impl<A: DirectSum> DirectLaunches<A> {
    fn new(gpu: &Gpu, kernel: DirectKernel, weights: &Weights<A>, rule: FilterRule) -> Result<Self> {
        let total = match rule.divisor {
            Some(divisor) => A::of_scalar(Scalar::F64(divisor)),
            None if rule.renormalise => weights.sum_of(A::ONE),
            None => A::ONE,
        };
        let (weights, problem) = (weights.row_after_row()?, rule.without_outputs()?);
        let loaded = A::load(gpu, kernel, &weights, &problem)?;
        let weights = gpu.upload(&weights)?;
        Ok(DirectLaunches { gpu: gpu.clone(), rule, weights, total, kernel, loaded })
    }
}

impl<A: Accumulator> DirectLaunches<A> {
    fn args<'l>(
        &self,
        picture: &PictureProblem,
        (input, output): (AnyIn<'l>, AnyOut<'l>),
        weights: GlobalIn<'l, A>,
        geometry: &Geometry,
        part: DirectPart,
    ) -> Args<'l, A> {
        let Filter2dProblem { planes, rows, columns, channels } = problem(picture);
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
            channels,
            // At most the number of blocks, which the launch checks against 31 bits.
            tiles: geometry.tiles as u32,
            renormalise: self.rule.renormalise.into(),
            table_rows,
            weight_packs,
        }
    }
}

impl<A: Accumulator> Launches for DirectLaunches<A> {
    fn enqueue(&self, picture: &PictureProblem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let geometry = Geometry::new::<A>(self.kernel, &problem(picture));
        let mut windows = Windows::new(&self.gpu);
        let memory = (samples.window(&mut windows), outputs.window(&mut windows));
        let weights = windows.input(&self.weights);
        geometry.parts().try_for_each(|part| {
            let args = self.args(picture, memory, weights, &geometry, part);
            self.loaded.launch(&windows, shape(&geometry, part.blocks), args, &())
        })
    }

    fn plan(&self, picture: &PictureProblem) -> Vec<LaunchPlan> {
        let geometry = Geometry::new::<A>(self.kernel, &problem(picture));
        let shape = shape(&geometry, geometry.parts().next().map_or(0, |part| part.blocks));
        let launch = self.gpu.launch_plan(self.loaded.name(), shape, self.loaded.residency(shape));
        let moved_bytes = self.rule.moved_bytes(picture);
        vec![LaunchPlan { times: geometry.launches(), moved_bytes, ..launch }]
    }
}

fn shape(geometry: &Geometry, blocks: u64) -> LaunchShape {
    let [x, y] = geometry.block;
    LaunchShape::new([blocks, 1, 1], [x, y, 1]).shared_bytes(geometry.shared_bytes).steps(geometry.steps)
}
