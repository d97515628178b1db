//! Marks the tests of operations that belong to this program (`tests/suite/operations.rs`).

fn main() {
    println!("cargo::rustc-cfg=api");
    println!("cargo::rerun-if-changed=build.rs");
}
