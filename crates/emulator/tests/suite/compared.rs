//! The kernels with the same results on host and device: they have no findings, and their results equal those of plain code.

use catalogue::compared::{self, Compared, ComparedVisitor, MATRIX, PATTERNS, RESULTS, Tolerance};
use cuda_std::{Entry, GlobalIn2};
use emulator::{Emulator, Launch, Profile};

/// Returns pseudo-random bit patterns.
fn patterns() -> Vec<u32> {
    (0..PATTERNS).map(|k| (k + 1).wrapping_mul(0x9e37_79b1) ^ k << 7).collect()
}

/// Returns the output of a kernel: the words of each thread.
fn results<E: for<'l> Entry<Args<'l> = Compared<'l>, Constants = ()>>(seed: u64) -> Vec<Vec<u32>> {
    let mut emulator = Emulator::new(Profile::SM_90);
    let (patterns, output) = (emulator.upload(&patterns()), emulator.upload(&[0u32; RESULTS as usize]));
    let [rows, columns, pitch] = MATRIX;
    let matrix = GlobalIn2::new(patterns.input(), rows, columns, pitch).expect("it fits");
    let args = Compared { patterns: patterns.input(), matrix, output: output.in_out() };
    let launch = Launch::new([1, 1, 1], [32, 1, 1]).shared_bytes(4096).seed(seed);
    let report = emulator.launch::<E>(launch, args, ()).expect("within the limits");
    assert!(report.is_clean(), "{report}");
    let words = emulator.download(&output);
    (0..32).map(|t| words.iter().skip(t).step_by(32).copied().collect()).collect()
}

#[derive(Default)]
struct Clean(u32);

impl ComparedVisitor for Clean {
    fn visit<E: for<'l> Entry<Args<'l> = Compared<'l>, Constants = ()>>(&mut self, _: Tolerance) {
        self.0 += 1;
        let first = results::<E>(0);
        assert!((1..4).all(|seed| results::<E>(seed) == first), "{} depends on the order", E::NAME);
    }
}

#[test]
fn they_are_clean_and_reproducible() {
    let mut clean = Clean::default();
    compared::visit(&mut clean);
    assert_eq!(clean.0, 9);
}

/// Compares votes, matches and reductions, of all lanes and of parts, with loops.
#[test]
fn lanes_together() {
    let (results, words) = (results::<compared::together>(0), patterns());
    for (t, result) in results.iter().enumerate() {
        for (part, result) in result.chunks(16).enumerate() {
            let lanes: Vec<usize> = (0..32).filter(|l| part == 0 || (l % 3 == 0) == (t % 3 == 0)).collect();
            let of =
                |holds: &dyn Fn(usize) -> bool| lanes.iter().filter(|l| holds(**l)).fold(0u32, |bits, l| bits | 1 << l);
            let few = |l: usize| words[l] % 5;
            let values = || lanes.iter().map(|l| words[*l]);
            let signed = || values().map(|word| word as i32);
            let expected = [
                u32::from(lanes.iter().any(|l| few(*l) == 0)),
                u32::from(lanes.iter().all(|l| few(*l) < 4)),
                of(&|l| few(l) == 1),
                of(&|l| few(l) == few(t)),
                of(&|l| (few(l), l / 16) == (few(t), t / 16)),
                values().fold(0, u32::wrapping_add),
                values().min().unwrap(),
                values().max().unwrap(),
                values().fold(u32::MAX, |and, word| and & (word | 0xffff)),
                values().fold(0, |or, word| or | word & 0xffff),
                values().fold(0, u32::wrapping_add),
                signed().min().unwrap() as u32,
                signed().max().unwrap() as u32,
                values().fold(u32::MAX, |and, word| and & (word | 0xff)),
                values().fold(0, |or, word| or | word & 0xff),
            ];
            assert_eq!(result[..15], expected, "lane {t}, part {part}");
        }
    }
}

/// Shuffles of 64-bit values return both halves from the same lane.
#[test]
fn wide_shuffles() {
    let (results, words) = (results::<compared::shuffles>(0), patterns());
    let long = |lane: usize| u64::from(words[32 + lane]) << 32 | u64::from(words[64 + lane]);
    for (t, result) in results.iter().enumerate() {
        let sources = [t * 7 % 32, if t < 2 { t } else { t - 2 }, if t + 9 < 32 { t + 9 } else { t }, t ^ 31];
        for (k, source) in sources.into_iter().enumerate() {
            let actual = u64::from(result[3 + 2 * k]) | u64::from(result[4 + 2 * k]) << 32;
            // Shuffles preserve the bits of NaNs.
            assert_eq!(actual, long(source), "lane {t}, shuffle {k}");
        }
        assert_eq!(result[0] as i32, i32::from(words[t ^ 5] as i8));
        assert_eq!(result[1], u32::from(words[if t < 3 { t } else { t - 3 }] as u16));
    }
}

/// Copies fill elements beyond the window with zeros.
#[test]
fn copies_at_the_end_of_a_window() {
    let (results, words) = (results::<compared::copies>(0), patterns());
    let word = |i: u32| words.get(i as usize).copied().unwrap_or(0);
    for (t, result) in (0u32..).zip(&results) {
        assert_eq!(result[0], word(PATTERNS - 16 + t));
        let two = PATTERNS - 32 + 2 * t;
        assert_eq!(result[1..3], [word(two), word(two + 1)]);
        let four = PATTERNS / 4 * 4 - 64 + 4 * (31 - t);
        assert_eq!(result[3..7], [0, 1, 2, 3].map(|k| word(four + k)));
    }
}
