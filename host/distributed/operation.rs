//! An operation on all members.

use super::Devices;
use crate::{Device, Result};
use std::fmt;

/// An operation that is prepared on each member of [`Devices`].
///
/// `prepare_on` of a description returns it, such as [`Filter1d::prepare_on`](crate::Filter1d::prepare_on).
pub struct Distributed<P> {
    devices: Devices,
    /// The operations of the members in this process.
    prepared: Vec<Option<P>>,
}

impl<P> Distributed<P> {
    pub(super) fn new(devices: &Devices, mut prepare: impl FnMut(&Device) -> Result<P>) -> Result<Self> {
        Ok(Distributed { devices: devices.clone(), prepared: devices.each(|_, device| prepare(device))? })
    }

    /// Returns the devices.
    #[must_use]
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Returns the operation of a member in this process.
    #[must_use]
    pub fn member(&self, member: usize) -> Option<&P> {
        self.prepared.get(member)?.as_ref()
    }

    /// Returns the members in this process with their operations. There is at least one.
    pub(super) fn local(&self) -> impl Iterator<Item = (usize, &P)> {
        self.prepared.iter().enumerate().filter_map(|(member, prepared)| Some((member, prepared.as_ref()?)))
    }

    /// Returns the operation of some member. All have the same description.
    pub(super) fn any(&self) -> &P {
        self.prepared.iter().flatten().next().expect("`Devices` has a member in this process")
    }
}

impl<P: fmt::Debug> fmt::Debug for Distributed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Distributed").field("prepared", &self.prepared).finish_non_exhaustive()
    }
}
