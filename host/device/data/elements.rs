//! Where elements are.

use super::{BufferView, Target};
use crate::cpu::allocation;
use crate::device::slice::BufferSlice;
use crate::{Buffer, Device, Element, Result};
use std::borrow::Cow;

/// The elements of an input in row-major order.
pub(crate) enum Elements<'a, T: Element> {
    /// On the host, without gaps.
    Host(Cow<'a, [T]>),
    Device(BufferView<'a, T>),
}

/// The results of an operation, without gaps.
pub(crate) enum Results<T: Element> {
    Host(Vec<T>),
    Device(Buffer<T>),
}

/// The elements of an input in a buffer.
pub(crate) enum OnBuffer<'a, T: Element> {
    Borrowed(BufferSlice<'a, T>),
    Copied(Buffer<T>),
}

/// The elements of an input, without gaps at the beginning of memory.
pub(crate) enum Gathered<'a, T: Element> {
    Host(&'a [T]),
    Device(OnBuffer<'a, T>),
}

impl<T: Element> Gathered<'_, T> {
    /// Returns the memory, which may be longer.
    pub(crate) fn elements(&self) -> Elements<'_, T> {
        match self {
            Gathered::Host(elements) => Elements::Host(Cow::Borrowed(elements)),
            Gathered::Device(elements) => Elements::Device(elements.slice().into()),
        }
    }
}

impl<T: Element> OnBuffer<'_, T> {
    pub(crate) fn slice(&self) -> BufferSlice<'_, T> {
        match self {
            OnBuffer::Borrowed(slice) => *slice,
            OnBuffer::Copied(buffer) => buffer.into(),
        }
    }
}

impl<T: Element> Elements<'_, T> {
    pub(crate) fn are_on_host(&self) -> bool {
        matches!(self, Elements::Host(_))
    }

    /// Returns an error if elements on a device belong to another device.
    pub(crate) fn check_owner(&self, what: &'static str, device: &Device) -> Result<()> {
        match self {
            Elements::Host(_) => Ok(()),
            Elements::Device(view) => view.check_owner(what, device),
        }
    }

    /// Returns the row pitch of rows with this number of elements.
    pub(crate) fn pitch(&self, columns: usize) -> usize {
        match self {
            Elements::Host(_) => columns,
            Elements::Device(view) => view.pitch(columns),
        }
    }

    /// Returns the elements on the CPU, also those in gaps. All buffers are on the CPU.
    pub(crate) fn cpu(&self) -> &[T] {
        match self {
            Elements::Host(elements) => elements,
            Elements::Device(view) => view.slice().cpu(),
        }
    }

    /// Returns the elements in a buffer, where kernels can read them, at the row pitch that they have.
    pub(crate) fn on_buffer(&self, device: &Device) -> Result<OnBuffer<'_, T>> {
        Ok(match self {
            Elements::Host(elements) => OnBuffer::Copied(device.upload(elements)?),
            Elements::Device(view) if view.slice().is_aligned() => OnBuffer::Borrowed(view.slice()),
            Elements::Device(view) => OnBuffer::Copied(view.slice().copied()?),
        })
    }

    /// Returns the elements without gaps. A copy that removes gaps of a buffer is enqueued.
    pub(crate) fn gathered(&self) -> Result<Gathered<'_, T>> {
        Ok(match self {
            Elements::Host(elements) => Gathered::Host(elements),
            Elements::Device(view) => Gathered::Device(view.gathered()?),
        })
    }
}

impl<T: Element> Results<T> {
    /// Returns `len` results that a function writes, on the host or on the device.
    pub(crate) fn written(
        device: &Device,
        on_host: bool,
        len: usize,
        write: impl FnOnce(Target<'_, T>) -> Result<()>,
    ) -> Result<Self> {
        if on_host {
            let mut results = allocation::filled(T::default(), len)?;
            write(Target::Host(&mut results))?;
            return Ok(Results::Host(results));
        }
        let mut results = device.unwritten(len)?;
        write(Target::Device((&mut results).into()))?;
        Ok(Results::Device(results))
    }

    /// Returns the results as elements of an input.
    pub(crate) fn elements(&self) -> Elements<'_, T> {
        match self {
            Results::Host(results) => Elements::Host(Cow::Borrowed(results)),
            Results::Device(results) => Elements::Device(BufferSlice::from(results).into()),
        }
    }

    /// Returns the results on the host, after all work that was enqueued before.
    pub(crate) fn into_vec(self) -> Result<Vec<T>> {
        match self {
            Results::Host(results) => Ok(results),
            Results::Device(results) => results.download(),
        }
    }

    /// Returns the results on a device.
    pub(crate) fn into_buffer(self, device: &Device) -> Result<Buffer<T>> {
        match self {
            Results::Host(results) => device.upload(&results),
            Results::Device(results) => Ok(results),
        }
    }
}
