//! Transpositions as launches of kernels.

use crate::backend::modules::{TRANSPOSE_PACKED, TRANSPOSE_SKEWED, TRANSPOSE_U8, TRANSPOSE_U16, TRANSPOSE_U32};
use crate::transpose::{Algorithm, Bound, Matrices, Plan};
use crate::{Buffer, Device, Element, LaunchPlan, LaunchShape, Residency, Result, Windows};
use cuda_std::image::Module;
use cuda_std::{Argument, Entry, GlobalIn, GlobalOut, Value};
use slm_kernels::transpose as kernels;
use slm_kernels::transpose::{Args, Geometry, Kernel, Part, Problem, SkewedArgs, Unit};
use std::sync::{Arc, Mutex, PoisonError};

/// Elements of at least so many bytes are moved quickly one by one: neighbouring threads share them.
const LONG_ELEMENT: u64 = 64;

/// A matrix of at most so many bytes is in the cache when it is written, however it is read.
const SMALL_MATRIX: u64 = 2048;

/// A transposition on a GPU.
pub(crate) struct Transpose {
    device: Device,
    matrices: Matrices,
    algorithm: Algorithm,
    /// What is ready for the pitches used so far: others may take another kernel.
    ready: Mutex<Vec<Ready>>,
}

/// What runs for certain pitches, and why.
#[derive(Clone)]
struct Ready {
    pitches: [usize; 2],
    choice: Choice,
    geometry: Geometry,
    launch: Arc<dyn Launch>,
}

#[derive(Clone, Copy)]
struct Choice {
    kernel: Kernel,
    reason: &'static str,
}

impl Transpose {
    pub(crate) fn new<T: Element>(device: &Device, matrices: &Matrices, algorithm: Algorithm) -> Result<Self> {
        let transpose = Transpose { device: device.clone(), matrices: *matrices, algorithm, ready: Mutex::default() };
        if !matrices.is_empty() {
            transpose.ready::<T>(matrices.pitches())?;
        }
        Ok(transpose)
    }

    fn choose(&self, problem: &Problem) -> Choice {
        let asked = |kernel| Choice { kernel, reason: "asked for" };
        match self.algorithm {
            Algorithm::Auto => choose(problem),
            Algorithm::Naive => asked(Kernel::naive(problem)),
            Algorithm::SharedUnpadded => asked(Kernel::shared(problem, false)),
            Algorithm::SharedPadded => asked(Kernel::shared(problem, true)),
        }
    }

    /// What runs for numbers of type `T` in rows so far apart, loaded.
    fn ready<T: Element>(&self, pitches: [usize; 2]) -> Result<Ready> {
        // The list is whole at any time, so a panic elsewhere did it no harm.
        let mut all = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = all.iter().find(|ready| ready.pitches == pitches) {
            return Ok(ready.clone());
        }
        let problem = self.matrices.problem::<T>(pitches)?;
        let choice = self.choose(&problem);
        let geometry = Geometry::new(choice.kernel, &problem);
        let launch = match all.iter().find(|ready| ready.choice.kernel == choice.kernel) {
            Some(ready) => ready.launch.clone(),
            None => load(&self.device, choice.kernel)?,
        };
        if let Some(shared) = self.device.info().shared_memory {
            shared.check(launch.name(), geometry.shared_bytes)?;
        }
        let ready = Ready { pitches, choice, geometry, launch };
        all.push(ready.clone());
        Ok(ready)
    }

    fn launch_plan(&self, ready: &Ready) -> LaunchPlan {
        let geometry = &ready.geometry;
        LaunchPlan {
            launches: geometry.launches(),
            grid: geometry.blocks(),
            block: [geometry.threads, 1],
            shared_bytes: geometry.shared_bytes,
            shared_available: self.device.info().shared_memory.map_or(0, |shared| shared.max_per_block),
            // A plan is a forecast: where the driver does not answer, the next launch will say why.
            residency: ready.launch.residency(shape(geometry, [1; 3])).ok().flatten(),
        }
    }
}

/// What is fastest.
fn choose(problem: &Problem) -> Choice {
    let naive = |reason| Choice { kernel: Kernel::naive(problem), reason };
    let bytes = problem.rows.saturating_mul(problem.columns).saturating_mul(problem.element);
    if problem.element >= LONG_ELEMENT {
        naive("the elements are long")
    } else if problem.rows == 1 || problem.columns == 1 {
        naive("nothing changes its place but for gaps between rows")
    } else if bytes <= SMALL_MATRIX {
        naive("the matrices are small")
    } else if let Some(kernel) = Kernel::packed(problem) {
        Choice { kernel, reason: "rows begin at multiples of what it moves at a time, the output's at sectors" }
    } else if let Some(kernel) = Kernel::skewed(problem) {
        Choice { kernel, reason: "takes rows that are short or begin anywhere" }
    } else {
        Choice { kernel: Kernel::shared(problem, true), reason: "takes elements of any size" }
    }
}

/// A launch of so many blocks.
pub(super) fn shape(geometry: &Geometry, grid: [u64; 3]) -> LaunchShape {
    LaunchShape::new(grid, [geometry.threads, 1, 1]).shared_bytes(geometry.shared_bytes)
}

impl<T: Element> Bound<T> for Transpose {
    fn run(&self, input: &Buffer<T>, output: &mut Buffer<T>, pitches: [usize; 2]) -> Result<()> {
        if self.matrices.is_empty() {
            return Ok(());
        }
        let Ready { geometry, launch, .. } = self.ready::<T>(pitches)?;
        let mut windows = Windows::new(&self.device);
        let (input, output) = (in_units(windows.input(input)), out_units(windows.output(output)));
        let _turn = self.device.turn();
        geometry.parts().try_for_each(|part| launch.launch(&windows, &geometry, part, input, output))
    }

    fn run_on_host(&self, input: &[T]) -> Result<Vec<T>> {
        let input = self.device.upload(input)?;
        let mut output = self.device.zeroed(input.len())?;
        self.run(&input, &mut output, self.matrices.pitches())?;
        output.download()
    }

    fn plan(&self, device: &Device, pitches: [usize; 2]) -> Plan {
        let plan =
            |reason: &[&str; 2]| Plan::without_launch(device, self.algorithm, &self.matrices, size_of::<T>(), *reason);
        if self.matrices.is_empty() {
            return plan(&["none", "there is nothing to transpose"]);
        }
        match self.ready::<T>(pitches) {
            Ok(ready) => {
                let launch = Some(self.launch_plan(&ready));
                Plan { launch, ..plan(&[ready.launch.name(), ready.choice.reason]) }
            }
            Err(error) => {
                let problem = self.matrices.problem::<T>(pitches);
                let kernel = problem.map_or("none", |problem| name(self.choose(&problem).kernel));
                plan(&[kernel, &error.to_string()])
            }
        }
    }
}

/// A window as units of any size; every allocation begins at a multiple of 4 bytes, and then this is never empty.
fn in_units<T: Value, U: Value>(window: GlobalIn<T>) -> GlobalIn<U> {
    window.cast().unwrap_or(GlobalIn::empty())
}

fn out_units<T: Value, U: Value>(window: GlobalOut<T>) -> GlobalOut<U> {
    window.cast().unwrap_or(GlobalOut::empty())
}

/// A loaded kernel, whatever the units are.
trait Launch: Send + Sync {
    fn name(&self) -> &'static str;
    fn launch(
        &self,
        windows: &Windows<'_>,
        geometry: &Geometry,
        part: Part,
        input: GlobalIn<u8>,
        output: GlobalOut<u8>,
    ) -> Result<()>;
    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>>;
}

/// The arguments of a kernel, made from windows on bytes.
trait Arguments: Argument {
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Self;
}

impl<U: Value> Arguments for Args<U> {
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Self {
        Args { input: in_units(input), output: out_units(output), layout: geometry.layout(part) }
    }
}

impl<U: Unit> Arguments for SkewedArgs<U>
where
    SkewedArgs<U>: Argument,
{
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Self {
        SkewedArgs {
            input: in_units(input),
            output: out_units(output),
            input_words: in_units(input),
            output_words: out_units(output),
            layout: geometry.layout(part),
            places: geometry.skewed,
        }
    }
}

impl<E: Entry<Args: Arguments, Constants = ()>> Launch for crate::Kernel<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn launch(
        &self,
        windows: &Windows<'_>,
        geometry: &Geometry,
        part: Part,
        input: GlobalIn<u8>,
        output: GlobalOut<u8>,
    ) -> Result<()> {
        let args = E::Args::new(geometry, part, input, output);
        self.launch_in(windows, shape(geometry, part.grid), &args, &())
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        crate::Kernel::residency(self, shape)
    }
}

/// Which entry point, in which module, a kernel is.
macro_rules! entries {
    ($($unit:literal $module:ident: $naive:ident $shared:ident;)* $(packs $packed_module:ident: $($packed:ident)*;)*) => {
        fn name(kernel: Kernel) -> &'static str {
            match kernel {
                $(
                    Kernel::Naive($unit) => kernels::$naive::NAME,
                    Kernel::Shared { unit: $unit, .. } => kernels::$shared::NAME,
                )*
                Kernel::Packed(packed) => packed.name,
                Kernel::Skewed(skewed) => skewed.name,
                _ => unreachable!("units have 1, 2 or 4 bytes, and what works in place is another matter"),
            }
        }

        fn load(device: &Device, kernel: Kernel) -> Result<Arc<dyn Launch>> {
            let name = name(kernel);
            $(
                if name == kernels::$naive::NAME {
                    return launch::<kernels::$naive>(device, &$module);
                }
                if name == kernels::$shared::NAME {
                    return launch::<kernels::$shared>(device, &$module);
                }
            )*
            $($(
                if name == kernels::$packed::NAME {
                    return launch::<kernels::$packed>(device, &$packed_module);
                }
            )*)*
            unreachable!("there is no kernel {name}")
        }
    };
}
entries! {
    1 TRANSPOSE_U8: transpose_naive_u8 transpose_shared_u8;
    2 TRANSPOSE_U16: transpose_naive_u16 transpose_shared_u16;
    4 TRANSPOSE_U32: transpose_naive_u32 transpose_shared_u32;
    packs TRANSPOSE_PACKED: transpose_packed_1 transpose_packed_2 transpose_packed_3 transpose_packed_4
        transpose_packed_8 transpose_packed_12 transpose_packed_16;
    packs TRANSPOSE_SKEWED: transpose_skewed_1 transpose_skewed_2 transpose_skewed_3 transpose_skewed_4
        transpose_skewed_6 transpose_skewed_8 transpose_skewed_8_by_4 transpose_skewed_12 transpose_skewed_16
        transpose_skewed_16_by_4;
}

fn launch<E: Entry<Args: Arguments, Constants = ()>>(
    device: &Device,
    module: &'static Module,
) -> Result<Arc<dyn Launch>> {
    Ok(Arc::new(device.kernel::<E>(module)?))
}
