//! Matrices on a device, with gaps between their rows.

use slm::{Buffer2, Device, Element};
use slm_test_support::numbers::{Number, bits, converted, pitched};

/// What gaps contain. An operation must not change it.
const GAP: f64 = 77.0;

/// Returns a matrix of these numbers, rows and columns on a device, whose rows have a gap of this many elements.
///
/// # Errors
///
/// Those of the device.
pub fn matrix<T: Element + Number>(
    device: &Device,
    numbers: &[f64],
    [rows, columns]: [usize; 2],
    gap: usize,
) -> slm::Result<Buffer2<T>> {
    let memory = pitched(numbers, [rows, columns, columns + gap], GAP);
    Buffer2::from_buffer(device.upload(&converted(&memory))?, rows, columns, columns + gap)
}

/// Returns the numbers of a matrix on a device.
///
/// # Errors
///
/// Those of the device.
///
/// # Panics
///
/// If a gap has changed.
pub fn contents<T: Element + Number>(matrix: Buffer2<T>) -> slm::Result<Vec<f64>> {
    let [rows, columns, pitch] = [matrix.rows(), matrix.columns(), matrix.pitch()];
    let memory: Vec<f64> = matrix.into_buffer().download()?.into_iter().map(T::to).collect();
    let numbers: Vec<f64> = memory.iter().enumerate().filter(|(at, _)| at % pitch < columns).map(|(_, n)| *n).collect();
    assert_eq!(bits(&memory), bits(&pitched(&numbers, [rows, columns, pitch], GAP)), "a gap has changed");
    Ok(numbers)
}
