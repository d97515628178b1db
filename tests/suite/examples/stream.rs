//! Runs the example `08_stream`: compares its outputs with those of whole signals, and checks its errors.

use super::{begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds};
use crate::common::{Folder, ensure, equal, on_every_backend};
use libtest_mimic::{Failed, Trial};
use ndarray::Array3;
use slm::{Boundary, Device, Filter1d, Filter2d};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const EXAMPLE: &str = "08_stream";

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::stream", "blurred_line", blurred_line));
    trials.extend(on_every_backend("examples::stream", "blurred_picture", blurred_picture));
    trials.extend(on_every_backend("examples::stream", "counted", counted));
    let others: [(&str, Test); 12] = [
        ("the_device_comes_first", the_device_comes_first),
        ("force", force),
        ("in_place", in_place),
        ("types", types),
        ("ranges", ranges),
        ("standard_input_and_output", standard_input_and_output),
        ("an_empty_file", an_empty_file),
        ("bad_inputs", bad_inputs),
        ("bad_outputs", bad_outputs),
        ("incomplete_inputs", incomplete_inputs),
        ("bad_options", bad_options),
        ("names_like_options", names_like_options),
    ];
    // Those that need signals, limits and devices.
    let of_unix: [(&str, Test); 1] = [("ctrl_c", ctrl_c)];
    let of_linux: [(&str, Test); 2] = [("devices_as_outputs", devices_as_outputs), ("memory", memory)];
    let of_unix = of_unix.into_iter().filter(|_| cfg!(unix));
    let of_linux = of_linux.into_iter().filter(|_| cfg!(target_os = "linux"));
    let all = others.into_iter().chain(of_unix).chain(of_linux);
    trials.extend(all.map(|(name, test)| Trial::test(format!("examples::stream::{name}"), test)));
    of_example(EXAMPLE, trials)
}

fn blur(input: &Path, output: &Path) -> Command {
    let mut command = super::command(EXAMPLE);
    command.arg("blur").args([input, output]);
    command
}

fn count(input: &Path) -> Command {
    let mut command = super::command(EXAMPLE);
    command.arg("count").arg(input);
    command
}

/// Returns bytes without a pattern.
fn noise(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

fn to_i16(bytes: &[u8]) -> Vec<i16> {
    bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect()
}

fn blurred_line(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let bytes = noise(20_000);
    let (input, output) = (folder.put("sound.raw", &bytes)?, folder.path("soft.raw"));
    let options = ["--type", "i16", "--channels", "2", "--sigma", "5", "--memory", "10000", "--device", &name(device)];
    let said = succeeds(blur(&input, &output).args(options))?;
    ensure(said.contains("\n20000 bytes in "), || said)?;
    let filter = Filter1d::<i16, f32>::gaussian(5.0).channels(2).boundary(Boundary::Reflect).prepare(device)?;
    equal(to_i16(&fs::read(output)?), filter.apply(&to_i16(&bytes))?)?;
    folder.holds(&["soft.raw", "sound.raw"])
}

fn blurred_picture(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let bytes = noise(90 * 40 * 3);
    let (input, output) = (folder.put("picture.raw", &bytes)?, folder.path("blurred.raw"));
    let options = ["--columns", "40", "--channels", "3", "--sigma", "1.5", "--memory", "10000"];
    succeeds(blur(&input, &output).args(options).args(["--device", &name(device)]))?;
    let filter = Filter2d::<u8, f32>::gaussian(1.5).channels(3).boundary(Boundary::Reflect).prepare(device)?;
    let expected = filter.apply(&Array3::from_shape_vec((90, 40, 3), bytes)?)?;
    equal(fs::read(output)?, expected.into_raw_vec_and_offset().0)
}

/// Returns the lines of bins and of what is outside: a name and a count.
fn numbers(said: &str) -> Vec<[String; 2]> {
    let words = said.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let lines = words.filter_map(|words| <[String; 2]>::try_from(words).ok());
    lines.filter(|[name, count]| name != "channel" && count.parse::<u64>().is_ok()).collect()
}

fn counted(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let samples = (0..1000u16).flat_map(|i| [i, 65_535]).flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let input = folder.put("samples.raw", &samples)?;
    let options = ["--type", "u16", "--channels", "2", "--bins", "2", "--from", "100", "--to", "300"];
    let said = succeeds(count(&input).args(options).args(["--memory", "1000", "--device", &name(device)]))?;
    ensure(said.contains("\n4000 bytes in ") && said.contains("\nchannel 1\n"), || said.clone())?;
    let first = [("100", "100"), ("200", "100"), ("below", "100"), ("above", "700"), ("NaN", "0")];
    let second = [("100", "0"), ("200", "0"), ("below", "0"), ("above", "1000"), ("NaN", "0")];
    let expected = [first, second].concat().into_iter().map(|(name, count)| [name, count].map(str::to_owned));
    equal(numbers(&said), expected.collect())
}

fn the_device_comes_first() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("input.raw", &noise(100))?;
    begins_with_the_device(&folder.path("output.raw"), |output| blur(&input, output))?;
    begins_with_the_device(&folder.path("output.raw"), |_| count(&input))
}

fn force() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("input.raw", &noise(100))?;
    overwrites_with_force_only(&folder.path("output.raw"), |output| blur(&input, output))?;
    folder.holds(&["input.raw", "output.raw"])
}

/// The input as the output is refused like any file that exists. With `--force`, it is read before it is replaced.
fn in_place() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let (input, output) = (folder.put("input.raw", &noise(10_000))?, folder.path("output.raw"));
    succeeds(&mut blur(&input, &output))?;
    fails(&mut blur(&input, &input), 1, &["input.raw: the file exists; --force overwrites it"])?;
    succeeds(blur(&input, &input).args(["--force", "--memory", "1000"]))?;
    equal(fs::read(&input)? == fs::read(&output)?, true)
}

fn types() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let output = folder.path("output.raw");
    let (bytes, floats) = (noise(480), (0..60).flat_map(|i| f64::from(i).to_le_bytes()).collect::<Vec<_>>());
    for (name, bytes) in
        [("u8", &bytes), ("u16", &bytes), ("i16", &bytes), ("i32", &bytes), ("f32", &floats), ("f64", &floats)]
    {
        let input = folder.put("input.raw", bytes)?;
        succeeds(blur(&input, &output).args(["--force", "--type", name, "--sigma", "0"]))?;
        equal(&fs::read(&output)?, bytes)?;
    }
    Ok(())
}

/// Without a range, integers of all values are counted.
fn ranges() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("input.raw", &noise(480))?;
    for (name, bytes, first) in [("u8", 1, "0"), ("u16", 2, "0"), ("u32", 4, "0"), ("i32", 4, "-2147483648")] {
        let said = succeeds(count(&input).args(["--type", name, "--bins", "1"]))?;
        let expected = [(first, 480 / bytes), ("below", 0), ("above", 0), ("NaN", 0)];
        equal(numbers(&said), expected.map(|(name, count)| [name.to_owned(), count.to_string()]).to_vec())?;
    }
    let samples = [-0.5, 0.1, 0.3, f64::NAN];
    for (name, bytes) in [
        ("f32", samples.iter().flat_map(|&sample| (sample as f32).to_le_bytes()).collect::<Vec<_>>()),
        ("f64", samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()),
    ] {
        let input = folder.put("input.raw", &bytes)?;
        let said = succeeds(count(&input).args(["--type", name, "--bins", "2", "--from", "0", "--to", "0.5"]))?;
        let expected = [("0", "1"), ("0.25", "1"), ("below", "1"), ("above", "0"), ("NaN", "1")];
        equal(numbers(&said), expected.map(|(name, count)| [name, count].map(str::to_owned)).to_vec())?;
        fails(count(&input).args(["--type", name]), 1, &["--from and --to are needed for floats"])?;
    }
    Ok(())
}

/// Runs a command with these bytes as standard input.
fn with_input(command: &mut Command, bytes: &[u8]) -> Result<Output, Failed> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Smaller than the buffer of a pipe, and closed when it is dropped.
    child.stdin.take().ok_or("no input")?.write_all(bytes)?;
    Ok(child.wait_with_output()?)
}

fn standard_input_and_output() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let (bytes, dash) = (noise(3000), Path::new("-"));
    let (input, output) = (folder.put("input.raw", &bytes)?, folder.path("output.raw"));
    succeeds(&mut blur(&input, &output))?;
    let expected = fs::read(&output)?;
    for mut command in [blur(dash, dash), blur(&input, dash)] {
        let Output { status, stdout, stderr } = with_input(&mut command, &bytes)?;
        equal((status.success(), stdout, stderr), (true, expected.clone(), vec![]))?;
    }
    let Output { stdout, .. } = with_input(count(dash).args(["--bins", "1"]), &bytes)?;
    equal(&numbers(&String::from_utf8(stdout)?)[0], &["0".to_owned(), "3000".to_owned()])?;
    let Output { status, stdout, stderr } = with_input(blur(dash, dash).args(["--type", "u16"]), &bytes[..5])?;
    equal((status.code(), stdout), (Some(1), vec![]))?;
    let message = "error: after 5 bytes of input and 0 bytes of output: \
                   the input ends with 1 of the 2 bytes of a sample with all channels, of a row, or of a weight\n";
    equal(String::from_utf8(stderr)?, message.to_owned())
}

fn an_empty_file() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let (input, output) = (folder.put("empty", b"")?, folder.path("output.raw"));
    succeeds(&mut blur(&input, &output))?;
    equal(fs::read(&output)?, vec![])?;
    succeeds(blur(&input, &output).args(["--columns", "10", "--force"]))?;
    equal(fs::read(&output)?, vec![])?;
    let said = succeeds(count(&input).args(["--bins", "1"]))?;
    equal(&numbers(&said)[0], &["0".to_owned(), "0".to_owned()])
}

fn bad_inputs() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let output = folder.path("output.raw");
    fails(&mut blur(&folder.path("nothing"), &output), 1, &["nothing: "])?;
    fails(&mut count(&folder.path("nothing")), 1, &["nothing: "])?;
    fails(&mut blur(&folder.path(""), &output), 1, &[": the path is a folder"])?;
    folder.holds(&[])
}

fn bad_outputs() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("input.raw", &noise(100))?;
    let nowhere = folder.path("nowhere").join("output.raw");
    fails(&mut blur(&input, &nowhere), 1, &["output.raw: the folder ", "nowhere does not exist"])?;
    fs::create_dir(folder.path("folder"))?;
    fails(blur(&input, &folder.path("folder")).arg("--force"), 1, &["folder: the path is a folder"])?;
    // The name is too long for a file.
    fails(&mut blur(&input, &folder.path(&"x".repeat(300))), 1, &["xxx: "])?;
    folder.holds(&["folder", "input.raw"])
}

/// An end within a sample, or within a row. Parts before it have been written then.
fn incomplete_inputs() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let (input, output) = (folder.put("input.raw", &noise(100_001))?, folder.path("output.raw"));
    for (options, reason) in [
        (["--type", "u16", "--channels", "1"], "the input ends with 1 of the 2 bytes of a sample"),
        (["--columns", "7", "--channels", "3"], "the input ends with 20 of the 21 bytes of a sample"),
    ] {
        let message = format!("bytes of output: {reason}");
        let mut command = blur(&input, &output);
        command.args(options).args(["--memory", "1000"]);
        fails(&mut command, 1, &["after 100001 bytes of input and ", &message, "output.raw was not written"])?;
        // The bytes that the message says.
        let Output { stderr, .. } = command.output()?;
        let errors = String::from_utf8(stderr)?;
        let written = errors.split_once("input and ").and_then(|(_, rest)| rest.split_once(" bytes of output"));
        let written: u64 = written.ok_or("no number")?.0.parse()?;
        ensure((90_000..100_000).contains(&written), || errors)?;
    }
    fails(
        count(&input).args(["--channels", "2"]),
        1,
        &["after 100001 bytes of input and 0 bytes of output: the input"],
    )?;
    // What was there is still there.
    fs::write(&output, b"before")?;
    fails(blur(&input, &output).args(["--force", "--type", "f64"]), 1, &["output.raw was not written"])?;
    equal(fs::read(&output)?, b"before".to_vec())?;
    folder.holds(&["input.raw", "output.raw"])
}

fn bad_options() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let (input, output) = (folder.put("input.raw", &noise(100))?, folder.path("output.raw"));
    let sigma = "--sigma -1: a standard deviation must be from 0, which does not blur, to 1048576 pixels";
    fails(blur(&input, &output).args(["--sigma", "-1"]), 1, &[sigma])?;
    fails(blur(&input, &output).args(["--channels", "0"]), 1, &["a filter must have at least 1 channel"])?;
    fails(blur(&input, &output).args(["--columns", "0"]), 2, &["invalid value '0' for '--columns <COLUMNS>'"])?;
    let many = ["--columns", "4294967295", "--channels", "4294967295"];
    fails(blur(&input, &output).args(many), 1, &["output.raw was not written"])?;
    fails(blur(&input, &output).args(["--device", "toaster"]), 1, &["'toaster'", "output.raw was not written"])?;
    fails(blur(&input, &output).args(["--type", "u32"]), 2, &["invalid value 'u32' for '--type <TYPE>'"])?;
    fails(blur(&input, &output).args(["--memory", "-1"]), 2, &["invalid value '-1' for '--memory <BYTES>'"])?;
    fails(count(&input).args(["--type", "i16"]), 2, &["invalid value 'i16' for '--type <TYPE>'"])?;
    fails(count(&input).args(["--from", "1"]), 2, &["required arguments were not provided", "--to <TO>"])?;
    fails(count(&input).args(["--from", "0.5", "--to", "2"]), 1, &["whole numbers for integers, not 0.5 and 2"])?;
    fails(count(&input).args(["--from", "nan", "--to", "2"]), 1, &["whole numbers for integers, not NaN and 2"])?;
    fails(count(&input).args(["--from", "2", "--to", "1"]), 1, &["error: "])?;
    fails(count(&input).args(["--bins", "0"]), 1, &["bins"])?;
    fails(super::command(EXAMPLE).arg("shrink"), 2, &["unrecognized subcommand 'shrink'"])?;
    folder.holds(&["input.raw"])
}

fn names_like_options() -> Result<(), Failed> {
    let folder = Folder::new()?;
    folder.put("-x.raw", &noise(100))?;
    let run = |file: &str| {
        let mut command = super::command(EXAMPLE);
        command.current_dir(folder.path("")).args(["count", file]);
        command
    };
    fails(
        &mut run("-x.raw"),
        2,
        &["unexpected argument '-x.raw' found", "  tip: if it is a file, write './-x.raw'\n"],
    )?;
    succeeds(&mut run("./-x.raw"))?;
    Ok(())
}

/// An input without end. The program ends, and leaves no file.
fn ctrl_c() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let output = folder.path("output.raw");
    let mut command = blur(Path::new("-"), &output);
    command.args(["--memory", "10000", "--device", "cpu"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let bytes = noise(1 << 20);
    // More than the buffer of a pipe, so the program has begun to read.
    input.write_all(&bytes)?;
    // The shell's own command, because not every system has a program `kill`.
    let status = Command::new("sh").args(["-c", r#"kill -INT "$0""#, &child.id().to_string()]).status()?;
    let is_closed = (0..1000).any(|_| input.write_all(&bytes).is_err());
    drop(input);
    let Output { status: ended, stderr, .. } = child.wait_with_output()?;
    let errors = String::from_utf8(stderr)?;
    equal((status.success(), is_closed, ended.code()), (true, true, Some(130)))?;
    let is_said = errors.starts_with("interrupted after ") && errors.ends_with("output.raw was not written\n");
    ensure(is_said && errors.contains(": cancelled; "), || errors)?;
    folder.holds(&[])
}

/// A device is no output file. As standard output it can be full.
fn devices_as_outputs() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("input.raw", &noise(100_000))?;
    let message = "/dev/null: the path is not that of a file, but of a device or a pipe";
    fails(blur(&input, Path::new("/dev/null")).arg("--force"), 1, &[message])?;
    let full = File::options().write(true).open("/dev/full")?;
    let child = blur(&input, Path::new("-")).stdout(full).stderr(Stdio::piped()).spawn()?;
    let Output { status, stderr, .. } = child.wait_with_output()?;
    let errors = String::from_utf8(stderr)?;
    equal(status.code(), Some(1))?;
    let is_said =
        errors.starts_with("error: after ") && errors.contains(" bytes of output: the output cannot be written: ");
    ensure(is_said, || errors)
}

/// A file of more bytes than the program may have memory.
fn memory() -> Result<(), Failed> {
    const BYTES: u64 = 512 << 20;
    let folder = Folder::new()?;
    let input = folder.path("zeros.raw");
    // It takes no space.
    File::create(&input)?.set_len(BYTES)?;
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -v 250000 && exec "$0" "$@""#]).arg(count(&input).get_program());
    command.arg("count").arg(&input).args(["--memory", "20000000", "--device", "cpu", "--bins", "1"]);
    let said = succeeds(command.env("MALLOC_ARENA_MAX", "1").env("RAYON_NUM_THREADS", "2"))?;
    equal(&numbers(&said)[0], &["0".to_owned(), BYTES.to_string()])
}
