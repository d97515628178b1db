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
//! Patterns are in the run-length encoding of Golly (`.rle`), in plain text (`.cells`) or in Life 1.05 or 1.06 (`.lif`), also
//! compressed (`.gz`), and are placed in the middle of the board. The rule is that of the pattern, unless `--rule` sets another
//! one. If the pattern has a grid, as in `B3/S23:T30,20`, that is the board, unless `--size` or `--topology` set another one. The
//! last generation is compared with the definition, on large boards in some of the rows. `--force` allows overwriting files.
//!
//! A small board that repeats is not computed to the end. Ctrl-C ends a run early: the report, the chart and the picture are
//! those of the generations until then, and the exit status is 130.

mod common;

use clap::{Args, Parser, ValueEnum};
use common::cells::{self, Animation};
use common::chart::{self, Axis, Bar, Chart, Color, Growth, Panel};
use common::file::{FileError, Kind, Output};
use common::generation::{Before, WrongCell};
use common::number::Short;
use common::patterns::{self, PatternError};
use common::program::{self, DeviceOption, Report, in_ms};
use common::progress::Progress;
use common::scale::Scale;
use common::{interrupt, soup};
use slm::life::{Board, Census, Grid, Outcome, Pattern, Rule, Topology};
use slm::{Device, Life};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// Runs the Game of Life, from a file with a pattern or from a random soup.
#[derive(Debug, Parser)]
#[command(name = "07_life")]
pub(crate) struct Arguments {
    /// Pattern: an .rle file of Golly, a .cells file in plain text, or a .lif file in Life 1.05 or 1.06, also compressed (.gz).
    /// Without it, cells are random
    input: Option<PathBuf>,
    #[command(flatten)]
    soup: Soup,
    /// Rows and columns of the board; by default those of the pattern's grid, or 512x512
    #[arg(long, value_name = "ROWSxCOLUMNS", value_parser = size, allow_hyphen_values = true)]
    size: Option<[usize; 2]>,
    /// What is beyond the ends of the board; by default that of the pattern's grid, or torus
    #[arg(long, value_enum)]
    topology: Option<Ends>,
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
    #[error("--density {}: the density must be from 0 to 1", Short(*.0))]
    Density(f64),
    #[error(transparent)]
    Pattern(#[from] PatternError),
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

/// Letters in a line of the terminal, and lines, one less than usual for the text below.
const TERMINAL: [usize; 2] = [80, 23];

/// Size of a board without `--size` and a grid.
const SIZE: [usize; 2] = [512, 512];

/// Maximum number of cells of a board that is searched for repetitions: the search keeps a copy of it.
const SEARCHED: usize = 1 << 24;

/// Minimum number of generations that are searched for repetitions: few are computed as fast as searched.
const WORTH_SEARCHING: u64 = 1 << 16;

/// Time after which generations are computed in smaller portions, so that Ctrl-C and the progress have to wait little.
const PATIENCE: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<Report, Failure> {
    let Outputs { svg, picture, force, .. } = &arguments.outputs;
    let output = |path: &Option<PathBuf>, kind| path.as_deref().map(|path| Output::new(path, kind, *force)).transpose();
    let (chart, picture) = (output(svg, &chart::KIND)?, output(picture, &PICTURE)?);
    let device = arguments.device.open()?;
    let mut show = Show::new(prepared(&device, arguments)?, arguments, picture)?;
    let mut text = format!("{device}\n{}\n", show.title());
    interrupt::expect();
    show.run()?;
    text += &format!("device time {}\n", in_ms(show.time));
    if let Some(output) = chart {
        text += &output.write(show.chart().svg().as_bytes())?;
    }
    text += &show.write_picture()?;
    let Census { generation, population, .. } = show.last;
    text += &format!("generation {generation}, population {population}\n");
    if generation == arguments.generations {
        return Ok(text.into());
    }
    program::say(format!("interrupted after generation {generation} of {}", arguments.generations));
    Ok(Report { text, status: ExitCode::from(interrupt::STATUS) })
}

/// Returns the board in generation 0.
fn prepared(device: &Device, arguments: &Arguments) -> Result<Board, Failure> {
    let pattern = arguments.input.as_deref().map(patterns::read).transpose()?;
    let grid = pattern.as_ref().and_then(Pattern::grid);
    let [rows, columns] = arguments.size.or(grid.map(|grid| [grid.rows(), grid.columns()])).unwrap_or(SIZE);
    let topology = arguments.topology.map(Topology::from).or(grid.map(Grid::topology)).unwrap_or_default();
    let rule = arguments.rule.or(pattern.as_ref().and_then(Pattern::rule)).unwrap_or_default();
    let mut board = Life::new(rows, columns).rule(rule).topology(topology).prepare(device)?;
    let is_grid = grid.is_some_and(|grid| (grid.rows(), grid.columns(), grid.topology()) == (rows, columns, topology));
    if let Some(grid) = grid.filter(|_| !is_grid) {
        program::say(format!("note: the pattern is for the grid '{grid}', not for {rows} x {columns}, {topology:?}"));
    }
    match pattern {
        // On a grid where Golly places it: odd lengths on even sides are one cell further.
        Some(pattern) if is_grid => {
            let middle = |side: usize, length: usize| (side / 2) as isize - (length / 2) as isize;
            board.place(&pattern, middle(rows, pattern.rows()), middle(columns, pattern.columns()))?;
        }
        Some(pattern) => {
            let middle = |side: usize, length: usize| (side.saturating_sub(length) / 2) as isize;
            board.place(&pattern, middle(rows, pattern.rows()), middle(columns, pattern.columns()))?;
        }
        None => fill(&mut board, &arguments.soup)?,
    }
    Ok(board)
}

/// Sets random cells.
fn fill(board: &mut Board, Soup { density, seed }: &Soup) -> Result<(), Failure> {
    if !(0.0..=1.0).contains(density) {
        return Err(Failure::Density(*density));
    }
    Ok(soup::fill(board, *density, *seed)?)
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
    /// The generation after which the run ends.
    end: u64,
    /// Generations that were left out because the board repeats.
    skipped: u64,
    /// The period of the board, if it is known to repeat.
    period: Option<u64>,
    /// Number of generations that are computed at a time.
    portion: u64,
    /// Time of the device.
    time: Duration,
    animation: Option<Animation>,
    progress: Progress,
}

impl<'a> Show<'a> {
    fn new(board: Board, arguments: &'a Arguments, picture: Option<Output>) -> Result<Self, Failure> {
        let (last, end) = (board.census()?, arguments.generations);
        let gif = picture.as_ref().filter(|output| has_extension(output.path(), "gif"));
        let animation = gif.map(|output| Animation::new().map_err(|cause| cause.at(output.path()))).transpose()?;
        let (history, progress) = (vec![last], Progress::new(end, arguments.watch));
        let (skipped, period, portion, time) = (0, None, 1, Duration::ZERO);
        Ok(Show { board, arguments, picture, history, last, end, skipped, period, portion, time, animation, progress })
    }

    fn title(&self) -> String {
        let board = &self.board;
        format!("{} x {}, {:?}, {}", board.rows(), board.columns(), board.topology(), board.rule())
    }

    /// Returns the number of the current generation.
    fn generation(&self) -> u64 {
        self.board.generation() + self.skipped
    }

    /// Computes all generations, or those until Ctrl-C.
    fn run(&mut self) -> Result<(), Failure> {
        self.show()?;
        while self.generation() < self.end {
            if interrupt::has_come() {
                self.end = self.generation() + 1;
            }
            // The last step is apart, to be compared with the definition.
            let is_last = self.end - self.generation() == 1;
            let before = if is_last { Some(Before::of(&self.board)?) } else { None };
            self.advance(self.next_stop())?;
            if let Some(before) = before {
                self.check(&before)?;
            }
            self.show()?;
        }
        self.progress.finish();
        Ok(())
    }

    /// Returns the next generation that something is shown of.
    fn next_stop(&self) -> u64 {
        let next = |every: u64| (self.generation() / every + 1).saturating_mul(every);
        let before_last = (self.end - 1).max(self.generation() + 1);
        let stops = [
            self.arguments.watch.then(|| next(1)),
            self.animation.is_some().then(|| next(self.between_frames())),
            self.arguments.outputs.svg.is_some().then(|| next(self.between_points())),
        ];
        stops.into_iter().flatten().fold(before_last, u64::min)
    }

    fn between_points(&self) -> u64 {
        self.arguments.generations.div_ceil(POINTS).max(1)
    }

    fn between_frames(&self) -> u64 {
        self.arguments.generations.div_ceil(self.arguments.outputs.frames).max(1)
    }

    /// Computes generations up to `stop`, or until Ctrl-C, at least one portion.
    fn advance(&mut self, stop: u64) -> Result<(), Failure> {
        loop {
            self.skip(stop);
            let left = stop - self.generation();
            if self.is_worth_searching() {
                self.search(left)?;
            } else {
                self.step(left)?;
            }
            if self.generation() == stop || interrupt::has_come() {
                return Ok(());
            }
        }
    }

    /// Leaves out periods of a board that repeats, as many as there are before `stop`.
    fn skip(&mut self, stop: u64) {
        let left = stop - self.generation();
        self.skipped += self.period.map_or(0, |period| left - left % period);
    }

    fn is_worth_searching(&self) -> bool {
        let is_small = self.board.rows().saturating_mul(self.board.columns()) <= SEARCHED;
        let left = self.end - self.generation();
        is_small && self.period.is_none() && !self.arguments.watch && left >= WORTH_SEARCHING
    }

    /// Computes at most `left` generations, until the board is known to repeat.
    fn search(&mut self, left: u64) -> Result<(), Failure> {
        let (device, skipped) = (self.board.device().clone(), self.skipped);
        let (board, progress) = (&mut self.board, &mut self.progress);
        let goes_on = |generation| {
            progress.show(generation + skipped);
            !interrupt::has_come()
        };
        let (outcome, time) = device.time(|| board.run_until_stable_while(left, goes_on))?;
        self.time += time;
        self.period = match outcome {
            Outcome::Extinct | Outcome::StillLife => Some(1),
            Outcome::Oscillator { period } => Some(period),
            _ => None,
        };
        Ok(())
    }

    /// Computes a portion of `left` generations.
    fn step(&mut self, left: u64) -> Result<(), Failure> {
        let (device, steps, start) = (self.board.device().clone(), self.portion.min(left), Instant::now());
        let ((), time) = device.time(|| self.board.step(steps))?;
        self.time += time;
        if start.elapsed() > PATIENCE {
            self.portion = (self.portion / 2).max(1);
        } else if steps == self.portion && start.elapsed() < PATIENCE / 4 {
            self.portion = self.portion.saturating_mul(2);
        }
        if !self.arguments.watch {
            self.progress.show(self.generation());
        }
        Ok(())
    }

    /// Shows the current generation where that is due.
    fn show(&mut self) -> Result<(), Failure> {
        let generation = self.generation();
        self.last = self.board.census()?;
        self.last.generation = generation;
        let is_due = |every: u64| generation == self.end || generation.is_multiple_of(every);
        if generation > 0 && is_due(self.between_points()) {
            self.history.push(self.last);
        }
        if is_due(self.between_frames()) {
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
        let picture = cells::picture(&self.board, ANIMATION_SIDE)?;
        Ok(animation.add(&picture).map_err(|cause| cause.at(output.path()))?)
    }

    /// Prints the board. In a terminal, it replaces the one before.
    fn print(&self) -> Result<(), Failure> {
        let Census { generation, population, .. } = self.last;
        let mut output = io::stdout().lock();
        let home = if output.is_terminal() { "\x1b[H\x1b[J" } else { "" };
        let [letters, lines] = TERMINAL;
        let board = cells::dots(&self.board, letters, lines)?;
        // A closed pipe on the other side is not a failure of the example.
        let _ = writeln!(output, "{home}{board}generation {generation}, population {population}");
        let _ = output.flush();
        let (start, delay) = (Instant::now(), Duration::from_millis(self.arguments.delay));
        while start.elapsed() < delay && !interrupt::has_come() {
            thread::sleep(delay.saturating_sub(start.elapsed()).min(PATIENCE));
        }
        Ok(())
    }

    /// Returns an error if a cell of the current generation does not follow from the generation before.
    fn check(&self, before: &Before) -> Result<(), Failure> {
        let generation = self.generation();
        match before.wrong_cell(&self.board)? {
            Some(WrongCell { row, column, is_alive }) => {
                Err(Failure::Wrong { row, column, generation, actual: is_alive })
            }
            None => Ok(()),
        }
    }

    fn write_picture(&mut self) -> Result<String, Failure> {
        let Some(output) = &self.picture else { return Ok(String::new()) };
        if let Some(animation) = self.animation.take() {
            let file = animation.finish().map_err(|cause| cause.at(output.path()))?;
            return Ok(output.write(&file)?);
        }
        Ok(cells::picture(&self.board, PICTURE_SIDE)?.write(output)?)
    }

    fn chart(&self) -> Chart {
        let end = self.last.generation as f64 + 1.0;
        let ends = self.history.iter().skip(1).map(|census| census.generation as f64).chain([end]);
        let bar = |(census, right): (&Census, f64)| {
            let left = census.generation as f64;
            Bar { left, right, height: census.population }
        };
        let ticks = Scale::new(Growth::Linear, self.last.generation).ticks();
        let bars = self.history.iter().zip(ends).map(bar).collect();
        Chart {
            title: format!("Population: {}", self.title()),
            across: Axis { label: "generation".to_owned(), ends: [0.0, end], ticks },
            up: "living cells",
            growth: Growth::Linear,
            panels: vec![Panel { name: "living cells".to_owned(), color: Color::Green, bars, measured: Vec::new() }],
        }
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|actual| actual.eq_ignore_ascii_case(extension))
}
