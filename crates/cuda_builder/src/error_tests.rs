use super::*;
use std::error::Error;

fn text(error: BuildError) -> String {
    error.to_string()
}

#[test]
fn errors_repeat_what_was_requested() {
    assert_eq!(
        text(UnknownMode { value: "x".into() }.into()),
        "SLM_KERNELS is 'x', but must be committed, build, auto or none"
    );
    assert_eq!(
        text(UnknownArch { value: "sm_61".into() }.into()),
        "'sm_61' is not a target: use sm_70 or later, such as sm_75, sm_80 or sm_90"
    );
    assert_eq!(
        text(BuildError::ModuleName { name: "a-b".into() }),
        "'a-b' is not a valid module name: use an identifier that differs from all other modules' names, ignoring case"
    );
    assert_eq!(
        text(BuildError::NotABuildScript { variable: "OUT_DIR" }),
        "OUT_DIR is not set: call this from a build script"
    );
}

#[test]
fn problems_of_the_kernel_crate_name_it() {
    assert_eq!(
        text(BuildError::KernelCrate { dir: "/k".into(), reason: "no manifest\n".into() }),
        "there is no kernel crate in /k: no manifest"
    );
    let features = vec!["blur".into(), "sum".into()];
    assert_eq!(
        text(BuildError::NoSuchModule { module: "x".into(), package: "k".into(), features }),
        "k has no feature 'x' to compile a module from; it has: blur, sum"
    );
    assert_eq!(
        text(BuildError::NoSources { package: "k".into() }),
        "the build script of k does not list its sources: it must call cuda_std::build::kernel_crate"
    );
    let [module, package, file] = ["blur", "k", "h/lib.rs"].map(str::to_owned);
    assert_eq!(
        text(BuildError::UnlistedSource { module, package, file }),
        "the kernel module blur is compiled from h/lib.rs, which the build script of k does not list: name the folder of each \
         path dependency in the call of cuda_std::build::kernel_crate; files must be below the folder of their package and \
         end in .rs"
    );
}

#[test]
fn a_missing_compiler_is_reported_with_the_ways_to_get_one() {
    let rejected = || Rejected { path: "/r".into(), reason: "too old".into() };
    let expected = format!(
        "no compiler for the device was found; either of these commands installs one:\n  {}\ntried:\n  /r: too old",
        INSTALL.join("\n  ")
    );
    assert_eq!(text(BuildError::NoCompiler { tried: vec![rejected()] }), expected);
    assert_eq!(
        text(BuildError::UnusableCompiler(rejected())),
        "SLM_DEVICE_RUSTC cannot compile for the device: /r: too old"
    );
}

#[test]
fn failed_builds_name_module_and_target() {
    let (module, arch) = ("blur".to_owned(), Arch::SM_90);
    assert_eq!(
        text(BuildError::Compile { module: module.clone(), arch, diagnostics: "error: x".into() }),
        "the kernel module blur does not compile for sm_90:\nerror: x"
    );
    assert_eq!(
        text(BuildError::Cargo { module, arch, output: "error: y".into() }),
        "cargo cannot compile the kernel module blur for sm_90:\nerror: y"
    );
}

#[test]
fn files_are_named_and_causes_kept() {
    assert_eq!(
        text(BuildError::NotCommitted { dir: "/k".into(), module: Some("blur".into()) }),
        "the folder /k/ptx has no compiled module blur; make it with: build-kernels /k blur (cargo install \
         slm-cuda-builder), or have kernels compiled with the program: SLM_KERNELS=auto, or .default_mode(Mode::Auto) in \
         the build script"
    );
    let altered = ModuleError::Altered { expected: "aa".into(), actual: "bb".into() };
    let bad = BuildError::BadImage { file: "/f".into(), source: altered };
    assert!(bad.source().is_some());
    assert_eq!(text(bad), "/f cannot be used: its text has the digest bb, the compiled one had aa");
    assert_eq!(
        text(BuildError::BadIndex { file: "/k/ptx/index.toml".into(), line: 3 }),
        "line 3 of /k/ptx/index.toml is not what build-kernels writes; renew it with: build-kernels /k"
    );
    let io = BuildError::io(Path::new("/f"))(io::ErrorKind::NotFound.into());
    assert!(io.source().is_some());
    assert_eq!(text(io), "/f: entity not found");
}
