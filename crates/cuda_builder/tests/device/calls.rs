//! Kernels with operations of blocks and warps, and with calls of them, that the compiler copies.
//!
//! `core` is compiled for each target, and again without the copying pass, which takes most of the time.

use crate::compile::{builder, read, unless_skipped};
use crate::fixture::Fixture;
use cuda_builder::BuildError;

/// rustc copies other code between two tests of the same condition. The module has a text for each of its targets. From
/// `sm_80` on, a sum over a warp is one instruction.
#[test]
fn operations_of_blocks_and_warps_are_not_copied() {
    let Some(Compiled { texts, warnings, .. }) = compiled("together", "meet") else { return };
    let [sm_75, sm_80] = &texts[..] else { panic!("{} texts", texts.len()) };
    for instruction in ["bar.sync", "bar.warp.sync", "vote.sync", "redux.sync", "mma.sync"] {
        assert_eq!((instruction, sm_80.matches(instruction).count()), (instruction, 1), "{sm_80}");
    }
    for instruction in ["bar.sync", "bar.warp.sync", "vote.sync", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32"] {
        assert_eq!((instruction, sm_75.matches(instruction).count()), (instruction, 1), "{sm_75}");
    }
    assert!(sm_75.contains("\n.target sm_75") && sm_80.contains("\n.target sm_80"), "{sm_75}");
    // LLVM's default version is older than the matrix product. The builder raises it without a warning.
    let version = sm_75.lines().find_map(|line| line.strip_prefix(".version ")?.parse::<f32>().ok());
    assert!(version.is_some_and(|version| version >= 6.5), "{sm_75}");
    assert_eq!(warnings, [""; 0]);
}

/// A compiled module.
struct Compiled {
    /// The text for each target.
    texts: Vec<String>,
    index: String,
    warnings: Vec<String>,
}

/// Returns the compiled module, or `None` if there is no compiler for the device.
fn compiled(name: &str, module: &str) -> Option<Compiled> {
    let committed = unless_skipped(builder(&Fixture::new(name)).module(module).commit())?.unwrap();
    let mut texts: Vec<_> = committed.files.iter().map(|file| read(file)).collect();
    let index = texts.pop().unwrap();
    Some(Compiled { texts, index, warnings: committed.warnings })
}

/// Returns the lines of the entry point `name`.
fn entry<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!(".entry {name}(")).unwrap();
    rest.split_once("\n}\n").unwrap().0
}

/// Threads may wait at different copies of an unaligned barrier.
#[test]
fn barriers_that_are_copied_are_not_aligned() {
    let Some(Compiled { texts, warnings, .. }) = compiled("barriers", "barriers") else { return };
    let text = &texts[0];
    assert_eq!((text.matches("\tbarrier.sync \t0;").count(), warnings.len()), (4, 0), "{text}");
    assert!(!text.contains("bar.sync \t"), "{text}");
}

/// The copying pass runs after the inlining pass.
#[test]
fn operations_of_warps_in_inlined_helpers_are_not_copied() {
    let Some(Compiled { texts, index, warnings }) = compiled("inlined", "inlined") else { return };
    let text = &texts[0];
    assert_eq!(entry(text, "shuffle").matches("shfl.sync").count(), 1, "{text}");
    assert_eq!(entry(text, "inlined").matches("shfl.sync").count(), 10, "{text}");
    assert_eq!(entry(text, "closures").matches("shfl.sync").count(), 20, "{text}");
    assert!(index.contains("-Zinline-mir-hint-threshold") && !index.contains("JumpThreading"), "{index}");
    assert_eq!(warnings, [""; 0]);
}

/// Without the pass nothing is copied. The code may be slower, hence the warning.
#[test]
fn operations_of_warps_in_other_functions_are_not_copied() {
    let Some(Compiled { texts, index, warnings }) = compiled("outlined", "outlined") else { return };
    let text = &texts[0];
    assert_eq!(entry(text, "calls_plain").matches("shfl.sync").count(), 3, "{text}");
    for kernel in ["calls_never", "calls_recursive", "calls_dyn"] {
        let calls = entry(text, kernel).lines().filter(|line| line.trim_start().starts_with("call"));
        assert_eq!((kernel, calls.count()), (kernel, 1), "{text}");
    }
    assert!(index.contains("-Zmir-enable-passes=-JumpThreading"), "{index}");
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    for named in ["outlined is compiled without", "recursive", "never", "plain", "a call through a pointer"] {
        assert!(warning.contains(named), "{warning}");
    }
}

#[test]
fn operations_of_warps_that_are_still_copied_are_an_error() {
    let Some(result) = unless_skipped(builder(&Fixture::new("copied")).module("copied").commit()) else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, BuildError::Copied { module, .. } if module == "copied"), "{error}");
    let text = error.to_string();
    assert!(text.contains("shfl.sync.bfly") && text.contains("copied.rs:") && text.contains("in copied ("), "{text}");
}
