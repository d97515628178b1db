//! The emulator's wavefronts equal a GPU's where rows and columns are shorter or longer than a warp.

use libtest_mimic::Failed;
use slm::emulator::{Action, Profile, Space};
use slm::transpose::{TransposeAlgorithm, TransposeElement};
use slm::{Buffer2, Device, Transpose};

/// Rows, columns, the gap between rows, and the numbers of an element; the algorithm, or `None` for in place.
type Launch = ([usize; 4], Option<TransposeAlgorithm>);

/// Launches, and the wavefronts of their shared loads and stores: counted by Nsight Compute on an H200 for
/// `benches/wavefronts.rs`.
const OF_U8: [(Launch, [u64; 2]); 5] = [
    (([1003, 5, 0, 1], Some(TransposeAlgorithm::SharedPadded)), [160, 157]),
    (([1003, 5, 0, 3], Some(TransposeAlgorithm::SharedPadded)), [472, 471]),
    (([224, 144, 0, 3], Some(TransposeAlgorithm::Auto)), [864, 1536]),
    (([150, 150, 0, 1], None), [732, 704]),
    (([150, 150, 0, 3], None), [3141, 2110]),
];
const OF_U16: [(Launch, [u64; 2]); 3] = [
    (([133, 131, 1, 3], Some(TransposeAlgorithm::Auto)), [4500, 1518]),
    (([150, 150, 0, 1], None), [769, 807]),
    (([150, 150, 0, 3], None), [2250, 2110]),
];
const OF_U32: [(Launch, [u64; 2]); 1] = [(([150, 150, 0, 1], None), [807, 807])];

pub(super) fn wavefronts_are_those_of_an_h200() -> Result<(), Failed> {
    check::<u8>(&OF_U8)?;
    check::<u16>(&OF_U16)?;
    check::<u32>(&OF_U32)
}

fn check<T: TransposeElement>(launches: &[(Launch, [u64; 2])]) -> Result<(), Failed> {
    for (launch, measured) in launches {
        let counted = wavefronts::<T>(*launch)?;
        if counted != *measured {
            let bytes = size_of::<T>();
            return Err(format!("{launch:?}, numbers of {bytes} bytes: {counted:?}, not {measured:?}").into());
        }
    }
    Ok(())
}

/// Returns the wavefronts that the emulator counts for a launch.
fn wavefronts<T: TransposeElement>(([rows, columns, gap, components], algorithm): Launch) -> slm::Result<[u64; 2]> {
    let device = Device::emulated(Profile::SM_90, 0);
    let matrix = |rows: usize, columns: usize| -> slm::Result<Buffer2<T>> {
        let (width, pitch) = (columns * components, columns * components + gap);
        Buffer2::from_buffer(device.zeroed(rows * pitch)?, rows, width, pitch)
    };
    let transpose = Transpose::<T>::new(rows, columns).components(components);
    match algorithm {
        Some(algorithm) => transpose
            .algorithm(algorithm)
            .prepare(&device)?
            .apply_into(&matrix(rows, columns)?, &mut matrix(columns, rows)?)?,
        None => {
            let mut matrix = device.zeroed::<T>(rows * columns * components)?;
            transpose.prepare_in_place(&device)?.apply(&mut matrix)?;
        }
    }
    let counts = |action| -> u64 {
        let reports = device.emulation_reports();
        reports.iter().map(|report| report.counts(action, Some(Space::Shared)).wavefronts).sum()
    };
    Ok([counts(Action::Load), counts(Action::Store)])
}
