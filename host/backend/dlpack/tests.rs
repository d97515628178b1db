//! Tensors as other libraries make them, which needs `unsafe`.

use super::{Axes, ConsumerStream, Elements};
use crate::dlpack::DlpackError;
use crate::{Buffer, Buffer2, Device, Element, Error, HandOverError};
use cuda_std::{Bf16, F16};
use dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLTensor,
};
use dlpark::metadata::Dynamic;
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use ndarray::array;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that is aligned for kernels.
#[repr(align(16))]
struct Memory([i32; 16]);

const NUMBERS: [i32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Counts how often tensors are deleted.
#[derive(Clone, Default)]
struct Deletions(Arc<AtomicUsize>);

impl Deletions {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// What a tensor owns.
struct Owner {
    memory: Memory,
    deletions: Deletions,
}

impl Drop for Owner {
    fn drop(&mut self) {
        // An access after the deletion would be noticed.
        self.memory.0.fill(-1);
        self.deletions.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Returns a tensor of 16 numbers of type `i32`, after a change of its description.
fn changed<M: ManagedTensorBase>(
    shape: &[i64],
    strides: &[i64],
    flags: DlpackFlags,
    change: impl FnOnce(&mut DLTensor),
) -> (Managed<M>, Deletions) {
    let deletions = Deletions::default();
    let mut owner = Box::new(Owner { memory: Memory(NUMBERS), deletions: deletions.clone() });
    let data = owner.memory.0.as_mut_ptr();
    let mut tensor = Dynamic::new(shape, strides).prepare_as::<M>().unwrap().initialize(owner);
    tensor.set_data(data.cast()).set_dtype(DLDataType::I32).set_device(DLDevice::CPU).set_flags(flags).unwrap();
    change(tensor.tensor_mut());
    // SAFETY: the box owns the memory. Tests change the description, and no test accesses elements that are not there.
    (unsafe { tensor.finish() }, deletions)
}

fn tensor(shape: &[i64], strides: &[i64]) -> (Managed<DLManagedTensorVersioned>, Deletions) {
    changed(shape, strides, DlpackFlags::empty(), |_| {})
}

/// Checks that a sequence and a matrix of `T` on the CPU are refused for the expected reason, and that the tensor, which is given
/// back, is deleted once.
#[track_caller]
fn refused<T: Element>(make: impl Fn() -> (Managed<DLManagedTensorVersioned>, Deletions), expected: DlpackError) {
    let check = |failure: HandOverError<Managed<DLManagedTensorVersioned>>, deletions: Deletions| {
        assert_eq!(failure.error(), &Error::Dlpack(expected.clone()));
        let tensor = failure.into_buffer();
        assert_eq!(deletions.count(), 0);
        drop(tensor);
        assert_eq!(deletions.count(), 1);
    };
    let (tensor, deletions) = make();
    check(Buffer::<T>::from_dlpack(&Device::cpu(), tensor).unwrap_err(), deletions);
    let (tensor, deletions) = make();
    check(Buffer2::<T>::from_dlpack(&Device::cpu(), tensor).unwrap_err(), deletions);
}

/// Checks the elements of a sequence on the CPU, and that the tensor is deleted once.
#[track_caller]
fn copied<M: ManagedTensorBase>((tensor, deletions): (Managed<M>, Deletions), expected: &[i32]) {
    let buffer = Buffer::<i32>::from_dlpack(&Device::cpu(), tensor).unwrap();
    assert_eq!(deletions.count(), 1);
    assert_eq!(buffer.download().unwrap(), expected);
}

#[test]
fn sequences_are_copied() {
    copied(tensor(&[5], &[1]), &NUMBERS[..5]);
    copied(tensor(&[2, 3], &[3, 1]), &NUMBERS[..6]);
    copied(tensor(&[2, 2, 4], &[8, 4, 1]), &NUMBERS);
    // A single number, and no numbers.
    copied(tensor(&[], &[]), &[0]);
    copied(tensor(&[0, 3], &[7, 7]), &[]);
    // The strides of single elements do not matter.
    copied(tensor(&[1, 3, 1], &[99, 1, -5]), &NUMBERS[..3]);
}

#[test]
fn descriptions_that_are_copied_too() {
    let same = |_: &mut DLTensor| {};
    copied::<DLManagedTensorVersioned>(changed(&[3], &[1], DlpackFlags::READ_ONLY, same), &[0, 1, 2]);
    copied::<DLManagedTensor>(changed(&[3], &[1], DlpackFlags::empty(), same), &[0, 1, 2]);
    let change = |change: fn(&mut DLTensor)| changed::<DLManagedTensor>(&[2, 2], &[2, 1], DlpackFlags::empty(), change);
    copied(change(|tensor| tensor.strides = ptr::null_mut()), &[0, 1, 2, 3]);
    copied(change(|tensor| tensor.byte_offset = 20), &[5, 6, 7, 8]);
    copied(change(|tensor| tensor.device.device_type = DLDeviceType::CUDAHOST), &[0, 1, 2, 3]);
}

#[test]
fn matrices_are_copied_without_gaps() {
    let copied = |shape: &[i64], strides: &[i64]| {
        let (tensor, deletions) = tensor(shape, strides);
        let matrix = Buffer2::<i32>::from_dlpack(&Device::cpu(), tensor).unwrap();
        assert_eq!((deletions.count(), matrix.pitch()), (1, matrix.columns()));
        matrix.download().unwrap()
    };
    assert_eq!(copied(&[2, 3], &[3, 1]), array![[0, 1, 2], [3, 4, 5]]);
    assert_eq!(copied(&[3, 2], &[5, 1]), array![[0, 1], [5, 6], [10, 11]]);
    assert_eq!(copied(&[1, 2], &[-9, 1]), array![[0, 1]]);
    assert_eq!(copied(&[3, 1], &[2, 77]), array![[0], [2], [4]]);
    assert_eq!(copied(&[0, 2], &[1, 5]).dim(), (0, 2));
    assert_eq!(copied(&[4, 0], &[0, 0]).dim(), (4, 0));
}

#[test]
fn other_types_are_refused() {
    let error = |expected, actual| DlpackError::DataType { expected, actual };
    refused::<u32>(|| tensor(&[2, 2], &[2, 1]), error(DLDataType::U32, DLDataType::I32));
    refused::<i64>(|| tensor(&[2, 2], &[2, 1]), error(DLDataType::I64, DLDataType::I32));
    let vectors = DLDataType::new(DLDataTypeCode::INT, 32, 2);
    let make = || changed(&[2, 2], &[2, 1], DlpackFlags::empty(), |tensor| tensor.dtype = vectors);
    refused::<i32>(make, error(DLDataType::I32, vectors));
    // Both have 16 bits.
    let make = || changed(&[2, 2], &[2, 1], DlpackFlags::empty(), |tensor| tensor.dtype = DLDataType::F16);
    refused::<Bf16>(make, error(DLDataType::BF16, DLDataType::F16));
}

#[test]
fn memory_of_other_devices_is_refused() {
    for actual in [DLDevice::cuda(0), DLDevice { device_type: DLDeviceType::CUDAMANAGED, device_id: 0 }] {
        let make = || changed(&[2, 2], &[2, 1], DlpackFlags::empty(), |tensor| tensor.device = actual);
        refused::<i32>(make, DlpackError::Device { expected: DLDevice::CPU, actual });
    }
}

#[test]
fn other_axes_are_refused() {
    for axes in [0, 1, 3] {
        let (tensor, deletions) = tensor(&[1; 3][..axes], &[1; 3][..axes]);
        let failure = Buffer2::<i32>::from_dlpack(&Device::cpu(), tensor).unwrap_err();
        assert_eq!(failure.error(), &Error::Dlpack(DlpackError::Axes { expected: 2, actual: axes }));
        drop(failure);
        assert_eq!(deletions.count(), 1);
    }
}

#[test]
fn other_strides_are_refused() {
    for strides in [[1, 2], [0, 1], [2, 0], [-2, 1], [2, -1], [1, 1], [4, 2]] {
        let error = DlpackError::Strides { shape: vec![2, 2], strides: strides.to_vec() };
        refused::<i32>(|| tensor(&[2, 2], &strides), error);
    }
    let (tensor, _) = tensor(&[2, 2], &[3, 1]);
    let failure = Buffer::<i32>::from_dlpack(&Device::cpu(), tensor).unwrap_err();
    assert_eq!(failure.error(), &Error::Dlpack(DlpackError::Strides { shape: vec![2, 2], strides: vec![3, 1] }));
}

#[test]
fn invalid_descriptions_are_refused() {
    let change = |change: fn(&mut DLTensor)| move || changed(&[2, 2], &[2, 1], DlpackFlags::empty(), change);
    refused::<i32>(change(|tensor| tensor.data = ptr::null_mut()), DlpackError::NoData { elements: 4 });
    let malformed = |reason: &str| DlpackError::Malformed { reason: reason.to_owned() };
    refused::<i32>(change(|tensor| tensor.ndim = -1), malformed("ndim is negative: -1"));
    refused::<i32>(change(|tensor| tensor.shape = ptr::null_mut()), malformed("shape pointer is null but ndim is 2"));
    refused::<i32>(
        change(|tensor| tensor.strides = ptr::null_mut()),
        malformed("DLPack 1.3 requires explicit strides when ndim is 2"),
    );
    refused::<i32>(|| tensor(&[-1, 2], &[2, 1]), malformed("shape dimension 0 is negative: -1"));
    refused::<i32>(|| tensor(&[i64::MAX, 4], &[4, 1]), malformed("number of elements overflows usize"));
    for offset in [u64::MAX, u64::MAX / 2] {
        let (tensor, _) = changed::<DLManagedTensor>(&[2], &[1], DlpackFlags::empty(), |t| t.byte_offset = offset);
        let address = tensor.validate().unwrap().data_ptr().addr() as u64;
        let result = Buffer::<i32>::from_dlpack(&Device::cpu(), tensor).map_err(Error::from);
        let expected = match offset {
            u64::MAX => DlpackError::Offset { address, offset },
            _ => DlpackError::Misaligned { address: address + offset, alignment: 4 },
        };
        assert_eq!(result.unwrap_err(), Error::Dlpack(expected));
    }
}

#[test]
fn sizes_that_cannot_be_addressed_are_refused() {
    let make = || tensor(&[2, 2], &[i64::MAX, 1]);
    let failure = Buffer2::<i32>::from_dlpack(&Device::cpu(), make().0).unwrap_err();
    let limit = isize::MAX as u64;
    let error = |what, factors| Error::TooLarge { what, factors, limit };
    assert_eq!(failure.error(), &error("a matrix", [2, i64::MAX as u64]));
    let (tensor, deletions) = tensor(&[2, 2], &[1 << 61, 1]);
    let failure = Buffer2::<i32>::from_dlpack(&Device::cpu(), tensor).unwrap_err();
    assert_eq!(failure.error(), &error("a buffer", [(1 << 61) + 2, 4]));
    drop(failure);
    assert_eq!(deletions.count(), 1);
}

/// Without a copy, a GPU needs more.
#[test]
fn descriptions_for_a_gpu() {
    let device = DLDevice::cuda(1);
    let check = |flags, offset, strides: [i64; 2], place| {
        let (tensor, _) = changed::<DLManagedTensorVersioned>(&[2, 2], &strides, flags, |tensor| {
            (tensor.device, tensor.byte_offset) = (place, offset);
        });
        let address = tensor.validate().unwrap().data_ptr().addr() as u64;
        let elements = Elements::<i32>::on_device(&tensor, Axes::Two, device);
        elements.map(|elements| (elements.address() - address, elements.len(), elements.shape()))
    };
    let none = DlpackFlags::empty();
    assert_eq!(check(none, 16, [5, 1], device), Ok((16, 7, [2, 2, 5])));
    let refused = |result: crate::Result<_>, expected| assert_eq!(result.unwrap_err(), Error::Dlpack(expected));
    refused(check(DlpackFlags::READ_ONLY, 0, [2, 1], device), DlpackError::ReadOnly);
    for actual in [DLDevice::cuda(0), DLDevice::CPU] {
        refused(check(none, 0, [2, 1], actual), DlpackError::Device { expected: device, actual });
    }
    let misaligned = check(none, 4, [2, 1], device).unwrap_err();
    assert!(
        matches!(misaligned, Error::Dlpack(DlpackError::Misaligned { address, alignment: 16 }) if address % 16 == 4)
    );
}

#[test]
fn every_type_has_its_description() {
    fn check<T: Element>(expected: DLDataType, value: T) {
        let device = Device::cpu();
        let buffer = device.upload(&[T::default(), value]).unwrap();
        let tensor: Managed<DLManagedTensorVersioned> = buffer.into_dlpack(ConsumerStream::UNORDERED).unwrap();
        let description = tensor.validate_export().unwrap();
        assert_eq!((description.dtype(), description.device()), (expected, DLDevice::CPU));
        assert_eq!((description.num_bytes(), tensor.flags()), (2 * size_of::<T>(), DlpackFlags::empty()));
        let buffer = Buffer::<T>::from_dlpack(&device, tensor).unwrap();
        assert_eq!(buffer.download().unwrap(), [T::default(), value]);
    }
    check(DLDataType::U8, 200u8);
    check(DLDataType::I8, -100i8);
    check(DLDataType::U16, 60_000u16);
    check(DLDataType::I16, -30_000i16);
    check(DLDataType::U32, u32::MAX);
    check(DLDataType::I32, i32::MIN);
    check(DLDataType::U64, u64::MAX);
    check(DLDataType::I64, i64::MIN);
    check(DLDataType::F32, 1.5f32);
    check(DLDataType::F64, -2.5f64);
    check(DLDataType::scalar(DLDataTypeCode::FLOAT, 16), F16::from_bits(0x3c00));
    check(DLDataType::scalar(DLDataTypeCode::BFLOAT, 16), Bf16::from_bits(0x3f80));
}

/// The consumer reads and writes the memory of the buffer.
#[test]
fn buffers_are_not_copied() {
    let device = Device::cpu();
    let mut buffer = device.upload(&[1, 2, 3]).unwrap();
    let address = buffer.storage_mut().cpu_mut().as_mut_ptr();
    let mut tensor: Managed<DLManagedTensor> = buffer.into_dlpack(ConsumerStream::LEGACY_DEFAULT).unwrap();
    let mut description = tensor.validate_mut().unwrap();
    assert_eq!((description.shape(), description.strides()), (&[3][..], Some(&[1][..])));
    assert_eq!(description.data_ptr(), address.cast_const().cast());
    // SAFETY: the tensor owns the elements, and is borrowed.
    unsafe { description.cpu_slice_mut::<i32>() }.unwrap()[1] = 7;
    assert_eq!(Buffer::<i32>::from_dlpack(&device, tensor).unwrap().download().unwrap(), [1, 7, 3]);
}

#[test]
fn tensors_without_elements_have_no_address() {
    let buffer = Device::cpu().zeroed::<f32>(0).unwrap();
    let tensor: Managed<DLManagedTensorVersioned> = buffer.into_dlpack(ConsumerStream::LEGACY_DEFAULT).unwrap();
    let description = tensor.validate_export().unwrap();
    assert_eq!((description.shape(), description.data_ptr()), (&[0][..], ptr::null()));
}

#[test]
fn streams_have_the_numbers_of_the_protocol() {
    // SAFETY: nothing uses the streams.
    let stream = |number| unsafe { ConsumerStream::from_number(number) }.map(|stream| stream.number());
    for number in [None, Some(2), Some(-1), Some(0x7f00_1234)] {
        assert_eq!(stream(number), Ok(number));
    }
    assert_eq!(stream(Some(1)), Ok(None));
    for number in [0, -2, isize::MIN] {
        assert_eq!(stream(Some(number)), Err(DlpackError::StreamNumber { number }));
    }
}
