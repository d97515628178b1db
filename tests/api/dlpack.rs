//! Tensors of DLPack, on the CPU and on emulated devices. What needs `unsafe` is tested in `host/backend/dlpack/tests.rs`.

use ndarray::{Array2, array};
use slm::dlpack::{ConsumerStream, DlpackError};
use slm::dlpark::ffi::{DLDataType, DLDevice};
use slm::dlpark::{legacy, versioned};
use slm::emulator::Profile;
use slm::{Buffer, Buffer2, Device, Error, Filter1d};

fn emulated() -> Device {
    Device::emulated(Profile::SM_90, 0)
}

fn matrix() -> Array2<f64> {
    array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
}

#[test]
fn sequences_there_and_back() {
    let device = Device::cpu();
    for len in [0, 1, 1000] {
        let data: Vec<u16> = (0..len).collect();
        let tensor: versioned::Dlpack =
            device.upload(&data).unwrap().into_dlpack(ConsumerStream::LEGACY_DEFAULT).unwrap();
        let description = tensor.validate_export().unwrap();
        assert_eq!((description.shape(), description.strides()), (&[i64::from(len)][..], Some(&[1][..])));
        assert_eq!((description.dtype(), description.device()), (DLDataType::U16, DLDevice::CPU));
        assert_eq!(Buffer::<u16>::from_dlpack(&device, tensor).unwrap().download().unwrap(), data);
    }
}

#[test]
fn matrices_there_and_back() {
    let device = Device::cpu();
    for (pitch, elements) in [(3, 6), (7, 10)] {
        let buffer = Buffer2::upload_pitched(&device, &matrix(), pitch).unwrap();
        assert_eq!(buffer.buffer().len(), elements);
        let tensor: legacy::Dlpack = buffer.into_dlpack(ConsumerStream::LEGACY_DEFAULT).unwrap();
        let description = tensor.validate_export().unwrap();
        assert_eq!((description.shape(), description.strides()), (&[2, 3][..], Some(&[pitch as i64, 1][..])));
        let taken = Buffer2::<f64>::from_dlpack(&device, tensor).unwrap();
        assert_eq!((taken.pitch(), taken.download().unwrap()), (3, matrix()));
    }
}

/// Where no stride can have the pitch, it is not used either.
#[test]
fn matrices_with_any_pitch_are_tensors() {
    for (rows, columns) in [(1, 3), (0, 3), (5, 0), (1, 0)] {
        let buffer = Device::cpu().zeroed::<f32>(columns).unwrap();
        let buffer = Buffer2::from_buffer(buffer, rows, columns, usize::MAX).unwrap();
        let tensor: versioned::Dlpack = buffer.into_dlpack(ConsumerStream::LEGACY_DEFAULT).unwrap();
        let taken = Buffer2::<f32>::from_dlpack(&Device::cpu(), tensor).unwrap();
        assert_eq!((taken.rows(), taken.columns()), (rows, columns));
    }
}

#[test]
fn refused_tensors_are_given_back() {
    let device = Device::cpu();
    let pitched = Buffer2::upload_pitched(&device, &matrix(), 4).unwrap();
    let tensor: versioned::Dlpack = pitched.into_dlpack(ConsumerStream::LEGACY_DEFAULT).unwrap();
    let failure = Buffer2::<f32>::from_dlpack(&device, tensor).unwrap_err();
    let expected = DlpackError::DataType { expected: DLDataType::F32, actual: DLDataType::F64 };
    assert_eq!(failure.error(), &Error::Dlpack(expected));
    let failure = Buffer::<f64>::from_dlpack(&device, failure.into_buffer()).unwrap_err();
    let expected = DlpackError::Strides { shape: vec![2, 3], strides: vec![4, 1] };
    assert_eq!(failure.error(), &Error::Dlpack(expected));
    let matrix2 = Buffer2::<f64>::from_dlpack(&device, failure.into_buffer()).unwrap();
    assert_eq!(matrix2.download().unwrap(), matrix());

    let tensor: versioned::Dlpack = matrix2.into_buffer().into_dlpack(ConsumerStream::LEGACY_DEFAULT).unwrap();
    let failure = Buffer2::<f64>::from_dlpack(&device, tensor).unwrap_err();
    assert_eq!(failure.to_string(), "the number of the tensor's axes is 1, but must be 2");
    assert_eq!(Error::from(failure), Error::Dlpack(DlpackError::Axes { expected: 2, actual: 1 }));
}

/// Emulated devices take copies, and give nothing: their memory is part of the emulator.
#[test]
fn emulated_devices_take_copies() {
    let (cpu, device) = (Device::cpu(), emulated());
    let tensor: versioned::Dlpack = cpu.upload(&[1, 2, 3, 4]).unwrap().into_dlpack(device.dlpack_stream()).unwrap();
    let buffer = Buffer::<i32>::from_dlpack(&device, tensor).unwrap();
    let filter = Filter1d::correlate(&[1, 1, 1]).prepare(&device).unwrap();
    assert_eq!(filter.apply(&buffer).unwrap().download().unwrap(), [3, 6, 9, 7]);

    let name = device.info().name.clone();
    let error = Error::DeviceUnsupported { device: name, lacks: "memory that other libraries can use" };
    let failure = buffer.into_dlpack::<slm::dlpark::ffi::DLManagedTensor>(ConsumerStream::UNORDERED);
    let failure = failure.err().expect("it is emulated");
    assert_eq!(failure.error(), &error);
    assert_eq!(failure.into_buffer().download().unwrap(), [1, 2, 3, 4]);

    let pitched = Buffer2::upload_pitched(&device, &matrix(), 4).unwrap();
    let failure = pitched.into_dlpack::<slm::dlpark::ffi::DLManagedTensor>(ConsumerStream::UNORDERED);
    let failure = failure.err().expect("it is emulated");
    assert_eq!(failure.error(), &error);
    let pitched = failure.into_buffer();
    assert_eq!((pitched.pitch(), pitched.download().unwrap()), (4, matrix()));
}

#[test]
fn streams_have_numbers() {
    let streams = [ConsumerStream::LEGACY_DEFAULT, ConsumerStream::PER_THREAD_DEFAULT, ConsumerStream::UNORDERED];
    assert_eq!(streams.map(|stream| stream.number()), [None, Some(2), Some(-1)]);
    for device in [Device::cpu(), emulated()] {
        assert_eq!(device.dlpack_stream().number(), None);
    }
    assert_eq!(format!("{:?}", ConsumerStream::UNORDERED), "ConsumerStream(Some(-1))");
}
