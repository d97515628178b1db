//! Messages in the memory of a GPU.

use std::marker::PhantomData;

/// Bytes in the memory of a CUDA device, for libraries that read them there, such as MPI libraries that know CUDA.
///
/// While this exists, the bytes stay where they are and nothing writes them: the work that did is done. Whoever gets it has the
/// context of the memory's device current in its thread.
#[derive(Debug)]
pub struct GpuBytes<'a> {
    address: u64,
    len: usize,
    marker: PhantomData<&'a [u8]>,
}

/// Bytes in the memory of a CUDA device, for libraries that write them there.
///
/// As [`GpuBytes`], and nothing else reads them. What writes them must be done when the library returns.
#[derive(Debug)]
pub struct GpuBytesMut<'a> {
    address: u64,
    len: usize,
    marker: PhantomData<&'a mut [u8]>,
}

macro_rules! bytes {
    ($bytes:ident) => {
        impl $bytes<'_> {
            /// Returns bytes that are borrowed for this lifetime.
            pub(crate) fn new(address: u64, len: usize) -> Self {
                $bytes { address, len, marker: PhantomData }
            }

            /// Returns parts of these lengths, one behind the other.
            pub(crate) fn parts(self, lens: impl Iterator<Item = usize>) -> impl Iterator<Item = Self> {
                let mut rest = (self.address, self.len);
                lens.map(move |len| {
                    let (address, left) = rest;
                    let len = len.min(left);
                    rest = (address + len as u64, left - len);
                    Self::new(address, len)
                })
            }

            /// Returns the address of the first byte (`CUdeviceptr`). It has no meaning if there are none.
            #[must_use]
            pub fn address(&self) -> u64 {
                self.address
            }

            /// Returns the number of bytes.
            #[must_use]
            pub fn len(&self) -> usize {
                self.len
            }

            /// Returns whether there are no bytes.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }
        }
    };
}
bytes!(GpuBytes);
bytes!(GpuBytesMut);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_behind_the_other() {
        let parts = GpuBytes::new(1000, 10).parts([3, 0, 5, 4].into_iter());
        let parts: Vec<_> = parts.map(|part| (part.address(), part.len())).collect();
        assert_eq!(parts, [(1000, 3), (1003, 0), (1003, 5), (1008, 2)]);
        assert!(GpuBytesMut::new(0, 0).is_empty());
    }
}
