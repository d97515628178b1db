//! Tensors of DLPack between device handles that were opened apart, which know nothing of each other.

use super::{Failed, Trial, equal, same, shared_trial};
use crate::common::Random;
use slm::dlpack::{ConsumerStream, DlpackError};
use slm::dlpark::ffi::DLDevice;
use slm::dlpark::versioned::Dlpack;
use slm::filter1d::PreparedFilter1d;
use slm::{Boundary, Buffer, Buffer2, Device, Error, Filter1d};

const LEN: usize = 1 << 22;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("dlpack::memory_is_exchanged_in_order", memory_is_exchanged_in_order),
        shared_trial("dlpack::tensors_are_deleted_while_in_use", tensors_are_deleted_while_in_use),
        shared_trial("dlpack::matrices_keep_their_pitch", matrices_keep_their_pitch),
        shared_trial("dlpack::other_devices_are_refused", other_devices_are_refused),
    ]
}

fn filter(device: &Device) -> slm::Result<PreparedFilter1d<i32>> {
    let taps: Vec<_> = (1..=101).collect();
    Filter1d::correlate(&taps).boundary(Boundary::Wrap).prepare(device)
}

/// Returns samples, and the outputs of a number of filters after one another.
fn case(filters: usize) -> Result<[Vec<i32>; 2], Failed> {
    let x: Vec<i32> = Random::new(filters as u64).values(LEN);
    let filter = filter(&Device::cpu())?;
    let mut y = x.clone();
    for _ in 0..filters {
        y = filter.apply(&y)?;
    }
    Ok([x, y])
}

/// Each handle filters what the other one has enqueued, without waiting.
fn memory_is_exchanged_in_order(device: &Device) -> Result<(), Failed> {
    let other = Device::cuda(0)?;
    let (filters, devices) = ([filter(device)?, filter(&other)?], [device, &other]);
    let [x, expected] = case(10)?;
    let mut buffer = device.upload(&x)?;
    let address = |tensor: &Dlpack| Ok::<_, Failed>(tensor.validate()?.data_ptr());
    for turn in 0..10 {
        let [this, next] = [turn % 2, (turn + 1) % 2];
        let output = filters[this].apply(&buffer)?;
        let tensor: Dlpack = output.into_dlpack(devices[next].dlpack_stream())?;
        equal(tensor.validate_export()?.device(), DLDevice::cuda(0))?;
        let before = address(&tensor)?;
        buffer = Buffer::from_dlpack(devices[next], tensor)?;
        // There and back, in the same memory.
        let tensor: Dlpack = buffer.into_dlpack(devices[next].dlpack_stream())?;
        equal(address(&tensor)?, before)?;
        buffer = Buffer::from_dlpack(devices[next], tensor)?;
    }
    same(&buffer.download()?, &expected)
}

/// Memory that is allocated afterwards could get the same addresses.
fn tensors_are_deleted_while_in_use(device: &Device) -> Result<(), Failed> {
    let consumer = Device::cuda(0)?;
    let filter = filter(&consumer)?;
    let [x, expected] = case(1)?;
    let wrong = device.upload(&vec![-1; LEN])?;
    let mut outputs = Vec::new();
    for _ in 0..20 {
        let tensor: Dlpack = device.upload(&x)?.into_dlpack(consumer.dlpack_stream())?;
        let input = Buffer::from_dlpack(&consumer, tensor)?;
        let mut output = consumer.zeroed(LEN)?;
        filter.apply_into(&input, &mut output)?;
        drop(input);
        device.zeroed(LEN)?.copy_from(&wrong)?;
        outputs.push(output);
    }
    outputs.iter().try_for_each(|output| same(&output.download()?, &expected))?;
    // Nobody uses it.
    let tensor: Dlpack = device.upload(&x)?.into_dlpack(ConsumerStream::PER_THREAD_DEFAULT)?;
    drop(tensor);
    same(&device.upload(&x)?.download()?, &x)
}

fn matrices_keep_their_pitch(device: &Device) -> Result<(), Failed> {
    let data = slm::ndarray::Array2::from_shape_fn((37, 53), |(row, column)| (row * 100 + column) as f32);
    let consumer = Device::cuda(0)?;
    let tensor: Dlpack = Buffer2::upload_pitched(device, &data, 64)?.into_dlpack(consumer.dlpack_stream())?;
    let matrix = Buffer2::<f32>::from_dlpack(&consumer, tensor)?;
    equal((matrix.rows(), matrix.columns(), matrix.pitch()), (37, 53, 64))?;
    equal(matrix.download()?, data)
}

fn other_devices_are_refused(device: &Device) -> Result<(), Failed> {
    let tensor: Dlpack = Device::cpu().upload(&[1, 2, 3])?.into_dlpack(device.dlpack_stream())?;
    let failure = Buffer::<i32>::from_dlpack(device, tensor).err().ok_or("it is on the CPU")?;
    let [cpu, gpu] = [DLDevice::CPU, DLDevice::cuda(0)];
    equal(failure.error(), &Error::Dlpack(DlpackError::Device { expected: gpu, actual: cpu }))?;
    same(&Buffer::<i32>::from_dlpack(&Device::cpu(), failure.into_buffer())?.download()?, &[1, 2, 3])?;
    let tensor: Dlpack = device.upload(&[1, 2, 3])?.into_dlpack(ConsumerStream::UNORDERED)?;
    let failure = Buffer::<i32>::from_dlpack(&Device::cpu(), tensor).err().ok_or("it is on the GPU")?;
    equal(failure.error(), &Error::Dlpack(DlpackError::Device { expected: cpu, actual: gpu }))?;
    same(&Buffer::<i32>::from_dlpack(device, failure.into_buffer())?.download()?, &[1, 2, 3])
}
