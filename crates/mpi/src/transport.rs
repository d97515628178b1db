//! Messages between ranks.
//!
//! A communicator is not `Send`, but a [`Transport`] is. So the communicators are in a table of their thread, and a transport has the
//! key. In another thread the key finds nothing.

use mpi::collective::SystemOperation;
use mpi::environment;
use mpi::request;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use slm::distributed::{Received, Sent, Transport, TransportError};
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
/// # Ok::<(), slm::Error>(())
/// ```
///
/// A program that does so has to end the job if one rank fails, as [`run`](crate::run) does: a rank that ends in an orderly way waits
/// for the others, and they may wait for its messages.
#[derive(Debug)]
pub struct MpiTransport {
    key: u64,
    members: usize,
    member: usize,
}

impl MpiTransport {
    /// Returns the members in the ranks of `communicator`, all of which call this at the same time, in the threads that initialised MPI.
    ///
    /// The transport has a communicator of its own: its messages do not meet others. That ends when all transports of its members are
    /// dropped, or with MPI.
    #[must_use]
    pub fn new(communicator: &SimpleCommunicator) -> Self {
        static NEXT_KEY: AtomicU64 = AtomicU64::new(0);
        let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        let own = communicator.duplicate();
        // Neither is negative.
        let [members, member] = [own.size(), own.rank()].map(|number| usize::try_from(number).unwrap_or(0));
        COMMUNICATORS.with_borrow_mut(|table| table.insert(key, Owned(Some(own))));
        MpiTransport { key, members, member }
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

    fn check(&self, mut members: impl Iterator<Item = usize>) -> Result<(), TransportError> {
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

    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) -> Result<(), TransportError> {
        self.check(sent.iter().map(|message| message.to).chain(received.iter().map(|message| message.from)))?;
        self.with(|communicator| exchange(communicator, CHUNK, sent, received))
    }

    fn add(&self, numbers: &mut [u64]) -> Result<(), TransportError> {
        self.with(|communicator| {
            for numbers in numbers.chunks_mut(CHUNK / size_of::<u64>()) {
                communicator.all_reduce_into(&numbers.to_vec(), numbers, SystemOperation::sum());
            }
        })
    }
}

/// Sends and receives messages of existing ranks, in pieces of at most `chunk` bytes.
fn exchange(communicator: &SimpleCommunicator, chunk: usize, sent: &[Sent<'_>], received: &mut [Received<'_>]) {
    let process = |member: usize| communicator.process_at_rank(member as i32);
    request::scope(|scope| {
        let mut requests = Vec::new();
        for message in received {
            let source = process(message.from);
            let receive = |bytes| source.immediate_receive_into_with_tag(scope, bytes, TAG);
            requests.extend(message.bytes.chunks_mut(chunk).map(receive));
        }
        for message in sent {
            let target = process(message.to);
            let send = |bytes| target.immediate_send_with_tag(scope, bytes, TAG);
            requests.extend(message.bytes.chunks(chunk).map(send));
        }
        for request in requests {
            request.wait_without_status();
        }
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
        let mut received: Vec<_> = room.iter_mut().map(|bytes| Received { from: 0, bytes }).collect();
        exchange(world, 3, &sent, &mut received);
        assert_eq!(room, messages);
    }
}
