//! Messages in the memory of GPUs, for MPI libraries that know CUDA.
#![expect(unsafe_code, reason = "MPI takes memory of GPUs by its address")]

use libloading::os::unix::{Library, Symbol};
use mpi::Count;
use mpi::datatype::{AsDatatype, Buffer, BufferMut, Collection, Pointer, PointerMut, SystemDatatype};
use mpi::traits::Equivalence;
use slm::distributed::{GpuBytes, GpuBytesMut};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;

/// Returns whether the MPI library takes addresses in the memory of CUDA devices: what `MPIX_Query_cuda_support` returns, an extension
/// of Open MPI and MPICH. Libraries without it do not.
pub(crate) fn is_supported() -> bool {
    static IS_SUPPORTED: OnceLock<bool> = OnceLock::new();
    *IS_SUPPORTED.get_or_init(|| {
        // SAFETY: the function has this signature in all libraries that have it. It needs nothing, not even that MPI is initialised.
        unsafe {
            let query: Result<Symbol<unsafe extern "C" fn() -> c_int>, _> =
                Library::this().get(c"MPIX_Query_cuda_support");
            query.is_ok_and(|query| query() == 1)
        }
    })
}

/// A piece of a message in a GPU's memory, of fewer bytes than MPI can count. `B` is what the bytes are borrowed from.
pub(crate) struct Piece<B> {
    address: u64,
    len: Count,
    marker: PhantomData<B>,
}

/// Returns the pieces of a message to send, each of at most `most` bytes.
pub(crate) fn pieces<'a>(bytes: &'a GpuBytes<'_>, most: usize) -> impl Iterator<Item = Piece<&'a [u8]>> + use<'a> {
    divided(bytes.address(), bytes.len(), most)
}

/// Returns the pieces of a message to receive, each of at most `most` bytes.
pub(crate) fn pieces_mut<'a>(
    bytes: &'a mut GpuBytesMut<'_>,
    most: usize,
) -> impl Iterator<Item = Piece<&'a mut [u8]>> + use<'a> {
    divided(bytes.address(), bytes.len(), most)
}

fn divided<B>(address: u64, len: usize, most: usize) -> impl Iterator<Item = Piece<B>> {
    (0..len).step_by(most).map(move |first| Piece {
        address: address + first as u64,
        // At most `most`, which is a `Count`.
        len: most.min(len - first) as Count,
        marker: PhantomData,
    })
}

// SAFETY: a piece is `len` bytes. MPI gets nothing else from a `Piece` than this type, that number and the address, which is one of the
// GPU's memory. The library has said that it takes such addresses (`is_supported`). One that does not although it says so reads an address
// that the host does not have, which ends the process.
unsafe impl<B> AsDatatype for Piece<B> {
    type Out = SystemDatatype;

    fn as_datatype(&self) -> SystemDatatype {
        u8::equivalent_datatype()
    }
}

// SAFETY: as for `AsDatatype`.
unsafe impl<B> Collection for Piece<B> {
    fn count(&self) -> Count {
        self.len
    }
}

// SAFETY: `GpuBytes` guarantees that the bytes are there and not written while it is borrowed, as long as the piece.
unsafe impl Pointer for Piece<&[u8]> {
    fn pointer(&self) -> *const c_void {
        ptr::with_exposed_provenance(self.address as usize)
    }
}

// SAFETY: `GpuBytesMut` guarantees that the bytes are there and that nothing else uses them while it is borrowed, as long as the piece.
unsafe impl PointerMut for Piece<&mut [u8]> {
    fn pointer_mut(&mut self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.address as usize)
    }
}

// SAFETY: by the implementations above.
unsafe impl Buffer for Piece<&[u8]> {}

// SAFETY: by the implementations above.
unsafe impl BufferMut for Piece<&mut [u8]> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_divided() {
        let pieces =
            |len| divided::<&[u8]>(1 << 40, len, 10).map(|piece| (piece.pointer().addr() - (1 << 40), piece.count()));
        assert_eq!(pieces(25).collect::<Vec<_>>(), [(0, 10), (10, 10), (20, 5)]);
        assert_eq!(pieces(10).collect::<Vec<_>>(), [(0, 10)]);
        assert_eq!(pieces(0).count(), 0);
    }
}
