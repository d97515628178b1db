//! A device, its primary context, and one stream on it.

use super::driver::{self, api, check, from_cust};
use super::handle::{Context, Event, Stream};
use super::module::{Loaded, Modules, lowest_target};
use super::{Kernel, Memory};
use crate::backend::limits::LaunchLimits;
use crate::device::{Backend, DeviceInfo, SharedMemory};
use crate::{Element, Error, Result, backend};
use cuda_std::Entry;
use cuda_std::image::{self, Module};
use cust::device::Device;
use cust::sys::CUstream;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The version of CUDA that brought stream-ordered allocation (`cuMemAllocAsync`).
const ORDERED_ALLOCATION: (u32, u32) = (11, 2);

/// A device's context and the stream that all work of one [`Device`](crate::Device) handle goes to.
pub(crate) struct Queue {
    // Dropped in this order, with the context current (`Drop`).
    modules: Modules,
    stream: Stream,
    context: Context,
    turn: Mutex<()>,
    lost: OnceLock<Error>,
    limits: Limits,
}

// SAFETY: contexts and streams are handles, which any thread may use after making the context current.
unsafe impl Send for Queue {}
// SAFETY: as above; the driver's functions are safe to call from several threads at once.
unsafe impl Sync for Queue {}

/// What launches and modules have to respect.
#[derive(Debug)]
pub(super) struct Limits {
    /// The device's name.
    pub(super) device: String,
    pub(super) capability: (u32, u32),
    pub(super) launch: LaunchLimits,
    pub(super) threads_per_multiprocessor: u32,
}

impl Queue {
    fn open(ordinal: usize) -> Result<(Self, DeviceInfo)> {
        let available = count()?;
        if available == 0 {
            return Err(Error::NoDevice { tried: "the driver finds no GPU".to_owned() });
        }
        if ordinal >= available {
            return Err(Error::DeviceOrdinal { ordinal, available });
        }
        let device = from_cust("cuDeviceGet", Device::get_device(ordinal as u32))?;
        let info = describe(device, ordinal)?;
        let limits = limits(device, &info)?;
        let context = Context::primary(device)?;
        context.make_current()?;
        let stream = Stream::new()?;
        let queue =
            Queue { modules: Modules::default(), stream, context, turn: Mutex::new(()), lost: OnceLock::new(), limits };
        Ok((queue, info))
    }

    /// Makes the context current for this thread, and leaves it so: before every call into the driver.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`] if an earlier failure has destroyed the context.
    pub(super) fn enter(&self) -> Result<()> {
        if let Some(lost) = self.lost.get() {
            return Err(lost.clone());
        }
        self.note(self.context.make_current())
    }

    /// The result of a call, which is remembered if it says that the device is lost.
    pub(super) fn check(&self, call: &'static str, code: i32) -> Result<()> {
        self.note(check(call, code))
    }

    pub(super) fn note<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error @ Error::DeviceLost { .. }) = &result {
            // If another thread was first, that error stays.
            let _ = self.lost.set(error.clone());
        }
        result
    }

    pub(super) fn stream(&self) -> CUstream {
        self.stream.raw()
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The module, which was compiled from these sources; loaded on first use.
    pub(super) fn module(&self, module: &'static Module, sources: &'static str) -> Result<Arc<Loaded>> {
        self.enter()?;
        self.note(self.modules.get(module, sources, &self.limits))
    }

    /// Waits for all work of the stream, also when the device is lost: the context is current.
    pub(super) fn wait(&self) -> Result<()> {
        // SAFETY: the stream lives as long as `self`.
        self.check("cuStreamSynchronize", unsafe { api::cuStreamSynchronize(self.stream()) })
    }

    /// An event at the end of the work so far.
    fn event(&self) -> Result<Event> {
        self.enter()?;
        self.note(Event::record(&self.stream))
    }
}

impl backend::Queue for Queue {
    type Memory<T: Element> = Memory<T>;
    type Kernel<E: Entry> = Kernel<E>;

    fn load<E: Entry>(self: &Arc<Self>, modules: &image::Modules) -> Result<Kernel<E>> {
        Kernel::load(self, modules)
    }

    fn turn(&self) -> Result<Option<MutexGuard<'_, ()>>> {
        // The lock guards no data, so a thread that panicked while holding it left nothing half-done.
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.enter()?;
        Ok(Some(turn))
    }

    fn synchronize(&self) -> Result<()> {
        self.enter()?;
        self.wait()
    }

    /// By the device's own clock.
    fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
        let start = self.event()?;
        let result = work()?;
        let end = self.event()?;
        self.synchronize()?;
        let milliseconds = self.note(end.milliseconds_since(&start))?;
        Ok((result, Duration::from_secs_f64(f64::from(milliseconds).max(0.0) / 1e3)))
    }
}

/// Opens device `ordinal`, and says what is known of it.
pub(crate) fn open(ordinal: usize) -> Result<(Arc<Queue>, DeviceInfo)> {
    let (queue, info) = Queue::open(ordinal)?;
    Ok((Arc::new(queue), info))
}

/// How many devices there are: none if the driver does not say.
pub(crate) fn device_count() -> usize {
    count().unwrap_or(0)
}

/// How many devices the driver has.
fn count() -> Result<usize> {
    driver::initialise()?;
    Ok(from_cust("cuDeviceGetCount", Device::num_devices())? as usize)
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The fields go next: unloading modules and destroying the stream need the context. No buffer or operation has
        // this queue any more, but work that they enqueued may still run, with kernels of these modules. A failure has
        // nobody left to be told.
        let _ = self.context.make_current();
        let _ = self.wait();
    }
}

/// Values of `CUdevice_attribute`.
mod attribute {
    pub(super) const THREADS_PER_BLOCK: i32 = 1;
    pub(super) const BLOCK: [i32; 3] = [2, 3, 4];
    pub(super) const GRID: [i32; 3] = [5, 6, 7];
    pub(super) const SHARED_PER_BLOCK: i32 = 8;
    pub(super) const MULTIPROCESSORS: i32 = 16;
    pub(super) const THREADS_PER_MULTIPROCESSOR: i32 = 39;
    pub(super) const CAPABILITY_MAJOR: i32 = 75;
    pub(super) const CAPABILITY_MINOR: i32 = 76;
    pub(super) const SHARED_PER_MULTIPROCESSOR: i32 = 81;
    pub(super) const MOST_SHARED_PER_BLOCK: i32 = 97;
    pub(super) const MEMORY_POOLS: i32 = 115;
}

fn get(device: Device, attribute: i32) -> Result<u32> {
    let mut value = 0;
    // SAFETY: writes one integer, which outlives the call; the device exists.
    check("cuDeviceGetAttribute", unsafe { api::cuDeviceGetAttribute(&mut value, attribute, device.as_raw()) })?;
    Ok(value.unsigned_abs())
}

/// The values of attributes along x, y and z.
fn get_each(device: Device, [x, y, z]: [i32; 3]) -> Result<[u32; 3]> {
    Ok([get(device, x)?, get(device, y)?, get(device, z)?])
}

fn describe(device: Device, ordinal: usize) -> Result<DeviceInfo> {
    let capability = (get(device, attribute::CAPABILITY_MAJOR)?, get(device, attribute::CAPABILITY_MINOR)?);
    Ok(DeviceInfo {
        backend: Backend::Cuda,
        name: from_cust("cuDeviceGetName", device.name())?,
        selection: format!("CUDA device {ordinal}"),
        compute_capability: Some(capability),
        processors: get(device, attribute::MULTIPROCESSORS)? as usize,
        memory: Some(from_cust("cuDeviceTotalMem", device.total_memory())? as u64),
        shared_memory: Some(SharedMemory {
            default_per_block: get(device, attribute::SHARED_PER_BLOCK)?.into(),
            max_per_block: get(device, attribute::MOST_SHARED_PER_BLOCK)?.into(),
            per_multiprocessor: get(device, attribute::SHARED_PER_MULTIPROCESSOR)?.into(),
            // Of every device since compute capability 5.0 (CUDA C++ Programming Guide, "Compute Capabilities").
            banks: 32,
            bank_bytes: 4,
        }),
    })
}

fn limits(device: Device, info: &DeviceInfo) -> Result<Limits> {
    let version = driver::version()?;
    if version < ORDERED_ALLOCATION {
        let needed_for = "stream-ordered allocation".to_owned();
        return Err(Error::DriverTooOld { required: ORDERED_ALLOCATION, actual: version, needed_for });
    }
    if get(device, attribute::MEMORY_POOLS)? == 0 {
        // On some virtual GPUs.
        return Err(Error::DeviceUnsupported { device: info.name.clone(), lacks: "stream-ordered allocation" });
    }
    let capability = info.compute_capability.expect("a GPU has one");
    if capability < lowest_target() {
        let (device, required) = (info.name.clone(), lowest_target());
        return Err(Error::DeviceTooOld { device, required, actual: capability });
    }
    Ok(Limits {
        device: info.name.clone(),
        capability,
        launch: LaunchLimits {
            grid: get_each(device, attribute::GRID)?,
            block: get_each(device, attribute::BLOCK)?,
            threads: get(device, attribute::THREADS_PER_BLOCK)?,
            shared: info.shared_memory.expect("a GPU has some"),
        },
        threads_per_multiprocessor: get(device, attribute::THREADS_PER_MULTIPROCESSOR)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::handle;
    use crate::device::Engine;
    use crate::{Device, Filter1d};
    use slm_kernels::filter1d::filter1d_global;
    use std::ptr;

    /// Runs a kernel that fails, on the device's stream.
    fn fail(device: &Device) {
        let Engine::Cuda(queue) = device.engine() else { panic!("a GPU") };
        let ptx = ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry fail() { trap; }\n";
        let (stream, none) = (queue.stream(), ptr::null_mut());
        // SAFETY: a kernel without arguments, whose module lives until the work is done.
        let code = unsafe {
            let module = handle::Module::load(ptx).unwrap();
            let function = module.function("fail").unwrap();
            let code = api::cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, ptr::null_mut(), none);
            std::mem::forget(module);
            code
        };
        assert_eq!(code, 0);
    }

    /// In a process of its own, which has no GPU any more afterwards.
    fn lose() {
        let device = Device::cuda(0).unwrap();
        let mut buffer = device.upload(&[1.0f32, 2.0, 3.0]).unwrap();
        let mut output = device.zeroed(3).unwrap();
        let filter = Filter1d::correlate(&[1.0f32]).prepare(&device).unwrap();
        device.synchronize().unwrap();
        fail(&device);
        let lost = device.synchronize().unwrap_err();
        assert!(
            matches!(&lost, Error::DeviceLost { call: "cuStreamSynchronize", source } if source.code != 0),
            "{lost}"
        );
        let later = [
            device.synchronize().err(),
            device.upload(&[1]).err(),
            device.zeroed::<i32>(7).err(),
            device.time(|| Ok(())).err(),
            buffer.download().err(),
            buffer.upload(&[4.0, 5.0, 6.0]).err(),
            output.copy_from(&buffer).err(),
            filter.apply_into(&buffer, &mut output).err(),
            filter.apply(&[1.0]).err(),
            Filter1d::correlate(&[1.0f32]).prepare(&device).err(),
            device.own_kernel::<filter1d_global<f64>>().err(),
        ];
        assert!(later.iter().all(|error| error.as_ref() == Some(&lost)), "{later:?}");
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn a_lost_device_says_so_for_ever() {
        const CHILD: &str = "SLM_TEST_LOSES_THE_DEVICE";
        if std::env::var_os(CHILD).is_some() {
            return lose();
        }
        let name = "backend::cuda::queue::tests::a_lost_device_says_so_for_ever";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", name, "--include-ignored"]).env(CHILD, "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}
