//! One suite for every backend: `Life` against the naive oracle, SciPy's boards and known histories.
//!
//! Boards combine every algorithm and topology with rules of all kinds and awkward sizes: single rows and columns, the ends of
//! words of 4, 32 and 64 cells, several words, tiles and blocks. Cells are random.
//!
//! On emulated devices, boards are fewer and smaller, and histories shorter.
//!
//! | file | what it tests |
//! |---|---|
//! | `golden.rs`, `grids.rs`, `histories.rs` | boards of SciPy, grids of Golly, and known histories |
//! | `identity.rs` | the same words on all backends |
//! | `access.rs` | reading and writing of cells |
//! | `outcomes.rs` | censuses, and outcomes of long runs |
//! | `resident.rs` | rows in shared memory, and censuses of all generations |
//! | `wide.rs` | boards of several strips |
//! | `oracle.rs` | generations by the definition, part of `tests/support` |
//! | `api/` | the interface, part of `tests/api` |

mod access;
mod golden;
mod grids;
mod histories;
mod identity;
mod outcomes;
mod resident;
mod wide;

use crate::common::{Random, ensure, is_cuda, is_emulated, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::life::{Rule, Topology};
use slm::ndarray::Array2;
use slm::{Backend, Device, Life, LifeAlgorithm};
use slm_test_support::life::{self as oracle, TOPOLOGIES};

/// The name of the suite.
const SUITE: &str = "life";

const ALGORITHMS: [LifeAlgorithm; 6] = [
    LifeAlgorithm::Auto,
    LifeAlgorithm::GlobalMemory,
    LifeAlgorithm::SharedTile,
    LifeAlgorithm::BitPacked,
    LifeAlgorithm::Blocked,
    LifeAlgorithm::Resident,
];

/// Rows and columns.
const SIZES: [[usize; 2]; 27] = [
    [1, 1],
    [1, 2],
    [2, 1],
    [1, 3],
    [1, 64],
    [2, 2],
    [5, 1],
    [1, 100],
    [100, 1],
    [3, 4],
    [4, 5],
    [3, 31],
    [2, 32],
    [3, 33],
    [9, 63],
    [4, 64],
    [17, 65],
    [8, 96],
    [10, 97],
    [33, 127],
    [31, 128],
    [34, 129],
    [70, 260],
    [300, 7],
    [66, 1030],
    [64, 1024],
    [257, 129],
];

/// The number of sizes for emulated devices, without the largest ones.
const FEW: usize = 25;

/// Rules of all kinds: with B0, without births, without survivals.
const RULES: [&str; 7] = ["B3/S23", "B36/S23", "B2/S", "B0123478/S01234678", "B0/S8", "B1357/S02468", "B/S012345678"];

/// Generations, for algorithms that compute one at a time, and for the one that computes eight.
const STEPS: [u64; 2] = [3, 9];

pub(super) fn trials() -> Vec<Trial> {
    let of_topology = TOPOLOGIES.into_iter().flat_map(|topology| {
        let name = format!("generations::{topology:?}").to_lowercase();
        on_every_backend(SUITE, &name, move |device| generations(device, topology))
    });
    let plans = on_every_backend(SUITE, "plans", plans);
    let modules = [
        access::trials(),
        golden::trials(),
        grids::trials(),
        histories::trials(),
        identity::trials(),
        outcomes::trials(),
        resident::trials(),
        wide::trials(),
    ];
    of_topology.chain(plans).chain(modules.into_iter().flatten()).collect()
}

/// The algorithms that differ on this device.
fn algorithms(device: &Device) -> &'static [LifeAlgorithm] {
    match device.info().backend {
        Backend::Cpu => &ALGORITHMS[..1],
        _ => &ALGORITHMS[1..],
    }
}

/// The algorithms that differ on this device. On an emulated device, those with a bit for each cell, which compute many
/// generations in little time.
fn quick_algorithms(device: &Device) -> &'static [LifeAlgorithm] {
    if is_emulated(device) { &ALGORITHMS[3..] } else { algorithms(device) }
}

/// Random cells, of which a third is alive.
fn soup([rows, columns]: [usize; 2], stream: u64) -> Array2<bool> {
    let mut random = Random::new(stream);
    Array2::from_shape_simple_fn((rows, columns), || random.below(3) == 0)
}

fn generations(device: &Device, topology: Topology) -> Result<(), Failed> {
    let sizes = if is_slow(device) { &SIZES[..FEW] } else { &SIZES };
    for (i, &[rows, columns]) in sizes.iter().enumerate() {
        // Emulated devices have one of the rules for each size, and Conway's.
        let rules: Vec<_> = if is_slow(device) { vec![RULES[0], RULES[1 + i % 6]] } else { RULES.to_vec() };
        for text in rules {
            let rule: Rule = text.parse()?;
            let cells = soup([rows, columns], i as u64);
            let [few, many] = STEPS;
            let after_few = oracle::after(&cells, rule, topology, few);
            let after_many = oracle::after(&after_few, rule, topology, many - few);
            for &algorithm in algorithms(device) {
                let is_long = matches!(algorithm, LifeAlgorithm::Blocked | LifeAlgorithm::Resident);
                let (steps, expected) = if is_long { (many, &after_many) } else { (few, &after_few) };
                let life = Life::new(rows, columns).rule(rule).topology(topology).algorithm(algorithm);
                let mut board = life.prepare(device)?;
                board.set_cells(cells.view())?;
                board.step(steps)?;
                same(&board.cells()?, expected)
                    .map_err(|e| format!("{rows} x {columns}, {rule}, {topology:?}, {algorithm:?}: {e}"))?;
                // Cells after the end of a row would count.
                let alive = expected.iter().filter(|cell| **cell).count() as u64;
                crate::common::equal(board.population()?, alive)?;
            }
        }
    }
    Ok(())
}

/// Compares cells. The error has the first difference.
fn same(actual: &Array2<bool>, expected: &Array2<bool>) -> Result<(), String> {
    if actual.dim() != expected.dim() {
        return Err(format!("{:?} cells instead of {:?}", actual.dim(), expected.dim()));
    }
    let wrong = actual.indexed_iter().find(|(place, cell)| expected[*place] != **cell);
    wrong.map_or(Ok(()), |(place, cell)| Err(format!("the cell {place:?} is {cell}")))
}

fn plans(device: &Device) -> Result<(), Failed> {
    let is_cpu = device.info().backend == Backend::Cpu;
    let other: Rule = "B36/S23".parse()?;
    // On emulated devices, boards of more than a few rows have bands with halos of 8 rows.
    let (whole, few) = (if is_cuda(device) { 1 << 16 } else { 8 }, 2 * 100 * 13);
    for (algorithm, topology, rule, kernel, bytes, generations) in [
        (LifeAlgorithm::Auto, Topology::Torus, Rule::CONWAY, "life_resident_conway", few, whole),
        (LifeAlgorithm::Auto, Topology::Cylinder, Rule::CONWAY, "life_resident_conway", few, whole),
        (LifeAlgorithm::Resident, Topology::Plane, other, "life_resident", few, whole),
        (LifeAlgorithm::Blocked, Topology::Torus, Rule::CONWAY, "life_blocked_conway", few, 8),
        (LifeAlgorithm::Blocked, Topology::Cylinder, Rule::CONWAY, "life_blocked_conway_bounded", few, 8),
        (LifeAlgorithm::Blocked, Topology::KleinBottle, other, "life_blocked", few, 8),
        (LifeAlgorithm::Blocked, Topology::Plane, other, "life_blocked_bounded", few, 8),
        (LifeAlgorithm::BitPacked, Topology::Plane, Rule::CONWAY, "life_packed_conway", few, 1),
        (LifeAlgorithm::BitPacked, Topology::Torus, other, "life_packed", few, 1),
        (LifeAlgorithm::SharedTile, Topology::Torus, Rule::CONWAY, "life_tile", 2 * 100 * 100, 1),
        (LifeAlgorithm::GlobalMemory, Topology::Torus, other, "life_global", 2 * 100 * 100, 1),
    ] {
        let life = Life::new(100, 100).algorithm(algorithm).topology(topology).rule(rule);
        let plan = life.prepare(device)?.plan()?;
        let expected = if is_cpu { ("", 0, 0, 1) } else { (kernel, 1, bytes, generations) };
        let moved = plan.launches.iter().map(|launch| launch.moved_bytes).sum();
        crate::common::equal(
            (&*plan.kernels().join(", "), plan.launches.len(), moved, plan.details.per_launch),
            expected,
        )?;
        crate::common::equal(
            (plan.algorithm, plan.outputs.clone(), &*plan.device),
            (algorithm, vec![100, 100], &*device.to_string()),
        )?;
        ensure(plan.launches.iter().all(|launch| launch.residency.is_some() == is_cuda(device)), || plan.to_string())?;
        ensure(plan.to_string().contains("outputs    100 x 100\n"), || plan.to_string())?;
    }
    Ok(())
}
