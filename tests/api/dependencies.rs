//! The dependencies of the published packages are those in the table of the page about safety.

use std::collections::BTreeSet;

/// A package and what it depends on.
type Dependency<'a> = (&'a str, &'a str);

const PAGE: &str = include_str!("../../host/guide/safety.md");

const MANIFESTS: [&str; 7] = [
    include_str!("../../Cargo.toml"),
    include_str!("../../kernels/Cargo.toml"),
    include_str!("../../crates/cuda_std/Cargo.toml"),
    include_str!("../../crates/cuda_builder/Cargo.toml"),
    include_str!("../../crates/cuda_driver/Cargo.toml"),
    include_str!("../../crates/emulator/Cargo.toml"),
    include_str!("../../crates/mpi/Cargo.toml"),
];

/// Returns the dependencies of a manifest, for the library or its build script, except for packages of this repository.
fn of_manifest(manifest: &str) -> impl Iterator<Item = Dependency<'_>> {
    let package = manifest.split("[package]").nth(1).expect("a package");
    let name = package.lines().find_map(|line| line.strip_prefix("name = ")).expect("a name").trim_matches('"');
    let mut is_inside = false;
    manifest.lines().filter_map(move |line| {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']').rsplit('.').next().unwrap_or_default();
            is_inside = ["dependencies", "build-dependencies"].contains(&section) && !line.starts_with("[workspace");
        }
        let dependency = line.split([' ', '.']).next().filter(|word| is_inside && !word.is_empty())?;
        let is_foreign = !dependency.starts_with(['#', '[']) && dependency != "slm" && !dependency.starts_with("slm-");
        is_foreign.then_some((name, dependency))
    })
}

/// Returns the dependencies in the table.
fn of_table() -> impl Iterator<Item = Dependency<'static>> {
    let (_, table) = PAGE.split_once("## Dependencies").expect("the section");
    table.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let dependency = cells.next()?.trim_end_matches('`');
        Some((cells.next()?.split(',').next()?, dependency))
    })
}

#[test]
fn all_dependencies_are_in_the_table() {
    let expected: BTreeSet<_> = MANIFESTS.into_iter().flat_map(of_manifest).collect();
    assert!(expected.contains(&("slm", "rayon")) && expected.contains(&("slm-cuda-driver", "libloading")));
    assert_eq!(of_table().collect::<BTreeSet<_>>(), expected);
}
