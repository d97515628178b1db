//! Data whose rows are on several devices.

use super::{Course, Devices, DistributedError, Distribution};
use crate::cpu::allocation;
use crate::device::data::number_of;
use crate::{Buffer, BufferSliceMut, Device, Element, Input, Result};
use std::fmt;
use std::ops::Range;

/// Rows of elements, which are split among the members of [`Devices`].
///
/// Samples of a line are rows of one element. An array's first axis has the rows, and a row is all the rest.
pub struct DistributedBuffer<T: Element> {
    devices: Devices,
    distribution: Distribution,
    /// Elements of a row.
    width: usize,
    /// Parts of the members in this process.
    parts: Vec<Option<Buffer<T>>>,
}

/// Distribution of data.
impl Devices {
    /// Returns data of the host, [evenly](Distribution::even) distributed. Each process has all of the data.
    ///
    /// ```
    /// use slm::distributed::Devices;
    /// use slm::ndarray::Array2;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let matrix = Array2::from_shape_fn((64, 3), |(row, column)| (10 * row + column) as i32);
    /// let distributed = Devices::all()?.distribute(&matrix)?;
    /// assert_eq!((distributed.total_rows(), distributed.width()), (64, 3));
    /// assert_eq!(distributed.download()?[3..6], [10, 11, 12]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`DistributedError::Incomplete`] with an error of [`Device::upload`] as its cause, and
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch) for data on a device.
    pub fn distribute<T: Element>(&self, data: impl Input<T>) -> Result<DistributedBuffer<T>> {
        let axes = data.shape().axes;
        let [rows, width] = [axes.first().copied().unwrap_or(1), number_of(axes.get(1..).unwrap_or(&[]))];
        let elements = data.elements()?;
        elements.check_owner("the data to distribute", &Device::cpu())?;
        let (elements, distribution) = (elements.cpu(), Distribution::even(rows, self.len()));
        let parts =
            self.parts(&distribution, |rows, device| device.upload(&elements[rows.start * width..rows.end * width]))?;
        Ok(DistributedBuffer { devices: self.clone(), distribution, width, parts })
    }

    /// Returns rows of zeros, each with `width` elements, [evenly](Distribution::even) distributed.
    ///
    /// # Errors
    ///
    /// [`DistributedError::Incomplete`] with an error of [`Device::zeroed`] as its cause.
    pub fn zeroed<T: Element>(&self, rows: usize, width: usize) -> Result<DistributedBuffer<T>> {
        self.zeroed_as(&Distribution::even(rows, self.len()), width)
    }

    /// Returns rows of zeros with this distribution.
    ///
    /// # Errors
    ///
    /// * [`DistributedError::Distribution`] for another number of members.
    /// * [`DistributedError::Incomplete`] with an error of [`Device::zeroed`] as its cause.
    pub fn zeroed_as<T: Element>(&self, distribution: &Distribution, width: usize) -> Result<DistributedBuffer<T>> {
        if distribution.members() != self.len() {
            let expected = Distribution::even(distribution.total(), self.len());
            return Err(DistributedError::distribution("the buffer", &expected, distribution));
        }
        let parts = self.parts(distribution, |rows, device| device.zeroed(rows.len().saturating_mul(width)))?;
        Ok(DistributedBuffer { devices: self.clone(), distribution: distribution.clone(), width, parts })
    }

    /// Returns the parts of the members in this process.
    fn parts<T: Element>(
        &self,
        distribution: &Distribution,
        make: impl Fn(Range<usize>, &Device) -> Result<Buffer<T>>,
    ) -> Result<Vec<Option<Buffer<T>>>> {
        let rows_here = self.local().map(|(member, _)| distribution.rows(member).len() as u64).sum();
        let mut course = Course::new("rows", rows_here);
        self.each(|member, device| {
            let rows = distribution.rows(member);
            let part = course.on(member, make(rows.clone(), device))?;
            course.add(rows.len() as u64);
            Ok(part)
        })
    }
}

impl<T: Element> DistributedBuffer<T> {
    /// Returns the devices.
    #[must_use]
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Returns which rows are where.
    #[must_use]
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }

    /// Returns the rows of a member.
    #[must_use]
    pub fn rows(&self, member: usize) -> Range<usize> {
        self.distribution.rows(member)
    }

    /// Returns the number of rows of all members.
    #[must_use]
    pub fn total_rows(&self) -> usize {
        self.distribution.total()
    }

    /// Returns the elements of a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the rows of a member, or `None` if it is in another process.
    #[must_use]
    pub fn part(&self, member: usize) -> Option<&Buffer<T>> {
        self.parts.get(member)?.as_ref()
    }

    /// Returns the rows of a member for writing, or `None` if it is in another process.
    pub fn part_mut(&mut self, member: usize) -> Option<BufferSliceMut<'_, T>> {
        self.parts.get_mut(member)?.as_mut().map(BufferSliceMut::from)
    }

    /// Returns the elements of all members in this process, in their order: all, if no member is elsewhere.
    ///
    /// # Errors
    ///
    /// [`DistributedError::Incomplete`] with an error of [`Buffer::download`] as its cause.
    pub fn download(&self) -> Result<Vec<T>> {
        let len = self.parts.iter().flatten().map(Buffer::len).sum();
        let mut elements = allocation::filled(T::default(), len)?;
        let mut rest = &mut elements[..];
        let mut course = Course::new("elements", len as u64);
        for (member, part) in self.parts.iter().enumerate() {
            let Some(part) = part else { continue };
            let (own, others) = rest.split_at_mut(part.len());
            course.on(member, part.download_into(own))?;
            course.add(part.len() as u64);
            rest = others;
        }
        Ok(elements)
    }

    pub(super) fn parts(&self) -> Vec<Option<&Buffer<T>>> {
        self.parts.iter().map(Option::as_ref).collect()
    }

    pub(super) fn parts_mut(&mut self) -> &mut [Option<Buffer<T>>] {
        &mut self.parts
    }

    /// Returns an error if the buffer belongs to other devices than an operation.
    pub(super) fn check_devices(&self, what: &'static str, devices: &Devices) -> Result<()> {
        if self.devices.are(devices) { Ok(()) } else { Err(DistributedError::Devices { what }.into()) }
    }
}

impl<T: Element> fmt::Debug for DistributedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistributedBuffer")
            .field("distribution", &self.distribution)
            .field("width", &self.width)
            .finish_non_exhaustive()
    }
}
