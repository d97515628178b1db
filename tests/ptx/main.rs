//! The compiled kernels of `kernels/ptx/`: what the list says of them, what is in them and, where there is a `ptxas`, what
//! it makes of them.

#[path = "../common/mod.rs"]
mod common;

use common::declarations::{Declaration, Registers};
use common::ptx::{Code, Section, memory_faults};
use common::{ensure, equal};
use cuda_std::image::{self, Sources};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process, ptr};

/// The folder, from the repository's root.
const FOLDER: &str = "kernels/ptx";

/// The list of the files, and of what they were compiled from.
const INDEX: &str = "index.toml";

/// What `ptxas` assembles the files for: later GPUs have other limits.
const ASSEMBLED: [u32; 3] = [75, 80, 90];

type Test = fn(&File) -> Result<(), Failed>;

fn main() {
    common::enter_repository();
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("no_other_files", no_other_files),
        Trial::test("faults_are_found", faults_are_found),
        Trial::test("origin", origin),
        Trial::test("instances_have_equal_barriers", instances_have_equal_barriers),
    ];
    let checks: [(&str, Test); 7] = [
        ("listed", listed),
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
        let targets = ASSEMBLED.into_iter().filter(|target| *target >= file.target);
        trials.extend(targets.map(|target| ptxas_trial(&ptxas, &file, target)));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// A file that there must be.
#[derive(Clone)]
struct File {
    module: String,
    target: u32,
    /// The latest version of PTX that it may have: older drivers refuse newer ones.
    version: (u32, u32),
}

/// The files of the list. (`build-kernels --check` compares it with the features and targets of the kernel crate.)
fn files() -> Vec<File> {
    let index = fs::read_to_string(Path::new(FOLDER).join(INDEX)).expect("the list is there");
    let of_module = |module| {
        let files: Vec<_> =
            Section::targets(&index, module).map(|target| File::listed(&index, module, target)).collect();
        assert!(!files.is_empty(), "{module} has no targets");
        files
    };
    Section::modules(&index).flat_map(of_module).collect()
}

impl File {
    fn listed(index: &str, module: &str, target: &str) -> Self {
        let section = Section::find(index, &format!("{module}.{target}")).expect("the list names it");
        let flags = section.string("flags").unwrap_or_default();
        // Such as `+ptx65`.
        let version = flags.split_once("-Ctarget-feature=+ptx").and_then(|(_, rest)| rest.split([' ', ',']).next());
        let target = target.strip_prefix("sm_").and_then(|target| target.parse().ok()).expect("a target of CUDA");
        // Without such a flag, LLVM takes the first version that has the target.
        let version: u32 = match (version, target) {
            (Some(version), _) => version.parse().expect("a version of PTX"),
            (None, 80) => 70,
            (None, _) => panic!("{module}: the flags have no version of PTX"),
        };
        File { module: module.to_owned(), target, version: (version / 10, version % 10) }
    }

    fn name(&self) -> String {
        format!("{}.sm_{}.ptx", self.module, self.target)
    }

    fn path(&self) -> PathBuf {
        Path::new(FOLDER).join(self.name())
    }

    fn text(&self) -> Result<String, Failed> {
        fs::read_to_string(self.path()).map_err(|e| format!("{}: {e}", self.path().display()).into())
    }

    /// The names of its kernels.
    fn entries(&self) -> Result<BTreeSet<String>, Failed> {
        Ok(Code::new(&self.text()?).entries().into_iter().collect())
    }
}

fn no_other_files() -> Result<(), Failed> {
    let expected: BTreeSet<String> = files().iter().map(File::name).chain([INDEX.to_owned()]).collect();
    let entries = fs::read_dir(FOLDER)?.collect::<Result<Vec<_>, _>>()?;
    let actual: BTreeSet<String> = entries.iter().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    equal(actual, expected)
}

fn none(faults: Vec<String>) -> Result<(), Failed> {
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// The list has the digest of the text, and that of the files as they are now.
fn listed(file: &File) -> Result<(), Failed> {
    let index = fs::read_to_string(Path::new(FOLDER).join(INDEX))?;
    let of_module = Section::find(&index, &file.module).ok_or("the module is not in the list")?;
    let files = of_module.files();
    equal(files.iter().any(|name| name == "slm-kernels/lib.rs"), true)?;
    let sources = Sources::new(slm_kernels::SOURCES).digest(files.iter().map(String::as_str));
    let renew = "compile again: cargo run -p slm-cuda-builder -- kernels";
    let sources = sources.map_err(|missing| format!("there is no {missing}; {renew}"))?;
    if of_module.string("sources") != Some(&sources) {
        return Err(format!("compiled from other sources; {renew}").into());
    }
    equal(of_module.string("compiler").is_some_and(|compiler| compiler.starts_with("rustc ")), true)?;
    let section = format!("{}.sm_{}", file.module, file.target);
    let of_image = Section::find(&index, &section).ok_or("the target is not in the list")?;
    equal(
        of_image.string("flags").is_some_and(|flags| flags.contains(&format!("-Ctarget-cpu=sm_{} ", file.target))),
        true,
    )?;
    let text = file.text()?;
    equal(of_image.string("digest"), Some(&*image::digest(&text)))?;
    let code = Code::new(&text);
    equal(code.directive(".target"), vec![format!("sm_{}", file.target)])?;
    equal(code.directive(".address_size"), vec!["64".to_owned()])
}

fn entry_points(file: &File) -> Result<(), Failed> {
    let text = file.text()?;
    let code = Code::new(&text);
    let entries = code.entries();
    equal((entries.is_empty(), entries.len()), (false, file.entries()?.len()))?;
    // The name of each begins with the operation's, as that of the module does.
    let operation = file.module.split('_').next().unwrap_or_default();
    equal(entries.iter().find(|entry| !entry.starts_with(&format!("{operation}_"))), None)?;
    // Each is accompanied by the digest of its arguments.
    let has_layout = |entry: &&String| text.contains(&format!(" {entry}_layout[16] = {{"));
    equal(entries.iter().find(|entry| !has_layout(entry)), None)?;
    // Limits of registers are directives, and no longer constants: those of the sources.
    equal(text.lines().find(|line| line.contains("_registers[")), None)?;
    for (entry, kernel) in text.split(".entry ").skip(1).filter_map(|kernel| kernel.split_once('(')) {
        let limits = kernel.lines().filter_map(|line| line.strip_prefix(".maxnreg "));
        let limits: Vec<u32> = limits.map(str::parse).collect::<Result<_, _>>()?;
        let registers = Declaration::find(entry)?.registers;
        ensure(registers.allow(&limits), || format!("{entry}: {limits:?} instead of {registers:?}"))?;
        if matches!(registers, Registers::OfTypes) {
            equal((entry, limits), (entry, vec![registers_of_types(entry)?]))?;
        }
    }
    Ok(())
}

/// The most registers of a thread of those kernels whose limit depends on their types, so that as many warps run at the same time
/// as were fastest.
fn registers_of_types(entry: &str) -> Result<u32, Failed> {
    if let Some((_, instance)) = entry.split_once("1d_fft_") {
        return Ok(match instance {
            "f32_8192" | "f64_4096" | "parts_f32_4096" => 128,
            "parts_f64_2048" => 255,
            "f32_1024" | "f32_2048" | "f32_4096" => 80,
            "f64_1024" | "f64_2048" => 168,
            _ => return Err(format!("{entry} is not known").into()),
        });
    }
    let (_, instance) = entry.split_once("2d_").ok_or("not a filter of pictures")?;
    Ok(match instance {
        "box_f32" | "box_u8" | "box_mean_u8" => 128,
        _ if instance.starts_with("box_any_") || instance.starts_with("box_mean_") => 160,
        _ => match instance.split_once('_').ok_or("no types")?.1 {
            "f32_3" => 56,
            "f32_5" => 64,
            "f32_7" => 80,
            "f32_9" | "f32_15" => 128,
            "f32_31" => 255,
            "u8x4_3" => 128,
            "u8x4_5" => 168,
            "u8x4_7" => 255,
            _ => return Err(format!("{entry} is not known").into()),
        },
    })
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

/// Every kernel has as many barriers as its source. rustc may copy a function between two tests of one condition into each way
/// through them, and a barrier with copies is no longer one instruction that all threads of a block reach.
fn barriers(file: &File) -> Result<(), Failed> {
    for kernel in Code::new(&file.text()?).kernels() {
        let name = &kernel.entries()[0];
        let expected = match Declaration::find(name)?.has_arena {
            false => 0,
            // Two for each phase.
            true if name.contains("phases_of_columns") => 2,
            true if ["register_rows", "phases", "filter2d_register", "cached"].iter().any(|it| name.contains(it)) => 3,
            // After clearing, before each generation, and after the last one.
            true if name.contains("life_resident") => 3,
            // One before the first step, one of the warp for its row of samples, and one for the rows of a step.
            true if name.contains("filter2d_passes") => 3,
            // One of the block, and one of the warp for each of two rows of words that take turns, or for a row of single bytes.
            true if name.contains("streaming_u8x4_7") => 4,
            // The same for four rows of words.
            true if ["streaming_u8", "separable_u8"].iter().any(|it| name.contains(it)) => 6,
            // One of the block, and one of the warp for each of two rows that take turns.
            true if ["streaming", "separable"].iter().any(|it| name.contains(it)) => 3,
            // One of the block; of the warp two for the first rows, one for each of two rows that take turns, and two for a row of
            // single bytes.
            true if name.contains("running") => 7,
            // One of the block and one of the warp for each of two transforms, and one for the next part of the taps.
            true if name.contains("fft_parts") => 5,
            true if name.contains("fft") => 4,
            // One of the block at the beginning, and two for each batch of rows.
            true if name.contains("box") => 3,
            // Behind the samples, the runs, a step of their groups, and the outputs of a row.
            true if name.contains("rank2d_along") => 4,
            // For single bytes and for four at a time.
            true if name.contains("rank2d_down_u8") && file.target >= 90 => 6,
            true if name.contains("rank2d_down") => 3,
            // Behind the tile; for a digit three of the warp in counting, and one of the block before, in, and after adding up, and at the
            // end; behind the marks and the masks.
            true if name.contains("rank2d_sorted") => 10,
            // Behind the edges, the marks, the entries and the candidates of a guide, before the samples, and behind them.
            true if name.contains("histogram_guided") => 6,
            true if ["histogram", "banks", "rank2d_extreme", "rank2d_small_extreme", "rank2d_run_extreme"]
                .iter()
                .any(|it| name.contains(it)) =>
            {
                2
            }
            true => 1,
        };
        equal((name, kernel.count("bar.")), (name, expected))?;
    }
    Ok(())
}

/// Kernels without shared memory have no barriers, the others do, and all instances of a generic kernel have equally many. Kernels
/// whose loops depend on types are compared within a module only, and those whose loops depend on sizes are not. Unlike [`barriers`], this knows nothing of other kernels, so it holds for
/// new ones too.
fn instances_have_equal_barriers() -> Result<(), Failed> {
    let mut counts = BTreeMap::new();
    for file in files() {
        for kernel in Code::new(&file.text()?).kernels() {
            let (name, count) = (&kernel.entries()[0], kernel.count("bar."));
            let declaration = Declaration::find(name)?;
            equal((name, count > 0), (name, declaration.has_arena))?;
            // Of these, `barriers` knows the numbers.
            let alike = match () {
                () if name.contains("streaming") => Some(name.clone()),
                () if name.contains("separable") => Some(file.module.clone()),
                () if name.contains("rank2d_down") => Some(format!("{name} for sm_{}", file.target)),
                () => None,
            };
            let key = (ptr::from_ref(declaration), alike);
            let (instance, expected) = counts.entry(key).or_insert_with(|| (name.clone(), count)).clone();
            if count != expected {
                return Err(format!("{name} has {count} barriers, but {instance} has {expected}").into());
            }
        }
    }
    Ok(())
}

fn works_in_place(kernel: &str) -> bool {
    let kernels = ["swap", "permute", "rotate", "gather", "shuffle", "chunks"];
    kernels.iter().any(|other| kernel.starts_with("transpose_") && kernel.contains(other))
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
            () if name.contains("register") || name.contains("phases") => MOST_SUMS,
            () if name.contains("critical") => kernel.count("st.global."),
            () if works_in_place(name) => usize::MAX,
            () => 0,
        };
        let (plain, read_only) = (kernel.plain_loads(), kernel.count("ld.global.nc."));
        let written =
            ["st.global.", "atom.relaxed.gpu.global.", "red.relaxed.gpu.global."].map(|write| kernel.count(write));
        // The loop that accumulates works on numbers of its own. Those that move chunks have tables.
        let has_input = name != "banks_accumulate" && (!works_in_place(name) || name.ends_with("chunks"));
        if plain > allowed || (read_only > 0) != has_input || written == [0; 3] {
            return Err(format!("{name}: {plain} loads of output, {read_only} of input, {written:?} writes").into());
        }
        equal((name, kernel.count("st.shared.") > 0), (name, Declaration::find(name)?.has_arena))?;
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

/// The modules that the build script has made for this program, in another run than those of the library, from the same files.
#[cfg(cuda)]
mod built {
    cuda_std::include_kernels!();

    pub(super) use cuda_std::image::Origin;
}

#[cfg(cuda)]
fn origin() -> Result<(), Failed> {
    let origin = built::ORIGIN;
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
    let module = built::KERNELS.iter().find(|module| module.name() == file.module);
    let images = module.ok_or("this program has no such module")?.images();
    let image = images.iter().find(|image| image.target() == file.target).ok_or("this program has no such image")?;
    equal(image.verify(), Ok(()))?;
    let index = fs::read_to_string(Path::new(FOLDER).join(INDEX))?;
    let old = Section::find(&index, &file.module).and_then(|section| section.string("compiler")).unwrap_or_default();
    if let built::Origin::Built { compiler } = built::ORIGIN
        && old != compiler
    {
        eprintln!("{} is not compared: committed by {old}, built by {compiler}", file.name());
        return Ok(());
    }
    match committed.lines().zip(image.text().lines()).position(|(a, b)| a != b) {
        Some(line) => Err(format!("line {} differs from what was built", line + 1).into()),
        None => equal(committed.len(), image.text().len()),
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

fn ptxas_trial(ptxas: &Result<Ptxas, &'static str>, file: &File, target: u32) -> Trial {
    let name = format!("{}::ptxas_sm_{target}", file.name());
    let ignored = |reason: &str| Trial::test(&name, || Ok(())).with_ignored_flag(true).with_kind(reason);
    match ptxas {
        Err(reason) => ignored(reason),
        Ok(ptxas) if !ptxas.knows(target) => ignored("this ptxas does not know the target"),
        Ok(ptxas) => {
            let (program, file) = (ptxas.program.clone(), file.clone());
            Trial::test(&name, move || assemble(&program, &file, target))
        }
    }
}

/// The most registers of a kernel that is launched with 1024 threads in a block: no more fit.
const MOST_REGISTERS: u32 = 64;

/// Maximum number of bytes that a thread of a transform spills: those of 3 registers, or of 40 with sums of parts.
const MOST_SPILLED: [u32; 2] = [12, 160];

/// Maximum number of bytes that a thread spills for medians of 7 x 7 `f64`: two windows share 64 sorted numbers of two registers each, while
/// others are merged.
const MOST_SPILLED_BY_MEDIANS: u32 = 64;

/// Maximum number of bytes that a thread with a guide spills for GPUs before sm_90, whose uniform registers do not hold floats. With as many
/// registers as it would need, no second block would be resident on sm_80.
const MOST_SPILLED_BY_GUIDES: u32 = 72;

/// No entry point but transforms, guides and one for medians needs a stack, spills registers, or has too many of them for its blocks.
fn assemble(ptxas: &Path, file: &File, target: u32) -> Result<(), Failed> {
    let cubin = env::temp_dir().join(format!("slm-{}-{}-{target}.cubin", process::id(), file.name()));
    let mut command = Command::new(ptxas);
    command.args(["-v", &format!("-arch=sm_{target}"), "-o"]).arg(&cubin).arg(file.path());
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
        // Transforms have more numbers than the registers that several resident blocks allow, so a few are spilled.
        let most = match entry.trim() {
            "rank2d_median7_f64" => Some(MOST_SPILLED_BY_MEDIANS),
            entry if entry.contains("histogram_guided") && target < 90 => Some(MOST_SPILLED_BY_GUIDES),
            entry if entry.contains("_fft_") => Some(MOST_SPILLED[usize::from(entry.contains("_parts_"))]),
            _ => None,
        };
        if let Some(most) = most {
            let stores = properties.split(", ").find_map(|part| part.strip_suffix(" bytes spill stores")?.parse().ok());
            ensure(stores.is_some_and(|bytes: u32| bytes <= most), || format!("{entry}: {properties}"))?;
        } else {
            equal((entry, properties), (entry, expected))?;
        }
        let used = lines.next().and_then(|line| line.split_once("Used ")?.1.split(' ').next()?.parse().ok());
        let registers: u32 = used.ok_or("ptxas does not tell the registers")?;
        if entry.contains("histogram") && registers > MOST_REGISTERS {
            return Err(format!("{entry} takes {registers} registers").into());
        }
        checked.insert(entry.trim().to_owned());
    }
    equal(checked, file.entries()?)
}
