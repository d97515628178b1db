//! Jobs of several ranks. `mpirun` starts this program again for each rank, with the name of a task and a folder.

use libtest_mimic::{Arguments, Failed, Trial};
use slm::distributed::Devices;
use slm::ndarray::{Array2, s};
use slm::{Boundary, Device, Filter1d, Filter2d, Histogram, Life, Transpose};
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time until a job has ended after the failure of a rank.
const LIMIT: Duration = Duration::from_secs(60);

/// Set in the ranks that the tests start.
const TASK: &str = "SLM_MPI_TEST_TASK";

fn main() -> ExitCode {
    match env::var(TASK) {
        Ok(task) => slm_mpi::run(|devices| rank(&task, devices)),
        Err(_) => tests(),
    }
}

fn tests() -> ExitCode {
    let arguments = Arguments::from_args();
    let has_mpirun = Command::new("mpirun").arg("--version").output().is_ok();
    if !has_mpirun {
        eprintln!("skipped: there is no mpirun (Debian: libopenmpi-dev openmpi-bin)");
    }
    let has_gpu = Device::cuda(0).is_ok();
    if !has_gpu {
        eprintln!("skipped: there is no GPU for the jobs on GPUs");
    }
    let tests: [(&str, bool, fn() -> Result<(), Failed>); 7] = [
        ("results_do_not_depend_on_ranks", true, || results("cpu", &["auto"])),
        ("results_on_gpus_do_not_depend_on_ranks", has_gpu, || results("cuda", &["auto", "host"])),
        ("ranks_on_a_gpu_and_the_cpu_exchange", has_gpu, mixed),
        ("example_cluster", true, example),
        ("panic_ends_the_job", true, panics),
        ("error_ends_the_job", true, errors),
        ("killed_rank_ends_the_job", true, killed),
    ];
    let trials = tests.map(|(name, can_run, test)| Trial::test(name, test).with_ignored_flag(!has_mpirun || !can_run));
    // Jobs of several ranks have more than enough processes.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, trials.into()).exit_code()
}

/// What a rank does: `task` is a failure, or a folder for its results.
fn rank(task: &str, devices: &Devices) -> Result<(), String> {
    let (member, _) = devices.local().next().ok_or("no member")?;
    println!("rank {member} pid {}", std::process::id());
    match (task, member) {
        ("panic", 1) => panic!("expected"),
        ("error", 1) => return Err("expected".to_owned()),
        // Longer than the limit; the test kills it.
        ("sleep", 1) => thread::sleep(3 * LIMIT),
        _ => {}
    }
    // After a failure, this waits for rank 1.
    let results = on_ranks(devices).map_err(|error| error.to_string())?;
    for (name, bytes) in OPERATIONS.iter().zip(results) {
        fs::write(part(Path::new(task), name, member), bytes).map_err(|error| error.to_string())?;
    }
    Ok(())
}

const OPERATIONS: [&str; 5] = ["line", "picture", "counts", "transposed", "life"];

/// Where a member puts its part of a result.
fn part(folder: &Path, operation: &str, member: usize) -> PathBuf {
    folder.join(format!("{operation}.{member}"))
}

const COLUMNS: usize = 19;
const ROWS: usize = 300;

/// Returns floats whose sums depend on the order of their terms.
fn data() -> Array2<f32> {
    let mut state = 1u32;
    Array2::from_shape_simple_fn((ROWS, COLUMNS), || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    })
}

fn line() -> Filter1d<f32> {
    Filter1d::correlate(&[0.1f32, 0.7, -0.3, 0.2, 0.9]).boundary(Boundary::Wrap)
}

fn picture() -> Filter2d<f32, f32> {
    Filter2d::gaussian(2.0).boundary(Boundary::Mirror)
}

fn counts() -> Histogram<f32> {
    Histogram::even(10, 0.0f32..1.0)
}

/// Returns the bytes of this rank's parts of the results.
fn on_ranks(devices: &Devices) -> slm::Result<[Vec<u8>; 5]> {
    let data = data();
    let samples = devices.distribute(data.as_slice().unwrap_or_default())?;
    let matrix = devices.distribute(&data)?;
    Ok([
        bytes(&line().prepare_on(devices)?.apply(&samples)?.download()?),
        bytes(&picture().prepare_on(devices)?.apply(&matrix)?.download()?),
        bytes(counts().prepare_on(devices)?.apply(&samples)?.bins()?),
        bytes(&Transpose::new(ROWS, COLUMNS).prepare_on(devices)?.apply(&matrix)?.download()?),
        life_on_ranks(devices)?,
    ])
}

/// Returns the bytes of the results on one device.
fn on_one(device: &Device) -> slm::Result<[Vec<u8>; 5]> {
    let data = data();
    let samples = data.as_slice().unwrap_or_default();
    Ok([
        bytes(&line().prepare(device)?.apply(samples)?),
        bytes(&picture().prepare(device)?.apply(&data)?.into_raw_vec_and_offset().0),
        bytes(counts().prepare(device)?.apply(samples)?.bins()?),
        bytes(&Transpose::new(ROWS, COLUMNS).prepare(device)?.apply(samples)?),
        life_on_one(device)?,
    ])
}

/// Several exchanges of rows.
const GENERATIONS: u64 = 150;

fn cells() -> Array2<u64> {
    let mut state = 1u64;
    Array2::from_shape_simple_fn((ROWS, 2), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ (state >> 29)
    })
}

fn life_on_ranks(devices: &Devices) -> slm::Result<Vec<u8>> {
    let (mut board, cells) = (Life::new(ROWS, 128).prepare_on(devices)?, cells());
    let mut words = Vec::new();
    for (member, _) in devices.local() {
        let rows = board.distribution().rows(member);
        board.set_words(member, cells.slice(s![rows, ..]))?;
    }
    board.step(GENERATIONS)?;
    for (member, _) in devices.local() {
        words.extend(board.words(member)?.into_iter().flatten());
    }
    Ok(bytes(&words))
}

fn life_on_one(device: &Device) -> slm::Result<Vec<u8>> {
    let mut board = Life::new(ROWS, 128).prepare(device)?;
    board.set_words(cells().view())?;
    board.step(GENERATIONS)?;
    Ok(bytes(&board.words()?.into_raw_vec_and_offset().0))
}

fn bytes<T: bytemuck::NoUninit>(elements: &[T]) -> Vec<u8> {
    bytemuck::must_cast_slice::<T, u8>(elements).to_vec()
}

/// `memory` are values of `SLM_MPI_MEMORY`.
fn results(device: &str, memory: &[&str]) -> Result<(), Failed> {
    let expected = on_one(&Device::named(device)?)?;
    for ranks in 1..=4 {
        for memory in memory {
            let folder = Folder::new(&format!("{device}-{ranks}"))?;
            let mut job = job(ranks, &env::current_exe()?);
            job.env("SLM_DEVICE", device).env("SLM_MPI_MEMORY", memory).env(TASK, &folder.0);
            succeeded(&job.output()?)?;
            for (operation, expected) in OPERATIONS.iter().zip(&expected) {
                check(&folder.0, operation, ranks, expected)?;
            }
        }
    }
    let refused = job(2, &env::current_exe()?).env("SLM_MPI_MEMORY", "gpu").env(TASK, "none").output()?;
    failed(&refused, "SLM_MPI_MEMORY is 'gpu', but must be auto or host")
}

/// Floats of a GPU differ from those of the CPU, but their counts, places and cells do not.
fn mixed() -> Result<(), Failed> {
    let (expected, folder, program) = (on_one(&Device::cpu())?, Folder::new("mixed")?, env::current_exe()?);
    let mut job = mpirun();
    job.args(["-n", "1", "env", "SLM_DEVICE=cpu"]).arg(&program);
    job.args([":", "-n", "2", "env", "SLM_DEVICE=cuda"]).arg(&program);
    succeeded(&job.env(TASK, &folder.0).output()?)?;
    for (operation, expected) in OPERATIONS.iter().zip(&expected).skip(2) {
        check(&folder.0, operation, 3, expected)?;
    }
    Ok(())
}

/// Compares what ranks have put into a folder.
fn check(folder: &Path, operation: &str, ranks: usize, expected: &[u8]) -> Result<(), Failed> {
    let parts = (0..ranks).map(|member| fs::read(part(folder, operation, member)));
    let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
    if operation == "counts" {
        // All have the counts of all.
        parts.dedup();
    }
    match parts.concat() == expected {
        true => Ok(()),
        false => Err(format!("{operation} on {ranks} ranks differs from one device").into()),
    }
}

fn example() -> Result<(), Failed> {
    let folder = Folder::new("example")?;
    let [input, output] = ["matrix.f32", "blurred.f32"].map(|name| folder.0.join(name));
    let data = data();
    fs::write(&input, bytes(data.as_slice().unwrap_or_default()))?;
    let arguments = ["blur".as_ref(), input.as_os_str(), output.as_os_str(), "--columns".as_ref(), "19".as_ref()];
    succeeded(&job(4, &example_program()?).args(arguments).args(["--sigma", "2"]).output()?)?;
    let filter = Filter2d::<f32, f32>::gaussian(2.0).boundary(Boundary::Reflect).prepare(&Device::cpu())?;
    let expected = filter.apply(&data)?.into_raw_vec_and_offset().0;
    if fs::read(&output)? != bytes(&expected) {
        return Err("the example differs from one device".into());
    }
    // The same file under another name.
    let again = folder.0.join("..").join(folder.0.file_name().ok_or("no name")?).join("matrix.f32");
    let same = job(2, &example_program()?).arg("blur").args([&input, &again]).args(["--columns", "19"]).output()?;
    failed(&same, "the input and the output are the same file")?;
    // Rows that are not whole are an error of each rank.
    let refused = job(2, &example_program()?).args(&arguments[..3]).args(["--columns", "17"]).output()?;
    failed(&refused, "not whole rows of 17 elements")?;
    // The example compares by itself.
    succeeded(&job(3, &example_program()?).args(["transpose", "--side", "301", "--times", "2"]).output()?)?;
    // The same population on any number of ranks.
    let mut populations = Vec::new();
    for ranks in [1, 4] {
        let soup = job(ranks, &example_program()?).args(["life", "--side", "300", "--generations", "100"]).output()?;
        succeeded(&soup)?;
        populations.push(text(&soup.stdout).split(':').next().unwrap_or_default().to_owned());
    }
    let is_same = populations[0].ends_with(|digit: char| digit.is_ascii_digit()) && populations[0] == populations[1];
    if is_same { Ok(()) } else { Err(format!("{populations:?}").into()) }
}

/// Returns the path of the example, which is built with the tests.
fn example_program() -> Result<PathBuf, Failed> {
    let test = env::current_exe()?;
    let target = test.parent().and_then(Path::parent).ok_or("the test is in target/debug/deps")?;
    Ok(target.join("examples/cluster"))
}

fn panics() -> Result<(), Failed> {
    let job = Job::start("panic")?.wait()?;
    failed(&job, "error in rank 1 of 3: a panic")
}

fn errors() -> Result<(), Failed> {
    let job = Job::start("error")?.wait()?;
    failed(&job, "error in rank 1 of 3: expected")
}

fn killed() -> Result<(), Failed> {
    let mut job = Job::start("sleep")?;
    let mut lines = BufReader::new(job.0.stdout.take().ok_or("no output")?).lines();
    let pid = loop {
        let line = lines.next().ok_or("rank 1 printed no pid")??;
        if let Some(pid) = line.strip_prefix("rank 1 pid ") {
            break pid.to_owned();
        }
    };
    if !Command::new("kill").args(["-9", &pid]).status()?.success() {
        return Err("rank 1 was not killed".into());
    }
    failed(&job.wait()?, "")
}

/// A job of three ranks.
struct Job(Child);

impl Job {
    fn start(task: &str) -> Result<Self, Failed> {
        let mut command = job(3, &env::current_exe()?);
        command.env(TASK, task).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Job(command.spawn()?))
    }

    /// Waits until the job has ended. It prints little, so it does not wait for a reader.
    fn wait(mut self) -> Result<Output, Failed> {
        let start = Instant::now();
        let status = loop {
            match self.0.try_wait()? {
                Some(status) => break status,
                None if start.elapsed() < LIMIT => thread::sleep(Duration::from_millis(50)),
                None => return Err(format!("the job has not ended within {LIMIT:?}").into()),
            }
        };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        if let Some(pipe) = &mut self.0.stdout {
            pipe.read_to_end(&mut stdout)?;
        }
        if let Some(pipe) = &mut self.0.stderr {
            pipe.read_to_end(&mut stderr)?;
        }
        Ok(Output { status, stdout, stderr })
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // Ended already, unless a test failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the command for ranks of a program on the CPU.
fn job(ranks: usize, program: &Path) -> Command {
    let mut command = mpirun();
    command.args(["-n", &ranks.to_string()]).arg(program).env("SLM_DEVICE", "cpu");
    command
}

/// Returns the command for jobs, as root too, and with more ranks than there are cores.
fn mpirun() -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe"]).stdin(Stdio::null());
    command
}

fn succeeded(job: &Output) -> Result<(), Failed> {
    if job.status.success() { Ok(()) } else { Err(format!("{}: {}", job.status, text(&job.stderr)).into()) }
}

fn failed(job: &Output, message: &str) -> Result<(), Failed> {
    match text(&job.stderr) {
        _ if job.status.success() => Err("the job succeeded".into()),
        stderr if !stderr.contains(message) => Err(format!("'{message}' is not in {stderr}").into()),
        _ => Ok(()),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Result<Self, Failed> {
        let folder = env::temp_dir().join(format!("slm-mpi-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
