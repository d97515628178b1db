//! Atomic operations.

use super::value::Bits;
use crate::Ordering;
use crate::atomic::Operation;
use crate::host::{Access, Masked, Update, machine};
use crate::machine::Atomics;

/// The element of an atomic operation.
pub(crate) type Place = Access;

/// The arithmetic of atomic operations.
pub(crate) trait Arithmetic: Bits {
    /// Returns the new value for `old`.
    fn apply(operation: Operation, old: Self, operand: Self) -> Self;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Arithmetic for $t {
            fn apply(operation: Operation, old: Self, operand: Self) -> Self {
                match operation {
                    Operation::Add => old.wrapping_add(operand),
                    Operation::Min => old.min(operand),
                    Operation::Max => old.max(operand),
                    Operation::And => old & operand,
                    Operation::Or => old | operand,
                    Operation::Xor => old ^ operand,
                    Operation::Exchange => operand,
                }
            }
        }
    )*};
}
integers!(u32 i32 u64 i64);

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Arithmetic for $t {
            fn apply(operation: Operation, old: Self, operand: Self) -> Self {
                match operation {
                    Operation::Add => old + operand,
                    // The total order decides between any two different floats.
                    Operation::Min => if old.total_cmp(&operand).is_le() { old } else { operand },
                    Operation::Max => if old.total_cmp(&operand).is_ge() { old } else { operand },
                    Operation::Exchange => operand,
                    Operation::And | Operation::Or | Operation::Xor => {
                        unreachable!("the public methods require `AtomicInteger`")
                    }
                }
            }
        }
    )*};
}
floats!(f32 f64);

impl<T: Arithmetic> Atomics for T {
    #[track_caller]
    fn update(place: Place, operation: Operation, operand: Self, ordering: Ordering) -> Self {
        T::from_bits64(machine().read_modify_write(&place, &Update::of(operation, operand), ordering))
    }

    #[track_caller]
    fn compare_exchange(place: Place, current: Self, new: Self, ordering: Ordering) -> Self {
        T::from_bits64(machine().compare_exchange(&place, current.to_bits64(), new.to_bits64(), ordering))
    }

    #[track_caller]
    fn add(place: Place, operand: Self, ordering: Ordering) {
        T::update(place, Operation::Add, operand, ordering);
    }

    #[track_caller]
    fn add_if(condition: bool, place: Place, operand: Self, ordering: Ordering) {
        match condition {
            true => T::add(place, operand, ordering),
            false => machine().left_out(&place, Masked::Update),
        }
    }
}
