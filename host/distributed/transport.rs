//! Data between processes.

use super::{GpuBytes, GpuBytesMut};
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

    /// Sends bytes to other members and receives bytes from them, all at the same time. Each list is in the order of the members. There may
    /// be several messages from one member to another one: they are received in the order in which they are sent. The lengths are agreed: a
    /// receiver has as many bytes as its sender sends.
    ///
    /// # Errors
    ///
    /// [`TransportError`] if the messages did not pass.
    fn exchange(&self, sent: &[Sent<&[u8]>], received: &mut [Received<&mut [u8]>]) -> Result<(), TransportError>;

    /// Returns whether messages may also be in the memory of a GPU. If so, a process whose member is a CUDA device calls
    /// [`exchange_on_gpu`](Self::exchange_on_gpu) instead of [`exchange`](Self::exchange) where it can; other processes do not.
    ///
    /// Memory for messages then stays allocated on the GPU until the devices are dropped, for each type of elements: about as much as the most
    /// that was sent at once, and received.
    fn takes_gpu_memory(&self) -> bool {
        false
    }

    /// Exchanges messages as [`exchange`](Self::exchange) does, in the memory of this process's GPU. Messages of a process are either all on
    /// its GPU or all on the host, whatever they are in the other processes.
    ///
    /// # Errors
    ///
    /// [`TransportError`] if the messages did not pass, or if the transport does not take memory of GPUs.
    fn exchange_on_gpu(
        &self,
        sent: &[Sent<GpuBytes<'_>>],
        received: &mut [Received<GpuBytesMut<'_>>],
    ) -> Result<(), TransportError> {
        let (sent, received) = (sent.len(), received.len());
        let message = format!(
            "{sent} messages to send and {received} to receive are on a GPU, which this transport does not take"
        );
        Err(TransportError { message })
    }

    /// Replaces each number by the sum of the numbers of all members at the same place, modulo 2^64.
    ///
    /// # Errors
    ///
    /// [`TransportError`] if the numbers did not pass.
    fn add(&self, numbers: &mut [u64]) -> Result<(), TransportError>;
}

/// A message to a member: `&[u8]`, or [`GpuBytes`].
#[derive(Clone, Copy, Debug)]
pub struct Sent<B> {
    /// The receiver.
    pub to: usize,
    /// What is sent.
    pub bytes: B,
}

/// Room for a message of a member: `&mut [u8]`, or [`GpuBytesMut`].
#[derive(Debug)]
pub struct Received<B> {
    /// The sender.
    pub from: usize,
    /// What is received, as long as what is sent.
    pub bytes: B,
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
