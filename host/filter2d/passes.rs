//! The kernel for outer products of any size.

use super::banded::Banded;
use super::compiled::{Floats, table};
use crate::info::SharedMemory;
use crate::kernel::{Launch, WithConstants};
use crate::{Device, LaunchShape, Residency, Result, Windows};
use slm_kernels::filter2d::{BandArgs, Bands, Packs, PassesArgs, Problem, Typed, filter2d_passes, passes_places};

/// The kernel and its weights.
pub(super) struct Passes {
    loaded: Box<dyn for<'l> Launch<PassesArgs<'l, Floats>>>,
    /// Rows and columns of the weights.
    taps: [u32; 2],
    /// Threads of a block per column.
    groups: u32,
}

impl Passes {
    /// Returns the kernel for the product of a column and a row, or `None` if they do not fit into its table, or their rows into
    /// shared memory.
    pub(super) fn product(device: &Device, shared: SharedMemory, [column, row]: [&[f32]; 2]) -> Result<Option<Self>> {
        let shape = [column.len(), row.len()];
        let Some(Fitting { places, taps, groups }) = Fitting::find(shared, shape) else { return Ok(None) };
        let kernel = device.own_kernel::<filter2d_passes<Floats>>()?;
        let constants = table([(places[0], column), (places[1], row)]);
        let loaded = Box::new(WithConstants { kernel, constants });
        Ok(Some(Passes { loaded, taps, groups }))
    }

    /// Returns whether the kernel takes products of these lengths.
    pub(super) fn is_possible(shared: SharedMemory, shape: [usize; 2]) -> bool {
        Fitting::find(shared, shape).is_some()
    }
}

/// How weights fit into the table, and the rows into shared memory.
struct Fitting {
    /// Where column and row stand in the table.
    places: [usize; 2],
    taps: [u32; 2],
    groups: u32,
}

impl Fitting {
    fn find(shared: SharedMemory, shape: [usize; 2]) -> Option<Self> {
        let places = passes_places::<Floats>(shape)?;
        let taps = shape.map(|taps| taps as u32);
        let bytes = |groups| Bands::passes_bytes::<Floats>(taps, groups);
        // As many threads on a multiprocessor if it has room for one block only.
        let is_alone = shared.resident_blocks(bytes(1)) < 2;
        let groups = if is_alone && bytes(2) <= shared.max_per_block { 2 } else { 1 };
        (bytes(groups) <= shared.max_per_block).then_some(Fitting { places, taps, groups })
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
        let [x, y] = Bands::passes_block::<Floats>(self.groups);
        let bytes = Bands::passes_bytes::<Floats>(self.taps, self.groups);
        LaunchShape::new([1; 3], [x, y, 1]).shared_bytes(bytes)
    }

    fn bands(&self, problem: &Problem, resident: u64) -> Bands {
        Bands::passes::<Floats>(problem, self.groups, resident)
    }

    fn launch(
        &self,
        windows: &Windows<'_, '_>,
        shape: LaunchShape,
        picture: BandArgs<Typed<'_, Floats>>,
    ) -> Result<()> {
        let [column, row] = self.taps.map(Packs::new::<Floats>);
        self.loaded.launch(windows, shape, PassesArgs { picture, column, row }, &())
    }
}
