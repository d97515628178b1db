//! Kernels whose results must be the same on host and device, bit for bit or within a stated error. On a GPU,
//! `slm-emulator-runner` compares them with the emulator's.
//!
//! A block has 32 threads. Thread `t` writes its result `r` to element `32 * r + t` of the output.

use cuda_std::{
    Arena, Atomic, Bf16, F16, GlobalIn, GlobalIn2, GlobalInOut, Ordering, arguments, copy, kernel, math, shared,
    thread, warp,
};

/// Elements of `patterns`, not a multiple of four.
pub const PATTERNS: u32 = 1022;

/// Elements of `output`, 32 for each thread.
pub const RESULTS: u32 = 1024;

/// Rows, columns and pitch of `matrix`, which lies in `patterns`.
pub const MATRIX: [u64; 3] = [14, 70, 73];

arguments! {
    /// Arguments of the kernels.
    pub struct Compared<'l> {
        /// Arbitrary bit patterns.
        pub patterns: GlobalIn<'l, u32>,
        /// The same memory as a matrix.
        pub matrix: GlobalIn2<'l, u32>,
        /// Zeros at first.
        pub output: GlobalInOut<'l, u32>,
    }
}

impl Compared<'_> {
    /// Returns pattern `k` of this thread, as a float.
    fn float(&self, k: u32) -> f32 {
        f32::from_bits(self.word(k))
    }

    fn word(&self, k: u32) -> u32 {
        self.patterns.get_or((32 * k + thread::thread_idx_x()).into(), 0)
    }

    fn double(&self, k: u32) -> f64 {
        f64::from_bits(u64::from(self.word(k)) << 32 | u64::from(self.word(k + 1)))
    }

    fn write(&self, results: impl IntoIterator<Item = u32>) {
        for (r, result) in results.into_iter().enumerate() {
            self.output.set((32 * r as u32 + thread::thread_idx_x()).into(), result);
        }
    }
}

/// Returns the bits of a float, with the same bits for all NaNs.
fn bits(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

/// The same for `f64`, in two words.
fn bits64(x: f64) -> [u32; 2] {
    if x.is_nan() { [0, 0x7fff_ffff] } else { words(x.to_bits()) }
}

fn words(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

kernel! {
    /// Operations that IEEE 754 defines, for `f32`.
    pub fn ieee_f32<'l>(_arena, args: Compared<'l>) {
        let (a, b) = (args.float(0), args.float(1));
        // Includes fractions and zeros.
        let small = (args.word(2) as i32 >> 20) as f32 * 0.25;
        args.write([
            math::sqrt(a), math::floor(a), math::ceil(a), math::trunc(a), math::round_ties_even(a),
            math::abs(a), math::copysign(a, b), math::min(a, b), math::max(a, b),
            math::sqrt(small), math::floor(small), math::ceil(small), math::trunc(small), math::round_ties_even(small),
            math::min(math::copysign(0.0, a), math::copysign(0.0, b)),
            math::max(math::copysign(0.0, a), math::copysign(0.0, b)),
            math::min(f32::NAN, b), math::max(a, f32::NAN), math::fma(a, b, small), 1.0 / math::sqrt(math::abs(a)),
        ].map(bits));
    }
}

kernel! {
    /// The same for `f64`.
    pub fn ieee_f64<'l>(_arena, args: Compared<'l>) {
        let (a, b) = (args.double(0), args.double(2));
        let small = f64::from(args.word(4) as i32 >> 20) * 0.25;
        args.write([
            math::sqrt(a), math::floor(a), math::ceil(a), math::trunc(a), math::round_ties_even(a),
            math::abs(a), math::copysign(a, b), math::min(a, b), math::max(a, b),
            math::sqrt(small), math::floor(small), math::ceil(small), math::trunc(small), math::round_ties_even(small),
            math::min(math::copysign(0.0, a), math::copysign(0.0, b)),
            math::max(f64::NAN, b),
        ].into_iter().flat_map(bits64));
    }
}

kernel! {
    /// Approximate functions: results 0 to 4 of arbitrary numbers, 5 to 9 of small ones.
    pub fn approximate<'l>(_arena, args: Compared<'l>) {
        let x = args.float(0);
        let small = (args.word(1) as i32) as f32 * (3.0 / 2_147_483_648.0);
        args.write([
            math::rsqrt_approx(x), math::exp2_approx(x), math::log2_approx(x), 0.0, 0.0,
            math::rsqrt_approx(small), math::exp2_approx(small), math::log2_approx(small), math::sin_approx(small),
            math::cos_approx(small),
        ].map(bits));
    }
}

kernel! {
    /// Conversions of floats of 16 bits, and bitwise look-up.
    pub fn halves<'l>(_arena, args: Compared<'l>) {
        let (x, word) = (args.float(0), args.word(1) as u16);
        // In the range of `F16`, including its subnormal numbers, and near ties.
        let near = f32::from_bits((args.word(2) & 0x8fff_f001) % 0x4800_0000 + 0x3000_0000);
        args.write([
            F16::from_f32(x).to_bits().into(), Bf16::from_f32(x).to_bits().into(),
            F16::from_f32(near).to_bits().into(), Bf16::from_f32(near).to_bits().into(),
            F16::from_bits(word).to_f32().to_bits(), Bf16::from_bits(word).to_f32().to_bits(),
            u32::from(F16::from_bits(word) == F16::from_f32(near)),
            math::lop3::<0x1b>(args.word(0), args.word(1), args.word(2)), math::lop3::<0x96>(args.word(3), args.word(4), !args.word(5)),
        ]);
    }
}

/// Stores `first`, applies atomic minima and maxima of all threads, and returns the results.
fn extremes<T: Atomic>(arena: Arena, first: [T; 2], operand: T) -> ([T; 2], Arena) {
    let (places, rest) = arena.split::<T>(2);
    if thread::thread_idx_x() < 2 {
        places.set(thread::thread_idx_x(), first[thread::thread_idx_x() as usize % 2]);
    }
    thread::sync_threads();
    places.fetch_min(0, operand, Ordering::Relaxed);
    places.fetch_max(1, operand, Ordering::SeqCst);
    thread::sync_threads();
    ([places.get(0), places.get(1)], rest)
}

kernel! {
    /// Atomic minima and maxima of floats.
    pub fn float_extremes<'l>(arena, args: Compared<'l>) {
        let ([a, b], rest) = extremes(arena, [0.0, -0.0], args.float(0));
        let ([c, d], rest) = extremes(rest, [f32::INFINITY, f32::NEG_INFINITY], math::abs(args.float(1)));
        let ([e, f], rest) = extremes(rest, [0.0, -0.0], args.double(2));
        let ([g, h], _) = extremes(rest, [1.0f64, -1.0], -math::abs(args.double(4)));
        args.write([a, b, c, d].map(f32::to_bits).into_iter().chain([e, f, g, h].into_iter().flat_map(|x| words(x.to_bits()))));
    }
}

kernel! {
    /// Shuffles of values of all sizes.
    pub fn shuffles<'l>(_arena, args: Compared<'l>) {
        let (t, word, double) = (warp::lane(), args.word(0), args.double(1));
        let long = double.to_bits();
        let byte = warp::shuffle_xor(warp::FULL, word as i8, 5);
        let half = warp::shuffle_up(warp::FULL, F16::from_bits(word as u16), 3);
        let short = warp::shuffle_down(warp::FULL, word as i16, 7);
        let narrow = [byte as u32, half.to_bits().into(), short as u32];
        let wide = [
            warp::shuffle(warp::FULL, long, t * 7),
            warp::shuffle_up(warp::FULL, long as i64, 2) as u64,
            warp::shuffle_down(warp::FULL, double, 9).to_bits(),
            warp::shuffle_xor(warp::FULL, double, 31).to_bits(),
        ];
        args.write(narrow.into_iter().chain(wide.into_iter().flat_map(words)));
    }
}

kernel! {
    /// Votes, matches and reductions, of all lanes, and of every third lane and the rest separately.
    pub fn together<'l>(_arena, args: Compared<'l>) {
        let (t, word) = (warp::lane(), args.word(0));
        let mask = if t % 3 == 0 { 0x4924_9249 } else { !0x4924_9249 };
        for (k, mask) in [warp::FULL, mask].into_iter().enumerate() {
            let few = word % 5;
            let results = [
                u32::from(warp::any(mask, few == 0)), u32::from(warp::all(mask, few < 4)), warp::ballot(mask, few == 1),
                warp::match_any(mask, few), warp::match_any(mask, u64::from(few) << 31 | u64::from(t / 16)),
                warp::reduce_add(mask, word), warp::reduce_min(mask, word), warp::reduce_max(mask, word),
                warp::reduce_and(mask, word | 0xffff), warp::reduce_or(mask, word & 0xffff),
                warp::reduce_add(mask, word as i32) as u32, warp::reduce_min(mask, word as i32) as u32,
                warp::reduce_max(mask, word as i32) as u32, warp::reduce_and(mask, word as i32 | 0xff) as u32,
                warp::reduce_or(mask, word as i32 & 0xff) as u32,
            ];
            for (r, result) in results.into_iter().enumerate() {
                args.output.set((32 * (16 * k + r) as u32 + t).into(), result);
            }
        }
    }
}

shared! {
    /// Targets of copies of each size.
    pub struct Copied {
        /// 4 bytes for each thread.
        pub one: [u32; 32],
        /// 8 bytes.
        pub two: [u32; 64],
        /// 16 bytes.
        pub four: [u32; 128],
    }
}

kernel! {
    /// Copies of each size, the last ones beyond the window, and some misaligned.
    pub fn copies<'l>(arena, args: Compared<'l>) {
        let (tiles, _) = Copied::split(arena);
        let t = thread::thread_idx_x();
        let at = |n: u32| u64::from(PATTERNS - 16 * n + n * t);
        args.patterns.copy_async_masked::<1>(at(1), &tiles.one, t);
        args.patterns.copy_async_masked::<2>(at(2), &tiles.two, 2 * t);
        copy::commit();
        // All starts are multiples of four. The last copies exceed the window.
        args.patterns.copy_async_masked::<4>((PATTERNS / 4 * 4 - 64 + 4 * t).into(), &tiles.four, 4 * t);
        copy::commit();
        copy::wait_group::<1>();
        let own = [tiles.one.get(t), tiles.two.get(2 * t), tiles.two.get(2 * t + 1)];
        copy::wait_group::<0>();
        thread::sync_threads();
        let others = tiles.four.get_pack::<4>(4 * (31 - t));
        args.write(own.into_iter().chain(others));
    }
}

kernel! {
    /// Tails of windows, and rows of a matrix.
    pub fn windows<'l>(_arena, args: Compared<'l>) {
        let t = thread::thread_idx_x();
        let i = u64::from(PATTERNS - 64 + 3 * t);
        let four = args.patterns.get_pack_or::<4>(i, 7);
        let aligned = args.patterns.get_pack_or::<4>(u64::from(PATTERNS / 4 * 4 - 64 + 4 * t), 8);
        let [a, b] = args.patterns.get_pack_or::<2>(u64::from(PATTERNS - 40 + 2 * t), 9);
        let rows = [
            args.matrix.get_or(t, 69u32, 1), args.matrix.get_or(u64::from(t / 4), u64::from(60 + t), 2),
            args.matrix.row(t / 4).get_if(t.is_multiple_of(2), 2 * t, 3), args.patterns.get_if(t.is_multiple_of(3), i, 4),
        ];
        args.write(four.into_iter().chain(aligned).chain([a, b]).chain(rows));
        // Aligned, then misaligned. The last element of the last pack is beyond the window.
        args.output.set_pack_if(!t.is_multiple_of(5), (RESULTS - 128 + 4 * t + t / 16).into(), [t; 4]);
        // The last eight packs are beyond the window.
        args.output.set_pack_masked(!t.is_multiple_of(3), (RESULTS - 384 + 2 * t + t / 24 * 384).into(), [t, !t]);
    }
}

/// Allowed difference between host and device.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// None.
    Exact,
    /// The error that the documentation of the approximate functions states.
    Approximate,
}

/// A visitor of all kernels.
#[cfg(not(target_os = "cuda"))]
pub trait ComparedVisitor {
    /// Called once for each kernel.
    fn visit<E: for<'l> cuda_std::Entry<Args<'l> = Compared<'l>, Constants = ()>>(&mut self, tolerance: Tolerance);
}

/// Calls the visitor for every kernel.
#[cfg(not(target_os = "cuda"))]
pub fn visit(visitor: &mut impl ComparedVisitor) {
    visitor.visit::<ieee_f32>(Tolerance::Exact);
    visitor.visit::<ieee_f64>(Tolerance::Exact);
    visitor.visit::<approximate>(Tolerance::Approximate);
    visitor.visit::<halves>(Tolerance::Exact);
    visitor.visit::<float_extremes>(Tolerance::Exact);
    visitor.visit::<shuffles>(Tolerance::Exact);
    visitor.visit::<together>(Tolerance::Exact);
    visitor.visit::<copies>(Tolerance::Exact);
    visitor.visit::<windows>(Tolerance::Exact);
}
