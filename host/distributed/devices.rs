//! Devices that work on the same data.

use super::rooms::Rooms;
use super::transport::Transport;
use super::{Course, DistributedError};
use crate::{Backend, Buffer, Device, Element, Result};
use std::fmt;
use std::sync::Arc;

/// Devices that work on the same data together. Each has a part of the data, and is called a *member*; members are counted from 0.
///
/// All members are in this process ([`new`](Self::new), [`all`](Self::all)), or one is in this process and the others in other processes,
/// which a [`Transport`] reaches ([`with_transport`](Self::with_transport)).
///
/// Clones are the same devices.
///
/// ```
/// use slm::distributed::Devices;
/// use slm::{Device, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let devices = Devices::new([Device::cpu(), Device::cpu()])?; // or Devices::all()?, the GPUs of this machine
/// let sum = Filter1d::correlate(&[1, 1, 1]).prepare_on(&devices)?;
/// let x = devices.distribute(&[1; 1000])?;
/// assert_eq!(x.rows(1), 496..1000);
/// let y = sum.apply(&x)?; // the devices exchange the samples at the ends of their parts
/// assert_eq!(y.download()?[495..505], [3; 10]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Devices {
    inner: Arc<Inner>,
}

struct Inner {
    members: Vec<Option<Device>>,
    /// Queues of the members for data that come from others, while the members compute.
    incoming: Vec<Option<Device>>,
    /// Queues of the members for many data that go to others, while the members compute.
    outgoing: Vec<Option<Device>>,
    links: Vec<Vec<Link>>,
    transport: Option<Box<dyn Transport>>,
    rooms: Rooms,
}

/// How data get from one member to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Link {
    /// Both have the same memory: queues of one device, or CPUs.
    Memory,
    /// One GPU reads the other one's memory.
    Peer,
    /// Through memory of the host.
    Host,
    /// To another process, by the [`Transport`].
    Transport,
}

impl Devices {
    /// Returns these devices as members, in this order. GPUs of one machine that support it get access to each other's memory.
    /// Memory that they free stays with the process then, because it takes long to give other GPUs access to new memory.
    ///
    /// Devices of any kind can be members together, and one device can be several of them.
    ///
    /// # Errors
    ///
    /// * [`DistributedError::NoMembers`] without a device.
    /// * [Failures of a device](crate::Error#failures-of-the-device).
    pub fn new(devices: impl IntoIterator<Item = Device>) -> Result<Self> {
        let members: Vec<_> = devices.into_iter().map(Some).collect();
        if members.is_empty() {
            return Err(DistributedError::NoMembers.into());
        }
        Self::connected(members, None)
    }

    /// Returns all CUDA devices of this machine that can be opened, or the CPU if there are none, whatever `SLM_DEVICE` names.
    ///
    /// # Errors
    ///
    /// [Failures of a device](crate::Error#failures-of-the-device).
    pub fn all() -> Result<Self> {
        let mut devices = Device::all();
        let gpus: Vec<_> = devices.extract_if(.., |device| device.info().backend == Backend::Cuda).collect();
        Self::new(if gpus.is_empty() { devices } else { gpus })
    }

    /// Returns the members of several processes. `device` is the member of this process, whose number the transport knows.
    ///
    /// All processes call the same functions in the same order, with the same descriptions and sizes. They compute the same distribution
    /// of the data, and each has the part of its own member. After an error in one process, the others may wait for it: end them all.
    ///
    /// # Errors
    ///
    /// [`DistributedError::NoMembers`] if the number of this process's member is not less than the number of members.
    pub fn with_transport(device: Device, transport: impl Transport + 'static) -> Result<Self> {
        let (count, own) = (transport.members(), transport.member());
        if own >= count {
            return Err(DistributedError::NoMembers.into());
        }
        let members = (0..count).map(|member| (member == own).then(|| device.clone())).collect();
        Self::connected(members, Some(Box::new(transport)))
    }

    fn connected(members: Vec<Option<Device>>, transport: Option<Box<dyn Transport>>) -> Result<Self> {
        let link = |from: &Option<Device>, to: &Option<Device>| -> Result<Link> {
            let (Some(from), Some(to)) = (from, to) else { return Ok(Link::Transport) };
            let [of_from, of_to] = [from, to].map(|device| device.info().backend);
            let share = from.shares_memory_with(to) || (of_from == Backend::Cpu && of_to == Backend::Cpu);
            Ok(match share {
                true => Link::Memory,
                false if to.engine().access(from.engine())? => Link::Peer,
                false => Link::Host,
            })
        };
        let links_from = |from| members.iter().map(|to| link(from, to)).collect::<Result<_>>();
        let links = members.iter().map(links_from).collect::<Result<_>>()?;
        let queues = || members.iter().map(|member| member.as_ref().map(Device::queue).transpose()).collect();
        let (incoming, outgoing): (Result<_>, Result<_>) = (queues(), queues());
        let (incoming, outgoing) = (incoming?, outgoing?);
        Ok(Devices {
            inner: Arc::new(Inner { members, incoming, outgoing, links, transport, rooms: Rooms::default() }),
        })
    }

    /// Returns the number of members.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is at least one member")]
    pub fn len(&self) -> usize {
        self.inner.members.len()
    }

    /// Returns a member's device if it is in this process.
    #[must_use]
    pub fn get(&self, member: usize) -> Option<&Device> {
        self.inner.members.get(member)?.as_ref()
    }

    /// Returns the members in this process, with their devices.
    pub fn local(&self) -> impl Iterator<Item = (usize, &Device)> {
        self.inner.members.iter().enumerate().filter_map(|(member, device)| Some((member, device.as_ref()?)))
    }

    /// Returns how data get from one member to another one, or `None` if there is no such member.
    #[must_use]
    pub fn link(&self, from: usize, to: usize) -> Option<Link> {
        self.inner.links.get(from)?.get(to).copied()
    }

    /// Waits until all work of the members in this process is done, in the queues of their handles.
    ///
    /// # Errors
    ///
    /// [`DistributedError::Incomplete`] with a [failure of a device](crate::Error#failures-of-the-device) while that work ran as its
    /// cause: the first one. All members are waited for.
    pub fn synchronize(&self) -> Result<()> {
        let results: Vec<_> = self.local().map(|(member, device)| (member, device.synchronize())).collect();
        let mut course = Course::new("members", results.len() as u64);
        course.add(results.iter().filter(|(_, result)| result.is_ok()).count() as u64);
        results.into_iter().try_for_each(|(member, result)| course.on(member, result))
    }

    /// Returns the members in this process, with the queues for data that come from others.
    pub(super) fn incoming(&self) -> impl Iterator<Item = (usize, &Device)> {
        self.inner.incoming.iter().enumerate().filter_map(|(member, queue)| Some((member, queue.as_ref()?)))
    }

    /// Returns the queue for many data that go from a member in this process to others.
    pub(super) fn outgoing(&self, member: usize) -> Option<&Device> {
        self.inner.outgoing[member].as_ref()
    }

    /// Returns the queue of this process's member for messages between processes, if these go directly from and to its GPU.
    pub(crate) fn queue_of_messages(&self) -> Option<&Device> {
        // On the way, elements are little-endian.
        let is_direct = cfg!(target_endian = "little") && self.transport()?.takes_gpu_memory();
        let (_, queue) = self.incoming().next()?;
        (is_direct && queue.info().backend == Backend::Cuda).then_some(queue)
    }

    /// Returns the memory for messages on this process's GPU.
    pub(super) fn rooms(&self) -> &Rooms {
        &self.inner.rooms
    }

    /// Keeps a buffer for the next messages.
    pub(crate) fn keep<T: Element>(&self, room: Buffer<T>) {
        self.inner.rooms.give_back(room);
    }

    pub(crate) fn transport(&self) -> Option<&dyn Transport> {
        self.inner.transport.as_deref()
    }

    /// Replaces each number by the sum of the numbers of all processes at the same place, modulo 2^64.
    pub(crate) fn sum(&self, numbers: &mut [u64]) -> Result<()> {
        let Some(transport) = self.transport() else { return Ok(()) };
        transport.add(numbers).map_err(|error| DistributedError::Transport(error).into())
    }

    /// Returns whether both are the same devices.
    pub(super) fn are(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Returns one thing for each member in this process.
    pub(crate) fn each<V>(&self, mut make: impl FnMut(usize, &Device) -> Result<V>) -> Result<Vec<Option<V>>> {
        let make =
            |(member, device): (usize, &Option<Device>)| device.as_ref().map(|device| make(member, device)).transpose();
        self.inner.members.iter().enumerate().map(make).collect()
    }
}

impl fmt::Debug for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.inner.members).finish()
    }
}
