//! Descriptions of a block's shared memory (`shared!`).

use crate::machine::{Tester, message_of};
use cuda_std::{shared, shared_bytes};
use std::panic::AssertUnwindSafe;

shared! {
    /// With constant lengths.
    pub struct Fixed {
        /// Takes 16 bytes.
        pub bytes: [u8; 5],
        /// Takes 32.
        pub doubles: [f64; LEN + 1]
    }
}

/// One less than the length of `doubles`.
const LEN: u32 = 3;

shared! {
    /// With lengths that a launch decides.
    pub struct Chosen(radius: u64, bins: u32) {
        /// A tile with a halo.
        pub samples: [f32; 64 + 2 * radius],
        /// A count for each bin.
        pub counts: [u32; bins],
    }
}

#[test]
fn the_host_launches_with_the_bytes_that_the_kernel_splits_off() {
    assert_eq!(Fixed::BYTES, 48);
    assert_eq!(Chosen::bytes(8, 5), shared_bytes::<f32>(80) + shared_bytes::<u32>(5));
    for (radius, bins) in [(0, 1), (8, 5), (3, 100)] {
        let tester = Tester::new(Chosen::bytes(radius, bins) as usize, 0);
        let (chosen, rest) = Chosen::split(tester.arena(), radius, bins);
        assert_eq!((u64::from(chosen.samples.len()), chosen.counts.len()), (64 + 2 * radius, bins));
        assert!(message_of(AssertUnwindSafe(|| drop(rest.split::<u8>(1)))).contains("does not fit into the 0 bytes"));
        let tester = Tester::new(Chosen::bytes(radius, bins) as usize - 1, 0);
        message_of(AssertUnwindSafe(|| drop(Chosen::split(tester.arena(), radius, bins))));
    }
    let (fixed, _) = Fixed::split(Tester::new(48, 0).arena());
    assert_eq!((fixed.bytes.len(), fixed.doubles.len()), (5, 4));
}

#[test]
fn lengths_beyond_all_memory_fit_nowhere() {
    assert_eq!(Chosen::bytes(u64::MAX / 4, 1), u64::MAX);
    let split = || drop(Chosen::split(Tester::new(1 << 10, 0).arena(), 1 << 32, 1));
    assert!(message_of(split).contains("does not fit"));
}

#[test]
fn arrays_have_their_length() {
    let (array, rest) = Tester::new(64, 0).arena().array::<u16, 9>();
    assert_eq!((array.len(), rest.split::<u8>(32).0.len()), (9, 32));
}
