//! Loads and stores of elements, and the masked forms of both.

use crate::Value;
use crate::host::{Access, Masked, machine};

#[track_caller]
pub(super) fn load<T: Value, const N: usize>(access: &Access) -> [T; N] {
    let mut bits = [0; N];
    machine().load(access, &mut bits);
    // Not `map`, because kernels are compiled without optimisation.
    let mut values = [T::from_bits64(0); N];
    let mut k = 0;
    while k < N {
        values[k] = T::from_bits64(bits[k]);
        k += 1;
    }
    values
}

#[track_caller]
pub(super) fn store<T: Value, const N: usize>(access: &Access, values: [T; N]) {
    let mut bits = [0; N];
    let mut k = 0;
    while k < N {
        bits[k] = values[k].to_bits64();
        k += 1;
    }
    machine().store(access, &bits);
}

/// Loads the elements of a masked form. Returns `None` if one is out of range.
#[track_caller]
pub(super) fn load_masked<T: Value, const N: usize>(access: &Access) -> Option<[T; N]> {
    load_if(true, access)
}

/// Loads the elements of a masked form. Returns `None` if one is out of range or `condition` does not hold.
#[track_caller]
pub(super) fn load_if<T: Value, const N: usize>(condition: bool, access: &Access) -> Option<[T; N]> {
    if !condition || !access.in_range() {
        machine().left_out(access, Masked::Load);
        return None;
    }
    Some(load(access))
}

/// Stores the element of a masked form, if `condition` holds and it is in range.
#[track_caller]
pub(super) fn store_masked<T: Value>(condition: bool, access: &Access, value: T) {
    store_if(condition, access, [value]);
}

/// Stores the elements of a masked form, if `condition` holds and all are in range. Returns whether it stored them.
#[track_caller]
pub(super) fn store_if<T: Value, const N: usize>(condition: bool, access: &Access, values: [T; N]) -> bool {
    let stores = condition && access.in_range();
    match stores {
        true => store(access, values),
        false => machine().left_out(access, Masked::Store),
    }
    stores
}
