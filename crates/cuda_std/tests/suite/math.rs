//! Arithmetic on the host, whose results the device must match.

use cuda_std::math;

/// Floats of all kinds: zeros, subnormal, integers, halves, large, infinite, NaN.
const FLOATS: [f32; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    -0.25,
    1e-40,
    8_388_607.5,
    3e38,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn rounding_keeps_signs() {
    type Function = fn(f32) -> f32;
    let cases: [(Function, [(f32, f32); 5]); 4] = [
        (math::floor, [(-0.5, -1.0), (-0.0, -0.0), (0.5, 0.0), (2.5, 2.0), (-2.5, -3.0)]),
        (math::ceil, [(-0.5, -0.0), (-0.0, -0.0), (0.5, 1.0), (2.5, 3.0), (-2.5, -2.0)]),
        (math::trunc, [(-0.5, -0.0), (-0.0, -0.0), (0.5, 0.0), (2.5, 2.0), (-2.5, -2.0)]),
        (math::round_ties_even, [(-0.5, -0.0), (1.5, 2.0), (0.5, 0.0), (2.5, 2.0), (-2.5, -2.0)]),
    ];
    for (function, values) in cases {
        for (x, expected) in values {
            assert!(same(function(x), expected), "{x}: {}", function(x));
        }
        for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 3e38] {
            assert!(same(function(x), x), "{x}");
        }
    }
}

/// Compared with 128-bit integer arithmetic, for numbers on both sides of every quotient.
#[test]
fn floors_of_products_are_exact() {
    for factor in [1.0, 2.0, 0.25, 3.0, 10.0, 0.1, 255.0 / 256.0] {
        for quotient in [0, 1, -1, 2, 3, 10, -10, 255, 1000, -4096, 65_535, 1 << 22, -(1 << 22)] {
            let near = f64::from(quotient) / factor;
            for x in [near.next_down().next_down(), near.next_down(), near, near.next_up(), near.next_up().next_up()] {
                assert_eq!(math::floor_product(x, factor), floor(x, factor) as u32, "{x} * {factor}");
            }
            let (near, factor) = (near as f32, factor as f32);
            for x in [near.next_down(), near, near.next_up()] {
                assert_eq!(math::floor_product(x, factor), floor(x.into(), factor.into()) as u32, "{x} * {factor}");
            }
        }
    }
    let least = f32::from_bits(1);
    assert_eq!([least, 0.0, -0.0, -least].map(|x| math::floor_product(x, 0.25) as i32), [0, 0, 0, -1]);
    assert_eq!(math::floor_product(f64::from(u32::MAX) + 2.5, 1.0), 1);
}

#[test]
fn floors_have_low_bits() {
    const MAX: f64 = (1u64 << 51) as f64;
    let least = f64::from_bits(1);
    for x in [-MAX, 1.0 - MAX, -2.5, -1.0, -0.5, -least, -0.0, 0.0, least, 0.5, 1.0, 2.5, 1e9, 1e10, MAX - 0.5, MAX] {
        for x in [x.next_down(), x, x.next_up()].into_iter().filter(|x| x.abs() <= MAX) {
            assert_eq!(math::floor_bits(x), floor(x, 1.0) as u32, "{x}");
        }
    }
    assert_eq!([math::floor_bits(f64::from(u32::MAX) + 2.5), math::floor_bits(-0.5)], [1, u32::MAX]);
}

#[test]
fn bits_are_looked_up() {
    let (a, b, c) = (0xf0f0_1234, 0xcccc_9876, 0xaaaa_beef);
    assert_eq!([math::lop3::<0>(a, b, c), math::lop3::<0xff>(a, b, c)], [0, u32::MAX]);
    assert_eq!([math::lop3::<0xf0>(a, b, c), math::lop3::<0xcc>(a, b, c), math::lop3::<0xaa>(a, b, c)], [a, b, c]);
    assert_eq!(math::lop3::<0xe8>(a, b, c), a & b | b & c | a & c);
    assert_eq!(math::lop3::<0x10>(a, b, c), a & !b & !c);
}

#[test]
fn bytes_are_permuted() {
    let (low, high) = (0x3322_1100, 0x7766_5544);
    for (selector, expected) in
        [(0x3210, low), (0x7654, high), (0x4321, 0x4433_2211), (0x0000, 0), (0x1177, 0x1111_7777)]
    {
        assert_eq!(math::permute_bytes(low, high, selector), expected, "{selector:#x}");
    }
}

#[test]
fn halves_are_compared() {
    let words = [0, 1, 0xffff, 0x0001_0000, 0x7fff_8000, 0x8000_7fff, 0xffff_0000, u32::MAX];
    let halves = |word: u32| [word as u16, (word >> 16) as u16];
    for (a, b) in words.into_iter().flat_map(|a| words.map(|b| (a, b))) {
        let of = |function: fn(u16, u16) -> u16| [0, 1].map(|i| function(halves(a)[i], halves(b)[i]));
        assert_eq!(halves(math::min_u16x2(a, b)), of(Ord::min), "{a:#x} {b:#x}");
        assert_eq!(halves(math::max_u16x2(a, b)), of(Ord::max), "{a:#x} {b:#x}");
    }
}

/// Returns `floor(a * b)`, computed from the significands.
fn floor(a: f64, b: f64) -> i64 {
    let parts = |x: f64| {
        let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32;
        let significand = (x.to_bits() & ((1 << 52) - 1)) | u64::from(exponent > 0) << 52;
        (i128::from(significand) * if x < 0.0 { -1 } else { 1 }, exponent.max(1) - 1075)
    };
    let ((a, a_exponent), (b, b_exponent)) = (parts(a), parts(b));
    // None of the products has an exponent above zero.
    ((a * b) >> (-(a_exponent + b_exponent)).min(127)) as i64
}

#[test]
fn roots_and_signs() {
    assert!(same(math::sqrt(-0.0f32), -0.0) && math::sqrt(-1.0f32).is_nan());
    assert_eq!((math::sqrt(2.0f32), math::sqrt(2.0f64)), (2f32.sqrt(), 2f64.sqrt()));
    assert!(same(math::abs(-0.0f32), 0.0) && same(math::copysign(0.0f32, -f32::NAN), -0.0));
    assert!(math::abs(-f64::NAN).is_sign_positive());
}

/// IEEE 754-2019 `minimumNumber` and `maximumNumber`: NaNs are ignored, and -0 is below +0, in either order of the operands.
#[test]
fn extremes_order_zeros_and_ignore_nan() {
    for a in FLOATS {
        for b in FLOATS {
            let (min, max) = (math::min(a, b), math::max(a, b));
            let expected = match (a.is_nan(), b.is_nan()) {
                (true, _) => (b, b),
                (false, true) => (a, a),
                (false, false) if a.total_cmp(&b).is_le() => (a, b),
                (false, false) => (b, a),
            };
            assert!(same(min, expected.0) && same(max, expected.1), "{a} and {b}: {min} and {max}");
            let (a, b) = (f64::from(a), f64::from(b));
            assert!(same(math::min(a, b) as f32, expected.0) && same(math::max(a, b) as f32, expected.1));
        }
    }
}

#[test]
fn approximations_at_their_limits() {
    let infinity = f32::INFINITY;
    assert_eq!(
        [math::rsqrt_approx(0.0), math::rsqrt_approx(-0.0), math::rsqrt_approx(infinity)],
        [infinity, -infinity, 0.0]
    );
    assert!(math::rsqrt_approx(-1.0).is_nan() && math::log2_approx(-1.0).is_nan());
    assert_eq!(
        [math::exp2_approx(128.0), math::exp2_approx(-149.0), math::exp2_approx(-infinity)],
        [infinity, 1e-45, 0.0]
    );
    assert_eq!(
        [math::log2_approx(-0.0), math::log2_approx(8.0), math::log2_approx(infinity)],
        [-infinity, 3.0, infinity]
    );
    assert!(math::sin_approx(infinity).is_nan() && math::cos_approx(-infinity).is_nan());
    assert_eq!([math::sin_approx(0.0), math::cos_approx(0.0)], [0.0, 1.0]);
}
