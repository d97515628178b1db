//! The kernel in the README of `cuda_builder`, of which `readme/blur.rs` is a copy, and the recommended settings.

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

/// Returns the settings of a package in the lines of a profile.
fn settings<'t>(text: &'t str, package: &str) -> &'t str {
    let line = text.lines().find_map(|line| line.strip_prefix(package)?.strip_prefix(" = "));
    line.and_then(|line| Some(line.split_once('}')?.0)).unwrap_or_else(|| panic!("no settings of {package}"))
}

/// All texts recommend the same settings, and the cases of the catalogue are compiled with them. Otherwise the tests of calls in
/// two arms of a branch would prove nothing for kernels that follow the recommendation.
#[test]
fn the_recommended_settings_are_those_of_the_catalogue() {
    let workspace = profile(include_str!("../../../../Cargo.toml"));
    let texts = [
        include_str!("../../README.md"),
        include_str!("../../../cuda_builder/README.md"),
        include_str!("../../../../host/guide/platforms.md"),
    ];
    for text in texts.map(profile) {
        assert_eq!(settings(text, "my-kernels"), settings(workspace, "slm-emulator-catalogue"));
        for package in ["slm-emulator", "slm-cuda-std", "corosensei"] {
            assert_eq!(settings(text, package), settings(workspace, package), "{package}");
        }
    }
}

/// Returns the settings of packages in a manifest.
fn profile(manifest: &str) -> &str {
    manifest.split_once("[profile.dev.package]").map_or("", |(_, profile)| profile)
}
