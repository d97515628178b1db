//! The examples that must not compile are those in the table of the page about safety.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../host/guide/safety.md");

const FOLDERS: [&str; 6] = [
    "host",
    "kernels",
    "crates/cuda_std/src",
    "crates/cuda_builder/src",
    "crates/cuda_driver/src",
    "crates/emulator/src",
];

/// Adds the files in a folder that have such examples, with their number.
fn add(found: &mut BTreeMap<String, usize>, root: &Path, folder: &Path) {
    for entry in fs::read_dir(root.join(folder)).expect("the folder is there") {
        let entry = entry.expect("an entry");
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            add(found, root, &path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(entry.path()).expect("a source file");
            let count = text.lines().filter(|line| line.contains("```compile_fail")).count();
            if count > 0 {
                found.insert(path.to_str().expect("a name in UTF-8").replace('\\', "/"), count);
            }
        }
    }
}

fn of_table() -> BTreeMap<String, usize> {
    let (_, section) = PAGE.split_once("## What does not compile").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("the next section");
    let rows = section.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        Some((cells.next()?.trim_end_matches('`').to_owned(), cells.next()?.parse().expect("a number")))
    });
    rows.collect()
}

#[test]
fn all_examples_that_must_not_compile_are_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeMap::new();
    FOLDERS.iter().for_each(|folder| add(&mut found, &root, Path::new(folder)));
    assert_eq!(of_table(), found);
}
