//! Results of warp operations.

use crate::planted::{launch, run};
use catalogue::Args;
use cuda_std::{GlobalIn, GlobalInOut, arguments, kernel, thread, warp};
use emulator::{Action, Emulator, Launch, Problem, Profile, Report};

kernel! {
    /// With `right` 0, each thread writes the result of a shuffle, otherwise the sum of the results of other warp
    /// operations.
    pub fn exchanges<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let value = t * t;
        let result = match args.right {
            0 => warp::shuffle(warp::FULL, value, t + 5),
            _ => {
                let up = warp::shuffle_up(warp::FULL, value, 3);
                let down = warp::shuffle_down(warp::FULL, value, 30);
                let odd = warp::ballot(warp::FULL, t % 2 == 1);
                up + down + odd + warp::reduce_add(warp::FULL, t) + warp::shuffle_xor(warp::FULL, value, 31)
            }
        };
        args.output.set(t.into(), result);
    }
}

#[test]
fn warp_operations_have_the_right_results() {
    let square = |t: u32| t * t;
    for seed in 0..10 {
        let (report, shuffled) = run::<exchanges>(launch(1, 32).seed(seed), false);
        assert!(report.is_clean(), "{report}");
        let expected: Vec<u32> = (0..32).map(|t| square((t + 5) % 32)).collect();
        assert_eq!(shuffled[..32], expected);
        let (report, sums) = run::<exchanges>(launch(1, 32).seed(seed), true);
        assert!(report.is_clean(), "{report}");
        for t in 0..32u32 {
            let up = square(if t < 3 { t } else { t - 3 });
            let down = square(if t < 2 { t + 30 } else { t });
            assert_eq!(sums[t as usize], up + down + 0xaaaa_aaaa + 31 * 16 + square(31 - t), "lane {t}");
        }
    }
}

arguments! {
    /// Matrices of each warp, in the layout of its lanes.
    pub struct Matrices<'l> {
        /// A word for each step and lane.
        pub a: GlobalIn<'l, u32>,
        /// A word for each step and lane.
        pub b: GlobalIn<'l, u32>,
        /// Two numbers for each lane.
        pub c: GlobalInOut<'l, i32>,
        /// Number of products that are added to `c`.
        pub steps: u32,
    }
}

kernel! {
    /// Each warp adds up its own products.
    pub fn products<'l>(_arena, args: Matrices<'l>) {
        let t = thread::thread_idx_x();
        let mut c = args.c.get_pack::<2>(u64::from(2 * t));
        for step in 0..args.steps {
            let word = u64::from((t / 32 * args.steps + step) * 32 + warp::lane());
            c = warp::mma_m8n8k16_s8(args.a.get(word), args.b.get(word), c);
        }
        args.c.set_pack(u64::from(2 * t), c);
    }
}

/// The matrices of one warp: `a[row][k]`, `b[k][column]` and `c[row][column]`, with 16 values of `k` for each step.
struct Warp {
    a: [Vec<i8>; 8],
    b: Vec<[i8; 8]>,
    c: [[i32; 8]; 8],
}

impl Warp {
    fn new(steps: usize, byte: &mut impl FnMut() -> i8, sum: &mut impl FnMut() -> i32) -> Warp {
        Warp {
            a: std::array::from_fn(|_| (0..16 * steps).map(|_| byte()).collect()),
            b: (0..16 * steps).map(|_| std::array::from_fn(|_| byte())).collect(),
            c: std::array::from_fn(|_| std::array::from_fn(|_| sum())),
        }
    }

    /// Returns `a * b + c`, computed by definition.
    fn product(&self) -> [[i32; 8]; 8] {
        std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                let products = self.a[row].iter().zip(&self.b).map(|(a, b)| i64::from(*a) * i64::from(b[column]));
                (i64::from(self.c[row][column]) + products.sum::<i64>()) as i32
            })
        })
    }

    /// Returns the words of all steps, of four bytes each, in the layout of the PTX ISA's tables.
    fn words(&self, element: impl Fn(&Warp, usize, usize) -> i8) -> Vec<u32> {
        let word = |(step, lane): (usize, usize)| {
            let (group, thread) = (lane >> 2, lane % 4);
            u32::from_le_bytes(std::array::from_fn(|i| element(self, group, 16 * step + 4 * thread + i) as u8))
        };
        (0..self.b.len() / 16).flat_map(|step| (0..32).map(move |lane| (step, lane))).map(word).collect()
    }
}

/// Returns the two numbers of each lane.
fn pairs(c: &[[i32; 8]; 8]) -> Vec<i32> {
    (0..32).flat_map(|lane| [0, 1].map(|i| c[lane >> 2][2 * (lane % 4) + i])).collect()
}

/// Multiplies on the emulated device. Returns the report and the products.
fn multiply(warps: &[Warp], seed: u64) -> (Report, Vec<i32>) {
    let mut emulator = Emulator::new(Profile::SM_75);
    let of_all = |words: &dyn Fn(&Warp) -> Vec<u32>| -> Vec<u32> { warps.iter().flat_map(words).collect() };
    let a = emulator.upload(&of_all(&|warp| warp.words(|warp, group, k| warp.a[group][k])));
    let b = emulator.upload(&of_all(&|warp| warp.words(|warp, group, k| warp.b[k][group])));
    let c = emulator.upload(&warps.iter().flat_map(|warp| pairs(&warp.c)).collect::<Vec<i32>>());
    let steps = warps[0].b.len() as u32 / 16;
    let args = Matrices { a: a.input(), b: b.input(), c: c.in_out(), steps };
    let launch = Launch::new([1; 3], [32 * warps.len() as u32, 1, 1]).seed(seed);
    let report = emulator.launch::<products>(launch, args, ()).expect("within the limits");
    (report, emulator.download(&c))
}

/// Returns a generator of pseudo-random numbers (SplitMix64).
fn numbers(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// The initial sums have all sizes, so that some products wrap.
#[test]
fn matrix_products_match_the_definition() {
    let (mut bytes, mut sums) = (numbers(1), numbers(2));
    let (mut byte, mut sum) = (|| bytes() as i8, || sums() as i32);
    for (seed, steps) in [0, 1, 1, 2, 3, 7].into_iter().enumerate() {
        let warps: Vec<Warp> = (0..3).map(|_| Warp::new(steps, &mut byte, &mut sum)).collect();
        let (report, c) = multiply(&warps, seed as u64);
        assert!(report.is_clean(), "{report}");
        let expected: Vec<i32> = warps.iter().flat_map(|warp| pairs(&warp.product())).collect();
        assert_eq!(c, expected, "{steps} steps");
        let counts = report.counts(Action::Mma, None);
        assert_eq!((counts.requests, counts.lanes), (3 * steps as u64, 96 * steps as u64), "{report}");
    }
}

/// Products of the largest and smallest numbers.
#[test]
fn matrix_products_are_signed_and_wrap() {
    let cases = [
        (-128, -128, 0, 16 * 128 * 128),
        (-128, 127, 0, -16 * 128 * 127),
        (-1, 1, 0, -16),
        (-128, -128, i32::MAX, i32::MIN + (16 * 128 * 128 - 1)),
        (127, -128, i32::MIN, i32::MAX - (16 * 128 * 127 - 1)),
        (0, -128, i32::MIN, i32::MIN),
    ];
    for (a, b, c, expected) in cases {
        let warp = Warp { a: std::array::from_fn(|_| vec![a; 16]), b: vec![[b; 8]; 16], c: [[c; 8]; 8] };
        let (report, result) = multiply(&[warp], 0);
        assert!(report.is_clean(), "{report}");
        assert_eq!(result, [expected; 64], "{a} * {b} + {c}");
    }
}

arguments! {
    /// Two matrices of bytes and their product.
    pub struct LargeMatrices<'l> {
        /// Four words of each lane.
        pub a: GlobalIn<'l, u32>,
        /// Two words of each lane.
        pub b: GlobalIn<'l, u32>,
        /// Four elements of each lane.
        pub c: GlobalInOut<'l, i32>,
    }
}

kernel! {
    /// A block of one warp.
    pub fn large_product<'l>(_arena, args: LargeMatrices<'l>) {
        let l = u64::from(warp::lane());
        let c = args.c.get_pack::<4>(4 * l);
        args.c.set_pack(4 * l, warp::mma_m16n8k32_u8(args.a.get_pack(4 * l), args.b.get_pack(2 * l), c));
    }
}

/// Products of bytes without a sign, whose sums wrap.
#[test]
fn large_matrix_products_match_the_definition() {
    let mut number = numbers(3);
    for _ in 0..10 {
        let a: [[u8; 32]; 16] = std::array::from_fn(|_| std::array::from_fn(|_| number() as u8));
        let b: [[u8; 8]; 32] = std::array::from_fn(|_| std::array::from_fn(|_| number() as u8));
        let c: [[i32; 8]; 16] = std::array::from_fn(|_| std::array::from_fn(|_| number() as i32));
        let lanes = || (0..32usize).map(|lane| (lane / 4, lane % 4));
        let words_of_a: Vec<u32> = lanes()
            .flat_map(|(g, t)| [(g, 0), (g + 8, 0), (g, 16), (g + 8, 16)].map(|(row, k)| (row, k + 4 * t)))
            .map(|(row, k)| u32::from_le_bytes(std::array::from_fn(|i| a[row][k + i])))
            .collect();
        let words_of_b: Vec<u32> = lanes()
            .flat_map(|(g, t)| [0, 16].map(|k| (g, k + 4 * t)))
            .map(|(column, k)| u32::from_le_bytes(std::array::from_fn(|i| b[k + i][column])))
            .collect();
        let elements = |c: &[[i32; 8]; 16]| -> Vec<i32> {
            let places = |(g, t): (usize, usize)| [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)];
            lanes().flat_map(places).map(|(row, column)| c[row][column]).collect()
        };
        let mut emulator = Emulator::new(Profile::SM_90);
        let (left, right) = (emulator.upload(&words_of_a), emulator.upload(&words_of_b));
        let result = emulator.upload(&elements(&c));
        let args = LargeMatrices { a: left.input(), b: right.input(), c: result.in_out() };
        let report = emulator.launch::<large_product>(Launch::new([1; 3], [32, 1, 1]), args, ()).expect("small");
        assert!(report.is_clean(), "{report}");
        let expected: [[i32; 8]; 16] = std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                let products = (0..32).map(|k| i32::from(a[row][k]) * i32::from(b[k][column]));
                products.fold(c[row][column], i32::wrapping_add)
            })
        });
        assert_eq!(emulator.download(&result), elements(&expected));
    }
}

/// Returns the missing lanes of each line where lanes wait, sorted.
fn missing(report: &Report) -> Vec<u32> {
    let lanes = report.findings.iter().map(|finding| match finding.problem {
        Problem::MissingLanes { mask: warp::FULL, missing } => {
            assert!(finding.at.file.ends_with("suite/warps.rs"), "{finding}");
            missing
        }
        _ => panic!("{finding}"),
    });
    let mut lanes: Vec<u32> = lanes.collect();
    lanes.sort_unstable();
    lanes
}

kernel! {
    /// The lowest eight lanes multiply at another line than the others. With `right`, all lanes multiply at one line.
    pub fn two_products<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let [sum, _] = if args.right == 0 && t % 32 < 8 {
            warp::mma_m8n8k16_s8(t, t, [0, 0])
        } else {
            warp::mma_m8n8k16_s8(t, t, [1, 1])
        };
        args.output.set(t.into(), sum as u32);
    }
}

#[test]
fn a_product_takes_all_lanes_of_a_warp() {
    for seed in 0..10 {
        let (report, _) = run::<two_products>(launch(1, 32).seed(seed), false);
        assert_eq!(missing(&report), [0xff, 0xffff_ff00], "{report}");
        assert!(run::<two_products>(launch(1, 64).seed(seed), true).0.is_clean());
        // Lanes that the block does not have are missing too.
        let (report, _) = run::<two_products>(launch(1, 48).seed(seed), true);
        assert_eq!(missing(&report), [0xffff_0000], "{report}");
    }
}

kernel! {
    /// Relies on a matrix product to order a store and a load.
    pub fn product_without_order<'l>(arena, args: Args<'l>) {
        let (shared, _) = arena.split::<u32>(32);
        let t = thread::thread_idx_x();
        shared.set(t, t);
        let [sum, _] = warp::mma_m8n8k16_s8(t, t, [0, 0]);
        if args.right != 0 {
            warp::sync_warp(warp::FULL);
        }
        args.output.set(t.into(), shared.get(t ^ 1).wrapping_add(sum as u32));
    }
}

#[test]
fn a_product_orders_nothing() {
    for seed in 0..10 {
        let (report, _) = run::<product_without_order>(launch(1, 32).seed(seed), false);
        let [finding] = &report.findings[..] else { panic!("{report}") };
        assert!(matches!(finding.problem, Problem::Race { .. }), "{finding}");
        assert!(run::<product_without_order>(launch(1, 32).seed(seed), true).0.is_clean());
    }
}
