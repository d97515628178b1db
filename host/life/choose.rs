//! The choice of the kernels: all of it, as a plain value.

use super::{LifeAlgorithm, Rule, Topology};
use slm_kernels::life::Ends;

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
}

/// The rules that a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    Conway,
    All,
}

/// Returns the kernels for boards, as the algorithm requires.
pub(super) fn choose(algorithm: LifeAlgorithm, topology: Topology, rule: Rule) -> Choice {
    let rules = if rule == Rule::CONWAY { Rules::Conway } else { Rules::All };
    let blocked = KernelSet::Blocked { rules, is_bounded: topology.ends() == Ends::Dead };
    let kernels = match algorithm {
        LifeAlgorithm::Auto => return Choice { kernels: blocked, reason: "reads and writes the fewest bytes" },
        LifeAlgorithm::GlobalMemory => KernelSet::Global,
        LifeAlgorithm::SharedTile => KernelSet::Tile,
        LifeAlgorithm::BitPacked => KernelSet::Packed(rules),
        LifeAlgorithm::Blocked => blocked,
    };
    Choice { kernels, reason: "requested" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_generations_take_the_fewest_bytes() {
        for topology in [Topology::Plane, Topology::Torus, Topology::Cylinder, Topology::KleinBottle] {
            let [auto, blocked] =
                [LifeAlgorithm::Auto, LifeAlgorithm::Blocked].map(|it| choose(it, topology, Rule::CONWAY));
            assert_eq!([auto.reason, blocked.reason], ["reads and writes the fewest bytes", "requested"]);
            assert_eq!(auto.kernels, blocked.kernels);
            let is_bounded = matches!(topology, Topology::Plane | Topology::Cylinder);
            assert_eq!(auto.kernels, KernelSet::Blocked { rules: Rules::Conway, is_bounded }, "{topology:?}");
        }
    }

    #[test]
    fn other_rules_have_kernels_of_their_own() {
        let kernels = |algorithm| choose(algorithm, Topology::Torus, "B36/S23".parse().unwrap()).kernels;
        assert_eq!(kernels(LifeAlgorithm::Auto), KernelSet::Blocked { rules: Rules::All, is_bounded: false });
        assert_eq!(kernels(LifeAlgorithm::BitPacked), KernelSet::Packed(Rules::All));
        assert_eq!(kernels(LifeAlgorithm::SharedTile), KernelSet::Tile);
        assert_eq!(kernels(LifeAlgorithm::GlobalMemory), KernelSet::Global);
    }
}
