//! Properties of rank filters, on the CPU and emulated.

use proptest::prelude::*;
use slm::emulator::Profile;
use slm::ndarray::Array2;
use slm::{Boundary, Device, Rank2d, RankWindow};

fn devices() -> [Device; 2] {
    [Device::cpu(), Device::emulated(Profile::SM_80, 5)]
}

fn picture() -> impl Strategy<Value = Array2<i16>> {
    (1usize..8, 1usize..40).prop_flat_map(|(rows, columns)| {
        prop::collection::vec(-1000i16..1000, rows * columns)
            .prop_map(move |samples| Array2::from_shape_vec((rows, columns), samples).expect("it is whole"))
    })
}

fn window() -> impl Strategy<Value = RankWindow> {
    prop_oneof![
        (1usize..6, 1usize..6).prop_map(RankWindow::from_pair),
        (0usize..3).prop_map(RankWindow::disc),
        Just(RankWindow::from(3)),
    ]
}

trait FromPair {
    fn from_pair(sides: (usize, usize)) -> Self;
}

impl FromPair for RankWindow {
    fn from_pair((rows, columns): (usize, usize)) -> Self {
        RankWindow::rectangle(rows, columns)
    }
}

fn apply(filter: &Rank2d<i16>, device: &Device, picture: &Array2<i16>) -> Array2<i16> {
    filter.clone().boundary(Boundary::Mirror).prepare(device).unwrap().apply(picture).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn monotone_maps_commute(picture in picture(), window in window(), percentile in 0.0..=100.0f64) {
        let map = |x: i16| x * 3 - 7;
        let filter = Rank2d::percentile(window, percentile);
        for device in devices() {
            prop_assert_eq!(apply(&filter, &device, &picture.mapv(map)), apply(&filter, &device, &picture).mapv(map));
        }
    }

    #[test]
    fn minima_are_negated_maxima(picture in picture(), window in window()) {
        let (minimum, maximum) = (Rank2d::minimum(window.clone()), Rank2d::maximum(window));
        for device in devices() {
            let negated = apply(&maximum, &device, &picture.mapv(|x| -x)).mapv(|x| -x);
            prop_assert_eq!(apply(&minimum, &device, &picture), negated);
        }
    }

    #[test]
    fn a_constant_stays(sides in (1usize..6, 1usize..40), constant in any::<i16>(), window in window()) {
        let picture = Array2::from_elem(sides, constant);
        for device in devices() {
            prop_assert_eq!(apply(&Rank2d::median(window.clone()), &device, &picture), picture.clone());
        }
    }

    #[test]
    fn ranks_ascend(picture in picture(), rank in 0isize..8) {
        for device in devices() {
            let [less, greater] = [rank, rank + 1].map(|rank| apply(&Rank2d::rank(3, rank), &device, &picture));
            prop_assert!(less.iter().zip(&greater).all(|(less, greater)| less <= greater));
        }
    }
}
