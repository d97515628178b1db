//! Measured and predicted costs of accesses to shared memory. `banks.sh` compares them with the wavefronts that a GPU
//! counts.
//!
//! Prints a line for each pattern: kind, bytes, index, number of accesses, the model's passes per access with and without
//! conflicts, and the cycles of all accesses with and without conflicts. Each pattern takes two launches, the one without
//! conflicts first.

use slm::banks::{AccessKind, AccessPattern, BankModel, Named, Width};
use slm::{Backend, Device, Result};

fn main() -> Result<()> {
    let device = Device::open()?;
    if device.info().backend == Backend::Cpu {
        eprintln!("{device} has no shared memory: nothing is measured");
        return Ok(());
    }
    let kinds = AccessKind::ALL.into_iter().flat_map(|kind| Width::ALL.map(|width| (kind, width)));
    for (kind, width) in kinds.filter(|(kind, width)| *kind != AccessKind::Atomic || has_atomic(*width)) {
        for named in patterns() {
            let pattern = named.pattern(kind, width);
            let probe = pattern.probe(&device)?;
            let [passes, conflict_free_passes] = [&pattern, &pattern.conflict_free()].map(passes);
            println!(
                "{kind}\t{}\t{named}\t{}\t{passes}\t{conflict_free_passes}\t{}\t{}",
                width.bytes(),
                probe.accesses,
                probe.cycles,
                probe.conflict_free_cycles
            );
        }
    }
    Ok(())
}

/// Returns the textbooks' patterns, a broadcast, and all strides.
fn patterns() -> impl Iterator<Item = Named> {
    let with_stride = |named: &Named| matches!(named, Named::Strided(_));
    Named::SEVEN.into_iter().filter(move |named| !with_stride(named)).chain((0..=64).map(Named::Strided))
}

fn has_atomic(width: Width) -> bool {
    [Width::B4, Width::B8].contains(&width)
}

fn passes(pattern: &AccessPattern) -> u64 {
    BankModel::NVIDIA.cost(pattern).passes
}
