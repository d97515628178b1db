//! Messages between processes: of this process's member, to and from the members of others.
//!
//! Messages from one member to another one have the same order in both processes.

use super::{Devices, DistributedError, Received, Sent};
use crate::cpu::allocation;
use crate::device::rows::{Place, Rows};
use crate::element::raw::Raw;
use crate::{Buffer, BufferSlice, BufferSliceMut, Device, Element, Result};

/// Sends elements to members in other processes, and returns those that come from others: for each, its member and the number of
/// elements.
pub(crate) fn exchange_elements<T: Raw>(
    devices: &Devices,
    mut outgoing: Vec<(usize, Vec<T>)>,
    incoming: &[(usize, usize)],
) -> Result<Vec<Vec<T>>> {
    let Some(transport) = devices.transport() else { return Ok(Vec::new()) };
    let room = incoming.iter().map(|&(_, len)| allocation::filled(T::default(), len));
    let mut coming = room.collect::<Result<Vec<_>>>()?;
    // In the order of the members.
    outgoing.sort_by_key(|(to, _)| *to);
    outgoing.iter_mut().for_each(|(_, elements)| T::swap_if_big_endian(elements));
    let sent: Vec<_> = outgoing.iter().map(|(to, elements)| Sent { to: *to, bytes: T::bytes(elements) }).collect();
    let places = coming.iter_mut().zip(incoming);
    let mut received: Vec<_> =
        places.map(|(elements, &(from, _))| Received { from, bytes: T::bytes_mut(elements) }).collect();
    received.sort_by_key(|place| place.from);
    transport.exchange(&sent, &mut received).map_err(DistributedError::Transport)?;
    coming.iter_mut().for_each(|elements| T::swap_if_big_endian(elements));
    Ok(coming)
}

/// Rows of a buffer that a member gets. Where they come to is up to it.
pub(crate) struct Leaving<'b, T: Element> {
    pub(crate) to: usize,
    pub(crate) source: &'b Buffer<T>,
    pub(crate) rows: Rows,
}

/// What has come from other processes, in a buffer that is kept for the next exchange.
pub(crate) struct Arrived<T: Element> {
    pub(crate) elements: Buffer<T>,
    /// Where each message begins.
    pub(crate) places: Vec<usize>,
}

/// As [`exchange_elements`], from and to the memory of the member's GPU. `queue` is [`Devices::queue_of_messages`]. What has arrived is given
/// back ([`Devices::keep`]) when its copies are enqueued.
pub(crate) fn exchange_on_gpu<T: Element>(
    devices: &Devices,
    queue: &Device,
    leaving: &[Leaving<'_, T>],
    incoming: &[(usize, usize)],
) -> Result<Arrived<T>> {
    let Some(transport) = devices.transport() else {
        return Ok(Arrived { elements: queue.unwritten(0)?, places: Vec::new() });
    };
    if leaving.is_empty() && incoming.is_empty() {
        // Without messages there is nothing to wait for.
        transport.exchange_on_gpu(&[], &mut []).map_err(DistributedError::Transport)?;
        return Ok(Arrived { elements: queue.unwritten(0)?, places: Vec::new() });
    }
    let sent_lens: Vec<_> = leaving.iter().map(|message| message.rows.number()).collect();
    let lens: Vec<_> = incoming.iter().map(|(_, len)| *len).collect();
    let mut outbox = devices.rooms().take::<T>(queue, sent_lens.iter().sum())?;
    let mut inbox = devices.rooms().take::<T>(queue, lens.iter().sum())?;
    for (message, first) in leaving.iter().zip(places(&sent_lens)) {
        let target = Place { first, pitch: message.rows.len };
        outbox.copy_rows(message.source, Rows { target, ..message.rows })?;
    }
    // What came in the last exchange may still be read. The transport knows of no queue, so all of this is done before. This also makes
    // the context current.
    inbox.order_mut().before_write(queue.engine())?;
    queue.synchronize()?;
    let parts = BufferSlice::from(&outbox).gpu_bytes()?.parts(sent_lens.iter().map(|len| len * size_of::<T>()));
    let sent = leaving.iter().zip(parts).map(|(message, bytes)| Sent { to: message.to, bytes });
    let parts = BufferSliceMut::from(&mut inbox).into_gpu_bytes()?.parts(lens.iter().map(|len| len * size_of::<T>()));
    let received = incoming.iter().zip(parts).map(|(&(from, _), bytes)| Received { from, bytes });
    let (mut sent, mut received): (Vec<_>, Vec<_>) = (sent.collect(), received.collect());
    // In the order of the members.
    sent.sort_by_key(|message| message.to);
    received.sort_by_key(|place| place.from);
    transport.exchange_on_gpu(&sent, &mut received).map_err(DistributedError::Transport)?;
    devices.keep(outbox);
    Ok(Arrived { elements: inbox, places: places(&lens).collect() })
}

/// Returns where each of some messages begins, if they are one behind the other.
fn places(lens: &[usize]) -> impl Iterator<Item = usize> {
    lens.iter().scan(0, |end, len| {
        *end += len;
        Some(*end - len)
    })
}
