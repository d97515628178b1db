use super::*;
use crate::index::ImageRecord;
use crate::test_dir::TestDir;

/// Returns a module with the given texts.
fn text(module: &str, ptx: &[(Arch, &str)]) -> CompiledModule {
    let image = |text: &str| ImageRecord { flags: "-O".into(), digest: image::digest(text) };
    let record = Record {
        compiler: "rustc 1.96.0".into(),
        files: vec!["k/lib.rs".into()],
        sources: "0123".into(),
        images: ptx.iter().map(|(arch, text)| (*arch, image(text))).collect(),
        ..Record::default()
    };
    let ptx = ptx.iter().map(|(arch, text)| (*arch, (*text).to_owned())).collect();
    CompiledModule { module: module.into(), record, ptx }
}

fn compilation(modules: &[CompiledModule]) -> Compilation {
    Compilation { modules: modules.to_vec(), ..Compilation::default() }
}

#[test]
fn written_is_read() {
    let dir = TestDir::new("committed_written");
    let modules = [text("blur", &[(Arch::SM_75, "a"), (Arch::SM_90, "b")]), text("sum", &[(Arch::SM_80, "c")])];
    let written = write(&dir.path(""), compilation(&modules), true).unwrap();
    let names = ["blur.sm_75.ptx", "blur.sm_90.ptx", "sum.sm_80.ptx", "index.toml"];
    assert_eq!(written.files, names.map(|name| dir.path("ptx").join(name)));
    assert_eq!(read(&dir.path(""), &[]).unwrap().modules, modules);
    let sum = read(&dir.path(""), &["sum".into()]).unwrap();
    assert_eq!(sum.modules, modules[1..]);
    assert!(sum.watched.contains(&dir.path("ptx")));
}

#[test]
fn files_of_removed_modules_and_targets_are_removed() {
    let dir = TestDir::new("committed_removed");
    let write = |modules: &[CompiledModule], all| write(&dir.path(""), compilation(modules), all).unwrap().removed;
    let names = |files: &[&str]| files.iter().map(|file| dir.path("ptx").join(file)).collect::<Vec<_>>();
    let sum = text("sum", &[(Arch::SM_75, "c")]);
    assert_eq!(write(&[text("blur", &[(Arch::SM_75, "a"), (Arch::SM_90, "b")]), sum.clone()], true), names(&[]));
    // Only the named module is renewed.
    let blur = text("blur", &[(Arch::SM_75, "a")]);
    assert_eq!(write(std::slice::from_ref(&blur), false), names(&["blur.sm_90.ptx"]));
    assert!(!dir.path("ptx/blur.sm_90.ptx").exists());
    assert_eq!(read(&dir.path(""), &[]).unwrap().modules, [blur, sum.clone()]);
    assert_eq!(write(std::slice::from_ref(&sum), true), names(&["blur.sm_75.ptx"]));
    assert_eq!(read(&dir.path(""), &[]).unwrap().modules, [sum]);
}

#[test]
fn a_broken_list_is_reported_and_replaced() {
    let dir = TestDir::new("committed_broken");
    let file = dir.write("ptx/index.toml", "[blur]\nnonsense\n");
    let error = read(&dir.path(""), &[]).unwrap_err().to_string();
    let expected =
        format!("line 2 of {} is not what build-kernels writes; renew it with: build-kernels ", file.display());
    assert!(error.starts_with(&expected), "{error}");
    let blur = text("blur", &[(Arch::SM_75, "a")]);
    assert!(write(&dir.path(""), compilation(std::slice::from_ref(&blur)), false).is_err());
    write(&dir.path(""), compilation(std::slice::from_ref(&blur)), true).unwrap();
    assert_eq!(read(&dir.path(""), &[]).unwrap().modules, [blur]);
}

#[test]
fn a_missing_module_is_named_with_the_command_that_makes_it() {
    let dir = TestDir::new("committed_missing");
    let folder = dir.path("k");
    let error = |names: &[String]| read(&folder, names).unwrap_err().to_string();
    let expected = |what: &str, module: &str| {
        format!(
            "the folder {}/ptx has no compiled {what}; make it with: build-kernels {}{module} (",
            folder.display(),
            folder.display()
        )
    };
    assert!(error(&[]).starts_with(&expected("modules", "")), "{}", error(&[]));
    let names = ["blur".to_owned()];
    assert!(error(&names).starts_with(&expected("module blur", " blur")), "{}", error(&names));
    write(&folder, compilation(&[text("blur", &[(Arch::SM_75, "a")])]), true).unwrap();
    fs::remove_file(dir.path("k/ptx/blur.sm_75.ptx")).unwrap();
    assert!(error(&names).starts_with(&expected("module blur", " blur")), "{}", error(&names));
}

#[test]
fn an_altered_file_is_named() {
    let dir = TestDir::new("committed_altered");
    write(&dir.path(""), compilation(&[text("blur", &[(Arch::SM_80, ".version 7.0\n")])]), true).unwrap();
    let file = dir.write("ptx/blur.sm_80.ptx", ".version 7.1\n");
    let error = read(&dir.path(""), &[]).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{} cannot be used: its text has the digest ", file.display())), "{error}");
}
