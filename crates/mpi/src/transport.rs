//! Messages between ranks.
//!
//! A communicator is not `Send`, but a [`Transport`] is. So the communicators are in a table of their thread, and a transport has the
//! key. In another thread the key finds nothing.

use crate::gpu;
use mpi::collective::SystemOperation;
use mpi::datatype::{Buffer, BufferMut};
use mpi::environment;
use mpi::request;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use slm::distributed::{GpuBytes, GpuBytesMut, Received, Sent, Transport, TransportError};
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of a message of MPI, which has 31 bits for its length. Longer ones are divided.
const CHUNK: usize = 1 << 30;

/// Messages of one transport between two ranks arrive in their order, so one tag is enough.
const TAG: i32 = 0;

/// Members in the ranks of a communicator.
///
/// Only the thread that creates it can send and receive, because MPI libraries need not allow more. In other threads, distributed
/// operations return [`TransportError`], and they do so when MPI has ended.
///
/// ```
/// use slm::Device;
/// use slm::distributed::Devices;
/// use slm_mpi::{MpiTransport, mpi};
///
/// let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Funneled).expect("not initialised before");
/// let transport = MpiTransport::new(&universe.world());
/// let devices = Devices::with_transport(Device::cpu(), transport)?;
/// assert!(devices.len() >= 1);
/// drop(universe);
/// drop(devices);
/// # Ok::<(), slm::Error>(())
/// ```
///
/// An MPI library that knows CUDA opens memory of the GPUs, which it closes at its end: keep the devices until MPI has ended, as
/// [`run`](crate::run) does. Open MPI 4 says that it knows CUDA also when its parameter `opal_cuda_support` is 0: then call
/// [`through_host`](Self::through_host).
///
/// A program that uses this has to end the job if one rank fails, as [`run`](crate::run) does: a rank that ends in an orderly way waits
/// for the others, and they may wait for its messages.
#[derive(Debug)]
pub struct MpiTransport {
    key: u64,
    members: usize,
    member: usize,
    takes_gpu_memory: bool,
}

impl MpiTransport {
    /// Returns the members in the ranks of `communicator`, all of which call this at the same time, in the threads that initialised MPI.
    ///
    /// The transport has a duplicate of the communicator, so that no other messages are taken for its own. The duplicate ends when all of
    /// its members have dropped their transports, or with MPI.
    #[must_use]
    pub fn new(communicator: &SimpleCommunicator) -> Self {
        static NEXT_KEY: AtomicU64 = AtomicU64::new(0);
        let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        let own = communicator.duplicate();
        // Neither is negative.
        let [members, member] = [own.size(), own.rank()].map(|number| usize::try_from(number).unwrap_or(0));
        COMMUNICATORS.with_borrow_mut(|table| table.insert(key, Owned(Some(own))));
        MpiTransport { key, members, member, takes_gpu_memory: gpu::is_supported() }
    }

    /// Lets what GPUs exchange go through the host, whatever the MPI library says of itself. Each rank may choose.
    #[must_use]
    pub fn through_host(mut self) -> Self {
        self.takes_gpu_memory = false;
        self
    }

    /// Returns the result of `work` with the communicator, or an error if this thread cannot use it.
    fn with<V>(&self, work: impl FnOnce(&SimpleCommunicator) -> V) -> Result<V, TransportError> {
        if environment::is_finalized() {
            return Err(failed("MPI has ended"));
        }
        let in_table = |table: &RefCell<HashMap<u64, Owned>>| Some(work(table.borrow().get(&self.key)?.0.as_ref()?));
        let result = COMMUNICATORS.try_with(in_table).ok().flatten();
        result.ok_or_else(|| failed("MPI is called in another thread than the one that initialised it"))
    }

    fn check<S, R>(&self, sent: &[Sent<S>], received: &[Received<R>]) -> Result<(), TransportError> {
        let receivers = sent.iter().map(|message| message.to);
        let mut members = receivers.chain(received.iter().map(|message| message.from));
        match members.find(|member| *member >= self.members) {
            Some(member) => Err(failed(&format!("there is no member {member}, but {}", self.members))),
            None => Ok(()),
        }
    }
}

impl Drop for MpiTransport {
    /// In another thread, the communicator stays until its own thread ends.
    fn drop(&mut self) {
        let own = COMMUNICATORS.try_with(|table| table.borrow_mut().remove(&self.key));
        drop(own);
    }
}

impl Transport for MpiTransport {
    fn members(&self) -> usize {
        self.members
    }

    fn member(&self) -> usize {
        self.member
    }

    fn exchange(&self, sent: &[Sent<&[u8]>], received: &mut [Received<&mut [u8]>]) -> Result<(), TransportError> {
        self.check(sent, received)?;
        self.with(|communicator| exchange_on_host(communicator, CHUNK, sent, received))
    }

    /// Returns what `MPIX_Query_cuda_support` does, an extension of Open MPI and MPICH; `false` for libraries without it, and after
    /// [`through_host`](Self::through_host).
    fn takes_gpu_memory(&self) -> bool {
        self.takes_gpu_memory
    }

    fn exchange_on_gpu(
        &self,
        sent: &[Sent<GpuBytes<'_>>],
        received: &mut [Received<GpuBytesMut<'_>>],
    ) -> Result<(), TransportError> {
        self.check(sent, received)?;
        if !self.takes_gpu_memory() {
            return Err(failed("messages in the memory of GPUs go through the host"));
        }
        let sent: Vec<_> =
            sent.iter().flat_map(|Sent { to, bytes }| gpu::pieces(bytes, CHUNK).map(|piece| (*to, piece))).collect();
        let mut received: Vec<_> = received
            .iter_mut()
            .flat_map(|Received { from, bytes }| gpu::pieces_mut(bytes, CHUNK).map(|piece| (*from, piece)))
            .collect();
        let sent = sent.iter().map(|(to, piece)| (*to, piece));
        let received = received.iter_mut().map(|(from, piece)| (*from, piece));
        self.with(|communicator| exchange(communicator, sent, received))
    }

    fn add(&self, numbers: &mut [u64]) -> Result<(), TransportError> {
        self.with(|communicator| {
            for numbers in numbers.chunks_mut(CHUNK / size_of::<u64>()) {
                communicator.all_reduce_into(&numbers.to_vec(), numbers, SystemOperation::sum());
            }
        })
    }
}

/// Sends and receives messages of existing ranks, in pieces of at most `most` bytes.
fn exchange_on_host(
    communicator: &SimpleCommunicator,
    most: usize,
    sent: &[Sent<&[u8]>],
    received: &mut [Received<&mut [u8]>],
) {
    let sent = sent.iter().flat_map(|Sent { to, bytes }| bytes.chunks(most).map(|piece| (*to, piece)));
    let received =
        received.iter_mut().flat_map(|Received { from, bytes }| bytes.chunks_mut(most).map(|piece| (*from, piece)));
    exchange(communicator, sent, received);
}

/// Sends pieces to existing ranks, and receives some from them.
fn exchange<'a, S: Buffer + ?Sized + 'a, R: BufferMut + ?Sized + 'a>(
    communicator: &SimpleCommunicator,
    sent: impl Iterator<Item = (usize, &'a S)>,
    received: impl Iterator<Item = (usize, &'a mut R)>,
) {
    let process = |member: usize| communicator.process_at_rank(member as i32);
    request::scope(|scope| {
        let mut requests = Vec::new();
        for (from, piece) in received {
            requests.push(process(from).immediate_receive_into_with_tag(scope, piece, TAG));
        }
        let mut sending = Vec::new();
        for (to, piece) in sent {
            sending.push(process(to).immediate_send_with_tag(scope, piece, TAG));
        }
        requests.into_iter().for_each(|request| request.wait_without_status());
        sending.into_iter().for_each(|request| request.wait_without_status());
    });
}

fn failed(message: &str) -> TransportError {
    TransportError { message: message.to_owned() }
}

thread_local! {
    static COMMUNICATORS: RefCell<HashMap<u64, Owned>> = RefCell::default();
}

/// A communicator that is there until it is dropped.
struct Owned(Option<SimpleCommunicator>);

impl Drop for Owned {
    fn drop(&mut self) {
        // It ended with MPI, and MPI would end the process if it were to end again.
        if environment::is_finalized() {
            mem::forget(self.0.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// All in one test, because MPI starts once in a process. One rank sends to itself.
    #[test]
    fn messages_pass_in_the_thread_and_time_of_mpi() {
        let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Funneled).expect("the first time");
        let transport = MpiTransport::new(&universe.world());
        assert_eq!((transport.members(), transport.member()), (1, 0));
        pieces(&universe.world());
        let mut numbers = [1, u64::MAX];
        assert_eq!(transport.add(&mut numbers), Ok(()));
        assert_eq!(numbers, [1, u64::MAX]);
        assert_eq!(
            transport.exchange(&[Sent { to: 1, bytes: &[] }], &mut []),
            Err(failed("there is no member 1, but 1"))
        );
        let through_host = MpiTransport::new(&universe.world()).through_host();
        let refused = failed("messages in the memory of GPUs go through the host");
        assert_eq!(through_host.exchange_on_gpu(&[], &mut []), Err(refused));
        assert_eq!(through_host.exchange(&[], &mut []), Ok(()));
        let added = thread::scope(|scope| scope.spawn(|| transport.add(&mut [])).join().expect("no panic"));
        assert_eq!(added, Err(failed("MPI is called in another thread than the one that initialised it")));
        // One ends in another thread, and one after MPI.
        thread::spawn(|| drop(transport)).join().expect("no panic");
        let last = MpiTransport::new(&universe.world());
        drop(universe);
        assert_eq!(last.add(&mut []), Err(failed("MPI has ended")));
    }

    fn pieces(world: &SimpleCommunicator) {
        let messages: [&[u8]; 4] = [b"abcdefghij", b"", b"xyz", b"1234"];
        let mut room = messages.map(|message| vec![0; message.len()]);
        let sent = messages.map(|bytes| Sent { to: 0, bytes });
        let mut received: Vec<_> = room.iter_mut().map(|bytes| Received { from: 0, bytes: &mut bytes[..] }).collect();
        exchange_on_host(world, 3, &sent, &mut received);
        assert_eq!(room, messages);
    }
}
