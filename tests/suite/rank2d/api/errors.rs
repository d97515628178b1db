//! Errors of rank filters, and their text.

use slm::filter2d::Filter2dError;
use slm::ndarray::{Array2, array};
use slm::rank2d::RankError;
use slm::{Boundary, Device, Error, Rank2d, RankWindow};

fn error(filter: &Rank2d<f32>) -> Error {
    filter.prepare(&Device::cpu()).expect_err("the filter is invalid")
}

#[test]
fn windows_without_samples() {
    for (window, [rows, columns]) in [
        (RankWindow::rectangle(0, 3), [0, 3]),
        (RankWindow::rectangle(3, 0), [3, 0]),
        (RankWindow::from(&Array2::from_elem((2, 3), false)), [2, 3]),
        (RankWindow::from(&Array2::from_elem((0, 0), true)), [0, 0]),
    ] {
        let error = error(&Rank2d::median(window));
        assert_eq!(error, Error::Rank(RankError::NoSamples { rows, columns }));
        let text = format!("the window of {rows} x {columns} has no samples; it needs at least 1");
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn large_windows() {
    for window in [
        RankWindow::rectangle(4097, 1),
        RankWindow::disc(2048),
        RankWindow::disc(usize::MAX),
        RankWindow::from(&Array2::from_elem((4097, 1), true)),
    ] {
        let [side, _] = window.shape();
        let expected = Error::TooLarge { what: "the rows of a window", factors: [side as u64, 1], limit: 4096 };
        assert_eq!(error(&Rank2d::median(window)), expected);
    }
    assert!(Rank2d::<f32>::median([4096, 1]).prepare(&Device::cpu()).is_ok());
}

#[test]
fn ranks_out_of_range() {
    for rank in [9, -10, isize::MAX, isize::MIN] {
        let error = error(&Rank2d::rank(3, rank));
        assert_eq!(error, Error::Rank(RankError::Rank { rank, samples: 9 }));
        assert_eq!(error.to_string(), format!("the rank must be from -9 to 8 for 9 samples, not {rank}"));
    }
    assert!([8, -9].iter().all(|&rank| Rank2d::<u8>::rank(3, rank).prepare(&Device::cpu()).is_ok()));
}

#[test]
fn percentiles_out_of_range() {
    for (percentile, text) in [(-0.5, "-0.5"), (100.5, "100.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let error = error(&Rank2d::percentile(3, percentile));
        assert!(matches!(error, Error::Rank(RankError::Percentile { .. })), "{error:?}");
        assert_eq!(error.to_string(), format!("the percentile must be from 0 to 100, not {text}"));
    }
}

#[test]
fn what_other_filters_refuse() {
    assert_eq!(
        error(&Rank2d::median(3).origin(2, 0)),
        RankError::Origin { what: "the row origin of a window", origin: 2, samples: 3 }.into()
    );
    let text = error(&Rank2d::median(3).origin(2, 0)).to_string();
    assert_eq!(text, "the row origin of a window must be from -1 to 1 for 3 samples, not 2");
    assert_eq!(
        error(&Rank2d::median(3).boundaries(Boundary::Zero, Boundary::Constant(1.0))),
        Filter2dError::Constants { rows: 0.0, columns: 1.0 }.into()
    );
    for filter in [Rank2d::median(3).stride(0, 1), Rank2d::median(3).channels(0)] {
        assert!(matches!(error(&filter), Error::Filter2d(Filter2dError::Zero { .. })));
    }
    let filter = Rank2d::<f32>::median(3).channels(2).prepare(&Device::cpu()).unwrap();
    assert_eq!(
        filter.apply(&array![[1.0f32, 2.0, 3.0]].insert_axis(slm::ndarray::Axis(2))),
        Err(Filter2dError::Channels { expected: 2, actual: 1 }.into())
    );
    let mut outputs = array![[0.0f32]];
    let filter = Rank2d::<f32>::median(3).prepare(&Device::cpu()).unwrap();
    assert!(matches!(filter.apply_into(&array![[1.0f32, 2.0]], &mut outputs), Err(Error::Shape { .. })));
}
