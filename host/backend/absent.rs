//! A backend that this build does not include.

use super::{DeviceMemory, Kernel, Queue};
use crate::device::launch::{LaunchShape, QueueId, Residency, WindowRecord};
use crate::device::rows::Rows;
use crate::{Element, Result};
use cuda_std::image::Modules;
use cuda_std::{Entry, GlobalIn, GlobalInOut, GlobalOut};
use std::marker::PhantomData;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// A device. No value of this type can exist.
pub(crate) struct Absent(Never);

/// The kernel `E` of an [`Absent`] device.
pub(crate) struct NoKernel<E>(Never, PhantomData<fn(E)>);

/// Memory of an [`Absent`] device.
pub(crate) struct NoMemory<T>(Never, PhantomData<T>);

enum Never {}

impl Queue for Absent {
    type DeviceMemory<T: Element> = NoMemory<T>;
    type Kernel<E: Entry> = NoKernel<E>;

    type Mark = Absent;
    type PinnedMemory<T: Element> = NoMemory<T>;

    fn id(&self) -> QueueId {
        match self.0 {}
    }

    fn another(&self) -> Result<Arc<Self>> {
        match self.0 {}
    }

    fn pinned<T: Element>(self: &Arc<Self>, _: usize) -> Result<NoMemory<T>> {
        match self.0 {}
    }

    fn copies_fast<T: Element>(&self, _: &[T]) -> bool {
        match self.0 {}
    }

    fn access(&self, _: &Self) -> Result<bool> {
        match self.0 {}
    }

    fn wait_for(&self, _: &Self) -> Result<()> {
        match self.0 {}
    }

    fn is_lost(&self) -> bool {
        match self.0 {}
    }

    fn load<E: Entry>(self: &Arc<Self>, _: &Modules) -> Result<NoKernel<E>> {
        match self.0 {}
    }

    fn submission_lock(&self) -> Result<Option<MutexGuard<'_, ()>>> {
        match self.0 {}
    }

    fn synchronize(&self) -> Result<()> {
        match self.0 {}
    }

    fn release_unused_memory(&self) -> Result<()> {
        match self.0 {}
    }

    fn mark(self: &Arc<Self>) -> Result<Absent> {
        match self.0 {}
    }

    fn elapsed(start: &Absent, _: &Absent) -> Result<Duration> {
        match start.0 {}
    }
}

impl<T> AsRef<[T]> for NoMemory<T> {
    fn as_ref(&self) -> &[T] {
        match self.0 {}
    }
}

impl<T> AsMut<[T]> for NoMemory<T> {
    fn as_mut(&mut self) -> &mut [T] {
        match self.0 {}
    }
}

impl<T: Element> DeviceMemory<T> for NoMemory<T> {
    type Queue = Absent;

    fn upload(queue: &Arc<Absent>, _: &[T]) -> Result<Self> {
        match queue.0 {}
    }

    fn zeroed(queue: &Arc<Absent>, _: usize) -> Result<Self> {
        match queue.0 {}
    }

    fn unwritten(queue: &Arc<Absent>, _: usize) -> Result<Self> {
        match queue.0 {}
    }

    fn check_written(&self) -> Result<()> {
        match self.0 {}
    }

    fn overwrite_rows(&mut self, _: &[T], _: Rows) -> Result<()> {
        match self.0 {}
    }

    fn download_rows(&self, _: &mut [T], _: Rows) -> Result<()> {
        match self.0 {}
    }

    fn copy_rows(&mut self, _: &Self::Queue, _: &Self, _: Rows) -> Result<()> {
        match self.0 {}
    }

    fn clear(&mut self) -> Result<()> {
        match self.0 {}
    }

    fn len(&self) -> usize {
        match self.0 {}
    }

    fn cuda_address(&self) -> Option<u64> {
        match self.0 {}
    }

    fn input(&self) -> GlobalIn<'_, T> {
        match self.0 {}
    }

    fn output(&mut self) -> GlobalOut<'_, T> {
        match self.0 {}
    }

    fn in_out(&mut self) -> GlobalInOut<'_, T> {
        match self.0 {}
    }
}

impl<E> Clone for NoKernel<E> {
    fn clone(&self) -> Self {
        match self.0 {}
    }
}

impl<E: Entry> Kernel<E> for NoKernel<E> {
    fn launch(&self, _: &LaunchShape, _: &WindowRecord, _: &E::Args<'_>, _: &E::Constants) -> Result<()> {
        match self.0 {}
    }

    fn residency(&self, _: &LaunchShape) -> Result<Option<Residency>> {
        match self.0 {}
    }
}

#[cfg(feature = "dlpack")]
impl super::dlpack::Exchanging for Absent {
    fn tensor_device(&self) -> dlpark::ffi::DLDevice {
        match self.0 {}
    }

    fn number(&self) -> isize {
        match self.0 {}
    }
}

#[cfg(feature = "dlpack")]
impl<T: Element> super::dlpack::Exchange<T> for NoMemory<T> {
    type Borrowed = Absent;

    fn give(&self, _: &super::dlpack::ConsumerStream) -> Result<*mut std::ffi::c_void> {
        match self.0 {}
    }

    fn take_back(&self, _: &super::dlpack::ConsumerStream) -> Absent {
        match self.0 {}
    }

    fn check(queue: &Arc<Absent>, _: &super::dlpack::Elements<T>) -> Result<()> {
        match queue.0 {}
    }

    fn take(queue: &Arc<Absent>, _: super::dlpack::Elements<T>, _: dlpark::AllocationDeleter) -> Self {
        match queue.0 {}
    }
}
