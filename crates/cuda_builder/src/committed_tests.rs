use super::*;
use crate::test_dir::TestDir;

const COMPILER: &str = "rustc 1.96.0";

fn text(sources: &str, compiler: &str, ptx: &str) -> Text {
    let header = Header {
        module: "blur".into(),
        target: 80,
        sources: sources.into(),
        compiler: compiler.into(),
        flags: "-O".into(),
    };
    Text { module: "blur".into(), arch: Arch::SM_80, text: header.write(ptx) }
}

/// Compares a fresh module with `committed`.
fn check(name: &str, committed: Option<&str>) -> Check {
    let dir = TestDir::new(name);
    if let Some(committed) = committed {
        dir.write("ptx/blur.sm_80.ptx", committed);
    }
    let mut check = Check::new(COMPILER.into(), Vec::new());
    check.compare(&dir.path(""), &text("0123", COMPILER, ".version 7.0\n"));
    check
}

#[test]
fn the_same_text_does_not_differ() {
    let check = check("committed_same", Some(&text("0123", COMPILER, ".version 7.0\n").text));
    assert!(check.differences.is_empty() && check.other_compilers.is_empty());
}

#[test]
fn another_text_of_the_same_compiler_differs() {
    let check = check("committed_text", Some(&text("0123", COMPILER, ".version 7.1\n").text));
    assert!(matches!(check.differences[0].kind, DifferenceKind::Text));
}

#[test]
fn another_compilers_text_may_differ_but_not_its_sources() {
    let other = "rustc 1.97.0";
    let same_sources = check("committed_other", Some(&text("0123", other, ".version 7.1\n").text));
    assert!(same_sources.differences.is_empty());
    assert_eq!(same_sources.other_compilers[0].1, other);
    let stale = check("committed_stale", Some(&text("4567", other, ".version 7.0\n").text));
    assert!(matches!(stale.differences[0].kind, DifferenceKind::Invalid(ImageError::Stale { .. })));
}

#[test]
fn missing_and_altered_files_differ_and_are_named() {
    let missing = check("committed_missing", None);
    let line = missing.differences[0].to_string();
    assert!(line.contains("blur.sm_80.ptx: ") && line.contains("; renew it with: build-kernels "), "{line}");
    let altered = text("0123", COMPILER, ".version 7.0\n").text.replace("7.0", "7.1");
    let altered = check("committed_altered", Some(&altered));
    assert!(matches!(altered.differences[0].kind, DifferenceKind::Invalid(ImageError::Altered { .. })));
}

#[test]
fn a_missing_file_is_named_with_the_way_to_make_it() {
    let dir = TestDir::new("committed_read_missing");
    let error = read(&dir.path("k"), &["blur".into()], &[Arch::SM_75]).unwrap_err();
    let (file, folder) = (dir.path("k/ptx/blur.sm_75.ptx"), dir.path("k"));
    let expected = format!(
        "the compiled module {} does not exist; make it with: build-kernels {} blur (",
        file.display(),
        folder.display()
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[test]
fn an_altered_file_is_named() {
    let dir = TestDir::new("committed_read_altered");
    let file = dir.write("ptx/blur.sm_80.ptx", "no header");
    let error = read(&dir.path(""), &["blur".into()], &[Arch::SM_80]).unwrap_err();
    let expected = format!("{} cannot be used: its header has no line 'slm kernel module'", file.display());
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_file_under_another_name_is_told_from_what_it_should_be() {
    let dir = TestDir::new("committed_read_other");
    let committed = text("0123", COMPILER, ".version 7.0\n").text;
    for (name, module, arch) in [("ptx/blur.sm_90.ptx", "blur", Arch::SM_90), ("ptx/sum.sm_80.ptx", "sum", Arch::SM_80)]
    {
        let file = dir.write(name, &committed);
        let error = read(&dir.path(""), &[module.into()], &[arch]).unwrap_err();
        let expected = format!("{} is the module blur for sm_80 instead of {module} for {arch}; renew", file.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}
