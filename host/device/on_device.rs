//! The frame of every operation: a part for the CPU or for a GPU, and how samples get there and outputs get back.
//!
//! ```text
//!           run, or apply on buffers                apply on the host
//!            |                    |                |                |
//!       slices of it              |            as it is          upload
//!            |                    |                |                |
//!       Task::on_cpu         Task::on_gpu     Task::on_cpu     Task::on_gpu
//!                                                  |                |
//!                                               results         download
//! ```

use crate::cpu::allocation;
use crate::device::data::{Elements, Results};
use crate::device::gpu::Gpu;
use crate::{Buffer, Device, Element, Result};
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

    /// Enqueues the launches. All buffers are on the operation's device.
    fn on_gpu(&self, operation: &G, inputs: [&Buffer<S>; N], output: &mut Buffer<O>) -> Result<()>;
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

    /// Runs a task on buffers of the device. On a GPU, this returns when the work is enqueued.
    pub(crate) fn run<S: Element, O: Element, const N: usize>(
        &self,
        task: &impl Task<C, G, S, O, N>,
        inputs: [&Buffer<S>; N],
        output: &mut Buffer<O>,
    ) -> Result<()> {
        match self {
            OnDevice::Cpu(operation) => {
                task.on_cpu(operation, inputs.map(|input| input.storage().cpu()), output.storage_mut().cpu_mut())
            }
            OnDevice::Gpu(operation) => task.on_gpu(operation, inputs, output),
        }
    }

    /// Returns the `len` results of a task, on the host or on the device, as its first input is. On the device, this returns when the
    /// work is enqueued. Inputs on devices are on this one.
    pub(crate) fn apply<S: Element, O: Element, const N: usize>(
        &self,
        device: &Device,
        task: &impl Task<C, G, S, O, N>,
        inputs: [&Elements<'_, S>; N],
        len: usize,
    ) -> Result<Results<O>> {
        let on_host = matches!(inputs[0], Elements::Host(_));
        match self {
            OnDevice::Cpu(operation) if on_host => {
                let mut output = allocation::filled(O::default(), len)?;
                task.on_cpu(operation, inputs.map(Elements::cpu), &mut output)?;
                Ok(Results::Host(output))
            }
            _ => {
                let buffers = inputs.into_iter().map(|input| input.on_buffer(device)).collect::<Result<Vec<_>>>()?;
                let mut output = device.unwritten(len)?;
                self.run(task, array::from_fn(|i| buffers[i].buffer()), &mut output)?;
                if on_host {
                    Results::Device(output).into_vec().map(Results::Host)
                } else {
                    Ok(Results::Device(output))
                }
            }
        }
    }
}
