//! The kernels of a board on a GPU, and how they are launched.

use super::choose::{Choice, KernelSet, Rules, of_size};
use super::gpu::Layout;
use super::history::Schedule;
use super::tuning::LifeTuning;
use super::words::Size;
use super::{Rule, Topology};
use crate::device::gpu::Gpu;
use crate::device::kernel::{Launch, Loaded, WithConstants};
use crate::{LaunchPlan, LaunchShape, Result, Windows};
use cuda_std::{Entry, GlobalIn, GlobalOut, Table};
use slm_kernels::life::{
    self as kernels, Args, Band, BlockedArgs, CensusArgs, GENERATIONS, Geometry, MASKS, PassTuning, ResidentArgs,
    life_blocked, life_blocked_bounded, life_blocked_bounded_census, life_blocked_census, life_blocked_conway,
    life_blocked_conway_bounded, life_blocked_conway_bounded_census, life_blocked_conway_census, life_census,
    life_census_bytes, life_global, life_packed, life_packed_conway, life_resident, life_resident_conway, life_tile,
    masks, rule_table,
};
use std::sync::OnceLock;

/// Generations of a launch that has the whole board in shared memory. A generation takes less than 2 µs.
const MOST_RESIDENT: u64 = 1 << 16;

/// A kernel that computes a generation.
pub(super) type Stepping = dyn for<'l> Launch<Args<'l>>;

/// A kernel that computes several generations.
pub(super) type Blocked = dyn for<'l> Launch<BlockedArgs<'l>>;

/// A kernel that keeps rows in shared memory.
pub(super) type InSharedMemory = dyn for<'l> Launch<ResidentArgs<'l>>;

/// The kernels of a board, and what they are launched with.
pub(super) struct Kernels {
    /// Why these were chosen.
    pub(super) reason: &'static str,
    pub(super) generations: Generations,
    pub(super) board: kernels::Board,
    pub(super) table: u32,
    pub(super) layout: Layout,
    pub(super) census: Step<dyn for<'l> Launch<CensusArgs<'l>>>,
}

/// The kernels that compute generations.
pub(super) enum Generations {
    /// One at a time.
    One(Step<Stepping>),
    /// [`GENERATIONS`] at a time, and one if fewer are left.
    Passes { one: Step<Stepping>, pass: Pass },
    /// Any number of them.
    Resident(Resident),
}

/// A kernel, and how it is launched.
pub(super) struct Step<K: ?Sized> {
    pub(super) geometry: Geometry,
    pub(super) kernel: Box<K>,
}

impl<K: Loaded + ?Sized> Step<K> {
    pub(super) fn launch<A>(&self, gpu: &Gpu, windows: &Windows<'_, '_>, args: A) -> Result<()>
    where
        K: Launch<A>,
    {
        self.launch_as(&self.geometry, gpu, windows, args)
    }

    /// Launches the kernel in another way.
    pub(super) fn launch_as<A>(&self, geometry: &Geometry, gpu: &Gpu, windows: &Windows<'_, '_>, args: A) -> Result<()>
    where
        K: Launch<A>,
    {
        let _submission = gpu.submission_lock()?;
        self.kernel.launch(windows, shape(geometry), args, &())
    }

    /// Returns the plan without the moved bytes.
    pub(super) fn plan(&self, gpu: &Gpu) -> LaunchPlan {
        let (kernel, shape) = (&self.kernel, shape(&self.geometry));
        gpu.launch_plan(kernel.name(), shape, kernel.residency(shape))
    }
}

/// The kernels that compute [`GENERATIONS`] generations.
pub(super) struct Pass {
    pub(super) step: Step<Blocked>,
    /// How it is launched with a census of the first generation.
    pub(super) with_census: Geometry,
    /// The kernel that takes censuses of all generations, when it was first needed.
    pub(super) counting: OnceLock<Step<Blocked>>,
    pub(super) target: Target,
}

/// What the kernels of a pass are loaded for.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) sides: [u64; 2],
    pub(super) tuning: LifeTuning,
    pub(super) rule: Rule,
    pub(super) rules: Rules,
    pub(super) is_bounded: bool,
}

/// The kernel that keeps rows in shared memory.
pub(super) struct Resident {
    pub(super) step: Step<InSharedMemory>,
    /// How it is launched with censuses.
    pub(super) with_censuses: Geometry,
    pub(super) band: Band,
    /// Generations of a launch.
    pub(super) most: u64,
}

/// Loads the kernel of Conway's rule, or that of all rules with a rule.
macro_rules! of_rules {
    ($gpu:expr, $rules:expr, $rule:expr, $conway:ty, $all:ty) => {
        match $rules {
            Rules::Conway => Box::new($gpu.own_kernel::<$conway>()?) as _,
            Rules::All => Box::new(with_masks::<$all>($gpu, $rule)?) as _,
        }
    };
}

impl Pass {
    pub(super) fn new(gpu: &Gpu, target: Target) -> Result<Self> {
        let kernel = target.kernel(gpu)?;
        let tuning = target.tuning_of(&*kernel)?;
        let with_census = Geometry::blocked_with_census(target.sides, &tuning);
        let step = Step { kernel, geometry: Geometry::blocked(target.sides, &tuning) };
        Ok(Pass { step, with_census, counting: OnceLock::new(), target })
    }

    /// Returns the kernel that takes censuses of all generations.
    pub(super) fn counting(&self, gpu: &Gpu) -> Result<&Step<Blocked>> {
        if let Some(step) = self.counting.get() {
            return Ok(step);
        }
        let kernel = self.target.counting_kernel(gpu)?;
        let geometry = Geometry::blocked(self.target.sides, &self.target.tuning_of(&*kernel)?);
        Ok(self.counting.get_or_init(|| Step { kernel, geometry }))
    }

    /// Returns the generations of a pass that a schedule has censuses of, one bit each. `None` if a pass cannot take them.
    pub(super) fn counted(&self, schedule: &Schedule) -> Option<u32> {
        let Schedule { until, every, censuses, .. } = *schedule;
        // More rows would have more living cells in a strip than fit into 32 bits.
        let can_count = self.target.sides[0] < 1 << 26;
        let pass = 1..=u64::from(GENERATIONS);
        if !can_count || !pass.contains(&until) || every >= GENERATIONS.into() {
            return None;
        }
        let is_long = until + (censuses - 1) * every >= GENERATIONS.into();
        let is_counted = |generation: &u64| *generation >= until && (generation - until).is_multiple_of(every);
        is_long.then(|| pass.filter(is_counted).fold(0, |levels, generation| levels | 1 << (generation - 1)))
    }
}

impl Target {
    fn kernel(&self, gpu: &Gpu) -> Result<Box<Blocked>> {
        let &Target { rules, rule, .. } = self;
        Ok(match self.is_bounded {
            true => of_rules!(gpu, rules, rule, life_blocked_conway_bounded, life_blocked_bounded),
            false => of_rules!(gpu, rules, rule, life_blocked_conway, life_blocked),
        })
    }

    fn counting_kernel(&self, gpu: &Gpu) -> Result<Box<Blocked>> {
        let &Target { rules, rule, .. } = self;
        Ok(match self.is_bounded {
            true => of_rules!(gpu, rules, rule, life_blocked_conway_bounded_census, life_blocked_bounded_census),
            false => of_rules!(gpu, rules, rule, life_blocked_conway_census, life_blocked_census),
        })
    }

    /// Returns what the launches of a kernel depend on.
    fn tuning_of(&self, kernel: &Blocked) -> Result<PassTuning> {
        let LifeTuning { processors, times_of_row, .. } = self.tuning;
        let tuning = |resident| PassTuning { processors, resident, times_of_row };
        // The number of resident blocks of a warp does not depend on the grid.
        let residency = kernel.residency(shape(&Geometry::blocked(self.sides, &tuning(0))))?;
        Ok(tuning(residency.map_or(0, |residency| residency.blocks_per_multiprocessor.into())))
    }
}

impl Resident {
    pub(super) fn new(gpu: &Gpu, kernel: Box<InSharedMemory>, board: &kernels::Board, band: Band) -> Result<Self> {
        let [geometry, with_censuses] = [false, true].map(|has_census| Geometry::resident(board, &band, has_census));
        gpu.shared.check(kernel.name(), with_censuses.shared_bytes)?;
        let most = if band.halo > 0 { band.halo.into() } else { MOST_RESIDENT };
        Ok(Resident { step: Step { geometry, kernel }, with_censuses, band, most })
    }
}

/// Loads the kernel of all rules, for one of them.
fn with_masks<E: Entry<Constants = Table<u32, { 2 * MASKS }>>>(gpu: &Gpu, rule: Rule) -> Result<WithConstants<E>> {
    let constants = masks_of(rule_table(rule.births(), rule.survivals()));
    Ok(WithConstants { kernel: gpu.own_kernel()?, constants })
}

impl Kernels {
    pub(super) fn load(gpu: &Gpu, size: Size, topology: Topology, rule: Rule, choice: Choice) -> Result<Self> {
        let (sides, tuning) = ([size.rows as u64, size.columns as u64], LifeTuning::new(gpu.info()));
        let layout = match choice.kernels {
            KernelSet::Global | KernelSet::Tile => Layout::Bytes,
            KernelSet::Packed(_) | KernelSet::Blocked { .. } | KernelSet::Resident { .. } => Layout::Bits,
        };
        let board = of_size(size, topology, size.width() * layout.scale());
        let generations = match choice.kernels {
            KernelSet::Global => Generations::One(Step {
                kernel: Box::new(gpu.own_kernel::<life_global>()?),
                geometry: Geometry::global(sides),
            }),
            KernelSet::Tile => {
                let step: Step<Stepping> =
                    Step { kernel: Box::new(gpu.own_kernel::<life_tile>()?), geometry: Geometry::tile(sides) };
                gpu.shared.check(step.kernel.name(), step.geometry.shared_bytes)?;
                Generations::One(step)
            }
            KernelSet::Packed(rules) => Generations::One(Self::packed(gpu, sides, rule, rules)?),
            KernelSet::Blocked { rules, is_bounded } => {
                let pass = Pass::new(gpu, Target { sides, tuning, rule, rules, is_bounded })?;
                Generations::Passes { one: Self::packed(gpu, sides, rule, rules)?, pass }
            }
            KernelSet::Resident { rules, band } => {
                let kernel = of_rules!(gpu, rules, rule, life_resident_conway, life_resident);
                Generations::Resident(Resident::new(gpu, kernel, &board, band)?)
            }
        };
        let census: Box<dyn for<'l> Launch<CensusArgs<'l>>> = match layout {
            Layout::Bits => Box::new(gpu.own_kernel::<life_census>()?),
            Layout::Bytes => Box::new(gpu.own_kernel::<life_census_bytes>()?),
        };
        let census = Step { geometry: Geometry::census(sides, tuning.processors), kernel: census };
        let table = rule_table(rule.births(), rule.survivals());
        Ok(Kernels { reason: choice.reason, generations, board, table, layout, census })
    }

    /// Loads the kernel of one generation of bits.
    fn packed(gpu: &Gpu, sides: [u64; 2], rule: Rule, rules: Rules) -> Result<Step<Stepping>> {
        let kernel: Box<Stepping> = of_rules!(gpu, rules, rule, life_packed_conway, life_packed);
        Ok(Step { geometry: Geometry::packed(sides), kernel })
    }

    pub(super) fn args<'l>(&self, input: GlobalIn<'l, u32>, output: GlobalOut<'l, u32>) -> Args<'l> {
        Args { input, output, board: self.board, table: self.table }
    }
}

/// Returns the masks of all sums.
fn masks_of(table: u32) -> Table<u32, { 2 * MASKS }> {
    Table(std::array::from_fn(|i| if masks(table, (i / 2) as u32)[i % 2] { u32::MAX } else { 0 }))
}

pub(super) fn shape(geometry: &Geometry) -> LaunchShape {
    let [x, y] = geometry.block;
    LaunchShape::new([geometry.blocks, 1, 1], [x, y, 1]).shared_bytes(geometry.shared_bytes)
}
