use super::*;
use crate::compilation::Compilation;
use crate::index::ImageRecord;
use crate::test_dir::TestDir;
use crate::{Arch, committed};

const COMPILER: &str = "rustc 1.96.0";

fn text(module: &str, sources: &str, compiler: &str, ptx: &str) -> CompiledModule {
    let record = Record {
        compiler: compiler.into(),
        files: vec!["k/lib.rs".into()],
        sources: sources.into(),
        images: [(Arch::SM_80, ImageRecord { flags: "-O".into(), digest: image::digest(ptx) })].into(),
        ..Record::default()
    };
    CompiledModule { module: module.into(), record, ptx: [(Arch::SM_80, ptx.to_owned())].into() }
}

/// Writes the `committed` modules, applies `change` to their files and compares them with a fresh module.
fn check(name: &str, committed: &[CompiledModule], change: impl Fn(&TestDir)) -> Check {
    let dir = TestDir::new(name);
    let done = Compilation { modules: committed.to_vec(), ..Compilation::default() };
    committed::write(&dir.path(""), done, true).unwrap();
    change(&dir);
    let fresh = text("blur", "0123", COMPILER, ".version 7.0\n");
    Check::new(&dir.path(""), COMPILER.into(), &[fresh], true).unwrap()
}

#[test]
fn the_same_text_does_not_differ() {
    let check = check("check_same", &[text("blur", "0123", COMPILER, ".version 7.0\n")], |_| ());
    assert!(check.differences.is_empty() && check.other_compilers.is_empty());
}

#[test]
fn another_text_or_other_flags_of_the_same_compiler_differ() {
    let other = check("check_text", &[text("blur", "0123", COMPILER, ".version 7.1\n")], |_| ());
    assert!(matches!(other.differences[..], [Difference { kind: DifferenceKind::Text, .. }]));
    let mut flags = text("blur", "0123", COMPILER, ".version 7.0\n");
    flags
        .record
        .images
        .insert(Arch::SM_80, ImageRecord { flags: "-O2".into(), digest: image::digest(".version 7.0\n") });
    let other = check("check_flags", &[flags], |_| ());
    assert!(matches!(other.differences[..], [Difference { kind: DifferenceKind::Text, .. }]));
}

#[test]
fn another_compilers_text_may_differ_but_not_its_sources() {
    let other = "rustc 1.97.0";
    let same_sources = check("check_other", &[text("blur", "0123", other, ".version 7.1\n")], |_| ());
    assert!(same_sources.differences.is_empty());
    assert_eq!(same_sources.other_compilers, [("blur".to_owned(), other.to_owned())]);
    let stale = |name, text| check(name, &[text], |_| ()).differences.remove(0).kind;
    let edited = text("blur", "4567", other, ".version 7.0\n");
    assert!(matches!(stale("check_edited", edited), DifferenceKind::Stale));
    let mut more = text("blur", "0123", other, ".version 7.0\n");
    more.record.images.insert(Arch::SM_90, ImageRecord::default());
    assert!(matches!(stale("check_targets", more), DifferenceKind::Stale));
}

#[test]
fn missing_and_altered_files_differ_and_are_named() {
    let good = [text("blur", "0123", COMPILER, ".version 7.0\n")];
    let missing = check("check_missing", &[], |_| ());
    assert!(matches!(missing.differences[..], [Difference { kind: DifferenceKind::Missing, .. }]));
    let unreadable =
        check("check_unreadable", &good, |dir| std::fs::remove_file(dir.path("ptx/blur.sm_80.ptx")).unwrap());
    let line = unreadable.differences[0].to_string();
    assert!(line.contains("blur.sm_80.ptx: ") && line.contains("; renew it with: build-kernels "), "{line}");
    let altered = check("check_altered", &good, |dir| drop(dir.write("ptx/blur.sm_80.ptx", ".version 7.1\n")));
    assert!(matches!(altered.differences[0].kind, DifferenceKind::Invalid(ModuleError::Altered { .. })));
}

#[test]
fn removed_modules_are_named() {
    let both = ["blur", "sum"].map(|module| text(module, "0123", COMPILER, ".version 7.0\n"));
    let check = check("check_superfluous", &both, |_| ());
    let [difference] = &check.differences[..] else { panic!("{check:?}") };
    let line = difference.to_string();
    assert!(line.contains("index.toml: the kernel crate has no module sum; renew it with: build-kernels "), "{line}");
    assert!(!line.ends_with(" sum"), "{line}");
}
