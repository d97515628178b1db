//! Kernels of other crates, on emulated devices: that good launches do what they should, and that safe code cannot make
//! bad ones, however it tries.

use cuda_std::image::Modules;
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut, Table, arguments, kernel, shared_bytes, thread};
use slm::emulator::{LaunchError, Problem, Profile};
use slm::{Buffer, Device, Error, Kernel, LaunchShape, Result};
use slm_test_support::lengthened;
use std::sync::{Mutex, OnceLock};

arguments! {
    /// What `add` works on.
    pub struct Addition<'l> {
        /// The numbers to add.
        pub input: GlobalIn<'l, u32>,
        /// What they are added to.
        pub sum: GlobalInOut<'l, u32>,
        /// Receives what the sum was before.
        pub before: GlobalOut<'l, u32>,
    }
}

kernel! {
    /// Thread `i` of the grid adds element `i`.
    pub fn add<'l>(_arena, args: Addition<'l>) {
        let i = thread::global_x();
        let sum = args.sum.get_or(i, 0);
        args.before.set_if(i < args.before.len(), i, sum);
        args.sum.set_if(i < args.sum.len(), i, sum + args.input.get_or(i, 0));
    }
}

kernel! {
    /// Thread `i` of the grid multiplies element `i` in place; the arguments are no struct.
    pub fn multiply<'l>(_arena, args: GlobalInOut<'l, u32>, factors: Constants<u32, 2>) {
        let i = thread::global_x();
        let [factor, _] = factors.pack::<2>(0);
        args.set_if(i < args.len(), i, factor * args.get_or(i, 0));
    }
}

const SHAPE: LaunchShape = LaunchShape::new([2, 1, 1], [32, 1, 1]);

struct Fixture {
    device: Device,
    add: Kernel<add>,
    input: Buffer<u32>,
    sum: Buffer<u32>,
    before: Buffer<u32>,
}

impl Fixture {
    fn new() -> Self {
        let device = Device::emulated(Profile::SM_90, 3);
        let add = device.kernel(&Modules::NONE).unwrap();
        let [input, sum, before] = [[1, 2, 3], [10, 20, 30], [0; 3]].map(|data| device.upload(&data).unwrap());
        Fixture { device, add, input, sum, before }
    }

    fn launch(&mut self, shape: LaunchShape) -> Result<()> {
        self.add.launch(shape, |windows| Addition {
            input: windows.input(&self.input),
            sum: windows.in_out(&mut self.sum),
            before: windows.output(&mut self.before),
        })
    }

    /// Launches with this window in the place of the one that there should be.
    fn with_input(&mut self, input: GlobalIn<'static, u32>) -> Result<()> {
        self.add.launch(SHAPE, |windows| Addition {
            input,
            sum: windows.in_out(&mut self.sum),
            before: windows.output(&mut self.before),
        })
    }

    /// A window that a launch has handed out, kept beyond its end.
    fn kept(&self, buffer: &Buffer<u32>) -> GlobalIn<'static, u32> {
        let mut kept = None;
        self.add
            .launch(SHAPE, |windows| {
                let input = windows.input(buffer);
                kept = Some(lengthened::input(input));
                Addition { input, sum: GlobalInOut::empty(), before: GlobalOut::empty() }
            })
            .unwrap();
        kept.unwrap()
    }

    #[track_caller]
    fn is_untouched(&self) {
        assert_eq!(self.sum.download(), Ok(vec![10, 20, 30]));
        assert_eq!(self.before.download(), Ok(vec![0; 3]));
    }
}

fn foreign(argument: &'static str) -> Result<()> {
    Err(Error::ForeignWindow { kernel: "add", argument })
}

#[test]
fn launches_one_after_another() {
    let mut fixture = Fixture::new();
    fixture.launch(SHAPE).unwrap();
    fixture.launch(SHAPE).unwrap();
    assert_eq!(fixture.before.download(), Ok(vec![11, 22, 33]));
    assert_eq!(fixture.sum.download(), Ok(vec![12, 24, 36]));
    let [report] = &fixture.device.emulation_reports()[..] else { panic!() };
    assert_eq!((report.kernel, report.launches, report.launch.seed), ("add", 2, 3));
}

#[test]
fn constants() {
    let device = Device::emulated(Profile::SMALL, 0);
    let multiply: Kernel<multiply> = device.kernel(&Modules::NONE).unwrap();
    let mut numbers = device.upload(&[1, 2, 3]).unwrap();
    multiply.clone().launch_with(SHAPE, &Table([7, 0]), |windows| windows.in_out(&mut numbers)).unwrap();
    assert_eq!(numbers.download(), Ok(vec![7, 14, 21]));
    // The arguments themselves are a window.
    let mut kept = None;
    multiply
        .launch_with(SHAPE, &Table([0, 0]), |windows| *kept.insert(lengthened::in_out(windows.in_out(&mut numbers))))
        .unwrap();
    let error = Error::ForeignWindow { kernel: "multiply", argument: "args" };
    assert_eq!(multiply.launch_with(SHAPE, &Table([7, 0]), |_| kept.unwrap()), Err(error));
}

#[test]
fn empty_buffers() {
    let mut fixture = Fixture::new();
    let nothing = fixture.device.upload(&[]).unwrap();
    let window = fixture.kept(&nothing);
    drop(nothing);
    fixture.with_input(window).unwrap();
    fixture.with_input(GlobalIn::empty()).unwrap();
    assert_eq!(fixture.sum.download(), Ok(vec![10, 20, 30]));
}

/// The memory behind a window is gone.
#[test]
fn a_window_on_a_freed_buffer() {
    let mut fixture = Fixture::new();
    let window = fixture.kept(&fixture.device.upload(&[1, 2, 3]).unwrap());
    assert_eq!(fixture.with_input(window), foreign("input"));
    fixture.is_untouched();
}

/// The memory is there, and somebody else could write it before the kernel is enqueued.
#[test]
fn a_window_on_a_buffer_that_is_not_borrowed() {
    let mut fixture = Fixture::new();
    let window = fixture.kept(&fixture.input);
    assert_eq!(fixture.with_input(window), foreign("input"));
    // Borrowed again, it is the same window.
    let Fixture { add, input, sum, before, .. } = &mut fixture;
    let launched = add.launch(SHAPE, |windows| {
        let _ = windows.input(input);
        Addition { input: window, sum: windows.in_out(sum), before: windows.output(before) }
    });
    assert_eq!((launched, fixture.sum.download()), (Ok(()), Ok(vec![11, 22, 33])));
}

/// The kernel would read through one window what it writes through another.
#[test]
fn a_window_on_a_buffer_that_is_written() {
    let mut fixture = Fixture::new();
    let on_sum = fixture.kept(&fixture.sum);
    assert_eq!(fixture.with_input(on_sum), foreign("input"));
    let on_before = fixture.kept(&fixture.before);
    assert_eq!(fixture.with_input(on_before), foreign("input"));
    fixture.is_untouched();
}

/// The other way round: a window to write, when the buffer is borrowed for reading.
#[test]
fn a_window_to_write_what_is_read() {
    let mut fixture = Fixture::new();
    let mut kept = None;
    let Fixture { add, input, sum, before, .. } = &mut fixture;
    add.launch(SHAPE, |windows| {
        let sum = *kept.insert(lengthened::in_out(windows.in_out(input)));
        Addition { input: GlobalIn::empty(), sum, before: GlobalOut::empty() }
    })
    .unwrap();
    let result = add.launch(SHAPE, |windows| {
        let _ = windows.in_out(sum);
        Addition { input: windows.input(input), sum: kept.unwrap(), before: windows.output(before) }
    });
    assert_eq!(result, foreign("sum"));
    fixture.is_untouched();
}

/// A launch within a launch, with the arguments of the outer one.
#[test]
fn windows_of_the_launch_outside() {
    let (mut ours, theirs) = (Fixture::new(), Fixture::new());
    let mut inner = Ok(());
    let Fixture { add, input, sum, before, .. } = &mut ours;
    let nothing = || Addition { input: GlobalIn::empty(), sum: GlobalInOut::empty(), before: GlobalOut::empty() };
    let outer = add.launch(SHAPE, |windows| {
        let args = Addition { input: windows.input(input), sum: windows.in_out(sum), before: windows.output(before) };
        inner = theirs.add.launch(SHAPE, |_| args);
        nothing()
    });
    assert_eq!((inner, outer), (foreign("input"), Ok(())));
    ours.is_untouched();
    theirs.is_untouched();
}

#[test]
fn buffers_of_another_handle() {
    let (mut ours, mut theirs) = (Fixture::new(), Fixture::new());
    let mismatch = |operand| {
        let name = "emulated sm_90".to_owned();
        Err(Error::DeviceMismatch { operand, expected: name.clone(), actual: name })
    };
    std::mem::swap(&mut ours.input, &mut theirs.input);
    assert_eq!(ours.launch(SHAPE), mismatch("an input"));
    std::mem::swap(&mut ours.sum, &mut theirs.sum);
    // The first one is told.
    assert_eq!(ours.launch(SHAPE), mismatch("an input"));
    std::mem::swap(&mut ours.input, &mut theirs.input);
    assert_eq!(ours.launch(SHAPE), mismatch("a buffer to read and write"));
    std::mem::swap(&mut ours.sum, &mut theirs.sum);
    std::mem::swap(&mut ours.before, &mut theirs.before);
    assert_eq!(ours.launch(SHAPE), mismatch("an output"));
    std::mem::swap(&mut ours.before, &mut theirs.before);
    ours.is_untouched();
    ours.launch(SHAPE).unwrap();
}

#[test]
fn windows_on_the_cpus_memory_are_empty() {
    let (mut fixture, cpu) = (Fixture::new(), Device::cpu().upload(&[1, 2, 3]).unwrap());
    let mut len = None;
    let result = fixture.add.launch(SHAPE, |windows| {
        let input = windows.input(&cpu);
        len = Some(input.len());
        Addition { input, sum: windows.in_out(&mut fixture.sum), before: windows.output(&mut fixture.before) }
    });
    let (expected, actual) = ("emulated sm_90".to_owned(), "CPU".to_owned());
    let error = Error::DeviceMismatch { operand: "an input", expected, actual };
    assert_eq!((result, len), (Err(error), Some(0)));
    fixture.is_untouched();
}

#[test]
fn launches_over_the_limits() {
    let mut fixture = Fixture::new();
    let out_of_range =
        |what, requested, available| Err(Error::LaunchOutOfRange { kernel: "add", what, requested, available });
    let grid = |grid| LaunchShape { grid, ..SHAPE };
    let block = |block| LaunchShape { block, ..SHAPE };
    let cases = [
        (grid([0, 1, 1]), out_of_range("blocks along x", 0, (1 << 31) - 1)),
        (grid([1 << 40, 1, 1]), out_of_range("blocks along x", 1 << 40, (1 << 31) - 1)),
        (grid([1, 65_536, 1]), out_of_range("blocks along y", 65_536, 65_535)),
        (grid([1, 1, u64::MAX]), out_of_range("blocks along z", u64::MAX, 65_535)),
        (block([1025, 1, 1]), out_of_range("threads per block along x", 1025, 1024)),
        (block([1, 0, 1]), out_of_range("threads per block along y", 0, 1024)),
        (block([1, 1, 65]), out_of_range("threads per block along z", 65, 64)),
        (block([1024, 1024, 64]), out_of_range("threads per block", 1 << 26, 1024)),
    ];
    for (shape, error) in cases {
        assert_eq!(fixture.launch(shape), error);
    }
    let exceeded =
        |requested| Err(Error::SharedMemoryExceeded { kernel: "add".to_owned(), requested, available: 227 << 10 });
    assert_eq!(fixture.launch(SHAPE.shared_bytes((227 << 10) + 1)), exceeded((227 << 10) + 1));
    assert_eq!(fixture.launch(SHAPE.shared_bytes(u64::MAX)), exceeded(u64::MAX));
    // More bytes than can be counted.
    assert_eq!(fixture.launch(SHAPE.shared_bytes(shared_bytes::<f32>(u64::MAX / 2))), exceeded(u64::MAX));
    fixture.is_untouched();
    fixture.launch(SHAPE.shared_bytes(227 << 10)).unwrap();
}

/// An emulated device knows what a block can have, and has no registers.
#[test]
fn residency() {
    let Fixture { add, .. } = Fixture::new();
    assert_eq!(add.residency(SHAPE), Ok(None));
    // The grid does not matter.
    assert_eq!(add.residency(LaunchShape { grid: [0; 3], ..SHAPE }), Ok(None));
    let (what, requested, available) = ("threads per block", 1056, 1024);
    let error = Error::LaunchOutOfRange { kernel: "add", what, requested, available };
    assert_eq!(add.residency(LaunchShape { block: [32, 33, 1], ..SHAPE }), Err(error));
}

#[test]
fn the_cpu_runs_no_kernels() {
    assert_eq!(Device::cpu().kernel::<add>(&Modules::NONE).err(), Some(Error::KernelOnCpu { kernel: "add" }));
}

#[test]
fn a_kernel_can_be_shared_and_says_what_it_is() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let Fixture { add, device, .. } = Fixture::new();
    is_shared(&add);
    let text = format!("{add:?}");
    assert!(text.contains(r#"name: "add", module: "api""#) && text.contains(&device.info().name), "{text}");
}

kernel! {
    /// Every thread writes the same element.
    pub fn race<'l>(_arena, args: GlobalOut<'l, u32>) {
        args.set(0, thread::thread_idx_x());
    }
}

#[test]
fn a_faulty_kernel_is_an_error() {
    let device = Device::emulated(Profile::SM_75, 9);
    let mut output = device.zeroed(1).unwrap();
    let result = device.kernel::<race>(&Modules::NONE).unwrap().launch(SHAPE, |windows| windows.output(&mut output));
    let Err(Error::FaultyKernel { report }) = result else { panic!("{result:?}") };
    assert_eq!((report.kernel, report.launch.grid, report.launch.seed), ("race", [2, 1, 1], 9));
}

/// Elements that the launch does not write are an error if it must write them, whatever they contain.
#[test]
fn outputs_that_a_launch_must_write_whole() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.launch(SHAPE.whole_outputs(&["sum", "before"])), Ok(()));
    let two = LaunchShape::new([1, 1, 1], [2, 1, 1]);
    assert_eq!(fixture.launch(two), Ok(()));
    let result = fixture.launch(two.whole_outputs(&["sum"]));
    let Err(Error::FaultyKernel { report }) = result else { panic!("{result:?}") };
    let [finding] = &report.findings[..] else { panic!("{report}") };
    let Problem::UnwrittenOutput { window: "sum", first: 2, count: 1, len: 3, whole: true, .. } = finding.problem
    else {
        panic!("{finding}")
    };
    let source = LaunchError::NotAnOutput { field: "input" };
    let refused = fixture.launch(SHAPE.whole_outputs(&["before", "input"]));
    assert_eq!(refused, Err(Error::LaunchRefused { kernel: "add", source }));
}

/// The device that runs `busy`, and what became of what that asked of it.
static DEVICE: OnceLock<Device> = OnceLock::new();
static ERRORS: Mutex<Vec<Error>> = Mutex::new(Vec::new());

kernel! {
    /// Uses the device that runs it, and another one.
    pub fn busy<'l>(_arena, args: GlobalInOut<'l, u32>) {
        let device = DEVICE.get().expect("it is open");
        ERRORS.lock().unwrap().extend(device.upload(&[1u32]).err());
        let other = Device::emulated(Profile::SM_80, 0);
        let numbers = other.upload(&[1u32, 2, 3]).unwrap().download().unwrap();
        args.set(0, numbers[2]);
        assert!(device.emulation_reports().is_empty(), "it does not come here");
    }
}

#[test]
fn kernels_cannot_use_the_device_that_runs_them() {
    let device = DEVICE.get_or_init(|| Device::emulated(Profile::SM_90, 3));
    let kernel = device.kernel::<busy>(&Modules::NONE).unwrap();
    let mut buffer = device.upload(&[0u32]).unwrap();
    let shape = LaunchShape::new([1, 1, 1], [1, 1, 1]);
    let result = kernel.launch(shape, |windows| windows.in_out(&mut buffer));
    let Err(Error::FaultyKernel { report }) = result else { panic!("{result:?}") };
    assert!(report.to_string().contains("panic: a kernel cannot use emulated:sm_90:3"), "{report}");
    let error = Error::DeviceRunsCaller { device: "emulated:sm_90:3".to_owned() };
    assert_eq!((ERRORS.lock().unwrap().as_slice(), buffer.download().unwrap()), (&[error][..], vec![3]));
}
