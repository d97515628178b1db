//! Runs the example `07_life`: known histories, pictures, charts, and errors.

use super::svg::Svg;
use super::{begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds};
use crate::common::{Folder, ensure, equal, on_every_backend};
use flate2::Compression;
use flate2::write::GzEncoder;
use image::codecs::gif::GifDecoder;
use image::{AnimationDecoder, GrayImage};
use libtest_mimic::{Failed, Trial};
use slm::life::{Board, Pattern, Topology};
use slm::{Device, Life};
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const EXAMPLE: &str = "07_life";

/// The text `..O`, compressed.
const ROWS_GZ: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xd3\xd3\xf3\xe7\x02\x00\x2f\xd6\x4e\xc4\x04\x00\x00\x00";

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::life", "pictures", pictures));
    trials.extend(on_every_backend("examples::life", "soups", soups));
    let others: [(&str, Test); 10] = [
        ("methuselahs", methuselahs),
        ("guns", guns),
        ("rules", rules),
        ("chart", chart),
        ("animation", animation),
        ("terminal", terminal),
        ("the_device_comes_first", the_device_comes_first),
        ("force", force),
        ("bad_files", bad_files),
        ("bad_arguments", bad_arguments),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(format!("examples::life::{name}"), test)));
    trials.extend(super::long_runs::trials());
    trials.extend(super::grids::trials());
    of_example(EXAMPLE, trials)
}

pub(super) fn life(arguments: &[&str]) -> Command {
    let mut command = super::command(EXAMPLE);
    command.args(arguments);
    command
}

/// A pattern that comes along.
pub(super) fn asset(name: &str) -> Result<PathBuf, Failed> {
    Ok(env::current_dir()?.join("assets/patterns").join(name))
}

pub(super) fn life_of(pattern: &str, arguments: &[&str]) -> Result<Command, Failed> {
    let mut command = super::command(EXAMPLE);
    command.arg(asset(pattern)?).args(arguments);
    Ok(command)
}

/// The population in the last line.
pub(super) fn population(command: &mut Command, generation: u64) -> Result<u64, Failed> {
    let said = succeeds(command)?;
    let last = said.lines().last().unwrap_or_default().strip_prefix(&format!("generation {generation}, population "));
    last.and_then(|number| number.parse().ok()).ok_or_else(|| said.into())
}

/// The library's board with a pattern in the middle.
pub(super) fn board(pattern: &str, [rows, columns]: [usize; 2], topology: Topology) -> Result<Board, Failed> {
    let pattern: Pattern = fs::read_to_string(asset(pattern)?)?.parse()?;
    let mut board = Life::new(rows, columns).topology(topology).prepare(&Device::cpu())?;
    let middle = |side: usize, length: usize| ((side - length) / 2) as isize;
    board.place(&pattern, middle(rows, pattern.rows()), middle(columns, pattern.columns()))?;
    Ok(board)
}

/// Fails unless a picture has squares of this side for the cells: black if alive, otherwise white.
pub(super) fn shows(picture: &GrayImage, board: &Board, side: u32) -> Result<(), Failed> {
    let cells = board.cells()?;
    let (rows, columns) = cells.dim();
    equal(picture.dimensions(), (columns as u32 * side, rows as u32 * side))?;
    let is_right = |(x, y, pixel): (u32, u32, &image::Luma<u8>)| {
        pixel.0[0] == if cells[[(y / side) as usize, (x / side) as usize]] { 0 } else { 255 }
    };
    ensure(picture.enumerate_pixels().all(is_right), || format!("generation {} looks different", board.generation()))
}

fn pictures(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let output = folder.path("board.png");
    for (option, topology) in [
        ("plane", Topology::Plane),
        ("torus", Topology::Torus),
        ("cylinder", Topology::Cylinder),
        ("klein", Topology::KleinBottle),
    ] {
        for (size, sides, pixels) in [("12x24", [12, 24], 16), ("50x70", [50, 70], 7), ("5x513", [5, 513], 1)] {
            let arguments = ["--size", size, "--topology", option, "--generations", "37", "--force", "--device"];
            let mut command = life_of("glider.cells", &arguments)?;
            let said = succeeds(command.arg(name(device)).arg("--picture").arg(&output))?;
            let mut expected = board("glider.cells", sides, topology)?;
            expected.step(37)?;
            let last = format!("\ngeneration 37, population {}\n", expected.population()?);
            ensure(said.ends_with(&last) && said.contains(&format!("{topology:?}, B3/S23\n")), || said)?;
            shows(&image::open(&output)?.into_luma8(), &expected, pixels)?;
        }
    }
    // Pixels of 2 x 2 cells. The pattern begins in the second row and column of a square.
    let block = folder.put("block.rle", b"4o$4o$4o$o2bo!")?;
    let mut command = super::command(EXAMPLE);
    command.arg(block).args(["--size", "2050x2050", "--generations", "0", "--force", "--device", &name(device)]);
    succeeds(command.arg("--picture").arg(&output))?;
    let picture = image::open(&output)?.into_luma8();
    equal(picture.dimensions(), (1025, 1025))?;
    let at = |x, y| picture.get_pixel(x, y).0[0];
    let greys = [511, 512, 513].map(|y| [511, 512, 513].map(|x| at(x, y)));
    // With 1, 2 and 4 cells; below, the two cells in the middle are dead.
    equal(greys, [[95, 63, 95], [63, 0, 63], [95, 255, 95]])?;
    equal(picture.pixels().filter(|pixel| pixel.0[0] < 255).count(), 8)
}

/// The same seed, the same soup, on every device.
fn soups(device: &Device) -> Result<(), Failed> {
    let run = |arguments: &[&str]| {
        let mut command = life(arguments);
        population(command.args(["--size", "40x70", "--generations", "3", "--device", &name(device)]), 3)
    };
    let some = run(&["--density", "0.3", "--seed", "7"])?;
    let on_cpu = ["--density", "0.3", "--seed", "7", "--size", "40x70", "--generations", "3", "--device", "cpu"];
    equal(some, population(&mut life(&on_cpu), 3)?)?;
    ensure((100..2000).contains(&some), || format!("{some} cells"))?;
    equal(run(&["--density", "0.3", "--seed", "8"])? == some, false)?;
    equal(run(&["--density", "0", "--rule", "B/S012345678"])?, 0)?;
    equal(run(&["--density", "1", "--rule", "B/S012345678"])?, 40 * 70)?;
    let half = run(&["--rule", "B/S012345678"])?;
    ensure((1200..1600).contains(&half), || format!("{half} cells"))
}

/// The generation in which each becomes stable, and its population then: known from the literature.
/// No glider reaches the ends of a board.
fn methuselahs() -> Result<(), Failed> {
    for (pattern, size, generation, expected) in
        [("r-pentomino.rle", "700x700", 1103, 116), ("acorn.rle", "2600x2600", 5206, 633)]
    {
        let generations = generation.to_string();
        let arguments = ["--size", size, "--topology", "plane", "--generations", &generations];
        equal((pattern, population(&mut life_of(pattern, &arguments)?, generation)?), (pattern, expected))?;
    }
    Ok(())
}

fn guns() -> Result<(), Failed> {
    for gliders in [0, 1, 5] {
        let generations = (30 * gliders).to_string();
        let arguments = ["--size", "100x120", "--topology", "plane", "--generations", &generations];
        equal(population(&mut life_of("glider-gun.rle", &arguments)?, 30 * gliders)?, 36 + 5 * gliders)?;
    }
    Ok(())
}

/// The rule is that of the pattern, unless there is another one.
fn rules() -> Result<(), Failed> {
    let arguments = ["--size", "60x60", "--generations", "12"];
    let mut command = life_of("replicator.rle", &arguments)?;
    equal(population(&mut command, 12)?, 24)?;
    let said = succeeds(&mut command)?;
    ensure(said.contains("\n60 x 60, Torus, B36/S23\n"), || said)?;
    equal(population(command.args(["--rule", "B/S"]), 12)?, 0)
}

fn chart() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let svg = folder.path("chart.svg");
    let mut command = life_of("r-pentomino.rle", &["--size", "90x100", "--generations", "6", "--svg"])?;
    succeeds(command.arg(&svg))?;
    let chart = Svg::new(fs::read_to_string(&svg)?)?;
    chart.says(&["Population: 90 x 100, Torus, B3/S23", "generation", "living cells"])?;
    let outlines = chart.outlines(2)?;
    equal(outlines.len(), 1)?;
    let heights = outlines[0].heights();
    // The populations of generations 0 to 6.
    let populations = [5.0, 6.0, 7.0, 9.0, 8.0, 9.0, 12.0];
    equal(heights.len(), populations.len())?;
    let scale = heights[0] / populations[0];
    let is_right = heights.iter().zip(populations).all(|(height, expected)| (height - scale * expected).abs() < 0.5);
    ensure(is_right, || format!("{heights:?}"))?;
    // Long histories have fewer points.
    let mut command = life_of("glider.cells", &["--size", "20x20", "--generations", "50000", "--force", "--svg"])?;
    succeeds(command.arg(&svg))?;
    let chart = fs::read_to_string(&svg)?;
    ensure(chart.len() < 50_000, || format!("{} bytes", chart.len()))?;
    let outlines = Svg::new(chart)?.outlines(2)?;
    let heights = outlines[0].heights();
    ensure(heights.iter().all(|height| *height == heights[0]), || format!("{heights:?}"))?;
    folder.holds(&["chart.svg"])
}

fn animation() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let output = folder.path("board.gif");
    for (generations, frames, expected) in
        [(6, "100", vec![0, 1, 2, 3, 4, 5, 6]), (10, "3", vec![0, 4, 8, 10]), (7, "1", vec![0, 7]), (0, "5", vec![0])]
    {
        let generations = generations.to_string();
        let arguments = ["--size", "40x50", "--generations", &generations, "--frames", frames, "--force", "--picture"];
        let svg = folder.path("chart.svg");
        succeeds(life_of("pulsar.cells", &arguments)?.arg(&output).arg("--svg").arg(svg))?;
        let file = Cursor::new(fs::read(&output)?);
        let pictures = GifDecoder::new(file)?.into_frames().collect_frames()?;
        equal(pictures.len(), expected.len())?;
        for (picture, generation) in pictures.into_iter().zip(expected) {
            let mut board = board("pulsar.cells", [40, 50], Topology::Torus)?;
            board.step(generation)?;
            shows(&image::DynamicImage::from(picture.into_buffer()).into_luma8(), &board, 10)?;
        }
    }
    folder.holds(&["board.gif", "chart.svg"])
}

/// A letter has two columns and four rows.
fn terminal() -> Result<(), Failed> {
    let arguments = ["--size", "8x8", "--generations", "2", "--watch", "--delay", "0", "--device", "cpu"];
    let said = succeeds(&mut life_of("glider.cells", &arguments)?)?;
    let first = "\u{2800}\u{2820}\u{2840}\u{2800}\n\u{2800}\u{2809}\u{2801}\u{2800}\ngeneration 0, population 5\n";
    ensure(said.starts_with(first), || said.clone())?;
    let lines: Vec<_> = said.lines().filter(|line| line.starts_with("generation ")).collect();
    ensure(lines == [0, 1, 2, 2].map(|generation| format!("generation {generation}, population 5")), || said.clone())?;
    let is_picture = |line: &&str| line.chars().all(|letter| ('\u{2800}'..='\u{28ff}').contains(&letter));
    equal(said.lines().filter(is_picture).count(), 3 * 2)?;
    // Large boards fit into the terminal.
    let arguments = ["--size", "1000x3000", "--generations", "1", "--watch", "--delay", "0"];
    let said = succeeds(&mut life(&arguments))?;
    let pictures: Vec<_> = said.lines().filter(is_picture).collect();
    ensure(pictures.len() <= 2 * 23 && pictures.iter().all(|line| line.chars().count() <= 80), || said.clone())?;
    ensure(pictures.iter().all(|line| line.chars().any(|letter| letter != '\u{2800}')), || said.clone())
}

fn the_device_comes_first() -> Result<(), Failed> {
    let folder = Folder::new()?;
    begins_with_the_device(&folder.path("board.png"), |output| to_file(&["--size", "9x9", "--picture"], output))
}

pub(super) fn to_file(arguments: &[&str], output: &Path) -> Command {
    let mut command = life(arguments);
    command.arg(output);
    command
}

fn force() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for (option, file) in [("--picture", "board.png"), ("--picture", "board.gif"), ("--svg", "chart.svg")] {
        overwrites_with_force_only(&folder.path(file), |output| {
            to_file(&["--size", "30x30", "--generations", "5", option], output)
        })?;
    }
    folder.holds(&["board.gif", "board.png", "chart.svg"])
}

/// Spaces, compressed.
fn spaces_gz(count: usize) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; count])?;
    encoder.finish()
}

fn bad_files() -> Result<(), Failed> {
    let folder = Folder::new()?;
    fails(&mut to_file(&[], &folder.path("nothing.rle")), 1, &["nothing.rle: "])?;
    for (file, text, error) in [
        ("end.rle", &b"x = 3, y = 3\nbo$2bo$3o"[..], "end.rle: line 2, column 10 of the pattern: expected"),
        ("tag.rle", b"bo$\n2bq!", "tag.rle: line 2, column 3 of the pattern: expected"),
        (
            "size.rle",
            b"99999999999999999999o!",
            "size.rle: line 1, column 1 of the pattern: the pattern would have more",
        ),
        ("states.rle", b"x = 1, y = 1, rule = B2/S/C3\nA!", "because only two states are supported, found '/'"),
        ("rows.cells", b".O.\n.X.\n", "rows.cells: line 2, column 2 of the pattern: expected"),
        // An .rle file is not plain text, and the other way round.
        ("plain.rle", b"..O\n", "plain.rle: line 1, column"),
        ("coded.cells", b"bo$2bo$3o!", "coded.cells: line 1, column 1 of the pattern"),
        ("bytes.rle", b"\xff\xfe", "bytes.rle: the pattern looks like text in UTF-16: save it as UTF-8"),
        (
            "macrocell.mc",
            b"[M2] (golly 4.3)\n",
            "macrocell.mc: the pattern looks like a macrocell file of Golly: save it as",
        ),
        ("page.rle", b"<html>", "page.rle: the pattern looks like an HTML or XML page: download"),
        ("keys.rle", b"x = 3, x = 3\n!", "keys.rle: line 1, column 8 of the pattern: expected y or rule, found 'x'"),
        ("short.rle.gz", b"\x1f\x8b\x08\0\0", "short.rle.gz: the file cannot be decompressed: "),
        ("plain.rle.gz", ROWS_GZ, "plain.rle.gz: line 1, column"),
    ] {
        fails(&mut to_file(&[], &folder.put(file, text)?), 1, &[error])?;
    }
    // A file may consist of several compressed ones, here of 1 MiB each.
    let large = folder.put("large.rle.gz", &spaces_gz(1 << 20)?.repeat(257))?;
    fails(&mut to_file(&[], &large), 1, &["large.rle.gz: the file has more than 256 MiB when decompressed"])?;
    // Any other extension: the text decides.
    let unnamed = folder.put("pattern", b"3o!")?;
    equal(population(&mut to_file(&["--generations", "1"], &unnamed), 1)?, 3)?;
    fails(
        &mut to_file(&["--picture"], &folder.path("board.jpg")),
        1,
        &["board.jpg: a picture of the board can be written"],
    )?;
    fails(&mut to_file(&["--svg"], &folder.path("chart.png")), 1, &["chart.png: a chart can be written as .svg only"])
}

fn bad_arguments() -> Result<(), Failed> {
    for (arguments, code, part) in [
        (&["--size", "0x5"][..], 1, "a board must have at least 1 row and 1 column, not 0 x 5"),
        (&["--size", "99999999999x99999999999"], 1, "a board is too large"),
        (&["--size", "2000000000x2000000000"], 1, "memory"),
        (&["--size", "5"], 2, "two numbers with an x between them are needed"),
        (&["--size", "-5x5"], 2, "two numbers with an x between them are needed"),
        (&["--density", "1.5"], 1, "--density 1.5: the density must be from 0 to 1"),
        (&["--density", "-1e-300"], 1, "--density -1e-300: the density must be from 0 to 1"),
        (&["--density", "nan"], 1, "--density NaN: the density must be from 0 to 1"),
        (&["--seed", "-1"], 2, "invalid value '-1' for '--seed"),
        (&["--generations", "18446744073709551616"], 2, "invalid value '18446744073709551616' for '--generations"),
        (&["--rule", "B9/S23"], 2, "the rule 'B9/S23' is invalid"),
        (&["--topology", "sphere"], 2, "invalid value 'sphere' for '--topology"),
        (&["--frames", "5"], 2, "--picture <FILE>"),
        (&["--picture", "a.gif", "--frames", "0"], 2, "invalid value '0' for '--frames"),
        (&["--delay", "5"], 2, "--watch"),
        (&["--device", "gpu"], 1, "no device is called 'gpu'"),
        (&["a.rle", "--seed", "5"], 2, "cannot be used with"),
    ] {
        let mut command = life(&["--generations", "1"]);
        if arguments.contains(&"--generations") {
            command = life(&[]);
        }
        if !arguments.contains(&"--device") {
            command.args(["--device", "cpu"]);
        }
        fails(command.args(arguments), code, &[part])?;
    }
    let too_large = life_of("acorn.rle", &["--size", "3x6"])?.output()?;
    let errors = String::from_utf8_lossy(&too_large.stderr).into_owned();
    let expected = "a pattern of 3 x 7 (rows x columns) does not fit at row 0 and column 0 of a board of 3 x 6: \
                    use a larger board\n";
    ensure(errors.ends_with(expected) && too_large.status.code() == Some(1), || errors)
}
