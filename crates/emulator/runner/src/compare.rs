//! Compares the GPU's results with the emulator's: equal bits, or within the stated error.

use crate::on_gpu::KERNELS;
use catalogue::compared::{self, Compared, ComparedVisitor, MATRIX, PATTERNS, RESULTS, Tolerance};
use cuda_std::{Entry, GlobalIn2};
use slm::emulator::Profile;
use slm::{Device, LaunchShape};
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of pattern sets that each kernel is launched with.
const ROUNDS: u32 = 64;

/// Returns the patterns of a round: pseudo-random bits, and some special values.
fn patterns(round: u32) -> Vec<u32> {
    const SPECIAL: [u32; 8] = [0, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x3f80_0000, 1, 0x007f_ffff];
    let mixed = |k: u32| {
        let x = (PATTERNS * round + k + 1).wrapping_mul(0x9e37_79b1);
        (x ^ x >> 15).wrapping_mul(0x85eb_ca77)
    };
    let pattern =
        |k| if mixed(k) % 16 == 0 { SPECIAL[(mixed(k) >> 8) as usize % 8] } else { mixed(k) ^ mixed(k) >> 13 };
    (0..PATTERNS).map(pattern).collect()
}

/// Returns the output of a kernel on a device.
fn run<E>(device: &Device, round: u32) -> Outcome<Vec<u32>>
where
    E: for<'l> Entry<Args<'l> = Compared<'l>, Constants = ()>,
{
    let (patterns, mut output) = (device.upload(&patterns(round))?, device.zeroed(RESULTS as usize)?);
    let shape = LaunchShape::new([1, 1, 1], [32, 1, 1]).shared_bytes(4096);
    let [rows, columns, pitch] = MATRIX;
    device.kernel::<E>(&KERNELS)?.launch(shape, |windows| {
        let patterns = windows.input(&patterns);
        let matrix = GlobalIn2::new(patterns, rows, columns, pitch).expect("the matrix is smaller than the window");
        Compared { patterns, matrix, output: windows.in_out(&mut output) }
    })?;
    Ok(output.download()?)
}

/// Returns whether two results agree: with equal bits, or within the error of result `r` of the kernel `approximate`.
fn agree(tolerance: Tolerance, r: usize, [host, device]: [u32; 2]) -> bool {
    if host == device || tolerance == Tolerance::Exact {
        return host == device;
    }
    let [x, y] = [host, device].map(f32::from_bits);
    let ulps = (i64::from(host) - i64::from(device)).abs();
    match r {
        // Sine and cosine.
        8 | 9 => (x - y).abs() <= 2f32.powi(-20),
        // The logarithm of a number between 0.5 and 2.
        2 | 7 if x.abs() <= 1.0 => (x - y).abs() <= 2f32.powi(-22),
        _ => ulps <= 2,
    }
}

struct Compare {
    gpu: Device,
    host: Device,
    outcome: Outcome<u32>,
}

impl Compare {
    /// Returns the number of results that differ.
    fn differences<E>(&self, tolerance: Tolerance) -> Outcome<u32>
    where
        E: for<'l> Entry<Args<'l> = Compared<'l>, Constants = ()>,
    {
        let mut differences = 0;
        for round in 0..ROUNDS {
            let host = run::<E>(&self.host, round)?;
            let device = run::<E>(&self.gpu, round)?;
            for (i, pair) in host.into_iter().zip(device).enumerate() {
                let (r, t) = (i / 32, i % 32);
                if !agree(tolerance, r, [pair.0, pair.1]) {
                    differences += 1;
                    let (name, [host, device]) = (E::NAME, [pair.0, pair.1]);
                    eprintln!(
                        "{name}: round {round}, thread {t}, result {r}: {host:#010x} emulated, {device:#010x} on the GPU"
                    );
                }
            }
        }
        Ok(differences)
    }
}

impl ComparedVisitor for Compare {
    fn visit<E: for<'l> Entry<Args<'l> = Compared<'l>, Constants = ()>>(&mut self, tolerance: Tolerance) {
        let Ok(before) = self.outcome else { return };
        self.outcome = self.differences::<E>(tolerance).map(|differences| {
            println!("{}\t{tolerance:?}\t{differences} of {} differ", E::NAME, ROUNDS * RESULTS);
            before + differences
        });
    }
}

/// Compares the results of every kernel on the GPU with the emulator's.
pub(crate) fn compare() -> Outcome<()> {
    let host = Device::emulated(Profile::SM_90, 0);
    let mut compare = Compare { gpu: Device::open()?, host, outcome: Ok(0) };
    compared::visit(&mut compare);
    match compare.outcome? {
        0 => Ok(()),
        differences => Err(format!("{differences} results differ").into()),
    }
}
