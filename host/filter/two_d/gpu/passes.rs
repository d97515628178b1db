//! The kernel for outer products of any size.

use super::banded::Banded;
use super::streaming::{Floats, table};
use crate::device::gpu::Gpu;
use crate::device::info::SharedMemory;
use crate::device::kernel::{Launch, WithConstants};
use crate::{LaunchShape, Residency, Result, Windows};
use slm_kernels::filter2d::{
    BandArgs, Bands, Filter2dProblem, Lane, Packs, PassesArgs, Typed, filter2d_passes, passes_places,
};
use std::sync::Arc;

/// Lanes with three packs of sums.
type Wide = Lane<Floats, 3>;

/// Lanes with one pack of sums: a third of the shared memory, and more loads per product.
type Narrow = Lane<Floats, 1>;

/// How weights fit into the table, and the rows into shared memory.
#[derive(Clone, Debug)]
pub(in crate::filter::two_d) struct Fitting {
    /// Where column and row stand in the table.
    places: [usize; 2],
    /// Rows and columns of the weights.
    taps: [u32; 2],
    /// Threads of a block per column.
    groups: u32,
    /// Whether strips are narrow.
    is_narrow: bool,
}

impl Fitting {
    /// Returns how weights of this shape fit, or `None` if they do not fit into the table, or their rows into shared memory.
    pub(in crate::filter::two_d) fn find(shared: SharedMemory, shape: [usize; 2]) -> Option<Self> {
        let places = passes_places::<Floats>(shape)?;
        let taps = shape.map(|taps| taps as u32);
        let fits = |bytes: u64| bytes <= shared.max_per_block;
        let wide = |groups| Bands::passes_bytes::<Wide>(taps, groups);
        // As many threads on a multiprocessor if it has room for one block only.
        let is_alone = shared.resident_blocks(wide(1)) < 2;
        let groups = if is_alone && fits(wide(2)) { 2 } else { 1 };
        if fits(wide(groups)) {
            return Some(Fitting { places, taps, groups, is_narrow: false });
        }
        let narrow = Fitting { places, taps, groups: 1, is_narrow: true };
        fits(narrow.shared_bytes()).then_some(narrow)
    }

    fn shared_bytes(&self) -> u64 {
        match self.is_narrow {
            false => Bands::passes_bytes::<Wide>(self.taps, self.groups),
            true => Bands::passes_bytes::<Narrow>(self.taps, self.groups),
        }
    }

    fn block(&self) -> [u32; 2] {
        match self.is_narrow {
            false => Bands::passes_block::<Wide>(self.groups),
            true => Bands::passes_block::<Narrow>(self.groups),
        }
    }
}

/// The kernel and its weights.
pub(super) struct Passes {
    loaded: Box<dyn for<'l> Launch<PassesArgs<'l, Floats>>>,
    fitting: Fitting,
}

impl Passes {
    pub(super) fn new(gpu: &Gpu, fitting: Fitting, [column, row]: &[Arc<Vec<f32>>; 2]) -> Result<Self> {
        let constants = table([(fitting.places[0], column), (fitting.places[1], row)]);
        let loaded: Box<dyn for<'l> Launch<PassesArgs<'l, Floats>>> = match fitting.is_narrow {
            false => Box::new(WithConstants { kernel: gpu.own_kernel::<filter2d_passes<Wide>>()?, constants }),
            true => Box::new(WithConstants { kernel: gpu.own_kernel::<filter2d_passes<Narrow>>()?, constants }),
        };
        Ok(Passes { loaded, fitting })
    }
}

impl Banded for Passes {
    type Pixels<'l> = Typed<'l, Floats>;

    fn name(&self) -> &'static str {
        self.loaded.name()
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.loaded.residency(shape)
    }

    fn block(&self) -> LaunchShape {
        let [x, y] = self.fitting.block();
        LaunchShape::new([1; 3], [x, y, 1]).shared_bytes(self.fitting.shared_bytes())
    }

    fn bands(&self, problem: &Filter2dProblem, resident: u64) -> Bands {
        let groups = self.fitting.groups;
        match self.fitting.is_narrow {
            false => Bands::passes::<Wide>(problem, groups, resident),
            true => Bands::passes::<Narrow>(problem, groups, resident),
        }
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
