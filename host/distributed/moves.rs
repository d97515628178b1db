//! Rows on their way from one member to another one.

use super::messages::{Arrived, Leaving, exchange_elements, exchange_on_gpu};
use super::{Course, Devices, Link};
use crate::cpu::allocation;
use crate::device::rows::{Place, Rows};
use crate::element::raw::Raw;
use crate::{Buffer, Device, Element, Result};

/// Rows that go from a member's buffer to a buffer of the same or another member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Number of the target among the member's targets.
    pub(super) target: usize,
    pub(super) rows: Rows,
}

/// Moves rows. All processes call it with the same moves. `sources` has a buffer for each member in this process, and `targets` some.
/// Copies between devices are enqueued in the targets' queues, and large ones in those for outgoing data. Errors name the target's member.
pub(super) fn run<T: Raw>(
    devices: &Devices,
    course: Course,
    moves: &[Move],
    sources: &[Option<&Buffer<T>>],
    targets: &mut [Vec<Buffer<T>>],
) -> Result<()> {
    for step in moves {
        if let Some(source) = sources[step.from]
            && devices.get(step.to).is_some()
        {
            let target = &mut targets[step.to][step.target];
            let copied = match devices.link(step.from, step.to) {
                Some(Link::Host) => copy_through_host(source, target, step.rows, STAGED),
                _ => match writer::<T>(devices, step) {
                    Some(queue) => target.copy_rows_in(queue, source, step.rows),
                    None => target.copy_rows(source, step.rows),
                },
            };
            course.on(step.to, copied)?;
        }
    }
    match devices.transport() {
        Some(_) => course.between(exchange(devices, moves, sources, targets)),
        None => Ok(()),
    }
}

/// Bytes that go through the host together.
const STAGED: usize = 32 << 20;

/// Bytes from which on the source's device writes them to the other one. GPUs write to each other faster than they read
/// (`benches/RESULTS.md`), but small moves from several devices to one buffer would wait for each other.
const WRITTEN: usize = 1 << 20;

/// Returns the queue of the source's device that writes to the target, unless the target's device had better read.
fn writer<'d, T>(devices: &'d Devices, step: &Move) -> Option<&'d Device> {
    let is_large = step.rows.count.saturating_mul(step.rows.len).saturating_mul(size_of::<T>()) >= WRITTEN;
    let has_access = devices.link(step.to, step.from) != Some(Link::Host);
    (is_large && has_access).then(|| devices.outgoing(step.from)).flatten()
}

/// Copies rows through pinned memory of about this number of bytes, but at least of a row.
fn copy_through_host<T: Element>(source: &Buffer<T>, target: &mut Buffer<T>, rows: Rows, bytes: usize) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let contiguous = Place::at_start(rows.len);
    let count = (bytes / size_of::<T>() / rows.len).clamp(1, rows.count);
    let mut staged = target.device().pinned(count * rows.len)?;
    for first in (0..rows.count).step_by(count) {
        let behind = |place: Place| Place { first: place.first + first * place.pitch, ..place };
        let rows = Rows { count: count.min(rows.count - first), ..rows };
        let staged = &mut staged[..rows.count * rows.len];
        source.download_rows(staged, Rows { source: behind(rows.source), target: contiguous, ..rows })?;
        target.upload_rows(staged, Rows { source: contiguous, target: behind(rows.target), ..rows })?;
    }
    Ok(())
}

/// Moves rows between processes.
fn exchange<T: Raw>(
    devices: &Devices,
    moves: &[Move],
    sources: &[Option<&Buffer<T>>],
    targets: &mut [Vec<Buffer<T>>],
) -> Result<()> {
    let is_local = |member| devices.get(member).is_some();
    let leaving = moves.iter().filter(|step| is_local(step.from) && !is_local(step.to));
    let leaving: Vec<_> = leaving.filter_map(|step| Some((step, sources[step.from]?))).collect();
    let coming: Vec<_> = moves.iter().filter(|step| is_local(step.to) && !is_local(step.from)).collect();
    let lengths: Vec<_> = coming.iter().map(|step| (step.from, step.rows.number())).collect();
    match devices.queue_of_messages() {
        Some(queue) => {
            let leaving = leaving.into_iter().map(|(step, source)| Leaving { to: step.to, source, rows: step.rows });
            let Arrived { elements, places } = exchange_on_gpu(devices, queue, &leaving.collect::<Vec<_>>(), &lengths)?;
            for (step, first) in coming.into_iter().zip(places) {
                let rows = Rows { source: Place { first, pitch: step.rows.len }, ..step.rows };
                targets[step.to][step.target].copy_rows(&elements, rows)?;
            }
            devices.keep(elements);
            Ok(())
        }
        None => {
            let outgoing = leaving.into_iter().map(|(step, source)| Ok((step.to, downloaded(source, step.rows)?)));
            let outgoing = outgoing.collect::<Result<_>>()?;
            for (step, elements) in coming.into_iter().zip(exchange_elements(devices, outgoing, &lengths)?) {
                let rows = Rows { source: Place::at_start(step.rows.len), ..step.rows };
                targets[step.to][step.target].upload_rows(&elements, rows)?;
            }
            Ok(())
        }
    }
}

/// Returns rows without gaps, on the host.
fn downloaded<T: Element>(source: &Buffer<T>, rows: Rows) -> Result<Vec<T>> {
    let mut elements = allocation::filled(T::default(), rows.number())?;
    source.download_rows(&mut elements, Rows { target: Place::at_start(rows.len), ..rows })?;
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(device: &Device) {
        let numbers: Vec<u16> = (0..200).collect();
        let source = device.upload(&numbers).unwrap();
        let place = |first, pitch| Place { first, pitch };
        for rows in [
            Rows { count: 9, len: 5, source: place(3, 20), target: place(1, 7) },
            Rows { count: 1, len: 100, source: place(50, 0), target: place(0, 0) },
            Rows { count: 0, len: 5, source: place(0, 5), target: place(0, 5) },
        ] {
            let mut expected = vec![7; 120];
            rows.copy(&numbers, &mut expected);
            for bytes in [1, 25, 30, 1000] {
                let mut target = device.upload(&[7; 120]).unwrap();
                copy_through_host(&source, &mut target, rows, bytes).unwrap();
                assert_eq!(target.download().unwrap(), expected, "{rows:?}, {bytes} bytes");
            }
        }
    }

    #[test]
    fn any_queue_copies_in_order() {
        let devices = [
            Device::cpu(),
            #[cfg(feature = "emulator")]
            Device::emulated(emulator::Profile::SM_90, 0),
        ];
        for device in devices {
            let [incoming, outgoing] = [device.queue().unwrap(), device.queue().unwrap()];
            let source = device.upload(&[1u16, 2, 3, 4]).unwrap();
            let mut target = incoming.zeroed(4).unwrap();
            let rows = |first, at| {
                let place = |first| Place { first, pitch: 0 };
                Rows { count: 1, len: 2, source: place(first), target: place(at) }
            };
            target.copy_rows_in(&outgoing, &source, rows(0, 2)).unwrap();
            target.copy_rows(&source, rows(1, 0)).unwrap();
            let mut last = device.zeroed(4).unwrap();
            last.copy_rows(&target, Rows::whole(4)).unwrap();
            drop(target);
            assert_eq!(last.download().unwrap(), [2, 3, 1, 2]);
        }
    }

    #[test]
    fn rows_go_through_little_memory() {
        check(&Device::cpu());
        #[cfg(feature = "emulator")]
        check(&Device::emulated(emulator::Profile::SM_90, 0));
    }
}
