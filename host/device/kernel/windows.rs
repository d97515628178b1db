//! Windows on buffers, in a kernel's arguments.

use crate::device::launch::WindowRecord;
use crate::device::slice::{BufferSlice, BufferSliceMut};
use crate::{Buffer, Device, Element};
use cuda_std::{Argument, GlobalIn, GlobalInOut, GlobalOut};
use std::fmt;
use std::marker::PhantomData;

/// Creates and records windows on buffers for one launch of a [`Kernel`](crate::Kernel).
///
/// The buffers are borrowed, for `'b`, until the kernel is enqueued. So no kernel reads and writes the same buffer through two
/// windows:
///
/// ```compile_fail,E0502
/// # use cuda_std::image::Modules;
/// # use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};
/// # use slm::{Device, LaunchShape};
/// # arguments! {
/// #     /// Arguments of `copy`.
/// #     pub struct Copying<'l> {
/// #         /// The elements.
/// #         pub input: GlobalIn<'l, f32>,
/// #         /// Receives the copies.
/// #         pub output: GlobalOut<'l, f32>,
/// #     }
/// # }
/// # kernel! {
/// #     /// Thread `i` of the grid copies element `i`.
/// #     pub fn copy<'l>(_arena, args: Copying<'l>) {
/// #         args.output.set(thread::global_x(), args.input.get(thread::global_x()));
/// #     }
/// # }
/// # fn main() -> slm::Result<()> {
/// # let device = Device::open()?;
/// # let mut x = device.zeroed(3)?;
/// # let shape = LaunchShape::new([1, 1, 1], [32, 1, 1]);
/// # let kernel = device.kernel::<copy>(&Modules::NONE)?;
/// kernel.launch(shape, |windows| Copying { input: windows.input(&x), output: windows.output(&mut x) })?;
/// # Ok(())
/// # }
/// ```
///
/// A kernel cannot write a buffer through two windows either:
///
/// ```compile_fail,E0499
/// # use cuda_std::image::Modules;
/// # use cuda_std::{GlobalInOut, GlobalOut, arguments, kernel, thread};
/// # use slm::{Device, LaunchShape};
/// # arguments! {
/// #     /// Arguments of `split`.
/// #     pub struct Splitting<'l> {
/// #         /// The elements.
/// #         pub first: GlobalInOut<'l, f32>,
/// #         /// Receives some of them.
/// #         pub second: GlobalOut<'l, f32>,
/// #     }
/// # }
/// # kernel! {
/// #     /// Thread `i` of the grid copies element `i`.
/// #     pub fn split<'l>(_arena, args: Splitting<'l>) {
/// #         args.second.set(thread::global_x(), args.first.get(thread::global_x()));
/// #     }
/// # }
/// # fn main() -> slm::Result<()> {
/// # let device = Device::open()?;
/// # let mut x = device.zeroed(3)?;
/// # let shape = LaunchShape::new([1, 1, 1], [32, 1, 1]);
/// # let kernel = device.kernel::<split>(&Modules::NONE)?;
/// kernel.launch(shape, |windows| Splitting { first: windows.in_out(&mut x), second: windows.output(&mut x) })?;
/// # Ok(())
/// # }
/// ```
///
/// A buffer cannot be dropped before that:
///
/// ```compile_fail,E0597
/// # use cuda_std::image::Modules;
/// # use cuda_std::{GlobalOut, arguments, kernel, thread};
/// # use slm::{Device, LaunchShape};
/// # arguments! {
/// #     /// Arguments of `fill`.
/// #     pub struct Filling<'l> {
/// #         /// The elements.
/// #         pub output: GlobalOut<'l, f32>,
/// #     }
/// # }
/// # kernel! {
/// #     /// Thread `i` of the grid fills element `i`.
/// #     pub fn fill<'l>(_arena, args: Filling<'l>) {
/// #         args.output.set(thread::global_x(), 1.0);
/// #     }
/// # }
/// # fn main() -> slm::Result<()> {
/// # let device = Device::open()?;
/// # let shape = LaunchShape::new([1, 1, 1], [32, 1, 1]);
/// # let kernel = device.kernel::<fill>(&Modules::NONE)?;
/// kernel.launch(shape, |windows| {
///     let mut y = device.zeroed(3).unwrap();
///     Filling { output: windows.output(&mut y) }
/// })?;
/// # Ok(())
/// # }
/// ```
///
/// A window has the lifetime `'l` of its launch, and `'b` is that of the buffers. The closure is called for any `'l`, so no window
/// leaves it except in the arguments:
///
/// ```compile_fail,E0521
/// # use cuda_std::image::Modules;
/// # use cuda_std::{GlobalOut, kernel};
/// # use slm::{Device, LaunchShape};
/// # kernel! {
/// #     /// Sets the first element.
/// #     pub fn mark<'l>(_arena, output: GlobalOut<'l, u32>) {
/// #         output.set(0, 1);
/// #     }
/// # }
/// # fn main() -> slm::Result<()> {
/// # let device = Device::open()?;
/// # let (kernel, mut y) = (device.kernel::<mark>(&Modules::NONE)?, device.zeroed(3)?);
/// # let shape = LaunchShape::new([1, 1, 1], [32, 1, 1]);
/// let mut kept = None;
/// kernel.launch(shape, |windows| *kept.insert(windows.output(&mut y)))?;
/// # Ok(())
/// # }
/// ```
///
/// Two launches cannot exchange their windows:
///
/// ```compile_fail,E0521
/// # use cuda_std::image::Modules;
/// # use cuda_std::{GlobalOut, kernel};
/// # use slm::{Device, LaunchShape};
/// # kernel! {
/// #     /// Sets the first element.
/// #     pub fn mark<'l>(_arena, output: GlobalOut<'l, u32>) {
/// #         output.set(0, 1);
/// #     }
/// # }
/// # fn main() -> slm::Result<()> {
/// # let device = Device::open()?;
/// # let (kernel, mut y, mut z) = (device.kernel::<mark>(&Modules::NONE)?, device.zeroed(3)?, device.zeroed(3)?);
/// # let shape = LaunchShape::new([1, 1, 1], [32, 1, 1]);
/// kernel.launch(shape, |outer| {
///     kernel
///         .launch(shape, |inner| {
///             std::mem::swap(outer, inner);
///             inner.output(&mut y)
///         })
///         .unwrap();
///     outer.output(&mut z)
/// })?;
/// # Ok(())
/// # }
/// ```
///
/// A launch checks its windows, too. One that was created for another launch, such as the one around it, is
/// [`Error::ForeignWindow`](crate::Error::ForeignWindow).
pub struct Windows<'l, 'b> {
    device: Device,
    record: WindowRecord,
    launch: PhantomData<&'l &'b mut ()>,
}

impl<'l, 'b> Windows<'l, 'b> {
    pub(crate) fn new(device: &Device) -> Self {
        let record = WindowRecord::new(device.queue_id());
        Windows { device: device.clone(), record, launch: PhantomData }
    }

    /// Returns the record of the created windows.
    pub(super) fn record(&self) -> &WindowRecord {
        &self.record
    }

    /// Returns a window on all elements of `buffer`, for the kernel to read.
    ///
    /// The kernel waits for other queues that have written the buffer. If the buffer belongs to another device than the kernel, or the
    /// device is lost, the window is empty and the launch fails.
    pub fn input<T: Element>(&mut self, buffer: &'b Buffer<T>) -> GlobalIn<'l, T> {
        self.input_slice(buffer.into())
    }

    /// Returns a window on all elements of `buffer`, for the kernel to write; otherwise as [`input`](Self::input).
    pub fn output<T: Element>(&mut self, buffer: &'b mut Buffer<T>) -> GlobalOut<'l, T> {
        self.output_slice(buffer.into())
    }

    /// Returns a window on all elements of `buffer`, for the kernel to read and write; otherwise as [`input`](Self::input).
    pub fn in_out<T: Element>(&mut self, buffer: &'b mut Buffer<T>) -> GlobalInOut<'l, T> {
        self.in_out_slice(buffer.into())
    }

    /// Returns an error if the launch cannot use one of the buffers, whose window is empty then. For arguments that need whole windows.
    pub(crate) fn check(&self) -> crate::Result<()> {
        self.record.refused()
    }

    pub(crate) fn input_slice<T: Element>(&mut self, slice: BufferSlice<'b, T>) -> GlobalIn<'l, T> {
        let (buffer, device) = (slice.buffer(), self.device.clone());
        let ours = self.accept("an input", buffer.device(), || buffer.order().before_read(device.engine()));
        let part = |window: GlobalIn<'b, T>| window.slice(slice.first() as u64, slice.len() as u64);
        self.hand_out(if ours { part(buffer.storage().input()) } else { GlobalIn::empty() })
    }

    pub(crate) fn output_slice<T: Element>(&mut self, slice: BufferSliceMut<'b, T>) -> GlobalOut<'l, T> {
        let (first, len) = (slice.first() as u64, slice.len() as u64);
        let window = self.written("an output", slice).map(|buffer| buffer.storage_mut().output().slice(first, len));
        self.hand_out(window.unwrap_or_else(GlobalOut::empty))
    }

    pub(crate) fn in_out_slice<T: Element>(&mut self, slice: BufferSliceMut<'b, T>) -> GlobalInOut<'l, T> {
        let (first, len) = (slice.first() as u64, slice.len() as u64);
        let window = self.written("a buffer to read and write", slice);
        let window = window.map(|buffer| buffer.storage_mut().in_out().slice(first, len));
        self.hand_out(window.unwrap_or_else(GlobalInOut::empty))
    }

    /// Returns the buffer if the launch can write it. Otherwise the error is recorded.
    fn written<T: Element>(
        &mut self,
        operand: &'static str,
        slice: BufferSliceMut<'b, T>,
    ) -> Option<&'b mut Buffer<T>> {
        let (device, buffer) = (self.device.clone(), slice.into_buffer());
        let owner = buffer.device().clone();
        let ours = self.accept(operand, &owner, || buffer.order_mut().before_write(device.engine()));
        ours.then_some(buffer)
    }

    /// Returns whether the launch can use a buffer of this owner after `wait`, and records the error if not.
    fn accept(&mut self, operand: &'static str, owner: &Device, wait: impl FnOnce() -> crate::Result<()>) -> bool {
        match self.device.check_owner(operand, owner).and_then(|()| wait()) {
            Ok(()) => true,
            Err(error) => {
                self.record.refuse(error);
                false
            }
        }
    }

    fn hand_out<W: Argument>(&mut self, window: W) -> W {
        window.windows("", &mut |_, window| self.record.hand_out(window));
        window
    }
}

impl fmt::Debug for Windows<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Windows").field("device", &self.device).finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use emulator::Profile;
    use slm_kernels::{Misaligned, cast};

    #[test]
    fn windows_are_cast_to_elements_they_are_aligned_for() {
        let device = Device::emulated(Profile::SM_90, 0);
        let buffer = device.upload(&[0u8; 64]).unwrap();
        let whole = Windows::new(&device).input(&buffer);
        let mut start = 0;
        whole.windows("", &mut |_, window| start = window.address);
        for first in 0..=48 {
            let part = whole.slice(first, 16);
            let refused = |alignment| Misaligned { address: start + first, alignment };
            let words: Result<GlobalIn<u32>, Misaligned> = cast(part, 1);
            assert_eq!(words.map(|words| words.len()), if first % 4 == 0 { Ok(4) } else { Err(refused(4)) });
            let packs: Result<GlobalIn<u32>, Misaligned> = cast(part, 4);
            assert_eq!(packs.map(|packs| packs.len()), if first % 16 == 0 { Ok(4) } else { Err(refused(16)) });
            let doubles: Result<GlobalIn<u64>, Misaligned> = cast(part, 1);
            assert_eq!(doubles.map(|doubles| doubles.len()), if first % 8 == 0 { Ok(2) } else { Err(refused(8)) });
            let bytes: Result<GlobalIn<u8>, Misaligned> = cast(part, 1);
            assert_eq!(bytes.map(|bytes| bytes.len()), Ok(16));
        }
        // A window without elements has no accesses.
        let nothing: Result<GlobalIn<u64>, Misaligned> = cast(whole.slice(3, 0), 2);
        assert_eq!(nothing.map(|nothing| nothing.len()), Ok(0));
    }
}
