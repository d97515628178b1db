//! The kernel for outer products of any size.

use super::banded::Banded;
use super::streaming::{Floats, table};
use crate::gpu::Gpu;
use crate::info::SharedMemory;
use crate::kernel::{Launch, WithConstants};
use crate::{LaunchShape, Residency, Result, Windows};
use slm_kernels::filter2d::{BandArgs, Bands, Packs, PassesArgs, Problem, Typed, filter2d_passes, passes_places};
use std::sync::Arc;

/// How weights fit into the table, and the rows into shared memory.
#[derive(Clone, Debug)]
pub(in crate::filter2d) struct Fitting {
    /// Where column and row stand in the table.
    places: [usize; 2],
    /// Rows and columns of the weights.
    taps: [u32; 2],
    /// Threads of a block per column.
    groups: u32,
}

impl Fitting {
    /// Returns how weights of this shape fit, or `None` if they do not fit into the table, or their rows into shared memory.
    pub(in crate::filter2d) fn find(shared: SharedMemory, shape: [usize; 2]) -> Option<Self> {
        let places = passes_places::<Floats>(shape)?;
        let taps = shape.map(|taps| taps as u32);
        let bytes = |groups| Bands::passes_bytes::<Floats>(taps, groups);
        // As many threads on a multiprocessor if it has room for one block only.
        let is_alone = shared.resident_blocks(bytes(1)) < 2;
        let groups = if is_alone && bytes(2) <= shared.max_per_block { 2 } else { 1 };
        (bytes(groups) <= shared.max_per_block).then_some(Fitting { places, taps, groups })
    }
}

/// The kernel and its weights.
pub(super) struct Passes {
    loaded: Box<dyn for<'l> Launch<PassesArgs<'l, Floats>>>,
    fitting: Fitting,
}

impl Passes {
    pub(super) fn new(gpu: &Gpu, fitting: Fitting, [column, row]: &[Arc<Vec<f32>>; 2]) -> Result<Self> {
        let kernel = gpu.own_kernel::<filter2d_passes<Floats>>()?;
        let constants = table([(fitting.places[0], column), (fitting.places[1], row)]);
        Ok(Passes { loaded: Box::new(WithConstants { kernel, constants }), fitting })
    }
}

impl Banded for Passes {
    type Memory<'l> = Typed<'l, Floats>;

    fn name(&self) -> &'static str {
        self.loaded.name()
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.loaded.residency(shape)
    }

    fn block(&self) -> LaunchShape {
        let [x, y] = Bands::passes_block::<Floats>(self.fitting.groups);
        let bytes = Bands::passes_bytes::<Floats>(self.fitting.taps, self.fitting.groups);
        LaunchShape::new([1; 3], [x, y, 1]).shared_bytes(bytes)
    }

    fn bands(&self, problem: &Problem, resident: u64) -> Bands {
        Bands::passes::<Floats>(problem, self.fitting.groups, resident)
    }

    fn launch(
        &self,
        windows: &Windows<'_, '_>,
        shape: LaunchShape,
        picture: BandArgs<Typed<'_, Floats>>,
    ) -> Result<()> {
        let [column, row] = self.fitting.taps.map(Packs::new::<Floats>);
        self.loaded.launch(windows, shape, PassesArgs { picture, column, row }, &())
    }
}
