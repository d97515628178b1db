//! The kernel in the README of `cuda_builder`, of which `readme/blur.rs` is a copy.

mod blur;

use blur::Blurring;
use emulator::{Emulator, Launch, Profile};

/// The tested copy equals the README's text.
#[test]
fn the_text_is_the_same() {
    let readme = include_str!("../../../cuda_builder/README.md");
    assert!(readme.contains(&format!("```rust,ignore\n{}```", include_str!("readme/blur.rs"))));
}

/// Most threads of the second block have no element.
#[test]
fn nothing_is_found_in_the_kernel() {
    let mut emulator = Emulator::new(Profile::SM_90);
    let samples: Vec<f32> = (0..300u16).map(f32::from).collect();
    let (input, output) = (emulator.upload(&samples), emulator.allocate(300));
    let args = Blurring { input: input.input(), output: output.output() };
    let report = emulator.launch::<blur::blur>(Launch::new([2, 1, 1], [256, 1, 1]), args, ()).unwrap();
    assert!(report.is_clean(), "{report}");
    let expected = (0..300u16).map(|i| if i < 299 { f32::from(i) + 0.5 } else { 149.5 });
    assert_eq!(emulator.download(&output), expected.collect::<Vec<_>>());
}
