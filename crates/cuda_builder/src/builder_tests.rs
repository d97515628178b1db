use super::*;
use crate::Arch;
use crate::compilation::CompiledModule;
use crate::index::{ImageRecord, Record};
use crate::test_dir::TestDir;
use std::fs;

#[test]
fn names_that_cannot_be_files_are_refused() {
    for names in [vec!["a-b"], vec![""], vec!["1d"], vec!["../x"], vec!["blur", "Blur"]] {
        let builder = names.iter().fold(CudaBuilder::new("kernels"), |builder, name| builder.module(*name));
        let error = builder.checked_modules().unwrap_err();
        assert!(matches!(error, BuildError::ModuleName { name } if name == names[names.len() - 1]));
    }
}

/// Returns a kernel crate with the committed module `blur`, and a builder for it.
fn committed(name: &str) -> (TestDir, CudaBuilder) {
    let dir = TestDir::new(name);
    let image = ImageRecord { flags: "-O".into(), digest: cuda_std::image::digest(PTX) };
    let record = Record { images: [(Arch::SM_80, image)].into(), ..Record::default() };
    let text = CompiledModule { module: "blur".into(), record, ptx: [(Arch::SM_80, PTX.to_owned())].into() };
    committed::write(&dir.path(""), Compilation { modules: vec![text], ..Compilation::default() }, true).unwrap();
    let builder = CudaBuilder::new(dir.path(""));
    (dir, builder)
}

const PTX: &str = ".version 7.0\n";

fn no_compiler(dir: &TestDir) -> Search {
    Search { explicit: None, toolchains: Some(dir.path("toolchains")), system: dir.path("rustc") }
}

#[test]
fn auto_without_a_compiler_takes_the_committed_modules_with_one_warning() {
    let (dir, builder) = committed("builder_auto");
    let (out, search) = (dir.path("out"), no_compiler(&dir));
    let (done, compiler) = builder.modules(&dir.path(""), &out, &search, Mode::Auto).unwrap();
    assert_eq!(compiler, None);
    assert_eq!(done.modules.len(), 1);
    assert_eq!(done.warnings.len(), 1);
    assert!(done.warnings[0].contains("rustup toolchain install nightly --component rust-src"));
    assert_eq!(done.warnings[0].lines().count(), 1);
}

#[test]
fn build_without_a_compiler_says_what_to_install_and_what_was_tried() {
    let (dir, builder) = committed("builder_build");
    let (out, search) = (dir.path("out"), no_compiler(&dir));
    let error = builder.modules(&dir.path(""), &out, &search, Mode::Build).unwrap_err().to_string();
    for way in INSTALL {
        assert!(error.contains(way), "{error}");
    }
    assert!(error.contains(&format!("{}: there is no nightly toolchain", dir.path("toolchains").display())));
    assert!(error.contains(&format!("{}: it cannot be started", dir.path("rustc").display())));
}

#[test]
fn committed_looks_for_no_compiler_and_does_not_warn() {
    let (dir, builder) = committed("builder_committed");
    let (out, search) = (dir.path("out"), no_compiler(&dir));
    let (done, _) = builder.modules(&dir.path(""), &out, &search, Mode::Committed).unwrap();
    assert!(done.warnings.is_empty());
    assert!(done.watched.contains(&dir.path("ptx")));
}

#[test]
fn none_needs_neither_a_compiler_nor_committed_modules() {
    let dir = TestDir::new("builder_none");
    let out = dir.write("out/x", "").with_file_name("");
    let (builder, search) = (CudaBuilder::new(dir.path("")), no_compiler(&dir));
    let (done, compiler) = builder.modules(&dir.path(""), &out, &search, Mode::None).unwrap();
    assert_eq!((compiler, done.modules.len(), done.warnings.len()), (None, 0, 0));
    let built = builder.write(&out, done, Origin::None).unwrap();
    assert!(built.images.is_empty());
    assert!(fs::read_to_string(built.include).unwrap().contains("Modules::new(&[])"));
}

#[test]
fn what_is_written_is_what_was_committed() {
    let (dir, builder) = committed("builder_write");
    let done = committed::read(&dir.path(""), &[]).unwrap();
    let out = dir.write("out/x", "").with_file_name("");
    let built = builder.write(&out, done, Origin::Committed).unwrap();
    assert_eq!(fs::read_to_string(out.join("blur.sm_80.ptx")).unwrap(), PTX);
    assert_eq!((built.images[0].arch, built.images[0].text.as_str()), (Arch::SM_80, PTX));
    assert!(fs::read_to_string(built.include).unwrap().contains("Module::new(\"blur\", "));
}
