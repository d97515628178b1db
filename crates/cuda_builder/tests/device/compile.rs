//! Compiles the fixture's kernels.

use crate::fixture::{Fixture, device_target_dir};
use cuda_builder::{Arch, BuildError, CudaBuilder, Difference, DifferenceKind};
use std::fs;
use std::path::Path;

pub fn builder(fixture: &Fixture) -> CudaBuilder {
    CudaBuilder::new(fixture.path("kernels")).target_dir(device_target_dir())
}

/// Returns the result, or `None` if there is no compiler for the device.
pub fn unless_skipped<T>(result: Result<T, BuildError>) -> Option<Result<T, BuildError>> {
    match result {
        Err(error @ BuildError::NoCompiler { .. }) => {
            println!("skipped: {error}");
            None
        }
        result => Some(result),
    }
}

pub fn read(path: &Path) -> String {
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
    let names = ["fill.sm_75.ptx", "scale.sm_75.ptx", "index.toml"];
    let expected = names.map(|name| fixture.path("kernels/ptx").join(name));
    assert_eq!(committed.files, expected);
    let [fill, scale, index] = expected.map(|file| read(&file));
    assert!(fill.contains(".visible .entry fill(") && !fill.contains(".entry scale("), "{fill}");
    assert!(scale.contains(".visible .entry scale(") && !scale.contains(".entry fill("), "{scale}");
    assert!(scale.contains("\n.target sm_75"), "{scale}");
    let (_, scale) = index.split_once("\n[scale]\ncompiler = \"rustc 1.").unwrap();
    let lists = "features = [\"fixture-kernels/scale\"]\nfiles.fixture-helper = [\"lib.rs\"]\n\
                 files.fixture-kernels = [\"lib.rs\",\"scale.rs\"]\nfiles.slm-cuda-std = [\"src/argument.rs\",";
    assert!(scale.contains(lists) && !scale.contains("/host"), "{scale}");
    assert!(scale.contains("\n[scale.sm_75]\nflags = \"-Ctarget-cpu=sm_75 "), "{scale}");
}

#[test]
fn a_crate_without_features_is_one_module() {
    let fixture = Fixture::new("whole");
    let (manifest, features) = (fixture.read("kernels/Cargo.toml"), "[features]\n");
    let (before, rest) = manifest.split_once(features).unwrap();
    let (_, after) = rest.split_once("\n[dependencies]\n").unwrap();
    fixture.edit("kernels/Cargo.toml", &manifest, &format!("{before}[dependencies]\n{after}"));
    let root = fixture.read("kernels/lib.rs");
    fixture.edit(
        "kernels/lib.rs",
        &root,
        "#![no_std]\n#![cfg_attr(target_os = \"cuda\", feature(abi_ptx))]\npub mod fill;\n",
    );
    // A kernel without a module's name belongs to the module that is named after the library.
    fixture.edit("kernels/fill.rs", " in \"fill\"", "");
    let Some(result) = unless_skipped(builder(&fixture).commit()) else {
        return;
    };
    let files = result.unwrap().files;
    assert_eq!(files[0], fixture.path("kernels/ptx/fixture_kernels.sm_75.ptx"));
    let text = read(&files[0]);
    assert!(text.contains(".entry fill("), "{text}");
}

/// The fixture has a function that is not inlined, so the text contains a mangled name.
#[test]
fn the_text_does_not_depend_on_folders() {
    let fixtures = [Fixture::new("here"), Fixture::apart("there/and deeper")];
    let mut texts = Vec::new();
    for fixture in &fixtures {
        let Some(result) = unless_skipped(builder(fixture).module("scale").commit()) else {
            return;
        };
        texts.push(result.unwrap().files.iter().map(|file| read(file)).collect::<String>());
    }
    // The text, and its entry in the list.
    assert!(texts[0].contains("fixture_helper6scaled") && texts[0].contains("\n[scale]\n"), "{}", texts[0]);
    assert_eq!(texts[0], texts[1]);
    for folder in [env!("CARGO_TARGET_TMPDIR"), env!("CARGO_MANIFEST_DIR")] {
        assert!(!texts[0].contains(folder), "{}", texts[0]);
    }
}

#[test]
fn changed_files_are_found_in_the_modules_that_have_them() {
    let fixture = Fixture::new("check");
    let builder = builder(&fixture).module("fill").module("scale");
    let Some(result) = unless_skipped(builder.clone().commit()) else {
        return;
    };
    let index = result.unwrap().files.pop().unwrap();
    let stale = || {
        let is_stale = |found: &Difference| matches!(found.kind, DifferenceKind::Stale) && found.file == index;
        let differences = builder.clone().check().unwrap().differences;
        assert!(differences.iter().all(is_stale), "{differences:?}");
        differences.into_iter().map(|found| found.module).collect::<Vec<_>>()
    };
    assert_eq!(stale(), [""; 0]);
    // An edited file: a comment, which changes no code.
    fixture.edit("kernels/scale.rs", "//! Multiplies", "//! It multiplies");
    assert_eq!(stale(), ["scale"]);
    // An added file.
    fs::write(fixture.path("kernels/more.rs"), "//! More.\n").unwrap();
    assert_eq!(stale(), ["scale"]);
    fixture.edit("kernels/fill.rs", "use cuda_std", "#[path = \"more.rs\"]\nmod more;\nuse cuda_std");
    assert_eq!(stale(), ["fill", "scale"]);
    let old = read(&index);
    builder.clone().commit().unwrap();
    assert_eq!(stale(), [""; 0]);
    // Neither text has changed. Each module has a new digest of its files, and one module has a new file.
    let new = read(&index);
    let lines: Vec<_> = old.lines().zip(new.lines()).filter(|(old, new)| old != new).map(|(_, new)| new).collect();
    let [files, first, second] = lines[..] else { panic!("{lines:#?}") };
    assert_eq!(files, "files.fixture-kernels = [\"fill.rs\",\"lib.rs\",\"more.rs\"]");
    assert!([first, second].iter().all(|line| line.starts_with("sources = ")), "{lines:#?}");
    // A removed file.
    fixture.edit("kernels/fill.rs", "#[path = \"more.rs\"]\nmod more;\n", "");
    fs::remove_file(fixture.path("kernels/more.rs")).unwrap();
    assert_eq!(stale(), ["fill"]);
    // A file of a dependency of both modules.
    fixture.edit("helper/lib.rs", "FACTOR: u32 = 3", "FACTOR: u32 = 4");
    assert_eq!(stale(), ["fill", "scale"]);
}

/// A change of such a file would not be detected.
#[test]
fn a_file_that_the_build_script_does_not_list_is_refused() {
    let fixture = Fixture::new("unlisted");
    let file = |fixture: &Fixture| -> Option<String> {
        match unless_skipped(builder(fixture).module("fill").commit())?.unwrap_err() {
            BuildError::UnlistedSource { module, package, file } => {
                assert_eq!((&*module, &*package), ("fill", "fixture-kernels"));
                Some(file)
            }
            other => panic!("{other}"),
        }
    };
    fs::write(fixture.path("kernels/table.txt"), "1").unwrap();
    fixture.edit("kernels/fill.rs", "use cuda_std", "const _: &str = include_str!(\"table.txt\");\nuse cuda_std");
    let Some(listed) = file(&fixture) else { return };
    assert_eq!(listed, "fixture-kernels/table.txt");
    fixture.edit("kernels/fill.rs", "const _: &str = include_str!(\"table.txt\");\n", "");
    fixture.edit("kernels/build.rs", "kernel_crate(&[\"../helper\"])", "kernel_crate(&[])");
    assert_eq!(file(&fixture).as_deref(), Some("fixture-helper/lib.rs"));
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
    assert!(matches!(&error, BuildError::Compile { module, arch: Arch::SM_75, .. } if module == "fill"));
    let (text, place) = (error.to_string(), format!("{}:{line}:", fixture.path("kernels/fill.rs").display()));
    assert!(text.contains(&place) && text.contains("no field `valeu`"), "{text}");
}

/// The host would pass a field that the device does not have.
#[test]
fn a_field_of_arguments_cannot_be_missing_on_the_device() {
    let fixture = Fixture::new("field");
    let without = "pub struct Filling<'l> {\n        #[cfg(not(target_os = \"cuda\"))]\n        pub first: u32,";
    fixture.edit("kernels/fill.rs", "pub struct Filling<'l> {", without);
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let text = result.unwrap_err().to_string();
    assert!(text.contains("no field `first` on type `Filling"), "{text}");
}

/// A later launch would write through a window that it was not given.
#[test]
fn windows_cannot_be_kept_on_the_device() {
    let fixture = Fixture::new("kept");
    let helper = fixture.read("helper/lib.rs");
    // The interface of a lock, which holds nothing.
    let lock = "/// A lock.
pub struct Lock<T>(core::marker::PhantomData<fn(T) -> T>);

impl<T> Lock<T> {
    /// Returns a lock without a value.
    pub const fn new() -> Self {
        Lock(core::marker::PhantomData)
    }

    /// Replaces the value.
    pub fn set(&self, value: T) {
        core::hint::black_box(&value);
    }
}
";
    fixture.edit("helper/lib.rs", &helper, &format!("{helper}\n{lock}"));
    let kept = "static KEPT: fixture_helper::Lock<GlobalOut<f32>> = fixture_helper::Lock::new();\n\nkernel! {";
    fixture.edit("kernels/fill.rs", "kernel! {", kept);
    let kernel = "args.output.set(thread::global_x(), args.value);";
    fixture.edit("kernels/fill.rs", kernel, &format!("KEPT.set(args.output);\n        {kernel}"));
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let text = result.unwrap_err().to_string();
    assert!(text.contains("lifetime may not live long enough"), "{text}");
    // A copy that ends with the launch can be made.
    fixture.edit("kernels/fill.rs", "KEPT.set(args.output)", "fixture_helper::Lock::new().set(args.output)");
    builder(&fixture).module("fill").commit().unwrap();
}

/// On the host the same arguments have windows of their launch, so nothing is wrong there, and digests are equal.
#[test]
fn windows_have_no_other_lifetime_on_the_device() {
    let alias = "#[cfg(target_os = \"cuda\")]\ntype Output<'l> = GlobalOut<'static, f32>;\n#[cfg(not(target_os = \"cuda\"))]\ntype \
                 Output<'l> = GlobalOut<'l, f32>;\n\narguments! {";
    for (name, output) in [("field", "Output<'l>"), ("whole", "GlobalOut<'l, f32>")] {
        let fixture = Fixture::new(&format!("lasting_{name}"));
        fixture.edit("kernels/fill.rs", "arguments! {", alias);
        fixture.edit("kernels/fill.rs", "pub output: GlobalOut<'l, f32>", &format!("pub output: {output}"));
        if name == "whole" {
            fixture.edit("kernels/fill.rs", "args: Filling<'l>", "args: Output<'l>");
            fixture.edit("kernels/fill.rs", "args.output.set(thread::global_x(), args.value)", "args.set(0, 1.0)");
        }
        let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
            return;
        };
        let text = result.unwrap_err().to_string();
        assert!(text.contains("lifetime may not live long enough"), "{text}");
    }
}

/// Names that `kernel!` defines next to the entry point must not change the meaning of its argument types. Otherwise types
/// with the same digest could differ.
#[test]
fn types_of_arguments_mean_the_same_wherever_the_macro_repeats_them() {
    let fixture = Fixture::new("capture");
    let chosen = "const LAYOUT: [u8; 64] = [0; 64];

pub trait Choose<const N: usize> {
    type T;
}

impl Choose<16> for () {
    type T = u32;
}

impl Choose<64> for () {
    type T = GlobalOut<'static, u32>;
}

pub trait Write {
    fn write(self);
}

impl Write for GlobalOut<'static, u32> {
    fn write(self) {
        self.set(0, 1);
    }
}

kernel! {
    /// Its arguments are the bytes of a window to the device.
    pub fn captured(_arena, args: <() as Choose<{ LAYOUT.len() }>>::T) {
        args.write();
    }
}

kernel! {";
    fixture.edit("kernels/fill.rs", "kernel! {", chosen);
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let text = result.unwrap_err().to_string();
    assert!(text.contains("mismatched types"), "{text}");
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
fn an_unknown_module_is_reported_with_the_known_ones() {
    let fixture = Fixture::new("unknown");
    let Some(result) = unless_skipped(builder(&fixture).module("blur").commit()) else {
        return;
    };
    let expected = "fixture-kernels has no feature 'blur' to compile a module from; it has: barriers, copied, fill, inlined, meet, outlined, scale";
    assert_eq!(result.unwrap_err().to_string(), expected);
}

#[test]
fn a_crate_that_does_not_list_its_sources_is_refused() {
    let fixture = Fixture::new("digest");
    fixture.edit("kernels/build.rs", "cuda_std::build::kernel_crate(&[\"../helper\"])", "Ok(())");
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, BuildError::NoSources { package } if package == "fixture-kernels"), "{error}");
}

#[test]
fn unresolved_dependencies_are_reported_in_cargos_words() {
    let fixture = Fixture::new("resolve");
    fixture.edit("kernels/Cargo.toml", "path = \"../helper\"", "path = \"../helper\", version = \"7\"");
    let Some(result) = unless_skipped(builder(&fixture).module("fill").commit()) else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(error, BuildError::Cargo { .. }), "{error}");
    assert!(error.to_string().contains("fixture-helper = \"^7\""), "{error}");
}
