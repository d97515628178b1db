//! Errors of morphological operations.

use slm::filter2d::Filter2dError;
use slm::ndarray::{Array2, array};
use slm::rank2d::RankError;
use slm::{Boundary, Device, Error, Morphology2d, StructuringElement};

fn error(operation: &Morphology2d<f32>) -> Error {
    operation.prepare(&Device::cpu()).expect_err("the operation is invalid")
}

#[test]
fn elements_without_samples() {
    let no_samples = Error::Rank(RankError::NoSamples { rows: 0, columns: 3 });
    assert_eq!(error(&Morphology2d::opening([0, 3])), no_samples);
    let heights = StructuringElement::with_heights(&Array2::zeros((0, 3)));
    assert_eq!(error(&Morphology2d::dilation(heights)), no_samples);
}

#[test]
fn large_elements() {
    let heights = StructuringElement::with_heights(&Array2::zeros((1, 4097)));
    let expected = Error::TooLarge { what: "the columns of a window", factors: [4097, 1], limit: 4096 };
    assert_eq!(error(&Morphology2d::erosion(heights)), expected);
}

/// The origin in the error is that of the description, also where the element is reflected.
#[test]
fn origins_outside_of_the_element() {
    for origin in [2, -2, isize::MIN, isize::MAX] {
        let expected = RankError::Origin { what: "the column origin of a window", origin, samples: 3 };
        assert_eq!(error(&Morphology2d::dilation(3).origin(0, origin)), expected.into());
    }
    for origin in [-2, -1, 0, 1] {
        assert!(Morphology2d::<f32>::closing([4, 1]).origin(origin, 0).prepare(&Device::cpu()).is_ok());
    }
}

#[test]
fn what_filters_refuse() {
    let constants = Morphology2d::gradient(3).boundaries(Boundary::Zero, Boundary::Constant(1.0));
    assert_eq!(error(&constants), Filter2dError::Constants { rows: 0.0, columns: 1.0 }.into());
    assert!(matches!(error(&Morphology2d::top_hat(3).channels(0)), Error::Filter2d(Filter2dError::Zero { .. })));
    let opening = Morphology2d::<f32>::opening(3).prepare(&Device::cpu()).unwrap();
    let needs_two = Filter2dError::Dimensions { dimensions: 1, needed: 2 };
    assert_eq!(opening.apply(&[1.0, 2.0]), Err(needs_two.into()));
    let mut outputs = array![[0.0f32]];
    assert!(matches!(opening.apply_into(&array![[1.0f32, 2.0]], &mut outputs), Err(Error::Shape { .. })));
}
