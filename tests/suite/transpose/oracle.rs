//! Transpositions by the formula, one number at a time.

use crate::random::Random;
use slm::ndarray::{Array2, ArrayView2, ShapeBuilder};
use slm::transpose::TransposeElement;
use slm::{Buffer2, Device};
use std::fmt::Debug;

/// An element type, with conversions from and to its bits.
pub trait Bits: TransposeElement + Debug {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// Returns random numbers.
    fn values(count: usize, random: &mut Random) -> Vec<Self>;
    /// [`Matrices::transposed`], compiled here.
    fn transposed(matrices: &Matrices<Self>, shape: [usize; 4], target: Matrices<Self>) -> Matrices<Self>;
    /// [`same`], compiled here.
    fn same(actual: &[Self], expected: &[Self]) -> Result<(), String>;
    /// [`Matrices::column_major`], compiled here.
    fn column_major(matrices: &Matrices<Self>) -> Array2<Self>;
    /// Returns the numbers in row-major order, compiled here.
    fn numbers(array: ArrayView2<'_, Self>) -> Vec<Self>;
}

macro_rules! bits {
    ($($t:ty: $of:expr, $bits:expr;)*) => {$(
        impl Bits for $t {
            fn of(bits: u64) -> Self {
                let of: fn(u64) -> $t = $of;
                of(bits)
            }
            fn bits(self) -> u64 {
                let bits: fn($t) -> u64 = $bits;
                bits(self)
            }
            fn values(count: usize, random: &mut Random) -> Vec<Self> {
                (0..count).map(|_| Self::of(random.bits())).collect()
            }
            fn transposed(matrices: &Matrices<Self>, shape: [usize; 4], target: Matrices<Self>) -> Matrices<Self> {
                matrices.transposed_of_type(shape, target)
            }
            fn same(actual: &[Self], expected: &[Self]) -> Result<(), String> {
                same_of_type(actual, expected)
            }
            fn column_major(matrices: &Matrices<Self>) -> Array2<Self> {
                matrices.column_major_of_type()
            }
            fn numbers(array: ArrayView2<'_, Self>) -> Vec<Self> {
                array.iter().copied().collect()
            }
        }
    )*};
}
bits! {
    u8: |bits| bits as u8, |x| x.into();
    i8: |bits| bits as i8, |x| x as u8 as u64;
    u16: |bits| bits as u16, |x| x.into();
    i16: |bits| bits as i16, |x| x as u16 as u64;
    u32: |bits| bits as u32, |x| x.into();
    i32: |bits| bits as i32, |x| x as u32 as u64;
    f32: |bits| f32::from_bits(bits as u32), |x| x.to_bits().into();
    u64: |bits| bits, |x| x;
    i64: |bits| bits as i64, |x| x as u64;
    f64: f64::from_bits, f64::to_bits;
}

/// Matrices one below the other, whose rows may be further apart in memory than they are long.
#[derive(Clone)]
pub struct Matrices<T> {
    pub numbers: Vec<T>,
    /// The rows and columns of all matrices together, in numbers.
    pub shape: [usize; 2],
    pub pitch: usize,
}

impl<T: Bits> Matrices<T> {
    pub fn new(shape: [usize; 2], gap: usize, stream: u64) -> Self {
        let (pitch, mut random) = (shape[1] + gap, Random::new(stream));
        Matrices { numbers: T::values(shape[0] * pitch, &mut random), shape, pitch }
    }

    pub fn on_device(&self, device: &Device) -> slm::Result<Buffer2<T>> {
        let [rows, columns] = self.shape;
        Buffer2::from_buffer(device.upload(&self.numbers)?, rows, columns, self.pitch)
    }

    /// Transposes by the formula into `target`, whose gaps stay as they are.
    pub fn transposed(&self, shape: [usize; 4], target: Matrices<T>) -> Matrices<T> {
        T::transposed(self, shape, target)
    }

    fn transposed_of_type(
        &self,
        [rows, columns, count, components]: [usize; 4],
        mut target: Matrices<T>,
    ) -> Matrices<T> {
        for (m, r, c, k) in (0..count).flat_map(|m| {
            (0..rows).flat_map(move |r| (0..columns).flat_map(move |c| (0..components).map(move |k| (m, r, c, k))))
        }) {
            let to = (m * columns + c) * target.pitch + r * components + k;
            target.numbers[to] = self.numbers[(m * rows + r) * self.pitch + c * components + k];
        }
        target
    }

    /// Returns an array of the numbers without the gaps, with column-major strides.
    pub fn column_major(&self) -> Array2<T> {
        T::column_major(self)
    }

    fn column_major_of_type(&self) -> Array2<T> {
        Array2::from_shape_fn(self.shape.f(), |(row, column)| self.numbers[row * self.pitch + column])
    }
}

/// Returns an error that names the first difference.
pub fn same<T: Bits>(actual: &[T], expected: &[T]) -> Result<(), String> {
    T::same(actual, expected)
}

fn same_of_type<T: Bits>(actual: &[T], expected: &[T]) -> Result<(), String> {
    if actual.len() != expected.len() {
        return Err(format!("{} numbers instead of {}", actual.len(), expected.len()));
    }
    match actual.iter().zip(expected).position(|(a, b)| a.bits() != b.bits()) {
        None => Ok(()),
        Some(i) => Err(format!("number {i} is {:#x} instead of {:#x}", actual[i].bits(), expected[i].bits())),
    }
}
