use super::*;
use crate::test_dir::TestDir;
use cuda_std::image::Header;

#[test]
fn targets_ascend_and_have_defaults() {
    let builder = CudaBuilder::new("kernels");
    assert_eq!(builder.sorted_archs(), Arch::DEFAULT);
    let builder = builder.arch(Arch::SM_90).arch(Arch::SM_75).arch(Arch::SM_90);
    assert_eq!(builder.sorted_archs(), [Arch::SM_75, Arch::SM_90]);
}

#[test]
fn names_that_cannot_be_statics_are_refused() {
    for names in [vec!["a-b"], vec![""], vec!["1d"], vec!["../x"], vec!["blur", "Blur"]] {
        let builder = names.iter().fold(CudaBuilder::new("kernels"), |builder, name| builder.module(*name));
        let error = builder.checked_features().unwrap_err();
        assert!(matches!(error, BuildError::ModuleName { name } if name == names[names.len() - 1]));
    }
}

/// A kernel crate that carries `blur` for `sm_80`, and a builder for it.
fn committed(name: &str) -> (TestDir, CudaBuilder) {
    let dir = TestDir::new(name);
    let header = Header {
        module: "blur".into(),
        target: 80,
        sources: "0123".into(),
        compiler: "rustc 1.0".into(),
        flags: "-O".into(),
    };
    dir.write("ptx/blur.sm_80.ptx", &header.write(".version 7.0\n"));
    let builder = CudaBuilder::new(dir.path("")).module("blur").arch(Arch::SM_80);
    (dir, builder)
}

fn no_compiler(dir: &TestDir) -> Search {
    Search { explicit: None, toolchains: Some(dir.path("toolchains")), system: dir.path("rustc") }
}

#[test]
fn auto_without_a_compiler_takes_the_committed_modules_with_one_warning() {
    let (dir, builder) = committed("builder_auto");
    let (out, search) = (dir.path("out"), no_compiler(&dir));
    let (done, compiler) = builder.modules(&dir.path(""), &out, &search, Mode::Auto).unwrap();
    assert_eq!(compiler, None);
    assert_eq!(done.images.len(), 1);
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
    assert!(done.files.contains(&dir.path("ptx")));
}

#[test]
fn none_needs_neither_a_compiler_nor_committed_modules() {
    let dir = TestDir::new("builder_none");
    let builder = CudaBuilder::new(dir.path("")).module("blur");
    let (out, search) = (dir.write("out/x", "").with_file_name(""), no_compiler(&dir));
    let (done, compiler) = builder.modules(&dir.path(""), &out, &search, Mode::None).unwrap();
    assert_eq!((compiler, done.images.len(), done.warnings.len()), (None, 0, 0));
    let built = builder.write(&out, done, Origin::None).unwrap();
    assert!(built.images.is_empty());
    assert!(fs::read_to_string(built.include).unwrap().contains("Module::without_images(\"blur\")"));
}

#[test]
fn what_is_written_is_what_was_committed() {
    let (dir, builder) = committed("builder_write");
    let done = builder.committed(&dir.path("")).unwrap();
    let out = dir.write("out/x", "").with_file_name("");
    let built = builder.write(&out, done, Origin::Committed).unwrap();
    let committed = fs::read_to_string(dir.path("ptx/blur.sm_80.ptx")).unwrap();
    assert_eq!(fs::read_to_string(out.join("blur.sm_80.ptx")).unwrap(), committed);
    assert_eq!(built.images[0].text, committed);
    assert!(fs::read_to_string(built.include).unwrap().contains("static BLUR"));
}
