//! The kernels of each element type.

use crate::kernel::Launch;
use crate::{Device, LaunchShape, Residency, Result, modules};
use cuda_std::image::Module;
use cuda_std::{Argument, Entry, Table};
use slm_kernels::filter1d::{self as kernels, Args, Kernel, Orientation, table_len};
use slm_kernels::signal::{Output, Same, Sample, Sum, Types, Weight};

/// The kernels for an element type.
pub trait FilterKernels: Sample + Weight + Sum<Self, Self> + Output<Self> {
    /// The taps of one launch of the register-tiled kernels.
    type Table: Argument;

    /// The table of these taps, behind the pad for a first sample at `start`; as many as fit into it at most.
    fn table(taps: &[Self], start: i64) -> Self::Table;

    /// The entry point of a kernel for lines of this orientation.
    #[must_use]
    fn entry_point(kernel: Kernel, orientation: Orientation) -> EntryPoint<Self>;
}

/// A kernel for elements of type `T`.
#[derive(Clone, Copy, Debug)]
pub struct EntryPoint<T: FilterKernels> {
    pub(super) name: &'static str,
    module: &'static Module,
    load: fn(&Device, &'static Module) -> Result<Loaded<T>>,
}

impl<T: FilterKernels> EntryPoint<T> {
    /// A kernel that reads its taps from global memory.
    fn simple<E: Entry<Args = Args<Same<T>>, Constants = ()>>(module: &'static Module) -> Self {
        let load = |device: &Device, module| Ok(Loaded::Simple(Box::new(device.kernel::<E>(module)?)));
        EntryPoint { name: E::NAME, module, load }
    }

    /// A kernel that has its taps in a table.
    fn with_table<E: Entry<Args = Args<Same<T>>, Constants = T::Table>>(module: &'static Module) -> Self {
        let load = |device: &Device, module| Ok(Loaded::WithTable(Box::new(device.kernel::<E>(module)?)));
        EntryPoint { name: E::NAME, module, load }
    }

    /// The kernel on a device.
    pub(super) fn load(&self, device: &Device) -> Result<Loaded<T>> {
        (self.load)(device, self.module)
    }
}

/// A kernel on a device.
pub(super) enum Loaded<T: FilterKernels> {
    Simple(Box<dyn Launch<Args<Same<T>>>>),
    WithTable(Box<dyn Launch<Args<Same<T>>, T::Table>>),
}

impl<T: FilterKernels> Loaded<T> {
    pub(super) fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        match self {
            Loaded::Simple(kernel) => kernel.residency(shape),
            Loaded::WithTable(kernel) => kernel.residency(shape),
        }
    }
}

macro_rules! filter_kernels {
    ($($t:ty: $simple:ident $global:ident $tile:ident, $rows:ident $register_rows:ident,
        $columns:ident $register_columns:ident;)*) => {$(
        impl FilterKernels for $t {
            type Table = Table<$t, { table_len::<Same<$t>>() }>;

            fn table(taps: &[$t], start: i64) -> Self::Table {
                let mut table = [<$t as Sample>::ZERO; _];
                let pad = kernels::pad(start, <Same<$t> as Types>::PACK as u32) as usize;
                table[pad..pad + taps.len()].copy_from_slice(taps);
                Table(table)
            }

            fn entry_point(kernel: Kernel, orientation: Orientation) -> EntryPoint<$t> {
                match (kernel, orientation) {
                    (Kernel::Global, _) => EntryPoint::simple::<kernels::$global>(&modules::$simple),
                    (Kernel::Tile, _) => EntryPoint::simple::<kernels::$tile>(&modules::$simple),
                    (Kernel::Register, Orientation::Rows) => {
                        EntryPoint::with_table::<kernels::$register_rows>(&modules::$rows)
                    }
                    (Kernel::Register, Orientation::Columns) => {
                        EntryPoint::with_table::<kernels::$register_columns>(&modules::$columns)
                    }
                }
            }
        }
    )*};
}
filter_kernels! {
    f32: FILTER1D_SIMPLE_F32 filter1d_global_f32 filter1d_tile_f32, FILTER1D_ROWS_F32 filter1d_register_rows_f32,
        FILTER1D_COLUMNS_F32 filter1d_register_columns_f32;
    f64: FILTER1D_SIMPLE_F64 filter1d_global_f64 filter1d_tile_f64, FILTER1D_ROWS_F64 filter1d_register_rows_f64,
        FILTER1D_COLUMNS_F64 filter1d_register_columns_f64;
    i32: FILTER1D_SIMPLE_I32 filter1d_global_i32 filter1d_tile_i32, FILTER1D_ROWS_I32 filter1d_register_rows_i32,
        FILTER1D_COLUMNS_I32 filter1d_register_columns_i32;
}
