//! Memory that is exchanged as tensors of DLPack, and the streams of those who exchange it.

use super::handle::{CurrentContext, Stream};
use super::memory::{DeviceMemory, Origin, is_reachable};
use super::queue::Queue;
use crate::backend::dlpack::{self, ConsumerStream, Elements, Exchange, Exchanging};
use crate::dlpack::DlpackError;
use crate::{Element, Result};
use cuda_driver::api;
use dlpark::AllocationDeleter;
use dlpark::ffi::DLDevice;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

// Handles of default streams, `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`.
const LEGACY: isize = 1;
const PER_THREAD: isize = 2;

impl Exchanging for Queue {
    fn tensor_device(&self) -> DLDevice {
        // The driver numbers devices with a C `int`.
        DLDevice::cuda(self.context().ordinal() as i32)
    }

    fn number(&self) -> isize {
        self.stream().addr() as isize
    }
}

impl<T: Element> Exchange<T> for DeviceMemory<T> {
    type Borrowed = Option<CurrentContext>;

    fn give(&self, consumer: &ConsumerStream) -> Result<*mut c_void> {
        match consumer.stream() {
            dlpack::Stream::Unordered => {}
            dlpack::Stream::Queue(queue) => self.queue.precede_queue(queue)?,
            dlpack::Stream::Legacy => self.queue.precede(&default(LEGACY))?,
            dlpack::Stream::PerThread => self.queue.precede(&default(PER_THREAD))?,
            dlpack::Stream::Foreign(number) => {
                // SAFETY: it exists until this call has returned, as the caller of `ConsumerStream::from_number` has promised.
                let stream = unsafe { Stream::foreign(*number) };
                self.queue.precede(&stream)?;
            }
        }
        Ok(ptr::with_exposed_provenance_mut(self.address as usize))
    }

    fn take_back(&self, consumer: &ConsumerStream) -> Option<CurrentContext> {
        let current = CurrentContext::of_thread().ok();
        let ordered = match consumer.stream() {
            dlpack::Stream::Legacy => self.queue.follow(&default(LEGACY)).is_ok(),
            dlpack::Stream::Queue(queue) => queue.precede_queue(&self.queue).is_ok(),
            // The stream may have been destroyed, the thread may be another one, or the stream is not known.
            dlpack::Stream::PerThread | dlpack::Stream::Foreign(_) | dlpack::Stream::Unordered => false,
        };
        if !ordered && self.queue.enter().is_ok() {
            // Failures belong to the work of the consumer.
            // SAFETY: takes nothing.
            unsafe { api::cuCtxSynchronize() };
        }
        current
    }

    fn check(queue: &Arc<Queue>, elements: &Elements<T>) -> Result<()> {
        queue.enter()?;
        match elements.len() == 0 || is_reachable(queue, elements.address())? {
            // The producer may have made the tensor ready for another stream than the queue's.
            // SAFETY: takes nothing.
            true => queue.check("cuCtxSynchronize", unsafe { api::cuCtxSynchronize() }),
            false => Err(DlpackError::ForeignMemory { device: queue.context().info().name.clone() }.into()),
        }
    }

    fn take(queue: &Arc<Queue>, elements: Elements<T>, owner: AllocationDeleter) -> Self {
        let (address, len) = (elements.address(), elements.len());
        DeviceMemory {
            queue: queue.clone(),
            address,
            len,
            origin: Origin::Tensor { _owner: owner },
            marker: PhantomData,
        }
    }
}

/// Returns a default stream of the context that is current when it is used.
fn default(handle: isize) -> Stream {
    // SAFETY: default streams exist as long as their context, which the queue that they are used with keeps.
    unsafe { Stream::foreign(handle) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Device, Error, Filter1d, HandOverError};
    use dlpark::ffi::DLDataType;
    use dlpark::metadata::Fixed;
    use dlpark::versioned::Dlpack;

    /// None of these streams waits for a queue by itself.
    #[test]
    #[ignore = "needs a GPU"]
    fn streams_of_consumers_see_what_was_enqueued() {
        const LEN: usize = 1 << 24;
        const TAPS: usize = 1001;
        let device = Device::cuda(0).unwrap();
        let filter = Filter1d::correlate(&[1i32; TAPS]).prepare(&device).unwrap();
        let ones = device.upload(&vec![1; LEN]).unwrap();
        let own = Stream::new().unwrap();
        for number in [LEGACY, PER_THREAD, own.raw().addr() as isize].repeat(5) {
            let mut sums = device.zeroed(LEN).unwrap();
            device.synchronize().unwrap();
            filter.apply_into(&ones, &mut sums).unwrap();
            // SAFETY: default streams, and one that is dropped at the end.
            let (consumer, stream) =
                unsafe { (ConsumerStream::from_number(Some(number)).unwrap(), Stream::foreign(number)) };
            let tensor: Dlpack = sums.into_dlpack(consumer).unwrap();
            let address = tensor.validate().unwrap().data_ptr().addr() as u64;
            let mut sum = 0i32;
            // SAFETY: one element in the middle of the tensor's memory, to a variable that outlives the copy.
            let codes = unsafe {
                let target = (&raw mut sum).cast();
                let copied = api::cuMemcpyDtoHAsync_v2(target, address + 2 * LEN as u64, 4, stream.raw());
                [copied, api::cuStreamSynchronize(stream.raw())]
            };
            assert_eq!((codes, sum), ([0, 0], TAPS as i32), "{number}");
        }
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn memory_that_the_driver_does_not_know_is_refused() {
        let device = Device::cuda(0).unwrap();
        let mut data = Box::new([0u128; 4]);
        let address = data.as_mut_ptr();
        let mut tensor = Fixed::new([4], [1]).initialize(data).unwrap();
        tensor.set_data(address.cast()).set_device(DLDevice::cuda(0)).set_dtype(DLDataType::I32);
        // SAFETY: the tensor owns the elements. The device is wrong, for which it is refused.
        let tensor: Dlpack = unsafe { tensor.finish() };
        let failure: HandOverError<Dlpack> = Buffer::<i32>::from_dlpack(&device, tensor).unwrap_err();
        assert!(matches!(failure.error(), Error::Driver { call: "cuPointerGetAttribute", .. }), "{failure}");
        assert_eq!(failure.into_buffer().validate().unwrap().shape(), &[4]);
    }
}
