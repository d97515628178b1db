//! Properties of morphological operations, on the CPU and emulated.

use proptest::prelude::*;
use slm::emulator::Profile;
use slm::ndarray::Array2;
use slm::{Boundary, Device, Morphology2d, RankWindow, StructuringElement};

fn devices() -> [Device; 2] {
    [Device::cpu(), Device::emulated(Profile::SM_80, 5)]
}

fn picture() -> impl Strategy<Value = Array2<i16>> {
    (1usize..8, 1usize..30).prop_flat_map(|sides| array(sides, -1000..1000))
}

fn array((rows, columns): (usize, usize), values: std::ops::Range<i16>) -> impl Strategy<Value = Array2<i16>> {
    prop::collection::vec(values, rows * columns)
        .prop_map(move |values| Array2::from_shape_vec((rows, columns), values).expect("it is whole"))
}

fn flat() -> impl Strategy<Value = StructuringElement<i16>> {
    prop_oneof![
        (1usize..5, 1usize..5).prop_map(|(rows, columns)| [rows, columns].into()),
        (0usize..3).prop_map(|radius| RankWindow::disc(radius).into()),
        (1usize..3, 10usize..20).prop_map(|(rows, columns)| [rows, columns].into()),
    ]
}

/// Odd sides, and heights that are equal on opposite sides: the element is its own reflection.
fn symmetric() -> impl Strategy<Value = StructuringElement<i16>> {
    array((3, 3), 0..50).prop_map(|heights| {
        let symmetric = Array2::from_shape_fn((3, 3), |(r, c)| heights[[r, c]] + heights[[2 - r, 2 - c]]);
        StructuringElement::with_heights(&symmetric)
    })
}

fn apply(operation: &Morphology2d<i16>, device: &Device, picture: &Array2<i16>) -> Array2<i16> {
    operation.prepare(device).unwrap().apply(picture).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn erosions_are_negated_dilations(picture in picture(), element in symmetric()) {
        let operation = |operation: Morphology2d<i16>| operation.boundary(Boundary::Mirror);
        let erosion = operation(Morphology2d::erosion(element.clone()));
        let dilation = operation(Morphology2d::dilation(element));
        for device in devices() {
            let negated = apply(&dilation, &device, &picture.mapv(|x| -x)).mapv(|x| -x);
            prop_assert_eq!(apply(&erosion, &device, &picture), negated);
        }
    }

    #[test]
    fn openings_and_closings_are_idempotent(picture in picture(), element in flat()) {
        for operation in [Morphology2d::opening(element.clone()), Morphology2d::closing(element)] {
            let operation = operation.ignore_outside();
            for device in devices() {
                let once = apply(&operation, &device, &picture);
                prop_assert_eq!(&apply(&operation, &device, &once), &once);
            }
        }
    }

    #[test]
    fn openings_are_less_and_closings_greater(picture in picture(), element in flat()) {
        let [opening, closing] = [Morphology2d::opening(element.clone()), Morphology2d::closing(element)];
        for device in devices() {
            let less = apply(&opening.clone().ignore_outside(), &device, &picture);
            let greater = apply(&closing.clone().ignore_outside(), &device, &picture);
            prop_assert!(less.iter().zip(&picture).all(|(less, x)| less <= x));
            prop_assert!(greater.iter().zip(&picture).all(|(greater, x)| greater >= x));
        }
    }

    #[test]
    fn monotone_maps_commute(picture in picture(), element in flat()) {
        let map = |x: i16| x * 3 - 7;
        let closing = Morphology2d::closing(element).boundary(Boundary::Nearest);
        for device in devices() {
            let mapped = apply(&closing, &device, &picture.mapv(map));
            prop_assert_eq!(mapped, apply(&closing, &device, &picture).mapv(map));
        }
    }

    #[test]
    fn differences_are_of_the_parts(picture in picture(), element in flat()) {
        let of = |operation: Morphology2d<i16>| operation.boundary(Boundary::Reflect);
        for device in devices() {
            let [erosion, dilation, gradient] =
                [Morphology2d::erosion, Morphology2d::dilation, Morphology2d::gradient]
                    .map(|operation| apply(&of(operation(element.clone())), &device, &picture));
            prop_assert_eq!(dilation - erosion, gradient);
        }
    }
}
