//! The shipped filters, under examination: results against a naive oracle, nothing found, no bank conflicts.

use cuda_std::{Entry, Table};
use emulator::{Action, Emulator, Launch, Profile, Report};
use slm_kernels::filter1d::{self as kernels, Args, CHUNK_BYTES, Geometry, Halo, Kernel, Orientation, Problem};
use slm_kernels::{Border, Sample};

/// An element type and its kernels.
trait Element: Sample {
    type Global: Entry<Args = Args<Self>, Constants = ()>;
    type Tile: Entry<Args = Args<Self>, Constants = ()>;
    type Rows: Entry<Args = Args<Self>, Constants = Self::Table>;
    type Columns: Entry<Args = Args<Self>, Constants = Self::Table>;
    type Table: cuda_std::Argument;
    fn of(n: i32) -> Self;
    /// The table of these taps, behind the pad for a first sample at `start`.
    fn table(taps: &[Self], start: i64) -> Self::Table;
}

macro_rules! elements {
    ($($t:ty: $global:ident $tile:ident $rows:ident $columns:ident;)*) => {$(
        impl Element for $t {
            type Global = kernels::$global;
            type Tile = kernels::$tile;
            type Rows = kernels::$rows;
            type Columns = kernels::$columns;
            type Table = Table<$t, { CHUNK_BYTES / size_of::<$t>() }>;
            fn of(n: i32) -> Self {
                n as $t
            }
            fn table(taps: &[$t], start: i64) -> Self::Table {
                let mut table = [<$t as Sample>::ZERO; _];
                let pad = kernels::pad(start, 16 / size_of::<$t>() as u32) as usize;
                table[pad..pad + taps.len()].copy_from_slice(taps);
                Table(table)
            }
        }
    )*};
}
elements! {
    f32: filter1d_global_f32 filter1d_tile_f32 filter1d_register_rows_f32 filter1d_register_columns_f32;
    f64: filter1d_global_f64 filter1d_tile_f64 filter1d_register_rows_f64 filter1d_register_columns_f64;
    i32: filter1d_global_i32 filter1d_tile_i32 filter1d_register_rows_i32 filter1d_register_columns_i32;
}

/// What is filtered, and how.
#[derive(Clone, Copy, Debug)]
struct Setting {
    lines: usize,
    samples: usize,
    taps: usize,
    /// Taps of one launch of a register-tiled kernel.
    chunk: usize,
    border: Border,
    halo: Halo,
    orientation: Orientation,
    kernel: Kernel,
    seed: u64,
}

/// The sample that stands at `i`, by walking there from the line.
fn walk(border: Border, i: i64, n: i64) -> Option<i64> {
    let (mut at, mut step) = (0i64, i.signum());
    for _ in 0..i.abs() {
        match (border, at + step) {
            (_, next) if (0..n).contains(&next) => at = next,
            (Border::Constant, _) => return None,
            (Border::Nearest, _) => {}
            (Border::Wrap, next) => at = next.rem_euclid(n),
            // The edge sample once more, or the one before it.
            (Border::Reflect, _) => step = -step,
            (Border::Mirror, _) if n == 1 => {}
            (Border::Mirror, _) => {
                step = -step;
                at += step;
            }
        }
    }
    Some(at)
}

impl Setting {
    /// The place of sample or sum `i` of `line` in memory.
    fn place(&self, line: usize, i: usize) -> usize {
        match self.orientation {
            Orientation::Rows => line * self.samples + i,
            Orientation::Columns => i * self.lines + line,
        }
    }

    fn naive<T: Element>(&self, input: &[T], taps: &[T], outside: T) -> Vec<T> {
        let mut output = vec![T::ZERO; input.len()];
        for (line, o) in (0..self.lines).flat_map(|line| (0..self.samples).map(move |o| (line, o))) {
            let sample = |j: usize| {
                let i = o as i64 + j as i64 - (self.taps / 2) as i64;
                walk(self.border, i, self.samples as i64).map_or(outside, |i| input[self.place(line, i as usize)])
            };
            let products = taps.iter().enumerate();
            output[self.place(line, o)] = products.fold(T::ZERO, |sum, (j, tap)| T::add_product(sum, sample(j), *tap));
        }
        output
    }

    /// Runs the kernel as the host does; the reports of its launches.
    fn run<T: Element>(&self, input: &[T], taps: &[T], outside: T) -> (Vec<T>, Vec<Report>) {
        let mut emulator = Emulator::new(Profile::SM_90);
        let window = emulator.upload(input);
        let tap_window = emulator.upload(taps);
        let output = emulator.allocate::<T>(input.len());
        let of_launch = if self.kernel == Kernel::Register { self.chunk.min(taps.len()) } else { taps.len() };
        let (lines, outputs) = (self.lines as u64, self.samples as u64);
        let problem = Problem { lines, outputs, taps: of_launch as u64, orientation: self.orientation };
        let geometry = Geometry::new::<T>(self.kernel, &problem);
        let [part] = geometry.parts(lines).collect::<Vec<_>>()[..] else { panic!("one launch is enough") };
        let (step, line) = match self.orientation {
            Orientation::Rows => (1, outputs),
            Orientation::Columns => (lines, 1),
        };
        let args = Args {
            input: window.input(),
            output: output.in_out(),
            taps: tap_window.input(),
            samples: outputs,
            outputs,
            lines,
            start: -((self.taps / 2) as i64),
            input_step: step,
            input_line: line,
            output_step: step,
            output_line: line,
            outside,
            border: self.border as u32,
            halo: self.halo as u32,
            tiles: geometry.tiles as u32,
            tap_count: of_launch as u32,
            resume: 0,
        };
        let [x, y] = geometry.block;
        let launch =
            Launch::new([part.blocks, 1, 1], [x, y, 1]).shared_bytes(geometry.shared_bytes as u32).seed(self.seed);
        let chunks = taps.chunks(of_launch).enumerate().map(|(k, chunk)| {
            let first = k * of_launch;
            let of_chunk = Args {
                start: args.start + first as i64,
                tap_count: chunk.len() as u32,
                resume: u32::from(first > 0),
                ..args
            };
            let table = T::table(chunk, of_chunk.start);
            match (self.kernel, self.orientation) {
                (Kernel::Global, _) => emulator.launch::<T::Global>(launch, of_chunk, ()),
                (Kernel::Tile, _) => emulator.launch::<T::Tile>(launch, of_chunk, ()),
                (Kernel::Register, Orientation::Rows) => emulator.launch::<T::Rows>(launch, of_chunk, table),
                (Kernel::Register, Orientation::Columns) => emulator.launch::<T::Columns>(launch, of_chunk, table),
            }
        });
        let reports = chunks.collect::<Result<Vec<_>, _>>().expect("within the limits");
        assert_eq!(emulator.first_unwritten(&output), None, "{self:?}");
        (emulator.download(&output), reports)
    }

    fn check<T: Element>(&self) {
        let input: Vec<T> = (0..self.lines * self.samples).map(|i| T::of((i * 37 % 101) as i32 - 50)).collect();
        let taps: Vec<T> = (0..self.taps).map(|j| T::of((j * 13 % 17) as i32 - 8)).collect();
        let (output, reports) = self.run(&input, &taps, T::of(3));
        for report in &reports {
            assert!(report.is_clean(), "{self:?}: {report}");
            // The documentation of the kernels promises none.
            assert_eq!(report.bank_conflicts(), 0, "{self:?}: {report}");
        }
        let expected = self.naive(&input, &taps, T::of(3));
        assert!(output == expected, "{self:?}: {output:?} is not {expected:?}");
    }
}

const BORDERS: [Border; 5] = [Border::Constant, Border::Nearest, Border::Reflect, Border::Mirror, Border::Wrap];

/// Lines, samples of a line and taps: less than a block, a part of a second one, a halo longer than a line.
const SIZES: [[usize; 3]; 6] = [[1, 1, 1], [3, 70, 5], [2, 600, 9], [35, 40, 4], [1, 1100, 300], [5, 3, 7]];

fn check_all<T: Element>(kernel: Kernel, orientation: Orientation, halo: Halo) {
    for (k, [lines, samples, taps]) in SIZES.into_iter().enumerate() {
        let border = BORDERS[(k + lines) % BORDERS.len()];
        for (seed, chunk) in [(0, taps), (1, 128)] {
            Setting { lines, samples, taps, chunk, border, halo, orientation, kernel, seed }.check::<T>();
        }
    }
}

macro_rules! kernels {
    ($($name:ident: $t:ty, $kernel:ident, $orientation:ident, $halo:ident;)*) => {$(
        #[test]
        fn $name() {
            check_all::<$t>(Kernel::$kernel, Orientation::$orientation, Halo::$halo);
        }
    )*};
}
kernels! {
    global_rows_f32: f32, Global, Rows, Cooperative;
    global_columns_f64: f64, Global, Columns, Cooperative;
    global_columns_i32: i32, Global, Columns, Cooperative;
    tile_rows_f32: f32, Tile, Rows, Cooperative;
    tile_rows_f64: f64, Tile, Rows, EdgeThread;
    tile_rows_i32: i32, Tile, Rows, EdgeThread;
    tile_columns_f32: f32, Tile, Columns, EdgeThread;
    tile_columns_f64: f64, Tile, Columns, Cooperative;
    tile_columns_i32: i32, Tile, Columns, Cooperative;
    register_rows_f32: f32, Register, Rows, Cooperative;
    register_rows_f64: f64, Register, Rows, Cooperative;
    register_rows_i32: i32, Register, Rows, Cooperative;
    register_columns_f32: f32, Register, Columns, Cooperative;
    register_columns_f64: f64, Register, Columns, Cooperative;
    register_columns_i32: i32, Register, Columns, Cooperative;
}

/// Global accesses of whole lines are coalesced: a warp's load of 32 neighbouring floats is four sectors, or five if it
/// begins inside one.
#[test]
fn contiguous_lines_are_coalesced() {
    let setting = Setting {
        lines: 1,
        samples: 2048,
        taps: 9,
        chunk: 9,
        border: Border::Nearest,
        halo: Halo::Cooperative,
        orientation: Orientation::Rows,
        kernel: Kernel::Tile,
        seed: 0,
    };
    let (_, reports) = setting.run::<f32>(&vec![1.0; 2048], &[1.0; 9], 0.0);
    let stores = reports[0].counts(Action::Store, Some(cuda_std::host::Space::Global));
    assert_eq!((stores.requests, stores.lanes, stores.sectors), (64, 2048, 256));
    let loads = reports[0].counts(Action::Load, Some(cuda_std::host::Space::GlobalConstant));
    assert!(loads.sectors <= 5 * loads.requests, "{}", reports[0]);
}
