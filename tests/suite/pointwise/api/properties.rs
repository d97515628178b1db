//! What must hold for all numbers, on the CPU.

use crate::properties::check;
use proptest::collection::vec;
use proptest::num::f64::NORMAL;
use proptest::prelude::*;
use slm::{Arithmetic, Convert, Device, Lookup, Map, PointwiseElement};

fn converted<S: PointwiseElement, O: PointwiseElement>(samples: &[S]) -> Vec<O> {
    Convert::new().prepare(&Device::cpu()).unwrap().apply(samples).unwrap()
}

#[test]
fn conversions_to_types_with_all_numbers_can_be_undone() {
    let samples =
        (vec(any::<u8>(), 0..50), vec(any::<i16>(), 0..50), vec(any::<i32>(), 0..50), vec(any::<f32>(), 0..50));
    check(100, samples, |(bytes, shorts, integers, floats)| {
        prop_assert_eq!(&converted::<f32, u8>(&converted(&bytes)), &bytes);
        prop_assert_eq!(&converted::<u16, u8>(&converted(&bytes)), &bytes);
        prop_assert_eq!(&converted::<f32, i16>(&converted(&shorts)), &shorts);
        prop_assert_eq!(&converted::<i32, i16>(&converted(&shorts)), &shorts);
        prop_assert_eq!(&converted::<f64, i32>(&converted(&integers)), &integers);
        let there_and_back = converted::<f64, f32>(&converted(&floats));
        let bits = |floats: &[f32]| -> Vec<u32> { floats.iter().map(|x| x.to_bits()).collect() };
        prop_assert_eq!(bits(&there_and_back), bits(&floats));
        Ok(())
    });
}

#[test]
fn integers_saturate() {
    check(100, vec(any::<[i32; 2]>(), 0..100), |pairs| {
        let [a, b]: [Vec<i32>; 2] = [0, 1].map(|i| pairs.iter().map(|pair| pair[i]).collect());
        let device = Device::cpu();
        let apply = |arithmetic: Arithmetic<i32>| arithmetic.prepare(&device).unwrap().apply(&a, &b).unwrap();
        let expected = |f: fn(i32, i32) -> i32| -> Vec<i32> { pairs.iter().map(|&[a, b]| f(a, b)).collect() };
        prop_assert_eq!(apply(Arithmetic::add()), expected(i32::saturating_add));
        prop_assert_eq!(apply(Arithmetic::sub()), expected(i32::saturating_sub));
        prop_assert_eq!(apply(Arithmetic::mul()), expected(i32::saturating_mul));
        prop_assert_eq!(apply(Arithmetic::min()), expected(i32::min));
        prop_assert_eq!(apply(Arithmetic::max()), expected(i32::max));
        prop_assert_eq!(apply(Arithmetic::abs_diff()), expected(|a, b| a.abs_diff(b).min(i32::MAX as u32) as i32));
        Ok(())
    });
}

/// All pairs of bytes, and the products of all 16-bit numbers with some.
#[test]
fn narrow_integers_saturate() {
    let device = Device::cpu();
    let [a, b]: [Vec<u8>; 2] = [|i: u16| (i / 256) as u8, |i: u16| i as u8].map(|f| (0..=u16::MAX).map(f).collect());
    let pairs = || a.iter().zip(&b);
    let sums: Vec<u8> = pairs().map(|(a, b)| a.saturating_add(*b)).collect();
    assert_eq!(Arithmetic::add().prepare(&device).unwrap().apply(&a, &b).unwrap(), sums);
    let products: Vec<u8> = pairs().map(|(a, b)| a.saturating_mul(*b)).collect();
    assert_eq!(Arithmetic::mul().prepare(&device).unwrap().apply(&a, &b).unwrap(), products);
    let all: Vec<u16> = (0..=u16::MAX).collect();
    for factor in [0, 1, 2, 3, 255, 256, 257, 65_535] {
        let products: Vec<u16> = all.iter().map(|x| x.saturating_mul(factor)).collect();
        let factors = vec![factor; all.len()];
        assert_eq!(Arithmetic::mul().prepare(&device).unwrap().apply(&all, &factors).unwrap(), products);
    }
}

#[test]
fn powers_are_nearly_exact() {
    let positive = NORMAL.prop_map(f64::abs);
    check(2000, (positive, 1e-3..1e3), |(x, exponent): (f64, f64)| {
        let power = Map::gamma(exponent).prepare(&Device::cpu()).unwrap().apply(&[x]).unwrap()[0];
        let expected = x.powf(exponent);
        let is_near = match expected {
            // Beyond the largest number, or so near to it that the error may be.
            expected if expected >= 1.7976e308 => power >= 1.797e308,
            // Subnormal results have fewer bits.
            expected if expected < f64::MIN_POSITIVE => (power - expected).abs() <= f64::MIN_POSITIVE,
            expected => (power - expected).abs() <= expected * 2f64.powi(-40),
        };
        prop_assert!(is_near, "{x}^{exponent} = {power}, not {expected}");
        Ok(())
    });
}

#[test]
fn powers_of_special_numbers() {
    let of = |exponent| move |x: f64| Map::gamma(exponent).prepare(&Device::cpu()).unwrap().apply(&[x]).unwrap()[0];
    for exponent in [0.3, 1.0, 2.0, 1e300, 1e-300] {
        let power = of(exponent);
        assert_eq!([0.0, -0.0, 1.0, f64::INFINITY].map(power), [0.0, 0.0, 1.0, f64::INFINITY]);
        assert!([f64::NAN, -1.0, f64::NEG_INFINITY, -f64::MIN_POSITIVE].map(power).iter().all(|y| y.is_nan()));
    }
    assert_eq!([of(1e300)(1.5), of(1e300)(0.5)], [f64::INFINITY, 0.0]);
    // Subnormal samples and results.
    let tiny = f64::from_bits(1);
    assert_eq!((of(0.5)(tiny), of(2.0)(2f64.powi(-512))), (tiny.sqrt(), f64::from_bits(1 << 50)));
    assert_eq!(of(1.0)(tiny), tiny);
}

/// The definition by sorting: the equalised value of a sample tells how many samples are not larger.
#[test]
fn equalised_samples_keep_their_order_and_reach_both_ends() {
    check(200, vec(any::<u8>(), 2..300), |mut samples| {
        let mut counts = [0; 259];
        samples.iter().for_each(|&sample| counts[usize::from(sample)] += 1);
        samples.sort_unstable();
        let table = Lookup::equalise(&Device::cpu().upload(&counts).unwrap()).unwrap();
        let equalised = table.apply(&samples).unwrap();
        prop_assert!(equalised.is_sorted());
        let (first, last) = (samples[0], samples[samples.len() - 1]);
        let ends = if first == last { [first; 2] } else { [0, 255] };
        prop_assert_eq!([equalised[0], equalised[equalised.len() - 1]], ends);
        Ok(())
    });
}
