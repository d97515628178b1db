//! Compiles the fixture's kernels. Skipped, with the reason, where there is no compiler for the device.

mod common;

use common::{Fixture, device_target_dir};
use cuda_builder::{Arch, BuildError, Check, CudaBuilder, DifferenceKind};
use cuda_std::image::{Header, ImageError};
use std::fs;
use std::path::{Path, PathBuf};

fn builder(fixture: &Fixture) -> CudaBuilder {
    CudaBuilder::new(fixture.path("kernels")).arch(Arch::SM_90).target_dir(device_target_dir())
}

/// The result, or none where there is no compiler for the device.
fn unless_skipped<T>(result: Result<T, BuildError>) -> Option<Result<T, BuildError>> {
    match result {
        Err(error @ BuildError::NoCompiler { .. }) => {
            println!("skipped: {error}");
            None
        }
        result => Some(result),
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn each_feature_is_a_module() {
    let fixture = Fixture::new("modules");
    let Some(result) = unless_skipped(builder(&fixture).module("fill").module("scale").commit()) else {
        return;
    };
    let committed = result.unwrap();
    assert_eq!(committed.warnings, [""; 0]);
    let expected = ["fill", "scale"].map(|name| fixture.path(&format!("kernels/ptx/{name}.sm_90.ptx")));
    assert_eq!(committed.files, expected);
    let [fill, scale] = expected.map(|file| read(&file));
    assert!(fill.contains(".visible .entry fill(") && !fill.contains(".entry scale("), "{fill}");
    assert!(scale.contains(".visible .entry scale(") && !scale.contains(".entry fill("), "{scale}");
    let header = Header::read(&scale).unwrap();
    assert_eq!((header.module.as_str(), header.target), ("scale", 90));
    assert!(header.compiler.starts_with("rustc 1."), "{}", header.compiler);
    assert!(header.flags.starts_with("-Ctarget-cpu=sm_90 "), "{}", header.flags);
    assert!(scale.contains("\n.target sm_90"), "{scale}");
}

#[test]
fn without_modules_there_is_one_of_the_whole_crate() {
    let fixture = Fixture::new("whole");
    let Some(result) = unless_skipped(builder(&fixture).commit()) else {
        return;
    };
    let files = result.unwrap().files;
    assert_eq!(files, [fixture.path("kernels/ptx/fixture_kernels.sm_90.ptx")]);
    let text = read(&files[0]);
    assert!(text.contains(".entry fill(") && text.contains(".entry scale("), "{text}");
}

/// rustc copies other code that stands between two tests of one condition.
#[test]
fn what_threads_do_together_is_in_one_place() {
    let fixture = Fixture::new("together");
    let Some(result) = unless_skipped(builder(&fixture).module("meet").commit()) else {
        return;
    };
    let text = read(&result.unwrap().files[0]);
    for instruction in ["bar.sync", "bar.warp.sync", "shfl.sync", "vote.sync", "redux.sync", "mma.sync"] {
        assert_eq!((instruction, text.matches(instruction).count()), (instruction, 1), "{text}");
    }
}

/// The compiled module and the warnings; none where there is no compiler for the device.
fn compiled(name: &str, module: &str) -> Option<(String, Vec<String>)> {
    let committed = unless_skipped(builder(&Fixture::new(name)).module(module).commit())?.unwrap();
    Some((read(&committed.files[0]), committed.warnings))
}

/// The lines of the entry point `name`.
fn entry<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!(".entry {name}(")).unwrap();
    rest.split_once("\n}\n").unwrap().0
}

/// At unaligned barriers threads may meet from several places.
#[test]
fn barriers_that_are_copied_are_not_aligned() {
    let Some((text, warnings)) = compiled("barriers", "barriers") else { return };
    assert_eq!((text.matches("\tbarrier.sync \t0;").count(), warnings.len()), (4, 0), "{text}");
    assert!(!text.contains("bar.sync \t"), "{text}");
}

/// The pass that copies runs behind the one that inlines.
#[test]
fn operations_of_warps_in_inlined_helpers_are_not_copied() {
    let Some((text, warnings)) = compiled("inlined", "inlined") else { return };
    assert_eq!(entry(&text, "inlined").matches("shfl.sync").count(), 10, "{text}");
    assert_eq!(entry(&text, "closures").matches("shfl.sync").count(), 20, "{text}");
    assert!(text.contains("-Zinline-mir-hint-threshold") && !text.contains("JumpThreading"), "{text}");
    assert_eq!(warnings, [""; 0]);
}

/// Nothing is copied without the pass; but that makes slower code, so it is worth a warning.
#[test]
fn operations_of_warps_in_other_functions_are_not_copied() {
    let Some((text, warnings)) = compiled("outlined", "outlined") else { return };
    assert_eq!(entry(&text, "calls_plain").matches("shfl.sync").count(), 3, "{text}");
    for kernel in ["calls_never", "calls_recursive", "calls_dyn"] {
        let calls = entry(&text, kernel).lines().filter(|line| line.trim_start().starts_with("call"));
        assert_eq!((kernel, calls.count()), (kernel, 1), "{text}");
    }
    assert!(text.contains("-Zmir-enable-passes=-JumpThreading"), "{text}");
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    for named in ["outlined is compiled without", "recursive", "never", "plain", "a call through a pointer"] {
        assert!(warning.contains(named), "{warning}");
    }
}

#[test]
fn operations_of_warps_that_are_copied_all_the_same_are_an_error() {
    let Some(result) = unless_skipped(builder(&Fixture::new("copied")).module("copied").commit()) else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, BuildError::Copied { module, .. } if module == "copied"), "{error}");
    let text = error.to_string();
    assert!(text.contains("shfl.sync.bfly") && text.contains("copied.rs:") && text.contains("in copied ("), "{text}");
}

/// LLVM's default is older than the product of matrices. That it is raised is nothing to warn of.
#[test]
fn the_oldest_target_multiplies_matrices() {
    let fixture = Fixture::new("oldest");
    let builder = CudaBuilder::new(fixture.path("kernels")).arch(Arch::SM_75).target_dir(device_target_dir());
    let Some(result) = unless_skipped(builder.module("meet").commit()) else {
        return;
    };
    let committed = result.unwrap();
    assert_eq!(committed.warnings, [""; 0]);
    let text = read(&committed.files[0]);
    assert!(
        text.contains("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32") && text.contains("\n.target sm_75"),
        "{text}"
    );
    let version = text.lines().find_map(|line| line.strip_prefix(".version ")?.parse::<f32>().ok());
    assert!(version.is_some_and(|version| version >= 6.5), "{text}");
}

/// The fixture has a function that is not inlined, so that a mangled name is in the text.
#[test]
fn the_text_does_not_depend_on_folders() {
    let fixtures = [Fixture::new("here"), Fixture::apart("there/and deeper")];
    let mut texts = Vec::new();
    for fixture in &fixtures {
        let Some(result) = unless_skipped(builder(fixture).module("scale").commit()) else {
            return;
        };
        texts.push(read(&result.unwrap().files[0]));
    }
    assert!(texts[0].contains("fixture_helper6scaled"), "{}", texts[0]);
    assert_eq!(texts[0], texts[1]);
    for folder in [env!("CARGO_TARGET_TMPDIR"), env!("CARGO_MANIFEST_DIR")] {
        assert!(!texts[0].contains(folder), "{}", texts[0]);
    }
}

#[test]
fn changed_sources_are_found() {
    let fixture = Fixture::new("check");
    let builder = builder(&fixture).module("fill");
    let Some(result) = unless_skipped(builder.clone().commit()) else {
        return;
    };
    let file: PathBuf = result.unwrap().files.remove(0);
    let check = || -> Check { builder.clone().check().unwrap() };
    assert!(check().differences.is_empty());
    // The helper is not in this module, but in the digest of the crate's sources.
    fixture.edit("helper/lib.rs", "FACTOR: u32 = 3", "FACTOR: u32 = 4");
    let differences = check().differences;
    assert_eq!(differences[0].file, file);
    assert!(matches!(differences[0].kind, DifferenceKind::Invalid(ImageError::Stale { .. })));
}

#[test]
fn an_error_names_the_kernels_file_and_line() {
    let fixture = Fixture::new("error");
    fixture.edit("kernels/fill.rs", "thread::global_x(), args.value", "thread::global_x(), args.valeu");
    let line = fixture.read("kernels/fill.rs").lines().position(|line| line.contains("valeu")).unwrap() + 1;
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, BuildError::Compile { module, arch: Arch::SM_90, .. } if module == "fill"));
    let (text, place) = (error.to_string(), format!("{}:{line}:", fixture.path("kernels/fill.rs").display()));
    assert!(text.contains(&place) && text.contains("no field `valeu`"), "{text}");
}

/// The device would not see the field that the host gives it.
#[test]
fn a_field_of_arguments_cannot_be_missing_on_the_device() {
    let fixture = Fixture::new("field");
    let without = "pub struct Filling {\n        #[cfg(not(target_os = \"cuda\"))]\n        pub first: u32,";
    fixture.edit("kernels/fill.rs", "pub struct Filling {", without);
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let text = result.unwrap_err().to_string();
    assert!(text.contains("no field `first` on type `Filling`"), "{text}");
}

#[test]
fn a_warning_is_given_once_with_its_place() {
    let fixture = Fixture::new("warning");
    fixture.edit("helper/lib.rs", "#![no_std]", "#![no_std]\nconst UNUSED: u32 = 1;");
    let Some(result) = unless_skipped(builder(&fixture).module("fill").module("scale").commit()) else {
        return;
    };
    let warnings = result.unwrap().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("UNUSED") && warnings[0].contains("lib.rs:4:"), "{}", warnings[0]);
}

#[test]
fn an_unknown_module_is_told_with_the_known_ones() {
    let fixture = Fixture::new("unknown");
    let Some(result) = unless_skipped(builder(&fixture).module("blur").commit()) else {
        return;
    };
    let expected = "fixture-kernels has no feature 'blur' to compile a module from; it has: barriers, copied, default, fill, inlined, meet, outlined, scale";
    assert_eq!(result.unwrap_err().to_string(), expected);
}

#[test]
fn a_crate_without_a_digest_is_refused() {
    let fixture = Fixture::new("digest");
    fixture.edit("kernels/build.rs", "cuda_std::build::kernel_crate(&[\"../helper\"])", "Ok(())");
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, BuildError::NoSources { package } if package == "fixture-kernels"), "{error}");
}

#[test]
fn what_cargo_cannot_resolve_is_told_in_its_words() {
    let fixture = Fixture::new("resolve");
    fixture.edit("kernels/Cargo.toml", "path = \"../helper\"", "path = \"../helper\", version = \"7\"");
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(error, BuildError::Cargo { .. }), "{error}");
    assert!(error.to_string().contains("fixture-helper = \"^7\""), "{error}");
}
