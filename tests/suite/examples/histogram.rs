//! Runs the example `02_histogram`: checks its counts, charts and errors.

use super::svg::Svg;
use super::{begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds};
use crate::common::{Folder, ensure, equal, on_every_backend};
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
    trials.extend(on_every_backend("examples::histogram", "channels_of_a_picture", |device| {
        channels_of_a_picture(&name(device))
    }));
    let others: [(&str, Test); 12] = [
        ("the_device_comes_first", the_device_comes_first),
        ("force", force),
        ("heights_of_bars", heights_of_bars),
        ("narrow_bars", narrow_bars),
        ("names_of_files_in_titles", names_of_files_in_titles),
        ("bytes_of_a_file", bytes_of_a_file),
        ("bytes_of_a_picture", bytes_of_a_picture),
        ("sixteen_bits", sixteen_bits),
        ("an_empty_file", an_empty_file),
        ("bad_numbers_of_bins", bad_numbers_of_bins),
        ("bad_files", bad_files),
        ("bad_charts", bad_charts),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(format!("examples::histogram::{name}"), test)));
    of_example(EXAMPLE, trials)
}

fn histogram(input: &Path) -> Command {
    let mut command = super::command(EXAMPLE);
    command.arg(input);
    command
}

/// Returns the counts at the ends of the chart's lines.
fn counts(said: &str) -> Vec<u64> {
    let lines = said.lines().filter(|line| line.split_whitespace().next().is_some_and(|s| s.parse::<u64>().is_ok()));
    lines.filter_map(|line| line.split_whitespace().last()?.parse().ok()).collect()
}

fn channels_of_a_picture(device: &str) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("astronaut.png", ASTRONAUT)?;
    let svg = folder.path("chart.svg");
    let said = succeeds(histogram(&input).args(["--bins", "16", "--device", device, "--svg"]).arg(&svg))?;
    for part in ["\nred\n", "\ngreen\n", "\nblue\n", "kernels ", "time "] {
        ensure(said.contains(part), || format!("'{part}' is missing in: {said}"))?;
    }
    let counts = counts(&said);
    ensure(counts.len() == 48, || format!("{} counts", counts.len()))?;
    let sums: Vec<u64> = counts.chunks(16).map(|channel| channel.iter().sum()).collect();
    ensure(sums == [512 * 512; 3], || format!("{sums:?} pixels"))?;
    let svg = read(&svg)?;
    svg.says(&["astronaut.png: 512 × 512 pixels in 16 bins", "level, 8 bits per channel", "pixels per bin"])?;
    svg.says(&["red", "green", "blue", "0", "256"])?;
    for color in 1..=3 {
        let bars: Vec<_> = svg.outlines(color)?.iter().map(|outline| outline.heights().len()).collect();
        equal(bars, vec![16])?;
    }
    folder.holds(&["astronaut.png", "chart.svg"])
}

fn read(svg: &Path) -> Result<Svg, Failed> {
    Svg::new(fs::read_to_string(svg)?)
}

fn the_device_comes_first() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("astronaut.png", ASTRONAUT)?;
    begins_with_the_device(&folder.path("chart.svg"), |_| histogram(&input))
}

fn force() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("astronaut.png", ASTRONAUT)?;
    let draw = |output: &Path| {
        let mut command = histogram(&input);
        command.arg("--svg").arg(output);
        command
    };
    overwrites_with_force_only(&folder.path("chart.svg"), draw)?;
    folder.holds(&["astronaut.png", "chart.svg"])
}

/// Heights are proportional to the counts, or to the logarithms of twice the counts. The highest bar leaves 5 % of the panel
/// free. The numbers at the axis are whole.
fn heights_of_bars() -> Result<(), Failed> {
    const PANEL: f64 = 320.0;
    let folder = Folder::new()?;
    let samples = [(0, 100), (64, 1), (128, 0), (192, 25)].into_iter().flat_map(|(byte, n)| iter::repeat_n(byte, n));
    let input = folder.put_pixels("grey.png", ColorType::L8, 1, samples.collect())?;
    for (options, heights, ticks) in [
        (&[][..], [1.0, 0.01, 0.0, 0.25], &[0, 20, 40, 60, 80, 100][..]),
        (&["--log"], [1.0, 2f64.log(200.0), 0.0, 50f64.log(200.0)], &[1, 2, 5, 10, 20, 50, 100]),
    ] {
        let svg = folder.path("chart.svg");
        succeeds(histogram(&input).args(["--bins", "4", "--force", "--svg"]).arg(&svg).args(options))?;
        let svg = read(&svg)?;
        equal(svg.ticks()?, ticks.to_vec())?;
        let [outline] = &svg.outlines(0)?[..] else { return Err("not one outline".into()) };
        let expected = heights.map(|height| height * PANEL / 1.05);
        let (actual, near) = (outline.heights(), |(a, b): (&f64, &f64)| (a - b).abs() < 0.06);
        ensure(actual.len() == 4 && actual.iter().zip(&expected).all(near), || {
            format!("{actual:?}, not {expected:?}")
        })?;
    }
    // An empty file, and a single byte.
    for (pixels, ticks) in [(&b""[..], [0, 1]), (b"x", [0, 1])] {
        let (input, svg) = (folder.put("few", pixels)?, folder.path("chart.svg"));
        succeeds(histogram(&input).args(["--bytes", "--force", "--svg"]).arg(&svg))?;
        equal(read(&svg)?.ticks()?, ticks.to_vec())?;
    }
    Ok(())
}

/// If several bins share a pixel, the highest one is drawn.
fn narrow_bars() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let pixels = [0u16, 1, 1, 1, 2, 65_535].into_iter().flat_map(u16::to_ne_bytes).collect();
    let (input, svg) = (folder.put_pixels("grey.png", ColorType::L16, 2, pixels)?, folder.path("chart.svg"));
    succeeds(histogram(&input).args(["--bins", "65536", "--svg"]).arg(&svg))?;
    let svg = read(&svg)?;
    svg.says(&["level, 16 bits per channel", "65,536"])?;
    let [outline] = &svg.outlines(0)?[..] else { return Err("not one outline".into()) };
    let heights = outline.heights();
    let [first, .., last] = heights[..] else { return Err("no bars".into()) };
    let others = heights.iter().filter(|&&height| height > 0.0).count();
    ensure(heights.len() < 1000 && others == 2, || format!("{} bars, {others} not empty", heights.len()))?;
    ensure((first / last - 3.0).abs() < 0.01, || format!("{first} and {last}"))
}

fn names_of_files_in_titles() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for (name, title) in [("a & b", "a &amp; b"), (&"ä".repeat(70), &format!("{}…", "ä".repeat(60)))] {
        let (input, svg) = (folder.put(name, b"text")?, folder.path("chart.svg"));
        succeeds(histogram(&input).args(["--bytes", "--bins", "8", "--force", "--svg"]).arg(&svg))?;
        read(&svg)?.says(&[&format!("{title}: 4 bytes in 8 bins"), "value of the byte", "bytes per bin", "bytes"])?;
    }
    Ok(())
}

/// Uses the device that the environment selects.
fn bytes_of_a_file() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("text", b"aabzz\xff")?;
    let said = succeeds(histogram(&input).args(["--bytes", "--bins", "256"]).env("SLM_DEVICE", "emulated"))?;
    ensure(said.starts_with("emulated sm_90\n"), || said.clone())?;
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
    let said = succeeds(histogram(&folder.put("empty", b"")?).args(["--bytes", "--bins", "2"]))?;
    ensure(counts(&said) == [0, 0], || said)
}

fn bad_numbers_of_bins() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("text", b"text")?;
    let message = "--bins 257: the samples have 256 levels, use 1 to 256 bins";
    fails(histogram(&input).args(["--bytes", "--bins", "257"]), 1, &[message])?;
    for bins in ["0", "-3", "65537", "16777217"] {
        let message = format!("invalid value '{bins}' for '--bins <BINS>': {bins} is not in 1..=65536");
        fails(histogram(&input).args(["--bins", bins]), 2, &[&message])?;
    }
    for bins in ["many", "--bytes"] {
        fails(histogram(&input).args(["--bins", bins]), 2, &[&format!("invalid value '{bins}' for '--bins <BINS>'")])?;
    }
    Ok(())
}

/// A file that is not a complete picture is an error. With `--bytes`, its bytes are counted.
fn bad_files() -> Result<(), Failed> {
    let folder = Folder::new()?;
    fails(&mut histogram(&folder.path("nothing")), 1, &["nothing: "])?;
    fails(histogram(&folder.path("nothing")).arg("--bytes"), 1, &["nothing: "])?;
    let mut jpeg = io::Cursor::new(Vec::new());
    image::load_from_memory(ASTRONAUT)?.write_to(&mut jpeg, ImageFormat::Jpeg)?;
    for (name, bytes, message) in [
        ("cut.png", &ASTRONAUT[..2000], "cut.png: "),
        ("cut.jpg", &jpeg.get_ref()[..jpeg.get_ref().len() / 2], "cut.jpg: the JPEG data are truncated"),
        ("text", b"text", "text: neither a PNG nor a JPEG picture"),
        ("text.png", b"text", "text.png: neither a PNG nor a JPEG picture"),
        ("empty", b"", "empty: the file is empty"),
    ] {
        let input = folder.put(name, bytes)?;
        fails(&mut histogram(&input), 1, &[message, "; --bytes counts the bytes of any file"])?;
        let said = succeeds(histogram(&input).args(["--bytes", "--bins", "1"]))?;
        ensure(counts(&said) == [bytes.len() as u64], || said)?;
    }
    Ok(())
}

fn bad_charts() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("astronaut.png", ASTRONAUT)?;
    for name in ["x.png", "x", "svg", "x.svg.gz", "-x.png", "--log"] {
        let message = format!("{name}: a chart can be written as .svg only");
        fails(histogram(&input).args(["--svg", name]), 1, &[&message])?;
    }
    let nowhere = folder.path("nowhere").join("chart.svg");
    fails(histogram(&input).arg("--svg").arg(nowhere), 1, &["chart.svg: the folder ", "nowhere does not exist"])?;
    for option in ["--log", "--force"] {
        fails(histogram(&input).arg(option), 2, &["required arguments were not provided", "--svg <SVG>"])?;
    }
    folder.holds(&["astronaut.png"])
}
