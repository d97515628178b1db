//! Rank filters of lines: their errors, and that they are those of pictures.

use proptest::prelude::*;
use slm::filter1d::Filter1dError;
use slm::ndarray::{Array2, Array3, array};
use slm::rank2d::RankError;
use slm::{Boundary, Device, Error, Rank1d, Rank2d};

fn error(filter: &Rank1d<f32>) -> Error {
    filter.prepare(&Device::cpu()).expect_err("the filter is invalid")
}

#[test]
fn invalid_filters() {
    assert_eq!(error(&Rank1d::median(0)), RankError::NoSamples { rows: 1, columns: 0 }.into());
    assert_eq!(error(&Rank1d::rank(3, 3)), RankError::Rank { rank: 3, samples: 3 }.into());
    assert_eq!(error(&Rank1d::percentile(3, 101.0)), RankError::Percentile { percentile: 101.0 }.into());
    assert_eq!(
        error(&Rank1d::median(4).origin(2)),
        RankError::Origin { what: "the origin of a window", origin: 2, samples: 4 }.into()
    );
    assert_eq!(error(&Rank1d::median(3).stride(0)), Filter1dError::NoStride.into());
    assert_eq!(error(&Rank1d::median(3).channels(0)), Filter1dError::NoChannels.into());
    let too_long = Error::TooLarge { what: "the columns of a window", factors: [4097, 1], limit: 4096 };
    assert_eq!(error(&Rank1d::median(4097)), too_long);
    assert!(Rank1d::<f32>::median(4096).prepare(&Device::cpu()).is_ok());
}

#[test]
fn other_samples() {
    let median = Rank1d::<u8>::median(3).channels(2).prepare(&Device::cpu()).expect("it is valid");
    let interleaving = Filter1dError::Interleaving { samples: 5, channels: 2 };
    assert_eq!(median.apply(&[1; 5]), Err(interleaving.into()));
    assert_eq!(median.along(1).apply(&[1; 4]), Err(Filter1dError::Axis { axis: 1, dimensions: 1 }.into()));
    assert_eq!(median.apply(&Array3::zeros((2, 2, 2))), Err(Filter1dError::Dimensions { dimensions: 3 }.into()));
    let length = Error::Length { what: "the output", expected: 4, actual: 3 };
    assert_eq!(median.apply_into(&[1; 4], &mut [0; 3]), Err(length));
    assert_eq!(median.apply(&[0; 0]), Ok(Vec::new()));
}

#[test]
fn even_windows_have_the_upper_median() -> slm::Result<()> {
    let median = Rank1d::median(2).boundary(Boundary::Nearest).prepare(&Device::cpu())?;
    assert_eq!(median.apply(&[3, 1, 4, 1])?, [3, 3, 4, 4]);
    assert_eq!(median.along(0).apply(&array![[3], [1], [4], [1]])?, array![[3], [3], [4], [4]]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// A line is a row of a picture, and a column of another one.
    #[test]
    fn lines_are_rows_and_columns(samples in prop::collection::vec(any::<i16>(), 1..80), len in 1usize..20, rank in 0usize..20) {
        let (device, rank) = (Device::cpu(), (rank % len) as isize);
        let of_line = Rank1d::rank(len, rank).boundary(Boundary::Mirror).prepare(&device).unwrap().apply(&samples).unwrap();
        let picture = |window: [usize; 2], shape: [usize; 2]| {
            let picture = Array2::from_shape_vec(shape, samples.clone()).unwrap();
            let filter = Rank2d::rank(window, rank).boundary(Boundary::Mirror).prepare(&device).unwrap();
            filter.apply(&picture).unwrap().into_raw_vec_and_offset().0
        };
        prop_assert_eq!(&of_line, &picture([1, len], [1, samples.len()]));
        prop_assert_eq!(&of_line, &picture([len, 1], [samples.len(), 1]));
    }
}
