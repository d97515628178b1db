//! A region of memory: its bytes, which of them have been written, and its shadow.

use super::in_progress::{Busy, Copies};
use crate::race::Shadow;

/// Content of unwritten memory: not a number as a float, far out of range as an index.
const POISON: u8 = 0xff;

/// Maximum number of warps per block.
pub(crate) const MAX_WARPS: usize = 32;

#[derive(Debug)]
pub(crate) struct Region {
    bytes: Vec<u8>,
    /// 1 for each written byte. Other bytes are even: 0, or seven
    /// bits that identify the masked store that left out the element.
    written: Vec<u8>,
    pub(crate) shadow: Shadow,
    /// Words that copies in progress read or write.
    pub(crate) busy: Busy,
    /// Copies to this region.
    pub(crate) copies: Copies,
}

impl Region {
    /// Returns unwritten memory, for blocks of this number of warps.
    pub(crate) fn new(len: usize, warps: usize) -> Self {
        Region::with(vec![POISON; len], vec![0; len], Shadow::new(len, warps))
    }

    /// Returns memory with these contents, for any block.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let (written, shadow) = (vec![1; bytes.len()], Shadow::new(bytes.len(), MAX_WARPS));
        Region::with(bytes, written, shadow)
    }

    fn with(bytes: Vec<u8>, written: Vec<u8>, shadow: Shadow) -> Self {
        Region { bytes, written, shadow, busy: Busy::default(), copies: Copies::default() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Marks all bytes as unwritten, and drops the copies in progress.
    pub(crate) fn poison(&mut self) {
        self.poison_part(0, self.bytes.len());
        self.busy = Busy::default();
        self.copies = Copies::default();
    }

    /// Marks some bytes as unwritten, as far as they exist.
    pub(crate) fn poison_part(&mut self, first: usize, bytes: usize) {
        let end = first.saturating_add(bytes).min(self.bytes.len());
        let part = first.min(end)..end;
        self.bytes[part.clone()].fill(POISON);
        self.written[part].fill(0);
    }

    /// Records the `site` of a masked store that leaves out an element, until
    /// the element is written. The number must fit into the element's bytes.
    pub(crate) fn leave_out(&mut self, first: usize, bytes: u32, site: u16) {
        let written = &mut self.written[first..first + bytes as usize];
        let number = u32::from(site) + 1;
        if written.iter().all(|byte| byte & 1 == 0) && (bytes > 2 || number < 1 << (7 * bytes)) {
            for (k, byte) in written.iter_mut().take(3).enumerate() {
                *byte = (number >> (7 * k) << 1) as u8;
            }
        }
    }

    /// Returns the site of the last masked store that left out an element.
    pub(crate) fn left_out(&self, first: usize, bytes: u32) -> Option<u16> {
        let written = self.written[first..first + bytes as usize].iter().take(3).enumerate();
        let number = written.fold(0, |number, (k, byte)| number | u32::from(byte >> 1) << (7 * k));
        number.checked_sub(1).and_then(|site| u16::try_from(site).ok())
    }

    /// Clears the record of elements that were left out.
    pub(crate) fn forget_left_out(&mut self, first: usize, bytes: usize) {
        self.written[first..first + bytes].iter_mut().for_each(|byte| *byte &= 1);
    }

    /// As `is_written`, for any number of bytes.
    pub(crate) fn is_all_written(&self, first: usize, bytes: usize) -> bool {
        let all = |bytes: &[u8]| bytes.iter().fold(1, |all, byte| all & byte) == 1;
        self.written[first..first + bytes].chunks(4096).all(all)
    }

    /// Clears the record of accesses.
    pub(crate) fn forget_accesses(&mut self) {
        self.shadow = Shadow::new(self.bytes.len(), MAX_WARPS);
        self.busy = Busy::default();
    }

    /// Copies `bytes` to the region from byte `first` on.
    pub(crate) fn copy_from(&mut self, first: usize, bytes: &[u8]) {
        self.bytes[first..first + bytes.len()].copy_from_slice(bytes);
        self.written[first..first + bytes.len()].fill(1);
    }

    /// Marks these bytes as written.
    pub(crate) fn count_as_written(&mut self, first: usize, bytes: usize) {
        self.written[first..first + bytes].fill(1);
    }

    /// Returns whether all these bytes have been written.
    #[inline]
    pub(crate) fn is_written(&self, first: usize, bytes: u32) -> bool {
        match self.written[first..first + bytes as usize] {
            [a] => a == 1,
            [a, b] => [a, b] == [1; 2],
            [a, b, c, d] => [a, b, c, d] == [1; 4],
            ref many => many.iter().fold(1, |all, written| all & written) == 1,
        }
    }

    /// Reads the bits of elements of `size` bytes, from byte `first` on.
    #[inline]
    pub(crate) fn read(&self, first: usize, size: u32, bits: &mut [u64]) {
        match bits {
            [bits] => *bits = self.element(first, size),
            many => self.read_many(first, size, many),
        }
    }

    #[inline(never)]
    fn read_many(&self, first: usize, size: u32, bits: &mut [u64]) {
        for (k, bits) in bits.iter_mut().enumerate() {
            *bits = self.element(first + k * size as usize, size);
        }
    }

    #[inline]
    fn element(&self, first: usize, size: u32) -> u64 {
        let bytes = &self.bytes[first..];
        match size {
            1 => number(bytes, u8::from_le_bytes),
            2 => number(bytes, u16::from_le_bytes),
            4 => number(bytes, u32::from_le_bytes),
            _ => number(bytes, u64::from_le_bytes),
        }
    }

    /// Returns whether elements of `size` bytes have been written and have these bits.
    pub(crate) fn holds(&self, first: usize, size: u32, bits: &[u64]) -> bool {
        let holds = |(k, bits): (usize, &u64)| {
            let mut present = [0];
            self.read(first + k * size as usize, size, &mut present);
            present == [*bits]
        };
        bits.iter().enumerate().all(holds) && self.is_written(first, bits.len() as u32 * size)
    }

    /// Stores elements of `size` bytes, from byte `first` on.
    #[inline]
    pub(crate) fn write(&mut self, first: usize, size: u32, bits: &[u64]) {
        for (k, bits) in bits.iter().enumerate() {
            let place = first + k * size as usize;
            match size {
                1 => self.put(place, (*bits as u8).to_le_bytes()),
                2 => self.put(place, (*bits as u16).to_le_bytes()),
                4 => self.put(place, (*bits as u32).to_le_bytes()),
                _ => self.put(place, bits.to_le_bytes()),
            }
        }
    }

    #[inline]
    fn put<const N: usize>(&mut self, place: usize, bytes: [u8; N]) {
        self.bytes[place..place + N].copy_from_slice(&bytes);
        self.written[place..place + N].copy_from_slice(&[1; N]);
    }
}

/// Returns the number in the first bytes; 0 if there are too few, which callers rule out.
#[inline]
fn number<const N: usize, T: Into<u64>>(bytes: &[u8], of: fn([u8; N]) -> T) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| of(*bytes).into())
}
