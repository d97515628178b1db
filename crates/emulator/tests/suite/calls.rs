//! The kernels whose calls the compiler copies: they have no findings, and their sums are correct.

use catalogue::calls::{self, CallVisitor, THREADS, WITH_NUMBER};
use catalogue::{Args, LEN, SHARED_BYTES};
use cuda_std::Entry;
use emulator::{Emulator, Launch, Profile};

/// Returns the output of a kernel.
fn results<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(seed: u64) -> Vec<u32> {
    let mut emulator = Emulator::new(Profile::SM_90);
    let numbers: Vec<u32> = (0..LEN).collect();
    let (input, output) = (emulator.upload(&numbers), emulator.allocate::<u32>(LEN as usize));
    let [zeros, result] = [emulator.upload(&[0u32; LEN as usize]), emulator.upload(&[0u32; LEN as usize])];
    let args = Args {
        input: input.input(),
        output: output.in_out(),
        zeros: zeros.in_out(),
        result: result.output(),
        right: 1,
    };
    let launch = Launch::new([1, 1, 1], [THREADS, 1, 1]).shared_bytes(SHARED_BYTES).seed(seed);
    let report = emulator.launch::<E>(launch, args, ()).expect("within the limits");
    assert!(report.is_clean(), "{report}");
    emulator.download(&output)
}

#[derive(Default)]
struct Clean(u32);

impl CallVisitor for Clean {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self) {
        self.0 += 1;
        let first = results::<E>(0);
        assert!((1..4).all(|seed| results::<E>(seed) == first), "{} depends on the order", E::NAME);
    }
}

#[test]
fn they_are_clean_and_reproducible() {
    let mut clean = Clean::default();
    calls::visit(&mut clean);
    assert_eq!(clean.0, 10);
}

#[test]
fn sums_of_the_block() {
    let sum: u32 = (0..WITH_NUMBER).sum();
    let expected: Vec<u32> = (0..THREADS).map(|t| sum + u32::from(t >= WITH_NUMBER)).collect();
    assert_eq!(results::<calls::two_barriers>(0), expected);
    assert_eq!(results::<calls::nine_barriers>(0), expected);
    assert_eq!(results::<calls::far_barriers>(0), expected);
}

#[test]
fn sums_of_the_warp() {
    let number = |t: u32| if t < WITH_NUMBER { t } else { 0 };
    let warp = |t: u32| (t / 32 * 32..(t / 32 + 1) * 32).map(number).sum::<u32>();
    let upto = |t: u32| (t / 32 * 32..=t).map(number).sum::<u32>();
    let with_ends =
        |sum: &dyn Fn(u32) -> u32| -> Vec<u32> { (0..THREADS).map(|t| sum(t) + u32::from(t >= WITH_NUMBER)).collect() };
    assert_eq!(results::<calls::five_shuffles>(0), with_ends(&upto));
    assert_eq!(results::<calls::far_shuffles>(0), with_ends(&upto));
    assert_eq!(results::<calls::eight_votes>(0), with_ends(&warp));
    assert_eq!(results::<calls::recursive_shuffles>(0), with_ends(&warp));
}
