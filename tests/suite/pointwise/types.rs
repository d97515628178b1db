//! The operations with all types, behind functions that take and return `f64`.

use super::oracle::{Combination, Function};
use crate::common::numbers::{Kind, Number, converted};
use ndarray::{ArrayD, IxDyn, ShapeBuilder};
use slm::pointwise::{PreparedArithmetic, PreparedMap};
use slm::{Arithmetic, Buffer2, Convert, Device, Lookup, LookupElement, Map, PointwiseElement, Result};
use std::marker::PhantomData;

/// Types of samples and outputs.
#[derive(Clone, Copy)]
pub(super) struct Types {
    pub(super) name: &'static str,
    pub(super) kinds: [Kind; 2],
    pub(super) runs: &'static (dyn Runs + Send + Sync),
}

/// Where the numbers are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    Slice,
    Buffer,
    /// An array of this shape, with the first index changing fastest.
    Array([usize; 2]),
}

/// A matrix on a device: numbers, rows, columns, and pitch.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub(super) numbers: &'a [f64],
    pub(super) shape: [usize; 3],
}

impl Matrix<'_> {
    fn upload<T: PointwiseElement + Number>(&self, device: &Device) -> Result<Buffer2<T>> {
        let [rows, columns, pitch] = self.shape;
        Buffer2::from_buffer(device.upload(&converted(self.numbers))?, rows, columns, pitch)
    }
}

/// The operations with some types.
pub(super) trait Runs {
    fn map(&self, device: &Device, function: &Function, memory: Memory, samples: &[f64]) -> Result<Vec<f64>>;

    /// Returns the memory of the output afterwards.
    fn map_matrix(
        &self,
        device: &Device,
        function: &Function,
        samples: Matrix<'_>,
        output: Matrix<'_>,
    ) -> Result<Vec<f64>>;

    fn combine(
        &self,
        device: &Device,
        combination: Combination,
        memory: Memory,
        samples: [&[f64]; 2],
    ) -> Result<Vec<f64>>;

    /// Returns the memory of the output afterwards.
    fn combine_matrices(
        &self,
        device: &Device,
        combination: Combination,
        samples: [Matrix<'_>; 2],
        output: Matrix<'_>,
    ) -> Result<Vec<f64>>;

    /// Returns the names of the kernels for a function and a combination.
    fn kernels(&self, device: &Device, function: &Function) -> Result<[String; 2]>;
}

struct Of<S, O>(PhantomData<fn(S) -> O>);

impl<S: PointwiseElement + Number, O: PointwiseElement + Number> Of<S, O> {
    fn prepare(device: &Device, function: &Function) -> Result<PreparedMap<S, O>> {
        match function {
            &Function::Convert { scale: 1.0, offset } if offset.to_bits() == (-0f64).to_bits() => {
                Convert::new().prepare(device)
            }
            &Function::Convert { scale, offset } => Convert::new().scale(scale).offset(offset).prepare(device),
            Function::Abs => Map::<S>::abs().output().prepare(device),
            Function::Square => Map::<S>::square().output().prepare(device),
            Function::Sqrt => Map::<S>::sqrt().output().prepare(device),
            &Function::Clamp { lower, upper } => Map::clamp(S::of(lower), S::of(upper)).output().prepare(device),
            &Function::Gamma { exponent } => Map::<S>::gamma(exponent).output().prepare(device),
            Function::Between { edges, entries, outside } => {
                let table = Lookup::between(&converted::<S>(edges), &converted::<O>(entries));
                match outside.map(|outside| outside.map(O::of)) {
                    Some([below, above, nan]) => table.below(below).above(above).nan(nan).prepare(device),
                    None => table.prepare(device),
                }
            }
        }
    }

    fn prepare_combination(device: &Device, combination: Combination) -> Result<PreparedArithmetic<S, O>> {
        let arithmetic = match combination {
            Combination::Add => Arithmetic::<S>::add(),
            Combination::Sub => Arithmetic::sub(),
            Combination::Mul => Arithmetic::mul(),
            Combination::Div => Arithmetic::div(),
            Combination::Min => Arithmetic::min(),
            Combination::Max => Arithmetic::max(),
            Combination::AbsDiff => Arithmetic::abs_diff(),
            Combination::Magnitude => Arithmetic::magnitude(),
        };
        arithmetic.output().prepare(device)
    }
}

/// Returns the outputs of a prepared function.
pub(super) fn run<S: PointwiseElement + Number, O: PointwiseElement + Number>(
    prepared: &PreparedMap<S, O>,
    memory: Memory,
    samples: &[f64],
) -> Result<Vec<f64>> {
    let samples = converted::<S>(samples);
    let outputs = match memory {
        Memory::Slice => prepared.apply(&samples)?,
        Memory::Buffer => {
            let mut outputs = prepared.device().upload(&vec![O::of(77.0); samples.len()])?;
            prepared.apply_into(&prepared.device().upload(&samples)?, &mut outputs)?;
            outputs.download()?
        }
        Memory::Array(shape) => row_after_row(prepared.apply(array(&samples, shape).view())?),
    };
    Ok(outputs.into_iter().map(O::to).collect())
}

/// Returns an array of these numbers, row after row, with the first index changing fastest in memory.
fn array<T: Number>(numbers: &[T], shape: [usize; 2]) -> ArrayD<T> {
    let mut array = ArrayD::from_elem(IxDyn(&shape).f(), T::of(0.0));
    array.iter_mut().zip(numbers).for_each(|(to, &number)| *to = number);
    array
}

fn row_after_row<T: Number>(array: ArrayD<T>) -> Vec<T> {
    array.iter().copied().collect()
}

impl<S: PointwiseElement + Number, O: PointwiseElement + Number> Runs for Of<S, O> {
    fn map(&self, device: &Device, function: &Function, memory: Memory, samples: &[f64]) -> Result<Vec<f64>> {
        run(&Self::prepare(device, function)?, memory, samples)
    }

    fn map_matrix(
        &self,
        device: &Device,
        function: &Function,
        samples: Matrix<'_>,
        output: Matrix<'_>,
    ) -> Result<Vec<f64>> {
        let (samples, mut output) = (samples.upload::<S>(device)?, output.upload::<O>(device)?);
        Self::prepare(device, function)?.apply_into(&samples, &mut output)?;
        Ok(output.into_buffer().download()?.into_iter().map(O::to).collect())
    }

    fn combine(
        &self,
        device: &Device,
        combination: Combination,
        memory: Memory,
        samples: [&[f64]; 2],
    ) -> Result<Vec<f64>> {
        let prepared = Self::prepare_combination(device, combination)?;
        let [a, b] = samples.map(converted::<S>);
        let outputs = match memory {
            Memory::Slice => prepared.apply(&a, &b)?,
            Memory::Buffer => {
                let mut outputs = device.upload(&vec![O::of(77.0); a.len()])?;
                prepared.apply_into(&device.upload(&a)?, &device.upload(&b)?, &mut outputs)?;
                outputs.download()?
            }
            Memory::Array(shape) => row_after_row(prepared.apply(array(&a, shape).view(), array(&b, shape).view())?),
        };
        Ok(outputs.into_iter().map(O::to).collect())
    }

    fn combine_matrices(
        &self,
        device: &Device,
        combination: Combination,
        samples: [Matrix<'_>; 2],
        output: Matrix<'_>,
    ) -> Result<Vec<f64>> {
        let [a, b] = samples.map(|samples| samples.upload::<S>(device));
        let mut output = output.upload::<O>(device)?;
        Self::prepare_combination(device, combination)?.apply_into(&a?, &b?, &mut output)?;
        Ok(output.into_buffer().download()?.into_iter().map(O::to).collect())
    }

    fn kernels(&self, device: &Device, function: &Function) -> Result<[String; 2]> {
        let combination = Self::prepare_combination(device, Combination::Add)?;
        Ok([
            Self::prepare(device, function)?.plan([10])?.kernels().join(", "),
            combination.plan([10])?.kernels().join(", "),
        ])
    }
}

type LookUp = fn(&Device, &[f64], Memory, &[f64]) -> Result<Vec<f64>>;
type LookUpMatrix = fn(&Device, &[f64], Matrix<'_>, Matrix<'_>) -> Result<Vec<f64>>;

/// A type of samples that are indices, and a type of entries.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) kinds: [Kind; 2],
    /// Looks samples up in a table with these entries.
    pub(super) run: LookUp,
    /// The same for a matrix; returns the memory of the output afterwards.
    pub(super) run_matrix: LookUpMatrix,
}

fn look_up<S: LookupElement + Number, O: PointwiseElement + Number>(
    device: &Device,
    entries: &[f64],
    memory: Memory,
    samples: &[f64],
) -> Result<Vec<f64>> {
    run(&Lookup::<S, O>::values(&converted(entries)).prepare(device)?, memory, samples)
}

fn look_up_matrix<S: LookupElement + Number, O: PointwiseElement + Number>(
    device: &Device,
    entries: &[f64],
    samples: Matrix<'_>,
    output: Matrix<'_>,
) -> Result<Vec<f64>> {
    let (samples, mut output) = (samples.upload::<S>(device)?, output.upload::<O>(device)?);
    // The same table, from a function.
    let table = Lookup::of(|x: S| O::of(entries[x.to() as usize]));
    table.prepare(device)?.apply_into(&samples, &mut output)?;
    Ok(output.into_buffer().download()?.into_iter().map(O::to).collect())
}

macro_rules! all {
    ($($s:ident: $($o:ident)*;)*) => {
        /// All pairs of types.
        pub(super) const ALL: [Types; 36] = [$($(Types {
            name: concat!(stringify!($s), "_", stringify!($o)),
            kinds: [<$s>::KIND, <$o>::KIND],
            runs: &Of::<$s, $o>(PhantomData),
        },)*)*];
    };
}
all! {
    u8: u8 u16 i16 i32 f32 f64;
    u16: u8 u16 i16 i32 f32 f64;
    i16: u8 u16 i16 i32 f32 f64;
    i32: u8 u16 i16 i32 f32 f64;
    f32: u8 u16 i16 i32 f32 f64;
    f64: u8 u16 i16 i32 f32 f64;
}

macro_rules! tables {
    ($($s:ident: $($o:ident)*;)*) => {
        /// All tables of values.
        pub(super) const TABLES: [Table; 12] = [$($(Table {
            name: concat!(stringify!($s), "_", stringify!($o)),
            kinds: [<$s>::KIND, <$o>::KIND],
            run: look_up::<$s, $o>,
            run_matrix: look_up_matrix::<$s, $o>,
        },)*)*];
    };
}
tables! {
    u8: u8 u16 i16 i32 f32 f64;
    u16: u8 u16 i16 i32 f32 f64;
}
