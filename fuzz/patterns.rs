//! What must hold for a pattern that was read.

use crate::floods;
use slm::life::Pattern;

/// Checks that a pattern is the same one after it was written and read in each format that is written.
///
/// # Panics
///
/// If it is not.
pub fn written_is_read(pattern: &Pattern) {
    let rle = pattern.to_rle();
    let read = Pattern::from_rle(&rle);
    assert_eq!(read.as_ref(), Ok(pattern), "{rle}");
    if floods(&[pattern.rows(), pattern.columns()]) {
        return;
    }
    let cells = pattern.to_cells().expect("it is not large");
    let read = Pattern::from_cells(&cells).expect("it was written");
    assert_eq!(read.to_array(), pattern.to_array(), "{cells}");
    assert_eq!((read.name(), read.population()), (pattern.name(), pattern.population()), "{cells}");
}
