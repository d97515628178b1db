//! The compiled kernels of `kernels/ptx/`: what they say of themselves, what is in them and, where there is a `ptxas`,
//! what it makes of them.

mod common;

use common::ptx::{Code, memory_faults};
use cuda_std::image::Header;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

/// The folder, from the repository's root, where cargo starts tests.
const FOLDER: &str = "kernels/ptx";

/// The modules and their entry points.
fn modules() -> Vec<(String, BTreeSet<String>)> {
    let mut modules = vec![("banks".to_owned(), probes())];
    for element in ["f32", "f64", "i32"] {
        for (module, kernels) in
            [("simple", &["global", "tile"][..]), ("rows", &["register_rows"]), ("columns", &["register_columns"])]
        {
            let entries = kernels.iter().map(|kernel| format!("filter1d_{kernel}_{element}")).collect();
            modules.push((format!("filter1d_{module}_{element}"), entries));
        }
    }
    for element in ["u8", "u16", "u32", "i32", "f32", "f64"] {
        let rules = match element {
            "u8" => &["histogram"][..],
            "u16" => &["histogram_low_bits", "histogram_even", "histogram_edges"],
            _ => &["histogram_even", "histogram_edges"],
        };
        let kernels = ["critical", "global", "cached", "shared", "private", "weigh"];
        let entries = rules.iter().flat_map(|rule| kernels.map(|kernel| format!("{rule}_{kernel}_{element}")));
        modules.push((format!("histogram_{element}"), entries.collect()));
    }
    for unit in ["u8", "u16", "u32"] {
        let kernels = ["naive", "shared", "swap", "permute"];
        modules.push((
            format!("transpose_{unit}"),
            kernels.iter().map(|kernel| format!("transpose_{kernel}_{unit}")).collect(),
        ));
    }
    let packed = [1, 2, 3, 4, 8, 12, 16].map(|bytes| format!("packed_{bytes}"));
    let skewed = ["1", "2", "3", "4", "6", "8", "8_by_4", "12", "16", "16_by_4"].map(|bytes| format!("skewed_{bytes}"));
    for (module, kernels) in [("packed", &packed[..]), ("skewed", &skewed[..])] {
        let entries = kernels.iter().map(|kernel| format!("transpose_{kernel}"));
        modules.push((format!("transpose_{module}"), entries.collect()));
    }
    modules.push(("histogram_peak".to_owned(), BTreeSet::from(["histogram_peak".to_owned()])));
    modules
}

/// The kernels that measure accesses to shared memory.
fn probes() -> BTreeSet<String> {
    let kinds = [("load", &[1, 2, 4, 8, 16][..]), ("store", &[1, 2, 4, 8, 16]), ("atomic", &[4, 8])];
    let probes =
        kinds.into_iter().flat_map(|(kind, widths)| widths.iter().map(move |width| format!("banks_{kind}_{width}")));
    probes.chain(["banks_accumulate".to_owned()]).collect()
}

/// The targets, and the latest version of PTX that their files may have: older drivers refuse newer ones.
const TARGETS: [(u32, (u32, u32)); 3] = [(75, (6, 5)), (80, (7, 0)), (90, (7, 8))];

type Test = fn(&File) -> Result<(), Failed>;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("no_other_files", no_other_files),
        Trial::test("faults_are_found", faults_are_found),
        Trial::test("origin", origin),
    ];
    let checks: [(&str, Test); 7] = [
        ("header", header),
        ("entry_points", entry_points),
        ("version", version),
        ("memory", memory),
        ("barriers", barriers),
        ("no_stack_and_no_calls", no_stack_and_no_calls),
        ("as_built", as_built),
    ];
    let ptxas = Ptxas::find();
    for file in files() {
        for (name, check) in checks {
            let file = file.clone();
            trials.push(Trial::test(format!("{}::{name}", file.name()), move || check(&file)));
        }
        trials.push(ptxas_trial(&ptxas, file));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// A file that there must be.
#[derive(Clone)]
struct File {
    module: String,
    entries: BTreeSet<String>,
    target: u32,
    version: (u32, u32),
}

fn files() -> Vec<File> {
    let mut files = Vec::new();
    for (module, entries) in modules() {
        for (target, version) in TARGETS {
            files.push(File { module: module.clone(), entries: entries.clone(), target, version });
        }
    }
    files
}

impl File {
    fn name(&self) -> String {
        format!("{}.sm_{}.ptx", self.module, self.target)
    }

    fn path(&self) -> PathBuf {
        Path::new(FOLDER).join(self.name())
    }

    fn text(&self) -> Result<String, Failed> {
        fs::read_to_string(self.path()).map_err(|e| format!("{}: {e}", self.path().display()).into())
    }
}

fn no_other_files() -> Result<(), Failed> {
    let expected: BTreeSet<String> = files().iter().map(File::name).collect();
    let entries = fs::read_dir(FOLDER)?.collect::<Result<Vec<_>, _>>()?;
    let actual: BTreeSet<String> = entries.iter().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    equal(actual, expected)
}

fn equal<T: PartialEq + std::fmt::Debug>(actual: T, expected: T) -> Result<(), Failed> {
    if actual == expected { Ok(()) } else { Err(format!("{actual:?} instead of {expected:?}").into()) }
}

fn none(faults: Vec<String>) -> Result<(), Failed> {
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// The header is whole and fits the text (which `verify` checks), the file's name and this program's sources.
fn header(file: &File) -> Result<(), Failed> {
    let text = file.text()?;
    let header = Header::verify(&text, slm_kernels::SOURCES)
        .map_err(|e| format!("{e}; compile again: cargo run -p slm-cuda-builder -- kernels MODULES"))?;
    equal((&*header.module, header.target), (&*file.module, file.target))?;
    equal(header.compiler.starts_with("rustc "), true)?;
    equal(header.flags.contains(&format!("-Ctarget-cpu=sm_{}", file.target)), true)?;
    let code = Code::new(&text);
    equal(code.directive(".target"), vec![format!("sm_{}", file.target)])?;
    equal(code.directive(".address_size"), vec!["64".to_owned()])
}

fn entry_points(file: &File) -> Result<(), Failed> {
    let text = file.text()?;
    let code = Code::new(&text);
    let entries = code.entries();
    equal(entries.len(), file.entries.len())?;
    // Each has the digest of its arguments beside it.
    let has_layout = |entry: &&String| text.contains(&format!(" {entry}_layout[16] = {{"));
    equal(entries.iter().find(|entry| !has_layout(entry)), None)?;
    // Limits of registers are directives, and no longer constants; counting in shared memory has one, and so have
    // transpositions of rows that begin anywhere.
    equal(text.lines().find(|line| line.contains("_registers[")), None)?;
    let is_limited = |entry: &str| {
        entry.starts_with("histogram_") && entry.contains("shared") || entry.starts_with("transpose_skewed_")
    };
    let limited = entries.iter().filter(|entry| is_limited(entry)).count();
    equal(text.lines().filter(|line| line.starts_with(".maxnreg ")).count(), limited)?;
    equal(entries.into_iter().collect(), file.entries.clone())
}

fn version(file: &File) -> Result<(), Failed> {
    let versions = Code::new(&file.text()?).directive(".version");
    let [version] = &versions[..] else { return Err(format!("{versions:?}").into()) };
    let (major, minor) = version.split_once('.').ok_or("no dot")?;
    let actual: (u32, u32) = (major.parse()?, minor.parse()?);
    if actual > file.version {
        return Err(format!("PTX {version} is later than {:?}", file.version).into());
    }
    Ok(())
}

/// As many as in the sources. A function between two tests of one condition rustc may copy into each way through them, and
/// a barrier with copies is no longer one instruction that all threads of a block come to.
fn barriers(file: &File) -> Result<(), Failed> {
    for kernel in Code::new(&file.text()?).kernels() {
        let name = &kernel.entries()[0];
        let expected = match uses_shared_memory(name) {
            false => 0,
            true if name.contains("register_rows") || name.contains("cached") => 3,
            true if name.contains("histogram") || name.contains("banks") => 2,
            true => 1,
        };
        equal((name, kernel.count("bar.")), (name, expected))?;
    }
    Ok(())
}

fn uses_shared_memory(kernel: &str) -> bool {
    !["global", "critical", "peak", "naive", "permute"].iter().any(|other| kernel.contains(other))
}

fn works_in_place(kernel: &str) -> bool {
    ["swap", "permute"].iter().any(|other| kernel.contains(other))
}

/// The most sums that a thread of a register-tiled kernel has.
const MOST_SUMS: usize = 36;

/// Every access names its space, and input is read through the read-only path. Few kernels read their own output: the
/// register-tiled ones, where sums go on from an earlier launch, each sum once; and those with a critical section.
fn memory(file: &File) -> Result<(), Failed> {
    let code = Code::new(&file.text()?);
    none(memory_faults(&code))?;
    for kernel in code.kernels() {
        let name = &kernel.entries()[0];
        let allowed = match () {
            () if name.contains("register") => MOST_SUMS,
            () if name.contains("critical") => kernel.count("st.global."),
            () if works_in_place(name) => usize::MAX,
            () => 0,
        };
        let (plain, read_only) = (kernel.plain_loads(), kernel.count("ld.global.nc."));
        let written =
            ["st.global.", "atom.relaxed.gpu.global.", "red.relaxed.gpu.global."].map(|write| kernel.count(write));
        // The loop that accumulates works on numbers of its own.
        let has_input = name != "banks_accumulate" && !works_in_place(name);
        if plain > allowed || (read_only > 0) != has_input || written == [0; 3] {
            return Err(format!("{name}: {plain} loads of output, {read_only} of input, {written:?} writes").into());
        }
        equal((name, kernel.count("st.shared.") > 0), (name, uses_shared_memory(name)))?;
    }
    Ok(())
}

fn no_stack_and_no_calls(file: &File) -> Result<(), Failed> {
    none(Code::new(&file.text()?).stack_and_calls())
}

/// The checks above are of no use if they find nothing.
fn faults_are_found() -> Result<(), Failed> {
    let memory = |line| memory_faults(&Code::new(line)).len();
    for fault in [
        "ld.b32 %r1, [%rd1];",
        "@%p1 st.v4.b32 [%rd1], {%r1, %r2, %r3, %r4};",
        "$L__BB0_2: @!%p1 ld.volatile.u32 %r1, [%rd1];",
        "{ .reg .pred p; setp.ne.b32 p, %r1, 0;\n@p st.b32 [%rd1], %r1; }",
        "atom.add.u32 %r1, [%rd1], 1;",
        "red.relaxed.gpu.add.u32 [%rd1], 1;",
        "ld.local.b32 %r1, [%rd1];",
        "cvta.shared.u64 %rd1, %rd2;",
        "cvta.to.global.u64 %rd1, %rd2;",
        "mov.b32 %r1, %r2; cvta.to.shared.u64 %rd1, %rd2;",
    ] {
        equal((fault, memory(fault)), (fault, 1))?;
    }
    for good in [
        "ld.param.b64 %rd1, [f_param_0];",
        "@p ld.global.nc.v2.b32 {%r1, %r2}, [%rd1 + 0]; }",
        "st.shared.v4.b32 [%r1], {%r1, %r2, %r3, %r4};",
        "atom.relaxed.shared.add.u32 %r1, [%r2], 1; red.global.add.u32 [%rd1], 1; // ld.b32",
        "redux.sync.add.s32 %r1, %r2, -1; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
    ] {
        equal((good, memory(good)), (good, 0))?;
    }
    equal(Code::new("@p ld.global.b32 %r1, [%rd1]; ld.global.nc.b32 %r1, [%rd1];").plain_loads(), 1)?;
    for fault in [".local .align 4 .b8 __local_depot0[8];", "call.uni f, (x);", "@p call (%r1), f;", ".func f() {"] {
        equal((fault, Code::new(fault).stack_and_calls().len()), (fault, 1))?;
    }
    equal(Code::new("bra.uni $L_1; // call f\n.reg .b32 %r<2>;").stack_and_calls().len(), 0)
}

/// The images that this program was built with: the same build script made them for the library.
#[cfg(cuda)]
mod built {
    cuda_std::include_kernels!();

    pub(super) use cuda_std::image::Origin;

    /// Where they come from, and the one of a module for a target.
    pub(super) fn find(module: &str, target: u32) -> (Origin, Option<&'static str>) {
        let modules = [
            &BANKS,
            &FILTER1D_SIMPLE_F32,
            &FILTER1D_SIMPLE_F64,
            &FILTER1D_SIMPLE_I32,
            &FILTER1D_ROWS_F32,
            &FILTER1D_ROWS_F64,
            &FILTER1D_ROWS_I32,
            &FILTER1D_COLUMNS_F32,
            &FILTER1D_COLUMNS_F64,
            &FILTER1D_COLUMNS_I32,
            &HISTOGRAM_U8,
            &HISTOGRAM_U16,
            &HISTOGRAM_U32,
            &HISTOGRAM_I32,
            &HISTOGRAM_F32,
            &HISTOGRAM_F64,
            &HISTOGRAM_GRID_F32,
            &HISTOGRAM_GRID_F64,
            &HISTOGRAM_PEAK,
            &TRANSPOSE_U8,
            &TRANSPOSE_U16,
            &TRANSPOSE_U32,
            &TRANSPOSE_PACKED,
            &TRANSPOSE_SKEWED,
        ];
        let module = modules.into_iter().find(|m| m.name() == module);
        let mut images = module.into_iter().flat_map(|m| m.images().iter().copied());
        let line = format!("// target: sm_{target}");
        (ORIGIN, images.find(|image| image.lines().nth(1) == Some(&line)))
    }
}

#[cfg(cuda)]
fn origin() -> Result<(), Failed> {
    let (origin, _) = built::find("", 0);
    equal(slm::ptx_origin(), origin)?;
    println!("kernels: {origin:?}");
    match origin {
        built::Origin::Committed | built::Origin::None => Ok(()),
        built::Origin::Built { compiler } => equal(compiler.starts_with("rustc "), true),
    }
}

/// The committed file is what the sources give, if the compiler is the same.
#[cfg(cuda)]
fn as_built(file: &File) -> Result<(), Failed> {
    let committed = file.text()?;
    let (origin, image) = built::find(&file.module, file.target);
    let image = image.ok_or("this program has no such image")?;
    let text = |e: cuda_std::image::ImageError| Failed::from(e.to_string());
    let (old, new) = (Header::read(&committed).map_err(text)?, Header::read(image).map_err(text)?);
    if let built::Origin::Built { compiler } = origin {
        equal(&*new.compiler, compiler)?;
        if old.compiler != new.compiler {
            eprintln!("{} is not compared: committed by {}, built by {}", file.name(), old.compiler, new.compiler);
            return Ok(());
        }
    }
    equal((&old.sources, &old.flags), (&new.sources, &new.flags))?;
    match committed.lines().zip(image.lines()).position(|(a, b)| a != b) {
        Some(line) => Err(format!("line {} differs from what was built", line + 1).into()),
        None => equal(committed.len(), image.len()),
    }
}

#[cfg(not(cuda))]
fn origin() -> Result<(), Failed> {
    Ok(())
}

#[cfg(not(cuda))]
fn as_built(_file: &File) -> Result<(), Failed> {
    Ok(())
}

/// The assembler, and the targets that it knows.
struct Ptxas {
    program: PathBuf,
    help: String,
}

impl Ptxas {
    /// The one that `SLM_PTXAS` names, or else that of the path or of a CUDA toolkit.
    fn find() -> Result<Self, &'static str> {
        let named = env::var_os("SLM_PTXAS").map(PathBuf::from);
        let on_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
        let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
        let toolkits = toolkits.chain([PathBuf::from("/usr/local/cuda")]).map(|folder| folder.join("bin"));
        let folders = on_path.into_iter().chain(toolkits);
        let name = format!("ptxas{}", env::consts::EXE_SUFFIX);
        let found = folders.map(|folder| folder.join(&name)).find(|path| path.is_file());
        let program = named.or(found).ok_or("no ptxas")?;
        // One that was named must be there; its trials fail otherwise.
        let help = Command::new(&program).arg("--help").output().map(|output| output.stdout).unwrap_or_default();
        Ok(Ptxas { program, help: String::from_utf8_lossy(&help).into_owned() })
    }

    fn knows(&self, target: u32) -> bool {
        self.help.is_empty() || self.help.contains(&format!("'sm_{target}'"))
    }
}

fn ptxas_trial(ptxas: &Result<Ptxas, &'static str>, file: File) -> Trial {
    let name = format!("{}::ptxas", file.name());
    let ignored = |reason: &str| Trial::test(&name, || Ok(())).with_ignored_flag(true).with_kind(reason);
    match ptxas {
        Err(reason) => ignored(reason),
        Ok(ptxas) if !ptxas.knows(file.target) => ignored("this ptxas does not know the target"),
        Ok(ptxas) => {
            let program = ptxas.program.clone();
            Trial::test(&name, move || assemble(&program, &file))
        }
    }
}

/// The most registers of a kernel that is launched with 1024 threads in a block: no more fit.
const MOST_REGISTERS: u32 = 64;

/// No entry point needs a stack, spills registers, or has too many of them for its blocks.
fn assemble(ptxas: &Path, file: &File) -> Result<(), Failed> {
    let cubin = env::temp_dir().join(format!("slm-{}-{}.cubin", process::id(), file.name()));
    let mut command = Command::new(ptxas);
    command.args(["-v", &format!("-arch=sm_{}", file.target), "-o"]).arg(&cubin).arg(file.path());
    let output = command.output().map_err(|e| format!("{}: {e}", ptxas.display()))?;
    let _ = fs::remove_file(&cubin);
    let report = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(report.into());
    }
    let mut checked = BTreeSet::new();
    let mut lines = report.lines();
    while let Some(line) = lines.next() {
        let Some((_, entry)) = line.split_once("Function properties for ") else { continue };
        let properties = lines.next().unwrap_or_default().trim();
        let expected = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
        equal((entry, properties), (entry, expected))?;
        let used = lines.next().and_then(|line| line.split_once("Used ")?.1.split(' ').next()?.parse().ok());
        let registers: u32 = used.ok_or("ptxas does not tell the registers")?;
        if entry.contains("histogram") && registers > MOST_REGISTERS {
            return Err(format!("{entry} takes {registers} registers").into());
        }
        checked.insert(entry.trim().to_owned());
    }
    equal(checked, file.entries.clone())
}
