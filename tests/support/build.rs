//! Marks the files of operations that belong to this package (`tests/suite/operations.rs`).

fn main() {
    println!("cargo::rustc-cfg=oracle");
    println!("cargo::rerun-if-changed=build.rs");
}
