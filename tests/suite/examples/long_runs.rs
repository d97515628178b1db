//! Long runs of the example `07_life`: boards that repeat, Ctrl-C, progress, and memory.

use super::life::{board, life, life_of, population, shows};
use super::succeeds;
use super::svg::Svg;
use crate::common::{Folder, ensure, equal};
use image::AnimationDecoder;
use image::codecs::gif::GifDecoder;
use libtest_mimic::{Failed, Trial};
use slm::life::{Board, Outcome, Topology};
use std::fs;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::process::{Child, Command, Output, Stdio};

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 3] =
        [("repetitions", repetitions), ("histories_of_repetitions", histories_of_repetitions), ("frames", frames)];
    // Those that need signals and limits.
    let of_unix: [(&str, Test); 2] = [("ctrl_c", ctrl_c), ("ctrl_c_without_a_terminal", ctrl_c_without_a_terminal)];
    let of_linux: [(&str, Test); 1] = [("memory", memory)];
    let of_unix = of_unix.into_iter().filter(|_| cfg!(unix));
    let of_linux = of_linux.into_iter().filter(|_| cfg!(target_os = "linux"));
    let all = tests.into_iter().chain(of_unix).chain(of_linux);
    all.map(|(name, test)| Trial::test(format!("examples::life::{name}"), test)).collect()
}

/// Computes a generation, with as few steps as the period allows.
fn advance(board: &mut Board, generation: u64) -> Result<(), Failed> {
    let period = match board.run_until_stable(1_000_000)? {
        Outcome::Extinct | Outcome::StillLife => 1,
        Outcome::Oscillator { period } => period,
        other => return Err(format!("{other:?}").into()),
    };
    Ok(board.step((generation - board.generation()) % period)?)
}

/// Runs that would take longer than there is time, on boards that repeat at once, late, and in long periods.
fn repetitions() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let output = folder.path("board.png");
    for (pattern, size, sides) in [
        ("pulsar.cells", "20x20", [20, 20]),
        ("glider.cells", "8x9", [8, 9]),
        ("r-pentomino.rle", "30x40", [30, 40]),
        ("glider-gun.rle", "40x70", [40, 70]),
    ] {
        for generations in [1_000_000_000_000, u64::MAX - 1, u64::MAX] {
            let text = generations.to_string();
            let options = ["--size", size, "--generations", &text, "--device", "cpu", "--force", "--picture"];
            let mut command = life_of(pattern, &options)?;
            let mut expected = board(pattern, sides, Topology::Torus)?;
            advance(&mut expected, generations)?;
            let actual = population(command.arg(&output), generations)?;
            equal((pattern, generations, actual), (pattern, generations, expected.population()?))?;
            let picture = image::open(&output)?.into_luma8();
            shows(&picture, &expected, picture.width() / sides[1] as u32)?;
        }
    }
    let mut command = life(&["--size", "3x3", "--generations", "18446744073709551615"]);
    let said = succeeds(&mut command)?;
    ensure(said.contains("\ngeneration 18446744073709551615, population "), || said)
}

/// A pulsar has 48, 56 and 72 cells in turn.
fn histories_of_repetitions() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let svg = folder.path("chart.svg");
    let generations: u64 = 1_000_000_000_000;
    let text = generations.to_string();
    succeeds(life_of("pulsar.cells", &["--size", "20x20", "--generations", &text, "--svg"])?.arg(&svg))?;
    let outlines = Svg::new(fs::read_to_string(&svg)?)?.outlines(2)?;
    let heights = outlines[0].heights();
    let every = generations.div_ceil(2048);
    let shown: Vec<_> =
        (0..).map(|k| k * every).take_while(|shown| *shown < generations).chain([generations]).collect();
    let mut cycle = board("pulsar.cells", [20, 20], Topology::Torus)?;
    let first = cycle.population()?;
    let others = cycle.record(2, 1)?;
    let populations = [first, others[0].population, others[1].population];
    equal(populations, [48, 56, 72])?;
    // A pixel shows the largest of its generations.
    let pixel = |generation: &u64| (836.0 * *generation as f64 / (generations as f64 + 1.0)).floor();
    let largest = |shown: &[u64]| shown.iter().map(|generation| populations[(generation % 3) as usize]).max();
    let expected: Vec<_> = shown.chunk_by(|a, b| pixel(a) == pixel(b)).filter_map(largest).map(|n| n as f64).collect();
    ensure(expected.contains(&56.0) && expected.contains(&72.0), || format!("{expected:?}"))?;
    equal(heights.len(), expected.len())?;
    let scale = heights[0] / expected[0];
    let is_right = heights.iter().zip(expected).all(|(height, expected)| (height - scale * expected).abs() < 0.5);
    ensure(is_right, || format!("{heights:?}"))
}

fn frames() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let output = folder.path("board.gif");
    let arguments = ["--size", "8x9", "--generations", "18446744073709551615", "--frames", "3", "--picture"];
    succeeds(life_of("glider.cells", &arguments)?.arg(&output))?;
    let pictures = GifDecoder::new(Cursor::new(fs::read(&output)?))?.into_frames().collect_frames()?;
    equal(pictures.len(), 4)?;
    for (k, picture) in (0..).zip(pictures) {
        let mut board = board("glider.cells", [8, 9], Topology::Torus)?;
        board.step((k * (u64::MAX / 3)) % 288)?;
        shows(&image::DynamicImage::from(picture.into_buffer()).into_luma8(), &board, 16)?;
    }
    Ok(())
}

/// A running program, which is ended if the trial fails.
struct Running(Option<Child>);

impl Running {
    fn child(&mut self) -> Result<&mut Child, Failed> {
        self.0.as_mut().ok_or_else(|| "it has ended".into())
    }

    /// Presses Ctrl-C.
    fn interrupt(&mut self) -> Result<(), Failed> {
        // The shell's own command, because not every system has a program `kill`.
        let id = self.child()?.id().to_string();
        let status = Command::new("sh").args(["-c", r#"kill -INT "$0""#, &id]).status()?;
        ensure(status.success(), || format!("kill: {status}"))
    }

    fn wait_with_output(mut self) -> Result<Output, Failed> {
        Ok(self.0.take().ok_or("it has ended")?.wait_with_output()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Reads lines up to one that begins with `start`, and returns it.
fn line(lines: &mut impl BufRead, start: &str) -> Result<String, Failed> {
    let mut read = String::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Err(format!("no line begins with {start}: {read}").into());
        }
        if line.starts_with(start) {
            return Ok(line);
        }
        read += &line;
    }
}

/// Returns the number after a word.
fn number_after(text: &str, word: &str) -> Result<u64, Failed> {
    let digits = text.split(word).last().unwrap_or_default().trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().map_err(|_| format!("no number after {word}: {text}").into())
}

/// The picture and the chart are those of the generation that the report says.
fn ctrl_c() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let (picture, svg) = (folder.path("board.png"), folder.path("chart.svg"));
    let options = ["--size", "90x100", "--generations", "1000000", "--watch", "--delay", "0", "--device", "cpu"];
    let mut command = life_of("r-pentomino.rle", &options)?;
    command.arg("--picture").arg(&picture).arg("--svg").arg(&svg).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(Some(command.spawn()?));
    let mut output = BufReader::new(running.child()?.stdout.take().ok_or("no output")?);
    line(&mut output, "generation 20, ")?;
    running.interrupt()?;
    let mut said = String::new();
    output.read_to_string(&mut said)?;
    let rest = running.wait_with_output()?;
    let errors = String::from_utf8(rest.stderr)?;
    equal(rest.status.code(), Some(130))?;
    let last = said.lines().last().unwrap_or_default();
    let generation = number_after(last, "generation")?;
    ensure((21..1_000_000).contains(&generation), || said.clone())?;
    equal(errors, format!("interrupted after generation {generation} of 1000000\n"))?;
    let mut expected = board("r-pentomino.rle", [90, 100], Topology::Torus)?;
    expected.step(generation)?;
    equal(number_after(last, "population")?, expected.population()?)?;
    shows(&image::open(&picture)?.into_luma8(), &expected, 5)?;
    Svg::new(fs::read_to_string(&svg)?)?.says(&["generation", "living cells"])?;
    folder.holds(&["board.png", "chart.svg"])
}

/// A long run without a terminal says where it is. The board is too large to be searched for repetitions.
fn ctrl_c_without_a_terminal() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let picture = folder.path("board.png");
    let options = ["--size", "4100x4100", "--generations", "1000000000000", "--device", "cpu", "--picture"];
    let mut command = life_of("glider.cells", &options)?;
    let child = command.arg(&picture).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut running = Running(Some(child));
    let mut errors = BufReader::new(running.child()?.stderr.take().ok_or("no errors")?);
    let said = line(&mut errors, "generation ")?;
    ensure(said.ends_with(" of 1000000000000\n"), || said.clone())?;
    running.interrupt()?;
    let mut rest = String::new();
    errors.read_to_string(&mut rest)?;
    let output = running.wait_with_output()?;
    equal(output.status.code(), Some(130))?;
    let text = String::from_utf8(output.stdout)?;
    let last = text.lines().last().unwrap_or_default();
    let generation = number_after(last, "generation")?;
    equal(last, &format!("generation {generation}, population 5"))?;
    ensure(generation > number_after(&said, "generation")?, || format!("{said}{last}"))?;
    ensure(rest.ends_with(&format!("interrupted after generation {generation} of 1000000000000\n")), || rest.clone())?;
    let dark = image::open(&picture)?.into_luma8().pixels().filter(|pixel| pixel.0[0] < 255).count();
    // A glider is three cells wide, and a pixel has more.
    ensure((1..=4).contains(&dark), || format!("{dark} dark pixels"))
}

/// A run needs memory for two boards, and not for a third one: not for the soup, and not for the comparison with the definition.
fn memory() -> Result<(), Failed> {
    // A board of 48 MB. The rest of the program takes about 40 MB of address space.
    let arguments = ["--size", "6000x64000", "--generations", "2", "--device", "cpu"];
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -v 160000 && exec "$0" "$@""#]).arg(life(&[]).get_program()).args(arguments);
    let output = command.env("MALLOC_ARENA_MAX", "1").env("RAYON_NUM_THREADS", "2").output()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure(output.status.success(), || errors)
}
