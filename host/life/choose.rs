//! The choice of the kernels: all of it, as a plain value.

use super::tuning::{LifeTuning, TimesOfBands};
use super::words::Size;
use super::{LifeAlgorithm, LifeError, Rule, Topology};
use cuda_std::warp::WARP;
use slm_kernels::life::{Band, Board, Ends, GENERATIONS, Geometry, PassTuning, time_of_pass};

/// The kernels of a board on a GPU, and the reason for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) kernels: KernelSet,
    pub(super) reason: &'static str,
}

/// Kernels that compute generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KernelSet {
    /// One generation of bytes, from global memory.
    Global,
    /// One generation of bytes, from a tile in shared memory.
    Tile,
    /// One generation of bits.
    Packed(Rules),
    /// Several generations of bits, and one if fewer are left. If the board `is_bounded`, all cells above and below it are dead.
    Blocked { rules: Rules, is_bounded: bool },
    /// Any number of generations of bits, in shared memory.
    Resident { rules: Rules, band: Band },
}

/// The rules that a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    Conway,
    All,
}

/// Halos that are compared.
const HALOS: [u32; 6] = [8, 12, 16, 24, 32, 64];

/// Warps of `Blocked` that a multiprocessor holds.
const RESIDENT_WARPS: u64 = 12;

/// Returns the kernels for boards, as the algorithm requires.
///
/// # Errors
///
/// [`LifeError::NoBands`] if the algorithm is `Resident` and the board is too large.
pub(super) fn choose(
    algorithm: LifeAlgorithm,
    size: Size,
    topology: Topology,
    rule: Rule,
    tuning: &LifeTuning,
) -> Result<Choice, LifeError> {
    let rules = if rule == Rule::CONWAY { Rules::Conway } else { Rules::All };
    let blocked = KernelSet::Blocked { rules, is_bounded: topology.ends() == Ends::Dead };
    let resident = || fastest_band(size, topology, tuning);
    let kernels = match algorithm {
        LifeAlgorithm::Auto => return Ok(fastest(rules, blocked, resident(), size, tuning)),
        LifeAlgorithm::GlobalMemory => KernelSet::Global,
        LifeAlgorithm::SharedTile => KernelSet::Tile,
        LifeAlgorithm::BitPacked => KernelSet::Packed(rules),
        LifeAlgorithm::Blocked => blocked,
        LifeAlgorithm::Resident => {
            let (_, band) = resident().ok_or(LifeError::NoBands { rows: size.rows, columns: size.columns })?;
            KernelSet::Resident { rules, band }
        }
    };
    Ok(Choice { kernels, reason: "requested" })
}

/// Returns the faster ones of the kernels that compute several generations.
fn fastest(rules: Rules, blocked: KernelSet, resident: Option<(u64, Band)>, size: Size, tuning: &LifeTuning) -> Choice {
    let &LifeTuning { processors, times_of_row, launch_of_pass, .. } = tuning;
    let pass = PassTuning { processors, resident: RESIDENT_WARPS, times_of_row };
    let of_pass = launch_of_pass + time_of_pass([size.rows as u64, size.columns as u64], &pass);
    match resident {
        Some((time, band)) if time * u64::from(GENERATIONS) < of_pass * COMPARED => {
            let reason = if band.halo == 0 { "the board fits into one block" } else { "bands of rows fit into blocks" };
            Choice { kernels: KernelSet::Resident { rules, band }, reason }
        }
        _ => Choice { kernels: blocked, reason: "reads and writes the fewest bytes" },
    }
}

/// Generations whose time is compared.
const COMPARED: u64 = 1024;

/// Returns how blocks share a board in `Resident`, and the time of [`COMPARED`] generations. `None` if shared memory or the threads of blocks
/// are too few.
fn fastest_band(size: Size, topology: Topology, tuning: &LifeTuning) -> Option<(u64, Band)> {
    let LifeTuning { bands, banks, shared_bytes, .. } = *tuning;
    let is_small = size.rows <= 1 << 31 && size.columns <= 1 << 31;
    let board = of_size(Some(size).filter(|_| is_small)?, topology, 2 * size.width());
    let rows = board.rows.div_ceil(bands as u32);
    let whole = Band::new(&board, board.rows, 0, banks);
    let all = HALOS.iter().filter_map(|&halo| Band::new(&board, rows, halo, banks)).chain(whole);
    let fits = |band: &Band| Geometry::resident(&board, band, true).shared_bytes <= shared_bytes;
    let timed = all.filter(fits).map(|band| (time_of_bands(&board, &band, tuning), band));
    timed.min_by_key(|&(time, _)| time)
}

/// Returns the time of [`COMPARED`] generations.
fn time_of_bands(board: &Board, band: &Band, tuning: &LifeTuning) -> u64 {
    let TimesOfBands { launch, generation, row_of_warp } = tuning.times_of_bands;
    let (all, halo) = (band.computed(board), u64::from(band.halo));
    // On average, half of the halo is computed.
    let rows = u64::from(Geometry::resident(board, band, false).block[0] / WARP * band.strip) * (all - halo) / all;
    let launches = COMPARED.checked_div(halo).unwrap_or(1);
    launches * launch + COMPARED * (generation + rows * row_of_warp)
}

/// Returns the sizes and the topology of a board for kernels. A row has `pitch` elements.
pub(super) fn of_size(size: Size, topology: Topology, pitch: usize) -> Board {
    let (rows, columns) = (size.rows as u32, size.columns as u32);
    Board { rows, columns, pitch: pitch as u64, wraps: topology.wraps().into(), ends: topology.ends() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(algorithm: LifeAlgorithm, [rows, columns]: [usize; 2], topology: Topology, rule: Rule) -> Choice {
        choose(algorithm, Size { rows, columns }, topology, rule, &LifeTuning::H200).unwrap()
    }

    /// The rows of a band and its halo that `Auto` chooses for a torus, with the height of strips. `None` for `Blocked`.
    fn band([rows, columns]: [usize; 2]) -> Option<[u32; 3]> {
        match chosen(LifeAlgorithm::Auto, [rows, columns], Topology::Torus, Rule::CONWAY).kernels {
            KernelSet::Resident { rules: Rules::Conway, band } => Some([band.rows, band.halo, band.strip]),
            _ => None,
        }
    }

    #[test]
    fn small_boards_are_resident() {
        assert_eq!(band([1, 1]), Some([1, 0, 1]));
        assert_eq!(band([100, 100]), Some([100, 0, 1]));
        assert_eq!(band([256, 256]), Some([2, 32, 1]));
        assert_eq!(band([1024, 1024]), Some([8, 24, 2]));
        assert_eq!(band([2048, 2048]), None);
        assert_eq!(band([4096, 4096]), None);
        assert_eq!(band([1, 1 << 31]), None);
        assert_eq!(band([1 << 31, 1]), None);
        let choice = |sides| chosen(LifeAlgorithm::Auto, sides, Topology::KleinBottle, Rule::CONWAY);
        assert_eq!(choice([64, 64]).reason, "the board fits into one block");
        assert_eq!(choice([1000, 1000]).reason, "bands of rows fit into blocks");
    }

    #[test]
    fn bands_that_do_not_fit_are_errors() {
        for sides in [[4096, 4096], [2048, 2048]] {
            let choice = chosen(LifeAlgorithm::Resident, sides, Topology::Torus, Rule::CONWAY);
            assert!(matches!(choice.kernels, KernelSet::Resident { .. }) && choice.reason == "requested");
        }
        for (rows, columns) in [(1, 4097), (16_384, 4096), (1 << 33, 1), (1, 1 << 33)] {
            let size = Size { rows, columns };
            let choice = choose(LifeAlgorithm::Resident, size, Topology::Torus, Rule::CONWAY, &LifeTuning::H200);
            assert_eq!(choice, Err(LifeError::NoBands { rows, columns }));
        }
    }

    #[test]
    fn several_generations_take_the_fewest_bytes() {
        for topology in [Topology::Plane, Topology::Torus, Topology::Cylinder, Topology::KleinBottle] {
            let [auto, blocked] = [LifeAlgorithm::Auto, LifeAlgorithm::Blocked]
                .map(|it| chosen(it, [16_384, 16_384], topology, Rule::CONWAY));
            assert_eq!([auto.reason, blocked.reason], ["reads and writes the fewest bytes", "requested"]);
            assert_eq!(auto.kernels, blocked.kernels);
            let is_bounded = matches!(topology, Topology::Plane | Topology::Cylinder);
            assert_eq!(auto.kernels, KernelSet::Blocked { rules: Rules::Conway, is_bounded }, "{topology:?}");
        }
    }

    #[test]
    fn other_rules_have_kernels_of_their_own() {
        let kernels = |algorithm| chosen(algorithm, [8192, 8192], Topology::Torus, "B36/S23".parse().unwrap()).kernels;
        assert_eq!(kernels(LifeAlgorithm::Auto), KernelSet::Blocked { rules: Rules::All, is_bounded: false });
        assert_eq!(kernels(LifeAlgorithm::BitPacked), KernelSet::Packed(Rules::All));
        assert_eq!(kernels(LifeAlgorithm::SharedTile), KernelSet::Tile);
        assert_eq!(kernels(LifeAlgorithm::GlobalMemory), KernelSet::Global);
    }
}
