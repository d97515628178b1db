//! The types of numbers in operations, with their numbers as `f64`, which represents them all: tests are compiled once for all
//! types.

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    U8,
    U16,
    I16,
    I32,
    F32,
    F64,
}

pub const KINDS: [Kind; 6] = [Kind::U8, Kind::U16, Kind::I16, Kind::I32, Kind::F32, Kind::F64];

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::U8 => "u8",
            Kind::U16 => "u16",
            Kind::I16 => "i16",
            Kind::I32 => "i32",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
        }
    }

    /// The smallest and the largest integer; `None` for floats.
    pub fn range(self) -> Option<[f64; 2]> {
        match self {
            Kind::U8 => Some([0.0, 255.0]),
            Kind::U16 => Some([0.0, 65_535.0]),
            Kind::I16 => Some([-32_768.0, 32_767.0]),
            Kind::I32 => Some([-2_147_483_648.0, 2_147_483_647.0]),
            Kind::F32 | Kind::F64 => None,
        }
    }

    /// The number that is stored for a result.
    pub fn stored(self, result: f64) -> f64 {
        match (self.range(), self) {
            (Some(_), _) if result.is_nan() => 0.0,
            // Zeros of integers have no sign.
            (Some([least, greatest]), _) => result.round_ties_even().max(least).min(greatest) + 0.0,
            (None, Kind::F32) => f64::from(result as f32),
            (None, _) => result,
        }
    }
}

/// A type of the crate whose numbers `f64` represents.
pub trait Number: Copy {
    const KIND: Kind;
    /// Returns the nearest number.
    fn of(number: f64) -> Self;
    /// Returns the same number.
    fn to(self) -> f64;
    /// Returns the nearest numbers.
    fn converted(numbers: &[f64]) -> Vec<Self>;
}

macro_rules! numbers {
    ($($t:ident: $kind:ident;)*) => {$(
        impl Number for $t {
            const KIND: Kind = Kind::$kind;
            fn of(number: f64) -> Self {
                number as Self
            }
            fn to(self) -> f64 {
                self.into()
            }
            fn converted(numbers: &[f64]) -> Vec<Self> {
                numbers.iter().map(|&number| Self::of(number)).collect()
            }
        }
    )*};
}
numbers! {
    u8: U8;
    u16: U16;
    i16: I16;
    i32: I32;
    f32: F32;
    f64: F64;
}

pub fn converted<T: Number>(numbers: &[f64]) -> Vec<T> {
    T::converted(numbers)
}

/// Returns the bits of numbers. All NaNs are the same here: operations may return any of them.
pub fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|&number| if number.is_nan() { f64::NAN } else { number }.to_bits()).collect()
}

/// Returns the memory of a matrix of these rows, columns and row pitch, whose gaps have this value.
pub fn pitched(values: &[f64], [rows, columns, pitch]: [usize; 3], gap: f64) -> Vec<f64> {
    let place = |at: usize| if at % pitch < columns { values[at / pitch * columns + at % pitch] } else { gap };
    (0..rows * pitch).map(place).collect()
}
