//! Builds and runs the fixture's host, whose build script calls `CudaBuilder`.

use crate::fixture::{Fixture, device_target_dir, target_dir};
use cuda_builder::CudaBuilder;
use std::process::{Command, Output};

/// The fixture's host, and the mode and features to build it with.
struct Host {
    fixture: Fixture,
    mode: &'static str,
    features: &'static str,
}

impl Host {
    fn run(&self) -> Output {
        // Offline works, since all its dependencies are dependencies of this crate too.
        Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--offline", "--features", self.features, "--target-dir"])
            .arg(target_dir())
            .current_dir(self.fixture.path("host"))
            .env("SLM_KERNELS", self.mode)
            // As in this workspace, so that packages are shared; and it is small.
            .envs([("CARGO_PROFILE_DEV_DEBUG", "0"), ("CARGO_INCREMENTAL", "0")])
            .output()
            .unwrap()
    }

    /// Returns the output of the program.
    fn output(&self) -> String {
        let output = self.run();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns cargo's messages. The build must fail.
    fn error(&self) -> String {
        let output = self.run();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    /// Returns how often the build script has run.
    fn runs(&self) -> usize {
        self.fixture.read("host/runs").len()
    }

    /// Commits the modules.
    fn commit(&self) {
        let builder = CudaBuilder::new(self.fixture.path("kernels")).module("fill").module("scale");
        builder.target_dir(device_target_dir()).commit().unwrap();
    }
}

/// One test, because each step depends on the one before.
#[test]
fn the_build_script_follows_its_sources() {
    let mut host = Host { fixture: Fixture::new("host"), mode: "build", features: "" };
    let first = host.run();
    let stderr = String::from_utf8_lossy(&first.stderr);
    if stderr.contains("no compiler for the device was found") {
        println!("skipped: {stderr}");
        return;
    }
    assert!(first.status.success(), "{stderr}");

    // Nothing changed.
    let built = host.output();
    assert_eq!(built.as_bytes(), first.stdout);
    assert!(built.starts_with("Built { compiler: \"rustc 1."), "{built}");
    assert_eq!(host.runs(), 1);

    // A program with the emulator has the same kernels for the device.
    host.features = "emulator";
    assert_eq!(host.output(), built);
    assert_eq!(host.runs(), 2);
    host.features = "";

    // A dependency of the kernel crate changed.
    host.fixture.edit("helper/lib.rs", "FACTOR: u32 = 3", "FACTOR: u32 = 5");
    let changed = host.output();
    assert!(built.contains("%r1, 3;") && changed.contains("%r1, 5;"), "{changed}");
    let runs = host.runs();
    assert_eq!(runs, 3);
    assert_eq!(host.output(), changed);
    assert_eq!(host.runs(), runs);

    // An error in the kernels reaches the user.
    let line = "args.output.set(i, fixture_helper::scaled(args.input.get(i)));";
    host.fixture.edit("kernels/scale.rs", line, "args.output.set(i, 1.5)");
    host.mode = "auto";
    let error = host.error();
    assert!(error.contains("scale.rs:19:") && error.contains("mismatched types"), "{error}");
    host.fixture.edit("kernels/scale.rs", "args.output.set(i, 1.5)", line);
    assert_eq!(host.output(), changed);

    committed_modules_are_followed(&mut host, &changed);
    kernels_that_differ_on_host_and_device_are_refused(host);
}

fn committed_modules_are_followed(host: &mut Host, built: &str) {
    host.mode = "committed";
    let error = host.error();
    assert!(error.contains("kernels/ptx has no compiled module fill; make it with: build-kernels"), "{error}");

    host.commit();
    let committed = host.output();
    assert!(committed.starts_with("Committed\n"), "{committed}");
    assert_eq!(committed.split_once('\n').unwrap().1, built.split_once('\n').unwrap().1);
    let runs = host.runs();
    assert_eq!(host.output(), committed);
    assert_eq!(host.runs(), runs);

    committed_modules_are_compiled_if_their_files_changed(host, built, &committed);
    files_belong_to_their_modules(host, &committed);

    host.fixture.edit("kernels/ptx/fill.sm_75.ptx", ".version 6.5", ".version 6.4");
    let error = host.error();
    assert!(error.contains("fill.sm_75.ptx cannot be used: its text has the digest"), "{error}");

    host.mode = "compile";
    let error = host.error();
    assert!(error.contains("SLM_KERNELS is 'compile', but must be committed, build, auto or none"), "{error}");
}

/// `built` and `committed` differ only in the first line, the origin.
fn committed_modules_are_compiled_if_their_files_changed(host: &mut Host, built: &str, committed: &str) {
    host.mode = "auto";
    assert_eq!(host.output(), committed);
    host.fixture.edit("kernels/scale.rs", "//! Multiplies", "//! It multiplies");
    assert_eq!(host.output(), built);
    host.fixture.edit("kernels/scale.rs", "//! It multiplies", "//! Multiplies");
    assert_eq!(host.output(), committed);
    host.fixture.edit("helper/lib.rs", "FACTOR: u32 = 5", "FACTOR: u32 = 7");
    let changed = host.output();
    assert!(changed.starts_with("Built ") && changed.contains("%r1, 7;"), "{changed}");
    host.fixture.edit("helper/lib.rs", "FACTOR: u32 = 7", "FACTOR: u32 = 5");
    host.mode = "committed";
}

/// The program detects changed files without a compiler for the device: only modules that were compiled from them are stale.
fn files_belong_to_their_modules(host: &Host, committed: &str) {
    let stale = |output: &str| {
        let (_, modules) = output.split_once('\n').unwrap();
        let (fill, scale) = modules.split_once(".entry fill(").unwrap();
        [fill, scale].map(|text| text.matches("it was compiled from").count())
    };
    assert_eq!(stale(committed), [0, 0]);
    host.fixture.edit("kernels/scale.rs", "//! Multiplies", "//! It multiplies");
    assert_eq!(stale(&host.output()), [0, 1]);
    host.fixture.edit("kernels/scale.rs", "//! It multiplies", "//! Multiplies");
    assert_eq!(host.output(), committed);
    // Another module's file.
    host.fixture.edit("kernels/meet.rs", "//! Operations", "//! All operations");
    assert_eq!(host.output(), committed);
    // A file that an edited one adds, and a removed file.
    std::fs::write(host.fixture.path("kernels/more.rs"), "//! More.\n").unwrap();
    assert_eq!(host.output(), committed);
    host.fixture.edit("kernels/fill.rs", "use cuda_std", "#[path = \"more.rs\"]\nmod more;\nuse cuda_std");
    assert_eq!(stale(&host.output()), [1, 0]);
    host.commit();
    assert_eq!(host.output(), committed);
    host.fixture.edit("kernels/fill.rs", "#[path = \"more.rs\"]\nmod more;\n", "");
    std::fs::remove_file(host.fixture.path("kernels/more.rs")).unwrap();
    let removed = host.output();
    assert!(removed.contains("it was compiled from fixture-kernels/more.rs, which this program's kernels do not have"));
    assert_eq!(stale(&removed), [1, 0]);
    host.commit();
    assert_eq!(host.output(), committed);
}

/// Changes the arguments and the name of a kernel by features. A module is compiled with its own feature only, the host's
/// code with all features.
fn kernels_that_differ_on_host_and_device_are_refused(mut host: Host) {
    host.mode = "build";
    let refused = |kernel| format!("\nits kernel {kernel} is another one, or has other arguments: its digest is ");

    // Arguments.
    let value =
        "#[cfg(feature = \"scale\")]\ntype Number = f32;\n#[cfg(not(feature = \"scale\"))]\ntype Number = u32;\n";
    host.fixture.edit("kernels/fill.rs", "arguments! {", &format!("{value}\narguments! {{"));
    host.fixture.edit("kernels/fill.rs", "pub value: f32", "pub value: Number");
    host.fixture.edit("kernels/fill.rs", "GlobalOut<'l, f32>", "GlobalOut<'l, Number>");
    let other = host.output();
    assert!(other.contains(&refused("fill")) && other.contains(".entry scale("), "{other}");

    // A kernel of the same name.
    host.fixture.edit("kernels/scale.rs", "pub fn scale<", "pub fn fill<");
    host.fixture.edit("kernels/scale.rs", "in \"scale\"", "in \"fill\"");
    host.fixture.edit("host/src/main.rs", "show::<scale::scale>", "show::<scale::fill>");
    let other = host.output();
    assert_eq!(other.matches(&refused("fill")).count(), 2, "{other}");
    host.fixture.edit("kernels/scale.rs", "in \"fill\"", "in \"scale\"");
    assert!(host.output().contains(".entry fill("));
}
