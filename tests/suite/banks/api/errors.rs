//! The texts of the errors of banks. The other tests show when they are returned.

use crate::errors::says;
use slm::banks::BankError;

#[test]
fn banks() {
    let text = "shared memory cannot have 24 banks of 4 bytes: use 1 to 32 banks of 1 to 16 bytes, both powers of two, and \
                at least 16 bytes in all";
    says(BankError::Banks { banks: 24, bank_bytes: 4 }, text, None);
}

#[test]
fn access_width() {
    says(BankError::AccessWidth { bytes: 12 }, "a lane cannot move 12 bytes at a time: use 1, 2, 4, 8 or 16", None);
}

#[test]
fn atomic_width() {
    says(BankError::AtomicWidth { bytes: 16 }, "an atomic operation cannot update 16 bytes: use 4 or 8", None);
}

#[test]
fn no_lanes() {
    says(BankError::NoLanes, "an access must have at least 1 lane to be measured", None);
}

#[test]
fn narrow_access() {
    let error = BankError::NarrowAccess { bytes: 4, element_bytes: 8 };
    says(error, "an access of 4 bytes is too narrow for elements of 8", None);
}

#[test]
fn tile_alignment() {
    let error = BankError::TileAlignment { column: 6, elements: 4 };
    says(error, "an access to 4 elements cannot begin at column 6, which is not a multiple of 4", None);
}

#[test]
fn outside_tile() {
    let error = BankError::OutsideTile { row: 3, column: 8, elements: 4, rows: 5, columns: 10 };
    let text = "an access to 4 elements from row 3, column 8 leaves the tile of 5 x 10 (rows x columns)";
    says(error, text, None);
}

#[test]
fn swizzle() {
    let error = BankError::Swizzle { stride: 33, bits: 5, base: 0, shift: 1 };
    let text = "a swizzle with bits 5, base 0 and shift 1 cannot permute rows of 33 elements: rows must be a multiple of \
                2^(bits + base), and bits + base and shift less than 32";
    says(error, text, None);
}

#[test]
fn layout_alignment() {
    let error = BankError::LayoutAlignment { layout: "row * 33 + column".into(), elements: 4 };
    let text = "the layout row * 33 + column does not keep groups of 4 elements together and aligned";
    says(error, text, None);
}
