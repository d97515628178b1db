//! Exchange of memory with other libraries, as tensors of [DLPack](https://dmlc.github.io/dlpack/latest/): NumPy, PyTorch, JAX,
//! CuPy and others read and write them where they are.
//!
//! | call | direction |
//! |---|---|
//! | [`Buffer::into_dlpack`](crate::Buffer::into_dlpack), [`Buffer2::into_dlpack`](crate::Buffer2::into_dlpack) | a tensor that owns the buffer; this crate is the *producer* |
//! | [`Buffer::from_dlpack`](crate::Buffer::from_dlpack), [`Buffer2::from_dlpack`](crate::Buffer2::from_dlpack) | a buffer with the elements of a tensor; this crate is the *consumer* |
//!
//! Tensors are values of [`dlpark`]: `dlpark::versioned::Dlpack`, or `dlpark::legacy::Dlpack` for older libraries. That crate
//! turns them into pointers for C (`into_raw`, `from_raw`) and capsules for Python.
//!
//! ```
//! use slm::dlpack::ConsumerStream;
//! use slm::dlpark::versioned::Dlpack;
//! use slm::ndarray::array;
//! use slm::{Buffer2, Device};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::cpu();
//! let matrix = Buffer2::upload_pitched(&device, &array![[1.0f32, 2.0], [3.0, 4.0]], 8)?;
//!
//! let tensor: Dlpack = matrix.into_dlpack(ConsumerStream::LEGACY_DEFAULT)?;
//! let description = tensor.validate()?;
//! assert_eq!((description.shape(), description.strides()), (&[2, 2][..], Some(&[8, 1][..])));
//!
//! let matrix = Buffer2::<f32>::from_dlpack(&device, tensor)?;
//! assert_eq!(matrix.download()?, array![[1.0, 2.0], [3.0, 4.0]]);
//! # Ok(())
//! # }
//! ```
//!
//! # Memory
//!
//! | device | to a tensor | from a tensor |
//! |---|---|---|
//! | CPU | the buffer's memory, `kDLCPU` | a copy of tensors of `kDLCPU` and `kDLCUDAHost`, without gaps between rows |
//! | CUDA | the buffer's memory, `kDLCUDA` with the device's number | the tensor's memory, `kDLCUDA` with the same number |
//! | emulated | an error | as on the CPU |
//!
//! Elements are described by their types: `kDLInt`, `kDLUInt` and `kDLFloat` with the same number of bits, `F16` is `kDLFloat`
//! with 16 bits and `Bf16` is `kDLBfloat` with 16 bits. Tensors of other types, and of vectors of elements, are refused.
//!
//! A `Buffer` becomes a tensor with one axis and takes tensors with any number of axes whose elements are row after row, without
//! gaps. A `Buffer2` becomes a tensor with two axes, whose strides have the row pitch, and takes such tensors. The stride of an
//! axis with a single element is ignored.
//!
//! Memory that is taken without a copy must begin at a multiple of 16 bytes, because kernels access so many at once, and must not
//! be read-only, because a buffer can be written.
//!
//! # Order
//!
//! On a GPU, the consumer names the stream on which it is going to use the elements, a [`ConsumerStream`], and the producer makes
//! them ready on it, with an event. The streams of this crate do not wait for CUDA's default streams, nor these for them.
//!
//! * `into_dlpack` makes the consumer's stream wait for all work that uses the buffer, in all queues. It does not wait itself.
//!   When the consumer deletes the tensor, its work may still run: the memory is freed after the work on the legacy default
//!   stream, or in the queue that the consumer has named. Other streams may not exist any more, so the deletion waits for all
//!   work in the GPU's primary context then.
//! * Before `from_dlpack`, give the producer [`Device::dlpack_stream`](crate::Device::dlpack_stream) of the device as the stream
//!   of the consumer, for example `tensor.__dlpack__(stream=…)` with its [number](ConsumerStream::number). Without this
//!   negotiation, the elements must be ready on a stream of the GPU's primary context: the call waits for all work there. When the
//!   buffer is dropped, the call waits for the work that uses it and then deletes the tensor.
//! * Work that the producer enqueues after the exchange is not ordered: it must not write elements that the consumer uses, nor
//!   read elements that it writes. The same holds for other tensors of the same memory: buffers know nothing of each other.
//!
//! # Ownership
//!
//! A tensor owns its memory and is deleted once, when it is dropped, by any thread. `from_dlpack` deletes it when the buffer is
//! dropped or the copy is done. Refused tensors and buffers are in the [`HandOverError`](crate::HandOverError).
//!
//! `from_dlpack` is safe to call because making a tensor is not: whoever has made it, in C or with an `unsafe` function of
//! `dlpark`, has promised that it obeys DLPack. What can be checked is checked: its description, and with the driver that the
//! memory is in the GPU's primary context.

pub use crate::backend::dlpack::ConsumerStream;
use dlpark::ffi::{DLDataType, DLDataTypeCode, DLDevice, DLDeviceType};
use std::fmt;

/// Tensors that cannot be exchanged.
///
/// Functions return it in [`Error::Dlpack`](crate::Error::Dlpack).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DlpackError {
    /// The elements have another type than the buffer's.
    #[error("the elements of the tensor are {}, but the buffer's are {}", Type(*actual), Type(*expected))]
    DataType {
        /// Type of the buffer's elements.
        expected: DLDataType,
        /// Type of the tensor's elements.
        actual: DLDataType,
    },
    /// The memory is on another device.
    #[error("the tensor is {}, but the buffer would be {}", Place(*actual), Place(*expected))]
    Device {
        /// The buffer's device.
        expected: DLDevice,
        /// The tensor's device.
        actual: DLDevice,
    },
    /// The memory is on the right GPU, but belongs to another CUDA context.
    #[error("the tensor's memory does not belong to the primary CUDA context of {device}")]
    ForeignMemory {
        /// The device's name.
        device: String,
    },
    /// The number of axes is wrong.
    #[error("the number of the tensor's axes is {actual}, but must be {expected}")]
    Axes {
        /// Required axes.
        expected: usize,
        /// Actual axes.
        actual: usize,
    },
    /// The elements are not stored row after row. For a [`Buffer`](crate::Buffer) there may be no gaps; rows of a
    /// [`Buffer2`](crate::Buffer2) may have a pitch.
    #[error("elements of the shape {shape:?} with the strides {strides:?} are not stored row after row")]
    Strides {
        /// The tensor's shape.
        shape: Vec<i64>,
        /// Its strides, in elements.
        strides: Vec<i64>,
    },
    /// The memory must not be written, which a buffer allows.
    #[error("the tensor is read-only, but a buffer without a copy can be written")]
    ReadOnly,
    /// The first element is misaligned.
    #[error("the elements of the tensor begin at address {address}, but must begin at a multiple of {alignment} bytes")]
    Misaligned {
        /// Address of the first element.
        address: u64,
        /// Required alignment in bytes.
        alignment: u64,
    },
    /// The tensor has elements, but no address.
    #[error("the tensor has {elements} elements, but no memory")]
    NoData {
        /// The number of elements.
        elements: usize,
    },
    /// The elements pass the end of the address space.
    #[error("the elements of the tensor, from address {address} with an offset of {offset} bytes, cannot be addressed")]
    Offset {
        /// The tensor's address.
        address: u64,
        /// Its offset in bytes.
        offset: u64,
    },
    /// The description is invalid.
    #[error("the tensor's description is invalid: {reason}")]
    Malformed {
        /// What `dlpark` has found.
        reason: String,
    },
    /// The number names no stream.
    #[error("{number} is no CUDA stream: the numbers are -1 for none, 1 and 2 for the default streams, and handles")]
    StreamNumber {
        /// The number.
        number: isize,
    },
}

/// Displays a type, such as `f32`, `bf16` or `f32 x 4`.
struct Type(DLDataType);

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DLDataType { code, bits, lanes } = self.0;
        match code {
            DLDataTypeCode::INT => write!(f, "i{bits}"),
            DLDataTypeCode::UINT => write!(f, "u{bits}"),
            DLDataTypeCode::FLOAT => write!(f, "f{bits}"),
            DLDataTypeCode::BFLOAT => write!(f, "bf{bits}"),
            DLDataTypeCode::COMPLEX => write!(f, "complex numbers of {bits} bits"),
            DLDataTypeCode::BOOL => write!(f, "booleans of {bits} bits"),
            DLDataTypeCode(code) => write!(f, "of DLPack's type {code} with {bits} bits"),
        }?;
        if lanes == 1 { Ok(()) } else { write!(f, " x {lanes}") }
    }
}

/// Displays where memory is, such as `on CUDA device 1`.
struct Place(DLDevice);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DLDevice { device_type, device_id } = self.0;
        match device_type {
            DLDeviceType::CPU => f.write_str("on the CPU"),
            DLDeviceType::CUDA => write!(f, "on CUDA device {device_id}"),
            DLDeviceType::CUDAHOST => f.write_str("on the CPU, in pinned memory"),
            DLDeviceType::CUDAMANAGED => f.write_str("in CUDA's managed memory"),
            DLDeviceType(kind) => write!(f, "on device {device_id} of DLPack's type {kind}"),
        }
    }
}
