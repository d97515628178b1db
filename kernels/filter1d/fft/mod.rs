//! Correlation by Fourier transforms: overlap-save.
//!
//! A *segment* of `N` samples is transformed, multiplied by the conjugate spectrum of the taps, and transformed back. Its first
//! `N - taps + 1` outputs are those of the line; the others have wrapped around, and the next segment computes them again. Two segments are
//! transformed at once, as real and imaginary part, because the spectrum is that of real taps.
//!
//! More taps than a segment has room for are divided into *parts*. The spectra of an output's segments, one per part, are multiplied by those
//! of the parts and added before the transform back.
//!
//! All happens in shared memory and registers: each sample is read once per segment and part, and each output is written once.
//!
//! Source: overlap-save with the whole transform in shared memory is that of Adámek, Dimoudi, Giles and Armour, *GPU Fast Convolution via the
//! Overlap-and-Save Method in Shared Memory* (2020).
//!
//! | file | contents |
//! |---|---|
//! | `complex.rs` | complex numbers |
//! | `dft.rs` | transforms of a few numbers in registers |
//! | `host.rs` | what the host computes: spectra in the kernels' order, launch parameters |
//! | `transform.rs` | the transform of a block's points, through shared memory |

mod complex;
mod dft;
#[cfg(not(target_os = "cuda"))]
mod host;
mod transform;

pub use complex::Real;
#[cfg(not(target_os = "cuda"))]
pub use host::{FftGeometry, FftPart, frequencies};
pub use transform::{TWIDDLES, shared_elements};

use crate::signal::{Border, Line};
use complex::Complex;
use core::fmt::Debug;
use core::marker::PhantomData;
use cuda_std::{Arena, GlobalIn, GlobalInOut, arguments, thread};
use transform::Transform;

/// Numbers of type `T`, and `POINTS` points of a transform: 1,024, 2,048, 4,096 or 8,192.
#[derive(Clone, Copy, Debug)]
pub struct Points<T, const POINTS: usize>(PhantomData<T>);

/// The constants of a transform.
pub trait Transformed: Copy + Debug + Send + Sync + 'static {
    /// Type of samples, taps and outputs.
    type Real: Real;
    /// Number of points.
    const POINTS: usize;
    /// Radix of the first pass.
    const RADIX: usize = Self::POINTS / 256;
    /// Points in a thread's registers.
    const PER_THREAD: usize = if Self::RADIX > 16 { Self::RADIX } else { 16 };
    /// Threads of a block.
    const THREADS: u32 = (Self::POINTS / Self::PER_THREAD) as u32;
    /// Elements in 16 bytes.
    const PACK: usize = 16 / size_of::<Self::Real>();
    /// Maximum number of registers of a thread. A multiprocessor with 65,536 registers then has 768 threads of `f32` and 384 of `f64`, and
    /// 512 of the longest transforms.
    const REGISTERS: u8 = match (size_of::<Self::Real>(), Self::POINTS) {
        (4, 8192) | (8, 4096) => 128,
        (4, _) => 80,
        _ => 168,
    };
    /// The same with sums of parts, which are in registers, too.
    const REGISTERS_OF_PARTS: u8 = if size_of::<Self::Real>() == 4 { 128 } else { 255 };
}

impl<T: Real + Debug, const POINTS: usize> Transformed for Points<T, POINTS> {
    type Real = T;
    const POINTS: usize = POINTS;
}

arguments! {
    /// Arguments of the kernels. Lengths and strides are in elements.
    pub struct FftArgs<'l, T: Real> {
        /// The samples.
        pub input: GlobalIn<'l, T>,
        /// Receives the sums.
        pub output: GlobalInOut<'l, T>,
        /// The spectra of all parts of the taps, as the host orders them.
        pub spectra: GlobalIn<'l, T>,
        /// Roots of unity: [`TWIDDLES`] complex numbers.
        pub twiddles: GlobalIn<'l, T>,
        /// Samples per line.
        pub samples: u64,
        /// Sums per line.
        pub outputs: u64,
        /// Index in the line of the first sum's first sample; may be negative.
        pub start: i64,
        /// Stride between the samples of a line in `input`.
        pub input_step: u64,
        /// Stride between lines in `input`.
        pub input_line: u64,
        /// Stride between the sums of a line in `output`.
        pub output_step: u64,
        /// Stride between lines in `output`.
        pub output_line: u64,
        /// Value outside the line, for a constant border.
        pub outside: T,
        /// A [`Border`](crate::signal::Border).
        pub border: u32,
        /// Number of lines.
        pub lines: u32,
        /// Segments per line.
        pub segments: u32,
        /// Not 0 if consecutive segments are of neighbouring lines.
        pub across: u32,
        /// Outputs per segment.
        pub step: u32,
        /// Number of parts of the taps.
        pub parts: u32,
        /// Taps per part, except the last one.
        pub taps_per_part: u32,
    }
}

/// A segment of a line.
struct Segment<'l, T: Real> {
    line: Line<'l, T>,
    /// Index of its first output.
    first: u64,
    /// Number of its outputs; 0 if there is no such segment.
    outputs: u32,
    /// Index in the output of its first output.
    place: u64,
}

impl<'l, T: Real> Segment<'l, T> {
    /// Returns segment `number` of all lines.
    #[inline(always)]
    fn new(args: &FftArgs<'l, T>, number: u32) -> Self {
        let (line, segment) = match args.across {
            0 => (number / args.segments, number % args.segments),
            _ => (number % args.lines, number / args.lines),
        };
        let exists = line < args.lines && segment < args.segments;
        let first = segment as u64 * args.step as u64;
        let outputs = if exists { (args.outputs - first).min(args.step as u64) as u32 } else { 0 };
        let place = line as u64 * args.output_line + first * args.output_step;
        let line = Line {
            input: args.input,
            first: line as u64 * args.input_line,
            step: args.input_step,
            samples: args.samples,
            border: args.border,
            outside: args.outside,
        };
        Segment { line, first, outputs, place }
    }

    /// Returns whether `count` samples from `start` on, counted from the first output's place, are contiguous inside the line.
    #[inline(always)]
    fn is_inside(&self, start: i64, count: u32) -> bool {
        self.outputs > 0 && self.line.step == 1 && self.line.contains(start + self.first as i64, count)
    }

    /// Returns the line's samples if they are contiguous, there are less than 2^31, and zeros continue them: then all that is not a sample is
    /// zero.
    #[inline(always)]
    fn between_zeros(&self) -> Option<GlobalIn<'l, T, u32>> {
        let Line { input, first, step, samples, border, outside } = self.line;
        let is_so = border == Border::Constant as u32 && outside == T::ZERO && step == 1 && samples < 1 << 31;
        is_so.then(|| input.at(first).first(if self.outputs > 0 { samples as u32 } else { 0 }))
    }

    /// Returns how `count` samples from `start` on are read from a contiguous line of less than 2^30 samples, if each is at most one length
    /// of the line beyond its ends.
    #[inline(always)]
    fn continued(&self, start: i64, count: u32) -> Option<Continued<'l, T>> {
        let Line { input, first, step, samples, border, .. } = self.line;
        let (n, from) = (samples as i64, start + self.first as i64);
        // Reflected about its last sample, a line does not repeat that one.
        let reach = n - (border == Border::Mirror as u32) as i64;
        let is_near = from >= -reach && from + count as i64 <= n + reach;
        if step != 1 || samples >= 1 << 30 || !is_near {
            return None;
        }
        let n = n as i32;
        let [before, behind] = match Border::from_number(border) {
            Border::Constant => return None,
            Border::Nearest => [(0, 0), (n - 1, 0)],
            Border::Reflect => [(-1, -1), (2 * n - 1, -1)],
            Border::Mirror => [(0, -1), (2 * n - 2, -1)],
            Border::Wrap => [(n, 1), (-n, 1)],
        };
        let samples = input.at(first).first(if self.outputs > 0 { n as u32 } else { 0 });
        Some(Continued { samples, from: from as i32, n, before, behind })
    }

    /// Returns sample `i` from there on.
    #[inline(always)]
    fn sample(&self, start: i64, i: u32) -> T {
        if self.outputs > 0 { self.line.get(start + self.first as i64 + i as i64) } else { T::ZERO }
    }

    /// Returns the samples `t`, `t + THREADS`, … from there on, which are inside the line.
    #[inline(always)]
    fn inside<const E: usize, const THREADS: u32>(&self, start: i64, t: u32) -> [T; E] {
        let samples = self.line.input.at(self.line.first + (start + self.first as i64) as u64);
        let mut loaded = [T::ZERO; E];
        for m in (0..E).step_by(4) {
            let four = samples.get4_strided::<THREADS>(t + m as u32 * THREADS);
            for (k, sample) in four.into_iter().enumerate() {
                loaded[m + k] = sample;
            }
        }
        loaded
    }

    /// Stores the outputs `t`, `t + THREADS`, ….
    #[inline(always)]
    fn store<const E: usize, const THREADS: u32>(&self, output: &GlobalInOut<T>, step: u64, t: u32, sums: [T; E]) {
        if step != 1 {
            for (m, sum) in sums.into_iter().enumerate() {
                let i = t + m as u32 * THREADS;
                output.set_if(i < self.outputs, self.place + i as u64 * step, sum);
            }
            return;
        }
        let output = output.at(self.place).first(self.outputs);
        for m in (0..E).step_by(4) {
            output.set4_strided::<THREADS>(t + m as u32 * THREADS, core::array::from_fn(|k| sums[m + k]));
        }
    }
}

/// Samples of a line and of its continuation, with indices of 32 bits.
struct Continued<'l, T: Real> {
    /// The line; empty if there is no segment.
    samples: GlobalIn<'l, T, u32>,
    /// Index of the first sample.
    from: i32,
    /// Length of the line.
    n: i32,
    /// Constant and factor: sample `i` in front of the line is the line's sample `constant + factor * i`. Behind it likewise.
    before: (i32, i32),
    behind: (i32, i32),
}

impl<T: Real> Continued<'_, T> {
    /// Returns sample `number`.
    #[inline(always)]
    fn sample(&self, number: u32) -> T {
        let i = self.from + number as i32;
        let outside = if i < 0 { self.before } else { self.behind };
        // Indices in front of the line are 2^31 or more.
        let (constant, factor) = if (i as u32) < self.n as u32 { (0, 1) } else { outside };
        self.samples.get_masked((constant + factor * i) as u32)
    }
}

/// Filters two segments per block.
///
/// A block of `THREADS` threads transforms `E · THREADS` points. Thread `t` loads the samples `t`, `t + THREADS`, … of both segments, and
/// stores the outputs with the same numbers. Shared memory: the points ([`transform`]). `V` elements are 16 bytes.
#[inline(always)]
pub(super) fn filter<T: Real, const R: usize, const E: usize, const THREADS: u32, const V: usize, const PARTS: bool>(
    arena: Arena,
    args: &FftArgs<T>,
) {
    let (memory, _) = arena.split::<T>(shared_elements(E as u32 * THREADS));
    let transform = Transform::<T, R, E, THREADS>::new(&memory, args.twiddles);
    let (t, block) = (transform.thread, thread::block_idx_x());
    let pair = [Segment::new(args, 2 * block), Segment::new(args, 2 * block + 1)];
    let weights = |part: u32| Weights::<T, E, THREADS, V> { spectra: args.spectra, part };
    let mut products = [Complex::default(); E];
    if PARTS {
        let mut part = 0;
        while part < args.parts {
            // The threads have read the points of the part before.
            thread::sync_threads();
            let samples = load::<T, R, E, THREADS, PARTS>(args, &pair, &transform, part);
            products = weights(part).add_product(t, products, transform.forward(samples));
            part += 1;
        }
    } else {
        let samples = load::<T, R, E, THREADS, PARTS>(args, &pair, &transform, 0);
        products = weights(0).times(t, transform.forward(samples));
    }
    let sums = transform.inverse(products);
    let [a, b] = pair;
    a.store::<E, THREADS>(&args.output, args.output_step, t, sums.map(|sum| sum.re));
    b.store::<E, THREADS>(&args.output, args.output_step, t, sums.map(|sum| sum.im));
}

/// Returns the samples that two segments need for a part of the taps: as real parts, and as imaginary parts.
#[inline(always)]
fn load<T: Real, const R: usize, const E: usize, const THREADS: u32, const PARTS: bool>(
    args: &FftArgs<T>,
    [a, b]: &[Segment<T>; 2],
    transform: &Transform<T, R, E, THREADS>,
    part: u32,
) -> [Complex<T>; E] {
    let start = args.start + part as i64 * args.taps_per_part as i64;
    let (points, t) = (E as u32 * THREADS, transform.thread);
    let mut pairs = [Complex::default(); E];
    if a.is_inside(start, points) && b.is_inside(start, points) {
        let (re, im) = (a.inside::<E, THREADS>(start, t), b.inside::<E, THREADS>(start, t));
        for (m, pair) in pairs.iter_mut().enumerate() {
            *pair = Complex { re: re[m], im: im[m] };
        }
        return pairs;
    }
    if let (Some(re), Some(im)) = (a.between_zeros(), b.between_zeros()) {
        let [first, second] = [a, b].map(|segment| ((start + segment.first as i64) as u32).wrapping_add(t));
        for (m, pair) in pairs.iter_mut().enumerate() {
            // Indices in front of the line are 2^31 or more.
            let i = m as u32 * THREADS;
            *pair = Complex { re: re.get_masked(first.wrapping_add(i)), im: im.get_masked(second.wrapping_add(i)) };
        }
        return pairs;
    }
    // The sums of parts leave no registers for these indices.
    if !PARTS && let (Some(re), Some(im)) = (a.continued(start, points), b.continued(start, points)) {
        return core::array::from_fn(|m| {
            let i = t + m as u32 * THREADS;
            Complex { re: re.sample(i), im: im.sample(i) }
        });
    }
    transform.staged(|i| Complex { re: a.sample(start, i), im: b.sample(start, i) })
}

/// The spectrum of a part of the taps. A thread reads the points of its third pass, `V / 2` in each access. The accesses of a warp are
/// contiguous.
struct Weights<'l, T: Real, const E: usize, const THREADS: u32, const V: usize> {
    spectra: GlobalIn<'l, T>,
    part: u32,
}

impl<T: Real, const E: usize, const THREADS: u32, const V: usize> Weights<'_, T, E, THREADS, V> {
    /// Calls `change` with each point and its weight.
    #[inline(always)]
    fn each(&self, t: u32, mut change: impl FnMut(usize, Complex<T>)) {
        let weights = self.spectra.at(self.part as u64 * (2 * E as u32 * THREADS) as u64);
        for m in (0..E).step_by(V / 2) {
            let pack: [T; V] = weights.get_pack((t + (2 * m / V) as u32 * THREADS) * V as u32);
            for k in 0..V / 2 {
                change(m + k, Complex { re: pack[2 * k], im: pack[2 * k + 1] });
            }
        }
    }

    #[inline(always)]
    fn times(&self, t: u32, mut points: [Complex<T>; E]) -> [Complex<T>; E] {
        self.each(t, |m, weight| points[m] = points[m] * weight);
        points
    }

    /// Returns `sums + points * weights`.
    #[inline(always)]
    fn add_product(&self, t: u32, mut sums: [Complex<T>; E], points: [Complex<T>; E]) -> [Complex<T>; E] {
        self.each(t, |m, weight| sums[m] = sums[m].add_product(points[m], weight));
        sums
    }
}
