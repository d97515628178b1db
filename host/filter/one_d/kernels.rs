//! The kernels of each element type.

use crate::cpu::allocation;
use crate::device::kernel::Launch;
use crate::{Device, LaunchShape, Residency, Result};
use cuda_std::{Argument, Entry, Table};
use slm_kernels::filter1d::{
    self as kernels, Args, Filter1dKernel, Orientation, filter1d_global, filter1d_many_phases, filter1d_phases,
    filter1d_phases_of_columns, filter1d_register_columns, filter1d_register_rows, filter1d_tensor_i32, filter1d_tile,
    tensor_taps,
};
use slm_kernels::signal::{Output, Same, Sample, Sum, Types, Weight};

/// The kernels for an element type.
pub(super) trait FilterKernels: Sample + Weight + Sum<Self, Self> + Output<Self> + TensorCores {
    /// The taps of one launch of the register-tiled kernels.
    type Table: TapTable<Self>;

    /// Returns the kernel for lines of this orientation.
    #[must_use]
    fn entry_point(kernel: Filter1dKernel, orientation: Orientation) -> EntryPoint<Self>;
}

/// The kernel for tensor cores, if an element type has one.
pub(super) trait TensorCores: Sized {
    /// Returns the kernel's taps, for a first sample at some index.
    const TENSOR_TAPS: Option<fn(&[Self], i64) -> Result<Vec<Self>>>;

    fn tensor_kernel() -> Option<EntryPoint<Self>>
    where
        Self: FilterKernels;
}

impl TensorCores for i32 {
    const TENSOR_TAPS: Option<fn(&[i32], i64) -> Result<Vec<i32>>> =
        Some(|taps, start| allocation::collected(tensor_taps(taps, start)));

    fn tensor_kernel() -> Option<EntryPoint<i32>> {
        Some(EntryPoint::simple::<filter1d_tensor_i32>())
    }
}

macro_rules! without_tensor_cores {
    ($($t:ident)*) => {$(
        impl TensorCores for $t {
            const TENSOR_TAPS: Option<fn(&[$t], i64) -> Result<Vec<$t>>> = None;

            fn tensor_kernel() -> Option<EntryPoint<$t>> {
                None
            }
        }
    )*};
}
without_tensor_cores!(f32 f64);

impl<T: Sample + Weight + Sum<T, T> + Output<T> + TensorCores> FilterKernels for T
where
    Same<T>: Types,
    filter1d_global<Same<T>>: for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants = ()>,
    filter1d_tile<Same<T>>: for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants = ()>,
    filter1d_register_rows<Same<T>>: for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants: TapTable<T>>,
    filter1d_register_columns<Same<T>>:
        for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants = <filter1d_register_rows<Same<T>> as Entry>::Constants>,
    filter1d_phases<Same<T>>:
        for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants = <filter1d_register_rows<Same<T>> as Entry>::Constants>,
    filter1d_many_phases<Same<T>>:
        for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants = <filter1d_register_rows<Same<T>> as Entry>::Constants>,
    filter1d_phases_of_columns<Same<T>>:
        for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants = <filter1d_register_rows<Same<T>> as Entry>::Constants>,
{
    type Table = <filter1d_register_rows<Same<T>> as Entry>::Constants;

    fn entry_point(kernel: Filter1dKernel, orientation: Orientation) -> EntryPoint<T> {
        match (kernel, orientation) {
            (Filter1dKernel::Global, _) => EntryPoint::simple::<filter1d_global<Same<T>>>(),
            (Filter1dKernel::Tile, _) => EntryPoint::simple::<filter1d_tile<Same<T>>>(),
            (Filter1dKernel::Tensor, _) => T::tensor_kernel().expect("`method` has checked the type"),
            (Filter1dKernel::Register, Orientation::Rows) => {
                EntryPoint::with_table::<filter1d_register_rows<Same<T>>>()
            }
            (Filter1dKernel::Register, Orientation::Columns) => {
                EntryPoint::with_table::<filter1d_register_columns<Same<T>>>()
            }
            (Filter1dKernel::Phases, Orientation::Rows) => EntryPoint::with_table::<filter1d_phases<Same<T>>>(),
            (Filter1dKernel::ManyPhases, Orientation::Rows) => {
                EntryPoint::with_table::<filter1d_many_phases<Same<T>>>()
            }
            (Filter1dKernel::Phases | Filter1dKernel::ManyPhases, Orientation::Columns) => {
                EntryPoint::with_table::<filter1d_phases_of_columns<Same<T>>>()
            }
        }
    }
}

/// A table of taps.
pub(super) trait TapTable<T>: Argument {
    /// Returns the table of these taps, after the pad for a first sample at `start`. Pad and taps must fit into the table.
    #[must_use]
    fn new(taps: &[T], start: i64) -> Self;

    /// Returns the table of these taps by phases: of each of the first `phases`, every `stride`-th tap, at most `most`. All must fit
    /// into the table.
    #[must_use]
    fn by_phases(taps: &[T], stride: usize, phases: usize, most: usize) -> Self;
}

impl<T: Sample + Weight + Sum<T, T> + Output<T>, const N: usize> TapTable<T> for Table<T, N> {
    fn new(taps: &[T], start: i64) -> Self {
        let mut table = [T::ZERO; N];
        let pad = kernels::pad(start, <Same<T> as Types>::PACK as u32) as usize;
        table[pad..pad + taps.len()].copy_from_slice(taps);
        Table(table)
    }

    fn by_phases(taps: &[T], stride: usize, phases: usize, most: usize) -> Self {
        let mut table = [T::ZERO; N];
        let places = table.chunks_mut(most.next_multiple_of(<Same<T> as Types>::PACK));
        for (phase, places) in places.take(phases).enumerate() {
            for (place, &tap) in places.iter_mut().zip(taps[phase..].iter().step_by(stride).take(most)) {
                *place = tap;
            }
        }
        Table(table)
    }
}

/// A kernel for elements of type `T`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPoint<T: FilterKernels> {
    pub(super) name: &'static str,
    load: fn(&Device) -> Result<Loaded<T>>,
}

impl<T: FilterKernels> EntryPoint<T> {
    /// Returns the entry point of a kernel that reads its taps from global memory.
    fn simple<E: for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants = ()>>() -> Self {
        let load = |device: &Device| Ok(Loaded::Simple(Box::new(device.own_kernel::<E>()?)));
        EntryPoint { name: E::NAME, load }
    }

    /// Returns the entry point of a kernel that has its taps in a table.
    fn with_table<E: for<'l> Entry<Args<'l> = Args<'l, Same<T>>, Constants = T::Table>>() -> Self {
        let load = |device: &Device| Ok(Loaded::WithTable(Box::new(device.own_kernel::<E>()?)));
        EntryPoint { name: E::NAME, load }
    }

    /// Returns the kernel on a device.
    pub(super) fn load(&self, device: &Device) -> Result<Loaded<T>> {
        (self.load)(device)
    }
}

/// A kernel on a device.
pub(super) enum Loaded<T: FilterKernels> {
    Simple(Box<dyn for<'l> Launch<Args<'l, Same<T>>>>),
    WithTable(Box<dyn for<'l> Launch<Args<'l, Same<T>>, T::Table>>),
}

impl<T: FilterKernels> Loaded<T> {
    pub(super) fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        match self {
            Loaded::Simple(kernel) => kernel.residency(shape),
            Loaded::WithTable(kernel) => kernel.residency(shape),
        }
    }
}
