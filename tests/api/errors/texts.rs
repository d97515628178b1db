//! The text of every error.

use super::*;

#[test]
fn unknown_device() {
    let error = Error::UnknownDevice { value: "gpu".into() };
    says(
        error,
        "no device is called 'gpu': SLM_DEVICE, or the given name, must be auto, cpu, cuda, cuda:N, emulated, emulated:PROFILE \
         or emulated:PROFILE:SEED, where PROFILE is sm_75, sm_80, sm_90 or small",
        None,
    );
}

#[test]
fn feature_disabled() {
    let error = Error::FeatureDisabled { device: "a CUDA device", feature: "cuda" };
    let text = "a CUDA device needs the feature 'cuda' of the crate slm, and this program was built without it";
    says(error, text, None);
}

#[test]
fn no_device() {
    let error = Error::NoDevice { tried: "no CUDA driver found: libcuda.so (no such file)".into() };
    says(error, "no CUDA device: no CUDA driver found: libcuda.so (no such file)", None);
}

#[test]
fn device_ordinal() {
    let error = Error::DeviceOrdinal { ordinal: 3, available: 2 };
    says(error, "there is no CUDA device 3: the driver has 2, numbered from 0", None);
}

#[test]
fn device_too_old() {
    let error = Error::DeviceTooOld { device: "Tesla V100".into(), required: (7, 5), actual: (7, 0) };
    let text = "the device Tesla V100 has compute capability 7.0, but the kernels need at least 7.5";
    says(error, text, None);
}

#[test]
fn device_unsupported() {
    let error = Error::DeviceUnsupported { device: "GRID T4-1A".into(), lacks: "stream-ordered allocation" };
    says(error, "the device GRID T4-1A lacks stream-ordered allocation", None);
}

#[test]
fn driver_too_old() {
    let needed_for = "the kernel module blur (PTX 7.8)".to_owned();
    let error = Error::DriverTooOld { required: (11, 8), actual: (11, 4), needed_for };
    let text = "the CUDA driver supports CUDA 11.4, but the kernel module blur (PTX 7.8) needs CUDA 11.8 or \
                later: update the driver";
    says(error, text, None);
}

#[test]
fn kernel_module() {
    let (expected, actual) = ("aa".to_owned(), "bb".to_owned());
    let cases = [
        (
            ModuleError::MissingSource { file: "k/b.rs".to_owned() },
            "it was compiled from k/b.rs, which this program's kernels do not have",
        ),
        (
            ModuleError::NoModules,
            "the program has no compiled modules: it was built for emulated devices alone (SLM_KERNELS=none)",
        ),
        (
            ModuleError::MissingModule { included: vec!["dilate", "sum"] },
            "the program has no module of this name; it has: dilate, sum",
        ),
        (
            ModuleError::Altered { expected: expected.clone(), actual: actual.clone() },
            "its text has the digest bb, the compiled one had aa",
        ),
        (
            ModuleError::Stale { expected, actual },
            "it was compiled from sources with the digest bb, this program has aa",
        ),
        (
            ModuleError::OtherKernel { kernel: "blur", expected: "aa".to_owned(), actual: Some("bb".to_owned()) },
            "its kernel blur is another one, or has other arguments: its digest is bb, this program has aa",
        ),
    ];
    for (source, text) in cases {
        let error = Error::KernelModule { module: "blur", source };
        says(error, &format!("the kernel module blur cannot be used: {text}"), Some(text));
    }
}

fn illegal_address() -> DriverError {
    let description = "an illegal memory access was encountered".to_owned();
    DriverError { code: 700, name: "CUDA_ERROR_ILLEGAL_ADDRESS".into(), description }
}

#[test]
fn driver() {
    let error = Error::Driver { call: "cuLaunchKernel", source: illegal_address() };
    let source = "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered";
    says(error, &format!("cuLaunchKernel failed: {source}"), Some(source));
}

#[test]
fn device_lost() {
    let error = Error::DeviceLost { call: "cuStreamSynchronize", source: illegal_address() };
    let source = "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered";
    let text = format!(
        "the device is lost: cuStreamSynchronize failed with {source}; every further call fails until the process is restarted"
    );
    says(error, &text, Some(source));
}

#[test]
fn shared_memory_exceeded() {
    let error = Error::SharedMemoryExceeded { kernel: "blur".into(), requested: 656_384, available: 232_448 };
    says(error, "blur needs 656384 bytes of shared memory per block, but the device has 232448", None);
}

/// Returns the error of a launch with these findings.
fn faulty(problems: &[Problem]) -> Error {
    let finding = |problem: &Problem| Finding {
        kernel: "blur",
        block: [5, 0, 0],
        thread: [31, 2, 0],
        at: Line { file: "kernels/blur.rs".into(), line: 12, column: 7 },
        problem: problem.clone(),
        times: 1,
    };
    let report = Report {
        kernel: "blur",
        profile: "sm_80",
        launch: Launch::new([9, 1, 1], [32, 4, 1]).seed(3),
        launches: 1,
        findings: problems.iter().map(finding).collect(),
        sites: Vec::new(),
    };
    Error::FaultyKernel { report: Box::new(report) }
}

#[test]
fn faulty_kernel() {
    let missing = Problem::MissingLanes { mask: 0xff, missing: 0x80 };
    let text = "blur is faulty, as emulated:sm_80:3 shows: missing lanes: 0x00000080 of the mask 0x000000ff do not \
                arrive\n    at kernels/blur.rs:12:7, thread [31, 2, 0] of block [5, 0, 0] of blur";
    says(faulty(std::slice::from_ref(&missing)), text, None);
    let panic = Problem::Panic { message: "index out of range".into() };
    let all = format!(
        "{text}\nand panic: index out of range\n    at kernels/blur.rs:12:7, thread [31, 2, 0] of block [5, 0, 0] of blur"
    );
    says(faulty(&[missing, panic]), &all, None);
}

#[test]
fn unwritten_output() {
    let error = Error::UnwrittenOutput { device: "emulated:small:1".into(), element: 77 };
    says(error, "element 77 of the output on emulated:small:1 was never written", None);
}

#[test]
fn unordered_access() {
    let text = "a queue of emulated:small:1 accesses a buffer before the accesses of another queue have ended";
    says(Error::UnorderedAccess { device: "emulated:small:1".into() }, text, None);
}

#[test]
fn kernel_without_digest() {
    let text = "blur cannot be matched with compiled modules: call cuda_std::build::kernel_crate in the build script of \
                its crate";
    says(Error::KernelWithoutDigest { kernel: "blur" }, text, None);
}

#[test]
fn kernel_missing() {
    let error = Error::KernelMissing { kernel: "blur", module: "dilate" };
    says(error, "the kernel module dilate has no kernel blur", None);
}

#[test]
fn kernel_on_cpu() {
    let text = "the CPU cannot run the kernel blur: open a CUDA device or an emulated one (SLM_DEVICE=cuda or \
                SLM_DEVICE=emulated, with the feature 'cuda' or 'emulator' of the crate slm)";
    says(Error::KernelOnCpu { kernel: "blur" }, text, None);
}

#[test]
fn launch_out_of_range() {
    let launch =
        |requested| Error::LaunchOutOfRange { kernel: "blur", what: "threads per block", requested, available: 1024 };
    says(launch(1056), "blur cannot be launched with 1056 threads per block: the range is 1 to 1024", None);
    says(launch(0), "blur cannot be launched with 0 threads per block: the range is 1 to 1024", None);
}

#[test]
fn foreign_window() {
    let error = Error::ForeignWindow { kernel: "blur", argument: "input" };
    says(
        error,
        "the argument 'input' of blur is a window from elsewhere: create it with the Windows of this launch",
        None,
    );
}

#[test]
fn misaligned_window() {
    let error = Error::MisalignedWindow { address: 4100, alignment: 16 };
    says(error, "a window begins at address 4100, but the kernel needs a multiple of 16 bytes", None);
}

#[test]
fn launch_refused() {
    let source = LaunchError::NoStacks;
    let cause = "no memory for the stacks of the block's threads";
    let error = Error::LaunchRefused { kernel: "blur", source };
    says(error, &format!("blur cannot be launched: {cause}"), Some(cause));
    let source = LaunchError::NotAnOutput { field: "taps" };
    let cause = "the launch is to write `taps` whole, which is not a `GlobalOut` or `GlobalInOut` of the arguments";
    let error = Error::LaunchRefused { kernel: "blur", source };
    says(error, &format!("blur cannot be launched: {cause}"), Some(cause));
}

#[test]
fn device_runs_caller() {
    let error = Error::DeviceRunsCaller { device: "emulated:sm_90:3".to_owned() };
    let text = "a kernel cannot use emulated:sm_90:3, the device that runs it: use another device, or wait until the kernel \
                has ended";
    says(error, text, None);
}

#[test]
fn out_of_device_memory() {
    let error = Error::OutOfDeviceMemory { requested: 1 << 40, available: Some(1 << 20) };
    let text = "could not allocate 1099511627776 bytes of device memory: 1048576 bytes are free";
    says(error, text, None);
    let error = Error::OutOfDeviceMemory { requested: 1 << 40, available: None };
    let text = "could not allocate 1099511627776 bytes of device memory";
    says(error, text, None);
}

#[test]
fn out_of_host_memory() {
    let error = Error::OutOfHostMemory { requested: 1 << 50 };
    let text = "could not allocate 1125899906842624 bytes of host memory";
    says(error, text, None);
}

#[test]
fn too_large() {
    let large = |factors| Error::TooLarge { what: "a buffer", factors, limit: 11 };
    says(large([3, 4]), "a buffer is too large: 3 x 4 exceeds 11", None);
    says(large([12, 1]), "a buffer is too large: 12 exceeds 11", None);
    says(large([1, 12]), "a buffer is too large: 12 exceeds 11", None);
}

#[test]
fn device_mismatch() {
    let error = Error::DeviceMismatch { operand: "the input", expected: "NVIDIA H200".into(), actual: "CPU".into() };
    let text = "the input belongs to another device handle (CPU) than the operation (NVIDIA H200): open the device once \
                and clone the handle";
    says(error, text, None);
}

#[test]
fn foreign_context() {
    let error = Error::ForeignContext { operand: "the stream", device: "NVIDIA H200".into() };
    let text = "the stream does not belong to the primary CUDA context of NVIDIA H200, which \
                cust::context::Context::new returns for this GPU";
    says(error, text, None);
}

#[test]
fn length() {
    let error = Error::Length { what: "the output", expected: 3, actual: 4 };
    says(error, "the length of the output is 4, but must be 3", None);
}

#[test]
fn shape() {
    let error = Error::Shape { what: "the output", expected: [2, 3], actual: [3, 2] };
    says(error, "the shape of the output is 3 x 2 (rows x columns), but must be 2 x 3", None);
}

#[test]
fn pitch() {
    let error = Error::Pitch { columns: 5, pitch: 4 };
    says(error, "a row pitch of 4 elements is less than the 5 columns of a row", None);
}

#[test]
fn picture() {
    let error = PictureError::Channels { operation: "the filter", expected: 4, actual: 3 };
    says(error, "the filter is for 4 channels per pixel, but the pixels of the picture have 3", None);
    let error = PictureError::Interleaving { columns: 7, channels: 3 };
    says(error, "rows of 7 elements cannot be divided into pixels of 3 channels", None);
}

#[test]
fn dlpack() {
    let dlpack = |error: DlpackError, text| says(error, text, None);
    let types = |expected, actual| DlpackError::DataType { expected, actual };
    let text = "the elements of the tensor are f64, but the buffer's are f32";
    dlpack(types(DLDataType::F32, DLDataType::F64), text);
    let text = "the elements of the tensor are i8 x 4, but the buffer's are bf16";
    dlpack(types(DLDataType::BF16, DLDataType::new(DLDataTypeCode::INT, 8, 4)), text);
    let text = "the elements of the tensor are complex numbers of 64 bits, but the buffer's are u16";
    dlpack(types(DLDataType::U16, DLDataType::C64), text);
    let text = "the elements of the tensor are booleans of 8 bits, but the buffer's are u8";
    dlpack(types(DLDataType::U8, DLDataType::BOOL), text);
    let text = "the elements of the tensor are of DLPack's type 10 with 8 bits, but the buffer's are u8";
    dlpack(types(DLDataType::U8, DLDataType::F8E4M3FN), text);
    let [cpu, gpu, other] = [DLDevice::CPU, DLDevice::cuda(1), DLDevice::metal(2)];
    let devices = |expected, actual| DlpackError::Device { expected, actual };
    dlpack(devices(gpu, cpu), "the tensor is on the CPU, but the buffer would be on CUDA device 1");
    dlpack(devices(cpu, other), "the tensor is on device 2 of DLPack's type 8, but the buffer would be on the CPU");
    let text = "the tensor is on the CPU, in pinned memory, but the buffer would be on CUDA device 1";
    dlpack(devices(gpu, DLDevice { device_type: DLDeviceType::CUDAHOST, device_id: 0 }), text);
    let text = "the tensor is in CUDA's managed memory, but the buffer would be on CUDA device 1";
    dlpack(devices(gpu, DLDevice { device_type: DLDeviceType::CUDAMANAGED, device_id: 0 }), text);
    let text = "the tensor's memory does not belong to the primary CUDA context of NVIDIA H200";
    dlpack(DlpackError::ForeignMemory { device: "NVIDIA H200".into() }, text);
    dlpack(DlpackError::Axes { expected: 2, actual: 3 }, "the number of the tensor's axes is 3, but must be 2");
    let text = "elements of the shape [2, 3] with the strides [1, 2] are not stored row after row";
    dlpack(DlpackError::Strides { shape: vec![2, 3], strides: vec![1, 2] }, text);
    dlpack(DlpackError::ReadOnly, "the tensor is read-only, but a buffer without a copy can be written");
    let text = "the elements of the tensor begin at address 1028, but must begin at a multiple of 16 bytes";
    dlpack(DlpackError::Misaligned { address: 1028, alignment: 16 }, text);
    dlpack(DlpackError::NoData { elements: 3 }, "the tensor has 3 elements, but no memory");
    let text = "the elements of the tensor, from address 4096 with an offset of 9 bytes, cannot be addressed";
    dlpack(DlpackError::Offset { address: 4096, offset: 9 }, text);
    let text = "the tensor's description is invalid: ndim is negative: -1";
    dlpack(DlpackError::Malformed { reason: "ndim is negative: -1".into() }, text);
    let text = "0 is no CUDA stream: the numbers are -1 for none, 1 and 2 for the default streams, and handles";
    dlpack(DlpackError::StreamNumber { number: 0 }, text);
}
