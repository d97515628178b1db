//! Memory for messages on this process's GPU, which is kept for the next ones.
//!
//! MPI libraries let processes of one machine open each other's memory. Opening takes longer than most messages, so memory is reused for later
//! ones. It does not come from a pool, whose memory they cannot open.

use crate::{Buffer, Device, Element, Result};
use std::any::Any;
use std::sync::{Mutex, PoisonError};

/// Buffers that no exchange uses at the moment: two for each type, because an exchange has one for what is sent, and one for what is
/// received. They are kept as long as the devices.
#[derive(Default)]
pub(super) struct Rooms(Mutex<Vec<Box<dyn Any + Send>>>);

impl Rooms {
    /// Returns a buffer of at least `len` elements, whose contents are unspecified.
    pub(super) fn take<T: Element>(&self, queue: &Device, len: usize) -> Result<Buffer<T>> {
        let len_of = |room: &dyn Any| room.downcast_ref::<Buffer<T>>().map(Buffer::len);
        let kept = {
            // A panic with the lock held leaves a valid list of buffers.
            let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let of_type = rooms.iter().enumerate().filter_map(|(place, room)| Some((place, len_of(&**room)?)));
            // The shortest one that is long enough, or one to be replaced.
            let best = of_type.min_by_key(|(_, kept)| (*kept < len, *kept)).map(|(place, _)| place);
            best.and_then(|place| rooms.swap_remove(place).downcast::<Buffer<T>>().ok())
        };
        match kept {
            Some(room) if room.len() >= len => Ok(*room),
            too_short => {
                drop(too_short);
                queue.shareable(capacity(len))
            }
        }
    }

    /// Keeps a buffer for the next exchange.
    pub(super) fn give_back<T: Element>(&self, room: Buffer<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(room));
    }
}

/// Returns a length that is enough for messages which are a little longer, too: growing ones would be opened again each time.
fn capacity(len: usize) -> usize {
    let step = len.checked_next_power_of_two().unwrap_or(8) / 8;
    len.checked_next_multiple_of(step.max(1)).unwrap_or(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_kept_by_type_and_length() {
        let (rooms, device) = (Rooms::default(), Device::cpu());
        let taken = |len| rooms.take::<u8>(&device, len).unwrap();
        let (long, short) = (taken(112), taken(10));
        rooms.give_back(long);
        rooms.give_back(short);
        assert_eq!(rooms.take::<i8>(&device, 5).unwrap().len(), 5);
        let (short, long) = (taken(7), taken(7));
        assert_eq!([short.len(), long.len()], [10, 112]);
        rooms.give_back(short);
        // The short one is replaced.
        rooms.give_back(taken(50));
        rooms.give_back(long);
        assert_eq!([taken(60).len(), taken(40).len(), taken(40).len()], [112, 56, 40]);
    }

    #[test]
    fn lengths_have_some_steps() {
        assert_eq!([0, 1, 7, 9, 17, 100, 1025].map(capacity), [0, 1, 7, 10, 20, 112, 1280]);
        assert_eq!(capacity(usize::MAX), usize::MAX);
    }
}
