//! Data between processes.

use std::fmt;

/// A way to other processes, each with one member of [`Devices`](super::Devices).
///
/// All processes call the same functions in the same order, also those that change the cells of a board of
/// [`Life`](crate::life::DistributedBoard). After an error in one process, the others may wait for it: end them all.
pub trait Transport: Send + Sync {
    /// Returns the number of members.
    fn members(&self) -> usize;

    /// Returns the number of this process's member, counted from 0.
    fn member(&self) -> usize;

    /// Sends bytes to other members and receives bytes from them, all at the same time. Each list is in the order of the members, and
    /// has several messages of a member in the order in which that one sends them. The lengths are agreed: a receiver has as many bytes
    /// as its sender sends.
    ///
    /// # Errors
    ///
    /// [`TransportError`] if the messages did not pass.
    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) -> Result<(), TransportError>;

    /// Replaces each number by the sum of the numbers of all members at the same place, modulo 2^64.
    ///
    /// # Errors
    ///
    /// [`TransportError`] if the numbers did not pass.
    fn add(&self, numbers: &mut [u64]) -> Result<(), TransportError>;
}

/// A message to a member.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The receiver.
    pub to: usize,
    /// What is sent.
    pub bytes: &'a [u8],
}

/// Room for a message of a member.
#[derive(Debug)]
pub struct Received<'a> {
    /// The sender.
    pub from: usize,
    /// What is received, as long as what is sent.
    pub bytes: &'a mut [u8],
}

/// A failure of a [`Transport`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportError {
    /// The text of the transport.
    pub message: String,
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "data between processes: {}", self.message)
    }
}

impl std::error::Error for TransportError {}
