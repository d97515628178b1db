use super::*;
use crate::compilation::Compilation;
use crate::compiler::Core;
use crate::index::ImageRecord;
use crate::test_dir::TestDir;
use cuda_std::image;

const LISTED: &str = "0123456789abcdef0123456789abcdef k/lib.rs|00112233445566778899aabbccddeeff k/blur.rs";

const CHANGED: &str = "0123456789abcdef0123456789abcdef k/lib.rs|ffeeddccbbaa99887766554433221100 k/blur.rs";

const TARGETS: [Arch; 1] = [Arch::SM_75];

fn compiler(version: &str) -> Compiler {
    let core = Core::Sources;
    Compiler { rustc: "rustc".into(), cargo: "cargo".into(), sysroot: "/".into(), version: version.into(), core }
}

/// Commits the modules `blur`, made from `k/blur.rs`, and `sum`, made with other flags, by the compiler `rustc 1`.
fn commit(dir: &TestDir) {
    let arch = Arch::SM_75;
    let flags = Flags { arch, core: Core::Sources, release: true, precaution: Precaution::Inlining }.to_string();
    let files = vec!["k/blur.rs".to_owned(), "k/lib.rs".to_owned()];
    let sources = Sources::new(LISTED).digest(files.iter().map(String::as_str)).unwrap();
    let modules = [("blur", flags), ("sum", "-O".to_owned())].map(|(module, flags)| CompiledModule {
        module: module.into(),
        record: Record {
            compiler: "rustc 1".into(),
            files: files.clone(),
            sources: sources.clone(),
            images: [(arch, ImageRecord { flags, digest: image::digest(module) })].into(),
            ..Record::default()
        },
        ptx: [(arch, module.to_owned())].into(),
    });
    committed::write(&dir.path(""), Compilation { modules: modules.into(), ..Compilation::default() }, true).unwrap();
}

/// The variables of a build script whose package depends on the crate in `dir` and on another one.
fn environment(dir: &Path, sources: &str) -> Vec<(OsString, OsString)> {
    let pair = |name: &str, value: OsString| (OsString::from(name), value);
    vec![
        pair("DEP_OTHER_DIR", "/nowhere".into()),
        pair("DEP_OTHER_SOURCES", "other".into()),
        pair("DEP_MY_KERNELS_SOURCES", sources.into()),
        pair("DEP_MY_KERNELS_DIR", dir.into()),
    ]
}

#[test]
fn only_what_would_be_compiled_the_same_is_taken() {
    let dir = TestDir::new("up_to_date_same");
    commit(&dir);
    let root = fs::canonicalize(dir.path("")).unwrap();
    let taken = |module: &str, targets: &[Arch], version: &str, sources: &str| {
        let committed = UpToDate::new(&root, environment(&root, sources).into_iter()).unwrap();
        committed.module(module, targets, &compiler(version)).map(|text| text.ptx[&Arch::SM_75].clone())
    };
    assert_eq!(taken("blur", &TARGETS, "rustc 1", LISTED).as_deref(), Some("blur"));
    for (module, targets, version, sources) in [
        ("blur", &TARGETS[..], "rustc 1", CHANGED),
        ("blur", &TARGETS, "rustc 1", "0123456789abcdef0123456789abcdef k/lib.rs"),
        ("blur", &TARGETS, "rustc 2", LISTED),
        ("blur", &[Arch::SM_75, Arch::SM_90], "rustc 1", LISTED),
        ("blur", &[Arch::SM_90], "rustc 1", LISTED),
        ("sum", &TARGETS, "rustc 1", LISTED),
        ("other", &TARGETS, "rustc 1", LISTED),
    ] {
        assert_eq!(taken(module, targets, version, sources), None, "{module} {targets:?} {version} {sources}");
    }
    dir.write("ptx/blur.sm_75.ptx", "altered");
    assert_eq!(taken("blur", &TARGETS, "rustc 1", LISTED), None);
}

#[test]
fn files_are_those_of_the_crate_in_the_folder() {
    let dir = TestDir::new("up_to_date_files");
    let root = fs::canonicalize(dir.write("kernels/x", "").with_file_name("")).unwrap();
    assert_eq!(passed_on(&root, &environment(&root, LISTED)).as_deref(), Some(LISTED));
    assert_eq!(passed_on(&root, &environment(Path::new("/elsewhere"), LISTED)), None);
    assert_eq!(passed_on(&root, &[]), None);
    assert!(UpToDate::new(&root, environment(Path::new("/elsewhere"), LISTED).into_iter()).is_none());
}
