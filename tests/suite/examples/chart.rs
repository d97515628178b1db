//! Runs the example `02_histogram`: its charts, and what it says when something is wrong.

use super::{fails, name, of_example, succeeds};
use crate::common::{Folder, ensure, on_every_backend};
use image::{ColorType, ImageFormat};
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::process::Command;
use std::{fs, io, iter};

const EXAMPLE: &str = "02_histogram";
const ASTRONAUT: &[u8] = include_bytes!("../../../assets/astronaut.png");

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::chart", "channels_of_a_picture", |device| {
        channels_of_a_picture(&name(device))
    }));
    let others: [(&str, Test); 6] = [
        ("bytes_of_a_file", bytes_of_a_file),
        ("bytes_of_a_picture", bytes_of_a_picture),
        ("sixteen_bits", sixteen_bits),
        ("an_empty_file", an_empty_file),
        ("bad_numbers_of_bins", bad_numbers_of_bins),
        ("bad_files", bad_files),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(format!("examples::chart::{name}"), test)));
    of_example(EXAMPLE, trials)
}

fn histogram(input: &Path) -> Command {
    let mut command = super::command(EXAMPLE);
    command.arg(input);
    command
}

/// The numbers at the ends of the chart's lines.
fn counts(said: &str) -> Vec<u64> {
    let lines = said.lines().filter(|line| line.split_whitespace().next().is_some_and(|s| s.parse::<u64>().is_ok()));
    lines.filter_map(|line| line.split_whitespace().last()?.parse().ok()).collect()
}

fn channels_of_a_picture(device: &str) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("astronaut.png", ASTRONAUT)?;
    let svg = folder.path("chart.svg");
    let said = succeeds(histogram(&input).args(["--bins", "16", "--device", device, "--svg"]).arg(&svg))?;
    for part in ["\nred\n", "\ngreen\n", "\nblue\n", "kernel ", "time "] {
        ensure(said.contains(part), || format!("'{part}' is missing in: {said}"))?;
    }
    let counts = counts(&said);
    ensure(counts.len() == 48, || format!("{} counts", counts.len()))?;
    let sums: Vec<u64> = counts.chunks(16).map(|channel| channel.iter().sum()).collect();
    ensure(sums == [512 * 512; 3], || format!("{sums:?} pixels"))?;
    let svg = fs::read_to_string(svg)?;
    // A bar for each count, and the white behind all of them.
    let bars = svg.matches("<rect ").count();
    ensure(svg.starts_with("<svg ") && bars == 49, || format!("{bars} bars"))?;
    folder.holds(&["astronaut.png", "chart.svg"])
}

/// On the device of the environment.
fn bytes_of_a_file() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("text", b"aabzz\xff")?;
    let said = succeeds(histogram(&input).args(["--bins", "256"]).env("SLM_DEVICE", "emulated"))?;
    ensure(said.starts_with("emulated sm_90: "), || said.clone())?;
    let mut expected = vec![0; 256];
    for (byte, count) in [(b'a', 2), (b'b', 1), (b'z', 2), (0xff, 1)] {
        expected[usize::from(byte)] = count;
    }
    ensure(counts(&said) == expected, || said)
}

fn bytes_of_a_picture() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("astronaut.png", ASTRONAUT)?;
    let said = succeeds(histogram(&input).args(["--bytes", "--bins", "1"]))?;
    ensure(counts(&said) == [ASTRONAUT.len() as u64], || said)
}

fn sixteen_bits() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let pixels = [0u16, 16_000, 17_000, 65_535].into_iter().flat_map(u16::to_ne_bytes).collect();
    let input = folder.put_pixels("grey.png", ColorType::L16, 2, pixels)?;
    let said = succeeds(histogram(&input).args(["--bins", "4"]))?;
    ensure(said.contains("\ngrey\n") && counts(&said) == [2, 1, 0, 1], || said)
}

fn an_empty_file() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let said = succeeds(histogram(&folder.put("empty", b"")?).args(["--bins", "2"]))?;
    ensure(counts(&said) == [0, 0], || said)
}

fn bad_numbers_of_bins() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("text", b"text")?;
    for bins in ["0", "16777217"] {
        fails(histogram(&input).args(["--bins", bins]), 1, &["1 to 16777216 bins", bins])?;
    }
    fails(histogram(&input).args(["--bins", "many"]), 2, &["invalid value 'many'"])
}

fn bad_files() -> Result<(), Failed> {
    let folder = Folder::new()?;
    fails(&mut histogram(&folder.path("nothing")), 1, &["nothing: "])?;
    let cut = folder.put("cut.png", &ASTRONAUT[..2000])?;
    fails(&mut histogram(&cut), 1, &["cut.png: "])?;
    let mut jpeg = io::Cursor::new(Vec::new());
    image::load_from_memory(ASTRONAUT)?.write_to(&mut jpeg, ImageFormat::Jpeg)?;
    let cut = folder.put("cut.jpg", &jpeg.get_ref()[..jpeg.get_ref().len() / 2])?;
    fails(&mut histogram(&cut), 1, &["cut.jpg: the JPEG data end too early"])?;
    // Its bytes can be counted all the same.
    succeeds(histogram(&cut).arg("--bytes"))?;
    let text = folder.put("text", &iter::repeat_n(b'x', 100).collect::<Vec<_>>())?;
    fails(histogram(&text).arg("--svg").arg(folder.path("nowhere").join("chart.svg")), 1, &["chart.svg: "])
}
