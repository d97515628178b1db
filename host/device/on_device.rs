//! The frame of every operation: a part for the CPU or for a GPU, and how samples get there and outputs get back.
//!
//! ```text
//!               input                        input
//!        on the host or the CPU       on the host   on a GPU
//!                 |                        |            |
//!              as it is                 upload      as it is
//!                 |                        |            |
//!           Task::on_cpu                 Task::on_gpu
//!                 |                        |            |
//!              as it is                download     as it is
//!                 |                        |            |
//!        on the host or the CPU       on the host   on a GPU
//!              output                       output
//! ```

use crate::device::data::{Elements, Target};
use crate::device::gpu::Gpu;
use crate::device::slice::{BufferSlice, BufferSliceMut};
use crate::{Device, Element, Result};
use smallvec::SmallVec;
use std::array;

/// An operation bound to a device: `C` on the CPU, `G` on a GPU.
pub(crate) enum OnDevice<C, G> {
    Cpu(C),
    Gpu(G),
}

/// One use of an operation: the sizes and pitches of `N` inputs of type `S` and of an output of type `O`, which have been checked.
pub(crate) trait Task<C, G, S: Element, O: Element, const N: usize = 1> {
    /// Computes the outputs on the CPU. Returns an error if there is no memory; some outputs may be written then.
    fn on_cpu(&self, operation: &C, inputs: [&[S]; N], output: &mut [O]) -> Result<()>;

    /// Enqueues the launches. All buffers are on the operation's device, and slices begin where kernels can access them.
    fn on_gpu(&self, operation: &G, inputs: [BufferSlice<'_, S>; N], output: BufferSliceMut<'_, O>) -> Result<()>;
}

impl<C, G> OnDevice<C, G> {
    /// Returns the part that the device needs.
    pub(crate) fn new(
        device: &Device,
        on_cpu: impl FnOnce() -> Result<C>,
        on_gpu: impl FnOnce(Gpu) -> Result<G>,
    ) -> Result<Self> {
        Ok(match device.gpu() {
            None => OnDevice::Cpu(on_cpu()?),
            Some(gpu) => OnDevice::Gpu(on_gpu(gpu)?),
        })
    }

    /// Runs a task. This returns when host memory is written, or when work on a device is enqueued. Inputs and outputs on devices are on
    /// this one.
    pub(crate) fn run<S: Element, O: Element, const N: usize>(
        &self,
        device: &Device,
        task: &impl Task<C, G, S, O, N>,
        inputs: [&Elements<'_, S>; N],
        output: Target<'_, O>,
    ) -> Result<()> {
        let operation = match self {
            OnDevice::Cpu(operation) => return task.on_cpu(operation, inputs.map(Elements::cpu), output.into_cpu()),
            OnDevice::Gpu(operation) => operation,
        };
        let inputs = inputs.into_iter().map(|input| input.on_buffer(device)).collect::<Result<SmallVec<[_; 2]>>>()?;
        let inputs = array::from_fn(|i| inputs[i].slice());
        match output {
            Target::Device(view) => aligned(view.into_slice(), |output| task.on_gpu(operation, inputs, output)),
            Target::Host(elements) => {
                let mut output = device.unwritten(elements.len())?;
                task.on_gpu(operation, inputs, (&mut output).into())?;
                output.download_written_into(elements)
            }
        }
    }
}

/// Calls a function with outputs, or with an aligned copy of them that is copied back.
pub(crate) fn aligned<T: Element>(
    mut outputs: BufferSliceMut<'_, T>,
    write: impl FnOnce(BufferSliceMut<'_, T>) -> Result<()>,
) -> Result<()> {
    if outputs.is_aligned() {
        return write(outputs);
    }
    let mut copy = outputs.as_slice().copied()?;
    write((&mut copy).into())?;
    outputs.copy_from(&copy)
}
