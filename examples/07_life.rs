//! Runs the Game of Life, from a file with a pattern or from a random soup:
//!
//! ```sh
//! cargo run --release --example 07_life -- assets/patterns/acorn.rle --size 3000x3000 --generations 5206 --svg acorn.svg
//! ```
//!
//! | option | result |
//! |---|---|
//! | `--svg FILE` | a chart of the population |
//! | `--picture FILE.png` | the board after the last generation |
//! | `--picture FILE.gif` | an animation; `--frames` is the number of its pictures |
//! | `--watch` | all generations in the terminal |
//!
//! Patterns are in the run-length encoding of Golly (`.rle`) or in plain text (`.cells`), and are placed in the middle of the
//! board. The rule is that of the pattern, unless `--rule` sets another one. The last generation is compared with the definition,
//! on large boards in some of the rows. `--force` allows overwriting files.

mod common;

use clap::{Args, Parser, ValueEnum};
use common::cells::{Animation, Cells};
use common::chart::{self, Axis, Bar, Chart, Color, Growth, Panel};
use common::file::{Cause, FileError, Kind, Output};
use common::program::{self, DeviceOption, in_ms};
use common::scale::Scale;
use indicatif::{ProgressBar, ProgressStyle};
use ndarray::Array2;
use slm::life::{Board, Census, Pattern, Rule, Topology};
use slm::{Device, Life};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

/// Runs the Game of Life, from a file with a pattern or from a random soup.
#[derive(Debug, Parser)]
#[command(name = "07_life")]
struct Arguments {
    /// Pattern: an .rle file of Golly, or a .cells file in plain text. Without it, cells are random
    input: Option<PathBuf>,
    #[command(flatten)]
    soup: Soup,
    /// Rows and columns of the board
    #[arg(long, value_name = "ROWSxCOLUMNS", default_value = "512x512", value_parser = size, allow_hyphen_values = true)]
    size: [usize; 2],
    /// What is beyond the ends of the board
    #[arg(long, value_enum, default_value_t = Ends::Torus)]
    topology: Ends,
    /// Rule, such as B36/S23; by default that of the pattern, or B3/S23
    #[arg(long, allow_hyphen_values = true)]
    rule: Option<Rule>,
    /// Number of generations
    #[arg(long, default_value_t = 1000, allow_hyphen_values = true)]
    generations: u64,
    #[command(flatten)]
    outputs: Outputs,
    /// Show all generations in the terminal
    #[arg(long)]
    watch: bool,
    /// Time between two generations in the terminal, in milliseconds
    #[arg(long, default_value_t = 50, requires = "watch")]
    delay: u64,
    #[command(flatten)]
    device: DeviceOption,
}

#[derive(Debug, Args)]
struct Soup {
    /// Fraction of living cells in a soup
    #[arg(long, default_value_t = 0.5, conflicts_with = "input", allow_hyphen_values = true)]
    density: f64,
    /// Seed of a soup
    #[arg(long, default_value_t = 1, conflicts_with = "input", allow_hyphen_values = true)]
    seed: u64,
}

#[derive(Debug, Args)]
struct Outputs {
    /// Output file of a chart of the population, as an SVG
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    svg: Option<PathBuf>,
    /// Picture of the board: a PNG of the last generation, or an animated GIF
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    picture: Option<PathBuf>,
    /// Number of pictures in an animation, besides the first one
    #[arg(long, default_value_t = 100, requires = "picture", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    frames: u64,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
}

/// [`Topology`], as on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Ends {
    Plane,
    Torus,
    Cylinder,
    Klein,
}

impl From<Ends> for Topology {
    fn from(ends: Ends) -> Self {
        match ends {
            Ends::Plane => Topology::Plane,
            Ends::Torus => Topology::Torus,
            Ends::Cylinder => Topology::Cylinder,
            Ends::Klein => Topology::KleinBottle,
        }
    }
}

/// Parses two numbers.
fn size(text: &str) -> Result<[usize; 2], String> {
    let numbers = text.split_once('x').and_then(|(a, b)| Some([a.parse().ok()?, b.parse().ok()?]));
    numbers.ok_or_else(|| "two numbers with an x between them are needed, such as 480x640".to_owned())
}

/// Reason for the failure of the example.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("--density {0}: the density must be from 0 to 1")]
    Density(f64),
    #[error("{}: {error}", path.display())]
    Pattern { path: PathBuf, error: slm::Error },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Life(#[from] slm::Error),
    #[error("the cell in row {row}, column {column} of generation {generation} is wrong: alive is {actual}")]
    Wrong { row: usize, column: usize, generation: u64, actual: bool },
}

/// Formats of pictures of boards.
static PICTURE: Kind = Kind { what: "a picture of the board", extensions: &["png", "gif"] };

/// Maximum lengths of the sides of a picture and of an animation, in pixels.
const PICTURE_SIDE: usize = 2048;
const ANIMATION_SIDE: usize = 512;

/// Maximum number of points in a chart, which has less than half as many pixels.
const POINTS: u64 = 2048;

/// Number of steps of the progress bar.
const PROGRESS: u64 = 100;

/// Letters in a line of the terminal, and lines, one less than usual for the text below.
const TERMINAL: [usize; 2] = [80, 23];

/// Maximum number of cells that are compared with the definition, unless two rows have more.
const CHECKED: usize = 1 << 22;

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Outputs { svg, picture, force, .. } = &arguments.outputs;
    let output = |path: &Option<PathBuf>, kind| path.as_deref().map(|path| Output::new(path, kind, *force)).transpose();
    let (chart, picture) = (output(svg, &chart::KIND)?, output(picture, &PICTURE)?);
    let device = arguments.device.open()?;
    let mut show = Show::new(prepared(&device, arguments)?, arguments, picture)?;
    let mut report = format!("{device}\n{}\n", show.title());
    let time = show.run()?;
    report += &format!("device time {}\n", in_ms(time));
    if let Some(output) = chart {
        report += &output.write(show.chart().svg().as_bytes())?;
    }
    report += &show.write_picture()?;
    let Census { generation, population, .. } = show.last;
    Ok(report + &format!("generation {generation}, population {population}\n"))
}

/// Returns the board in generation 0.
fn prepared(device: &Device, arguments: &Arguments) -> Result<Board, Failure> {
    let ([rows, columns], pattern) = (arguments.size, arguments.input.as_deref().map(read).transpose()?);
    let rule = arguments.rule.or(pattern.as_ref().and_then(Pattern::rule)).unwrap_or_default();
    let mut board = Life::new(rows, columns).rule(rule).topology(arguments.topology.into()).prepare(device)?;
    match pattern {
        Some(pattern) => {
            let middle = |side: usize, length: usize| (side.saturating_sub(length) / 2) as isize;
            board.place(&pattern, middle(rows, pattern.rows()), middle(columns, pattern.columns()))?;
        }
        None => board.set_words(soup(arguments)?.view())?,
    }
    Ok(board)
}

fn read(path: &Path) -> Result<Pattern, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Cause::from(error).at(path))?;
    let pattern = match () {
        () if has_extension(path, "rle") => Pattern::from_rle(&text),
        () if has_extension(path, "cells") => Pattern::from_cells(&text),
        () => text.parse(),
    };
    pattern.map_err(|error| Failure::Pattern { path: path.to_owned(), error })
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|actual| actual.eq_ignore_ascii_case(extension))
}

/// Returns random cells.
fn soup(arguments: &Arguments) -> Result<Array2<u64>, Failure> {
    let ([rows, columns], Soup { density, seed }) = (arguments.size, &arguments.soup);
    if !(0.0..=1.0).contains(density) {
        return Err(Failure::Density(*density));
    }
    let (most, mut state) = ((density * 2f64.powi(32)) as u64, *seed);
    // SplitMix64 (Steele, Lea and Flood 2014).
    let mut cell = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u64::from((z >> 32) < most)
    };
    let word = || (0..64).fold(0, |word, i| word | cell() << i);
    Ok(Array2::from_shape_simple_fn((rows, columns.div_ceil(64)), word))
}

/// A board with what is shown of it.
struct Show<'a> {
    board: Board,
    arguments: &'a Arguments,
    picture: Option<Output>,
    /// Censuses for the chart.
    history: Vec<Census>,
    /// Census of the current generation.
    last: Census,
    animation: Option<Animation>,
    progress: ProgressBar,
}

impl<'a> Show<'a> {
    fn new(board: Board, arguments: &'a Arguments, picture: Option<Output>) -> Result<Self, Failure> {
        let last = board.census()?;
        // It is also invisible if the errors do not go to a terminal.
        let progress = if arguments.watch { ProgressBar::hidden() } else { ProgressBar::new(arguments.generations) };
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}").expect("the template is right");
        let progress = progress.with_style(style);
        let gif = picture.as_ref().filter(|output| has_extension(output.path(), "gif"));
        let animation = gif.map(|output| Animation::new().map_err(|cause| cause.at(output.path()))).transpose()?;
        Ok(Show { board, arguments, picture, history: vec![last], last, animation, progress })
    }

    fn title(&self) -> String {
        let [rows, columns] = self.arguments.size;
        format!("{rows} x {columns}, {:?}, {}", self.board.topology(), self.board.rule())
    }

    /// Computes all generations. Returns the time of the device.
    fn run(&mut self) -> Result<Duration, Failure> {
        let (generations, mut time) = (self.arguments.generations, Duration::ZERO);
        let (every, portion) = self.pace();
        self.show()?;
        while self.last.generation < generations {
            let left = generations - self.last.generation;
            let before = if left == 1 { Some(Cells::of(&self.board)?) } else { None };
            // The last step is apart, to be compared with the definition.
            let steps = portion.min((left - 1).max(1));
            time += self.step(steps, if left == 1 { 1 } else { every })?;
            if let Some(before) = before {
                self.check(&before)?;
            }
            self.show()?;
        }
        self.progress.finish_and_clear();
        Ok(time)
    }

    /// Returns the number of generations between two points of the chart, and between two times that something is shown.
    fn pace(&self) -> (u64, u64) {
        let generations = self.arguments.generations;
        let every = if self.arguments.outputs.svg.is_some() { generations.div_ceil(POINTS).max(1) } else { u64::MAX };
        let portion = match self.animation {
            _ if self.arguments.watch => 1,
            Some(_) => self.between_frames(),
            None => generations.div_ceil(PROGRESS).max(1),
        };
        (every.min(portion), portion)
    }

    fn between_frames(&self) -> u64 {
        self.arguments.generations.div_ceil(self.arguments.outputs.frames).max(1)
    }

    fn step(&mut self, steps: u64, every: u64) -> Result<Duration, Failure> {
        let device = self.board.device().clone();
        let (history, time) = device.time(|| self.board.record(steps, every))?;
        self.history.extend(history);
        self.last = self.board.census()?;
        Ok(time)
    }

    /// Shows the current generation where that is due.
    fn show(&mut self) -> Result<(), Failure> {
        let Census { generation, population, .. } = self.last;
        self.progress.set_position(generation);
        self.progress.set_message(format!("population {population}"));
        let is_last = generation == self.arguments.generations;
        if is_last || generation.is_multiple_of(self.between_frames()) {
            self.add_frame()?;
        }
        if self.arguments.watch {
            self.print()?;
        }
        Ok(())
    }

    /// Adds the board to the animation, if there is one.
    fn add_frame(&mut self) -> Result<(), Failure> {
        let (Some(animation), Some(output)) = (&mut self.animation, &self.picture) else { return Ok(()) };
        let picture = Cells::of(&self.board)?.picture(ANIMATION_SIDE);
        Ok(animation.add(&picture).map_err(|cause| cause.at(output.path()))?)
    }

    /// Prints the board. In a terminal, it replaces the one before.
    fn print(&self) -> Result<(), Failure> {
        let Census { generation, population, .. } = self.last;
        let mut output = io::stdout().lock();
        let home = if output.is_terminal() { "\x1b[H\x1b[J" } else { "" };
        let [letters, lines] = TERMINAL;
        let board = Cells::of(&self.board)?.dots(letters, lines);
        // A closed pipe on the other side is not a failure of the example.
        let _ = writeln!(output, "{home}{board}generation {generation}, population {population}");
        let _ = output.flush();
        thread::sleep(Duration::from_millis(self.arguments.delay));
        Ok(())
    }

    fn write_picture(&mut self) -> Result<String, Failure> {
        let Some(output) = &self.picture else { return Ok(String::new()) };
        if let Some(animation) = self.animation.take() {
            let file = animation.finish().map_err(|cause| cause.at(output.path()))?;
            return Ok(output.write(&file)?);
        }
        Ok(Cells::of(&self.board)?.picture(PICTURE_SIDE).write(output)?)
    }

    fn chart(&self) -> Chart {
        let end = self.last.generation + 1;
        let ends = self.history.iter().skip(1).map(|census| census.generation).chain([end]);
        let bar = |(census, end): (&Census, u64)| Bar {
            left: census.generation as f64,
            right: end as f64,
            height: census.population,
        };
        let ticks = Scale::new(Growth::Linear, self.last.generation).ticks();
        let bars = self.history.iter().zip(ends).map(bar).collect();
        Chart {
            title: format!("Population: {}", self.title()),
            across: Axis { label: "generation".to_owned(), ends: [0.0, end as f64], ticks },
            up: "living cells",
            growth: Growth::Linear,
            panels: vec![Panel { name: "living cells".to_owned(), color: Color::Green, bars, measured: Vec::new() }],
        }
    }
}

/// Comparison with the definition.
impl Show<'_> {
    /// Returns an error if a cell of the current generation does not follow from the generation before.
    fn check(&self, before: &Cells) -> Result<(), Failure> {
        let (cells, rule) = (Cells::of(&self.board)?, self.board.rule());
        let [rows, columns] = cells.dim();
        let apart = rows.saturating_mul(columns).div_ceil(CHECKED);
        for row in (0..rows).step_by(apart).chain([rows - 1]) {
            for (column, three) in self.sums_of_columns(before, row).windows(3).enumerate() {
                let (now, actual) = (before.get(row, column), cells.get(row, column));
                let neighbours = three.iter().sum::<u32>() - u32::from(now);
                if actual != rule.is_alive(now, neighbours) {
                    return Err(Failure::Wrong { row, column, generation: self.last.generation, actual });
                }
            }
        }
        Ok(())
    }

    /// Returns the number of living cells in `row` and the rows above and below it, for each column, from the one before the board
    /// to the one behind it.
    fn sums_of_columns(&self, cells: &Cells, row: usize) -> Vec<u32> {
        let [_, columns] = cells.dim().map(|side| side as isize);
        let rows = [row as isize - 1, row as isize, row as isize + 1];
        let sum = |column| rows.map(|row| u32::from(self.is_alive(cells, [row, column]))).iter().sum();
        (-1..=columns).map(sum).collect()
    }

    /// Returns whether a cell is alive that may be outside of the board.
    fn is_alive(&self, cells: &Cells, [row, column]: [isize; 2]) -> bool {
        let [rows, columns] = cells.dim().map(|side| side as isize);
        let [is_above_or_below, is_beside] = [!(0..rows).contains(&row), !(0..columns).contains(&column)];
        let (row, column) = (row.rem_euclid(rows), column.rem_euclid(columns));
        let column = match self.arguments.topology {
            Ends::Plane if is_above_or_below || is_beside => return false,
            Ends::Cylinder if is_above_or_below => return false,
            Ends::Klein if is_above_or_below => columns - 1 - column,
            _ => column,
        };
        cells.get(row as usize, column as usize)
    }
}
