//! Several devices: results are those of one device, bit for bit.

use crate::common::{Random, equal, is_cuda, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use slm::distributed::{
    Devices, Distributed, DistributedBuffer, DistributedError, Distribution, Link, Received, Sent, Transport,
    TransportError,
};
use slm::filter1d::PreparedFilter1d;
use slm::life::{DistributedBoard, LifeError, Pattern, Rule, Topology};
use slm::ndarray::{Array2, Axis, concatenate, s};
use slm::{Backend, Boundary, Device, Error, Extent, Filter1d, Filter2d, Histogram, Life, Transpose};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend("distributed", "lines", lines),
        on_every_backend("distributed", "pictures", pictures),
        on_every_backend("distributed", "counts", counts),
        on_every_backend("distributed", "transposed", transposed),
        on_every_backend("distributed", "chains", chains),
        on_every_backend("distributed", "life", life),
        on_every_backend("distributed", "mixed", mixed),
        on_every_backend("distributed", "processes", processes),
        on_every_backend("distributed", "errors", errors),
        on_every_backend("distributed", "interrupted", interrupted),
    ];
    trials.into_iter().flatten().collect()
}

const BOUNDARIES: [Boundary<i32>; 5] =
    [Boundary::Constant(7), Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap];
const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Returns members of the device's kind: the device, another queue of it, and others.
fn members(device: &Device) -> slm::Result<Vec<Devices>> {
    let others = match device.info().backend {
        Backend::Cuda => vec![Device::cuda(1).or_else(|_| Device::cuda(0))?, Device::cuda(0)?],
        Backend::Cpu => vec![Device::cpu(), Device::cpu()],
        _ => {
            // The name is `emulated sm_90`, for example.
            let name = device.info().name.replace(' ', ":");
            vec![Device::named(&name)?, Device::named(&name)?]
        }
    };
    let two = Devices::new([device.clone(), others[0].clone()])?;
    let four = Devices::new([device.clone(), device.queue()?].into_iter().chain(others))?;
    Ok(vec![Devices::new([device.clone()])?, two, four])
}

fn lines(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(60);
    let samples: Vec<i32> = random.values(1500);
    // Every access of an emulated device takes its time.
    let (sizes, lengths) =
        if is_slow(device) { (&[4, 37][..], &[1, 300][..]) } else { (&[1, 4, 37][..], &[0, 1, 20, 300, 1500][..]) };
    for devices in members(device)? {
        for (taps, boundary) in sizes.iter().copied().flat_map(|taps| BOUNDARIES.map(|boundary| (taps, boundary))) {
            let weights: Vec<i32> = random.values(taps);
            for extent in EXTENTS {
                let filter = Filter1d::correlate(&weights).boundary(boundary).extent(extent);
                let (one, all) = (filter.prepare(device)?, filter.prepare_on(&devices)?);
                for &len in lengths {
                    let distributed = all.apply(&devices.distribute(&samples[..len])?)?;
                    let expected = one.apply(&samples[..len])?;
                    equal(distributed.total_rows(), expected.len())?;
                    same(&distributed.download()?, &expected).map_err(|_| {
                        format!("{} members, {taps} taps, {boundary:?}, {extent:?}, {len} samples", devices.len())
                    })?;
                }
            }
        }
    }
    Ok(())
}

fn pictures(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(61);
    for devices in members(device)? {
        let picture =
            Array2::from_shape_simple_fn((if is_slow(device) { 330 } else { 700 }, 19), || random.unit() as f32);
        let distributed = devices.distribute(&picture)?;
        let boundaries = [Boundary::Mirror, Boundary::Wrap, Boundary::Constant(0.5f32)];
        for boundary in boundaries.into_iter().take(if is_slow(device) { 2 } else { 3 }) {
            let filters = [
                Filter2d::<f32, f32>::gaussian(2.0),
                // Sums of segments, whose floats depend on where they begin.
                Filter2d::<f32, f32>::box_blur(21, 15),
            ];
            for filter in filters {
                let filter = filter.boundary(boundary);
                let expected = filter.prepare(device)?.apply(&picture)?;
                let filtered = filter.prepare_on(&devices)?.apply(&distributed)?;
                equal(filtered.width(), 19)?;
                same(&filtered.download()?, expected.as_slice().ok_or("row after row")?)
                    .map_err(|_| format!("{} members, {filter:?}", devices.len()))?;
            }
        }
        let bytes = Array2::from_shape_simple_fn((300, 12), || random.bits() as u8);
        let mean = Filter2d::<u8, f32>::box_blur(31, 3).channels(4).boundary(Boundary::Nearest);
        let filtered = mean.prepare_on(&devices)?.apply(&devices.distribute(&bytes)?)?;
        same(&filtered.download()?, &mean.prepare(device)?.apply(&bytes_of(&bytes))?.into_raw_vec_and_offset().0)?;
    }
    Ok(())
}

/// The same bytes with an axis for their four channels.
fn bytes_of(bytes: &Array2<u8>) -> slm::ndarray::Array3<u8> {
    let (rows, columns) = bytes.dim();
    bytes.clone().into_shape_with_order((rows, columns / 4, 4)).expect("whole pixels")
}

fn counts(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(62);
    let samples: Vec<u8> = random.values(5000);
    let histogram = Histogram::bytes();
    let expected = histogram.prepare(device)?.apply(&samples)?;
    for devices in members(device)? {
        let counts = histogram.prepare_on(&devices)?.apply(&devices.distribute(&samples)?)?;
        equal(&counts, &expected)?;
        equal(histogram.prepare_on(&devices)?.apply(&devices.distribute(&[0u8; 0])?)?.total(), 0)?;
    }
    Ok(())
}

fn transposed(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(63);
    for devices in members(device)? {
        // The last one is transposed in stages.
        let shapes = [([1, 1], 1), ([100, 3], 1), ([65, 130], 1), ([200, 257], 1), ([90, 70], 3), ([4099, 4111], 1)];
        for ([rows, columns], components) in shapes.into_iter().take(if is_slow(device) { 5 } else { 6 }) {
            let matrix = Array2::from_shape_vec(
                (rows, columns * components),
                random.values::<i32>(rows * columns * components),
            )?;
            let transpose = Transpose::new(rows, columns).components(components);
            let expected = transpose.prepare(device)?.apply(matrix.as_slice().ok_or("row after row")?)?;
            let result = transpose.prepare_on(&devices)?.apply(&devices.distribute(&matrix)?)?;
            equal((result.total_rows(), result.width()), (columns, rows * components))?;
            same(&result.download()?, &expected).map_err(|_| format!("{rows} x {columns} x {components}"))?;
        }
    }
    Ok(())
}

/// Data stay distributed between operations, and buffers are used again.
fn chains(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(64);
    let picture = Array2::from_shape_simple_fn((300, 200), || random.unit() as f32);
    let blur = Filter2d::<f32, f32>::gaussian(1.5);
    let (turn, back) = (Transpose::new(300, 200), Transpose::new(200, 300));
    let one = |device: &Device| -> slm::Result<Array2<f32>> {
        let blur = blur.prepare(device)?;
        let turned = blur.apply(&turn.prepare(device)?.apply(&blur.apply(&picture)?)?)?;
        back.prepare(device)?.apply(&turned)
    };
    let expected = one(device)?;
    for devices in members(device)? {
        let (blur, turn, back) = (blur.prepare_on(&devices)?, turn.prepare_on(&devices)?, back.prepare_on(&devices)?);
        let mut x = devices.distribute(&picture)?;
        for _ in 0..3 {
            let turned = blur.apply(&turn.apply(&blur.apply(&x)?)?)?;
            let result = back.apply(&turned)?;
            same(&result.download()?, expected.as_slice().ok_or("row after row")?)?;
            // The next round writes what the last one may still read.
            for (member, _) in devices.local() {
                let part = x.part(member).ok_or("a local member")?.download()?;
                x.part_mut(member).ok_or("a local member")?.upload(&part)?;
            }
        }
        devices.synchronize()?;
    }
    Ok(())
}

/// Boards of all topologies that can be divided, over several exchanges of rows, also of members in other processes.
fn life(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(67);
    let (rows, columns) = (260, 90);
    // Each of the generations of an emulated device takes its time.
    let (steps, few) = if is_slow(device) { ([1, 64, 0, 1], 2) } else { ([1, 70, 0, 79], 4) };
    let generations = steps.iter().sum();
    let soup = Array2::from_shape_simple_fn((rows, columns), || random.below(3) == 0);
    for (topology, rule) in [
        (Topology::Torus, Rule::CONWAY),
        (Topology::Cylinder, "B36/S23".parse()?),
        (Topology::Plane, Rule::CONWAY),
        (Topology::Torus, "B36/S23".parse()?),
    ]
    .into_iter()
    .take(few)
    {
        let life = Life::new(rows, columns).topology(topology).rule(rule);
        let mut one = life.prepare(device)?;
        one.set_cells(soup.view())?;
        let start = one.words()?;
        one.step(generations)?;
        let expected = (one.words()?, one.population()?);
        for devices in members(device)? {
            let mut board = life.prepare_on(&devices)?;
            set_rows(&mut board, &start)?;
            for steps in steps {
                board.step(steps)?;
            }
            equal((board.generation(), board.population()?), (generations, expected.1))?;
            equal(rows_of(&board)?, expected.0.clone())
                .map_err(|_| format!("{} members, {topology:?}, {rule}", devices.len()))?;
        }
        for members in if is_slow(device) { 2..3 } else { 2..4 } {
            let results: Vec<slm::Result<_>> = thread::scope(|scope| {
                let start_thread = |transport| {
                    let (life, start) = (&life, &start);
                    scope.spawn(move || {
                        let mut board = life.prepare_on(&Devices::with_transport(device.queue()?, transport)?)?;
                        set_rows(&mut board, start)?;
                        board.step(generations)?;
                        Ok((rows_of(&board)?, board.population()?))
                    })
                };
                let threads: Vec<_> = Threads::new(members).into_iter().map(start_thread).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            let mut all = Vec::new();
            for result in results {
                let (rows, population) = result?;
                all.extend(rows);
                equal(population, expected.1)?;
            }
            equal(all, expected.0.iter().copied().collect::<Vec<_>>())?;
        }
    }
    // A glider that crosses the ends of parts and of the board.
    let glider: Pattern = ".O.\n..O\nOOO".parse()?;
    for devices in members(device)? {
        let mut board = Life::new(256, 128).prepare_on(&devices)?;
        board.place(&glider, -1, -2)?;
        let start = rows_of(&board)?;
        if is_slow(device) {
            continue;
        }
        board.step(4 * 256)?;
        equal((rows_of(&board)?, board.population()?), (start, 5))?;
        if devices.len() > 1 {
            let topology = Topology::KleinBottle;
            fails(Life::new(256, 128).topology(topology).prepare_on(&devices), LifeError::Distributed { topology })?;
        }
    }
    Ok(())
}

fn set_rows(board: &mut DistributedBoard, words: &Array2<u64>) -> slm::Result<()> {
    for member in 0..board.devices().len() {
        let rows = board.distribution().rows(member);
        board.set_words(member, words.slice(s![rows, ..]))?;
    }
    Ok(())
}

/// Returns the words of the members in this process, one below the other.
fn rows_of(board: &DistributedBoard) -> slm::Result<Array2<u64>> {
    let parts: Vec<_> =
        (0..board.devices().len()).filter_map(|member| board.words(member).transpose()).collect::<slm::Result<_>>()?;
    let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
    Ok(concatenate(Axis(0), &views).expect("the same columns"))
}

/// Members of several kinds.
fn mixed(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(65);
    let devices = Devices::new([Device::cpu(), device.clone(), Device::named("emulated:small:3")?])?;
    let samples: Vec<i32> = random.values(800);
    let filter = Filter1d::correlate(&[1, -2, 3, 5]).boundary(Boundary::Reflect);
    let filtered = filter.prepare_on(&devices)?.apply(&devices.distribute(&samples)?)?;
    same(&filtered.download()?, &filter.prepare(&Device::cpu())?.apply(&samples)?)?;
    equal(devices.link(0, 0), Some(Link::Memory))?;
    equal(devices.link(0, 2), Some(Link::Host))?;
    equal(devices.link(3, 0), None)?;
    if is_cuda(device) {
        equal(devices.link(0, 1), Some(Link::Host))?;
        let again = Devices::new([device.clone(), Device::cuda(0)?])?;
        equal(again.link(0, 1), Some(Link::Peer))?;
    }
    Ok(())
}

/// Members in threads that share nothing but channels, as processes would.
struct Threads {
    member: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
    sums: Arc<(Barrier, Mutex<Vec<u64>>)>,
}

impl Threads {
    fn new(members: usize) -> Vec<Self> {
        let sums = Arc::new((Barrier::new(members), Mutex::new(Vec::new())));
        let mut threads: Vec<_> = (0..members)
            .map(|member| Threads { member, to: Vec::new(), from: Vec::new(), sums: sums.clone() })
            .collect();
        for from in 0..members {
            for to in 0..members {
                let (sender, receiver) = channel();
                threads[from].to.push(sender);
                threads[to].from.push(Mutex::new(receiver));
            }
        }
        threads
    }
}

impl Transport for Threads {
    fn members(&self) -> usize {
        self.to.len()
    }

    fn member(&self) -> usize {
        self.member
    }

    fn exchange(&self, sent: &[Sent<&[u8]>], received: &mut [Received<&mut [u8]>]) -> Result<(), TransportError> {
        let lost = |_| TransportError { message: "a thread has ended".to_owned() };
        for Sent { to, bytes } in sent {
            self.to[*to].send(bytes.to_vec()).map_err(|_| lost(()))?;
        }
        for Received { from, bytes } in received {
            let message = self.from[*from].lock().unwrap().recv().map_err(|_| lost(()))?;
            assert_eq!(message.len(), bytes.len());
            bytes.copy_from_slice(&message);
        }
        Ok(())
    }

    fn add(&self, numbers: &mut [u64]) -> Result<(), TransportError> {
        let (barrier, sums) = &*self.sums;
        barrier.wait();
        if self.member == 0 {
            *sums.lock().unwrap() = vec![0; numbers.len()];
        }
        barrier.wait();
        sums.lock().unwrap().iter_mut().zip(&*numbers).for_each(|(sum, number)| *sum = sum.wrapping_add(*number));
        barrier.wait();
        numbers.copy_from_slice(&sums.lock().unwrap());
        barrier.wait();
        Ok(())
    }
}

fn processes(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(66);
    let samples: Vec<i32> = random.values(2000);
    let matrix = Array2::from_shape_vec((100, 20), samples.clone())?;
    let filter = Filter1d::correlate(&[1, -2, 3, 5, 8]).boundary(Boundary::Wrap);
    let (turn, ten) = (Transpose::new(100, 20), Histogram::even(10, -2_000_000_000i32..2_000_000_000));
    let expected = filter.prepare(device)?.apply(&samples)?;
    let turned = turn.prepare(device)?.apply(&samples)?;
    let counts = ten.prepare(device)?.apply(&samples)?;
    for members in 1..=4 {
        let results: Vec<slm::Result<_>> = thread::scope(|scope| {
            let start = |transport| {
                let (samples, matrix, filter, turn, ten) = (&samples, &matrix, &filter, &turn, &ten);
                scope.spawn(move || {
                    let devices = Devices::with_transport(device.queue()?, transport)?;
                    let x = devices.distribute(samples)?;
                    let filtered = filter.prepare_on(&devices)?.apply(&x)?.download()?;
                    let turned = turn.prepare_on(&devices)?.apply(&devices.distribute(matrix)?)?.download()?;
                    Ok((filtered, turned, ten.prepare_on(&devices)?.apply(&x)?))
                })
            };
            let threads: Vec<_> = Threads::new(members).into_iter().map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let (mut all, mut all_turned) = (Vec::new(), Vec::new());
        for result in results {
            let (filtered, turned, of_all) = result?;
            all.extend(filtered);
            all_turned.extend(turned);
            equal(&of_all, &counts)?;
        }
        same(&all, &expected).map_err(|_| format!("{members} members"))?;
        same(&all_turned, &turned).map_err(|_| format!("{members} members"))?;
    }
    Ok(())
}

/// A way to another process, whose message after the first `messages` ones does not pass.
struct Interrupted {
    messages: Mutex<usize>,
}

impl Transport for Interrupted {
    fn members(&self) -> usize {
        2
    }

    fn member(&self) -> usize {
        0
    }

    fn exchange(&self, _: &[Sent<&[u8]>], _: &mut [Received<&mut [u8]>]) -> Result<(), TransportError> {
        let mut messages = self.messages.lock().unwrap();
        *messages = messages.checked_sub(1).ok_or_else(unplugged)?;
        Ok(())
    }

    fn add(&self, _: &mut [u64]) -> Result<(), TransportError> {
        self.exchange(&[], &mut [])
    }
}

fn unplugged() -> TransportError {
    TransportError { message: "the cable is unplugged".to_owned() }
}

/// Errors say how far the member of this process came.
fn interrupted(device: &Device) -> Result<(), Failed> {
    let after = |messages| Devices::with_transport(device.queue()?, Interrupted { messages: Mutex::new(messages) });
    let ended = |done, total, unit| {
        let cause = Box::new(DistributedError::Transport(unplugged()).into());
        DistributedError::Incomplete { member: None, done, total, unit, cause }
    };
    let filter = Filter1d::correlate(&[1, 2, 3]);
    let apply =
        |devices: &Devices, outputs: &mut _| filter.prepare_on(devices)?.apply_into(&devices.zeroed(2000, 1)?, outputs);
    let devices = after(1)?;
    let mut outputs = devices.zeroed(2000, 1)?;
    let rows = outputs.rows(0).len() as u64;
    fails(apply(&devices, &mut outputs), ended(0, rows, "rows of the output"))?;
    fails(apply(&devices, &mut outputs), DistributedError::Transport(unplugged()))?;
    let devices = after(0)?;
    let here = Distribution::even(300, 2).rows(0).len() as u64;
    fails(Histogram::bytes().prepare_on(&devices)?.apply(&devices.zeroed(300, 1)?), ended(here, here, "samples"))?;
    let turn = Transpose::<u8>::new(200, 300).prepare_on(&devices)?;
    fails(turn.apply(&devices.zeroed(200, 300)?), ended(0, 200 * here, "elements"))?;
    let mut board = Life::new(200, 100).prepare_on(&after(1)?)?;
    fails(board.step(100), ended(64, 100, "generations"))?;
    fails(board.population(), ended(100, 100, "rows"))?;
    let error = Error::from(ended(64, 100, "generations"));
    equal(error.root(), &DistributedError::Transport(unplugged()).into())?;
    let text = "after 64 of 100 generations: data between processes: the cable is unplugged";
    equal(error.to_string(), text.to_owned())
}

fn errors(device: &Device) -> Result<(), Failed> {
    fails(Devices::new([]), DistributedError::NoMembers)?;
    let devices = Devices::new([device.clone(), device.queue()?])?;
    let others = Devices::new([device.clone(), device.queue()?])?;
    let filter: Distributed<PreparedFilter1d<i32>> = Filter1d::correlate(&[1, 1]).prepare_on(&devices)?;
    let x: DistributedBuffer<i32> = devices.zeroed(1000, 1)?;
    fails(filter.apply(&others.zeroed(1000, 1)?), DistributedError::Devices { what: "the input" })?;
    fails(filter.apply_into(&x, &mut others.zeroed(1000, 1)?), DistributedError::Devices { what: "the output" })?;
    let width = DistributedError::Width { what: "the input", expected: 1, actual: 2 };
    fails(filter.apply(&devices.zeroed(1000, 2)?), width)?;
    let (expected, actual) = (Box::new(Distribution::even(1000, 2)), Box::new(Distribution::even(999, 2)));
    let distribution = DistributedError::Distribution { what: "the output", expected, actual };
    fails(filter.apply_into(&x, &mut devices.zeroed(999, 1)?), distribution)?;
    fails(Transpose::<i32>::new(2, 2).batch(3).prepare_on(&devices), DistributedError::Batch { matrices: 3 })?;
    let turn = Transpose::new(1000, 1).prepare_on(&devices)?;
    equal(turn.apply(&x)?.download()?, vec![0; 1000])?;
    let length = Error::Length { what: "the input", expected: 1000, actual: 999 };
    fails(turn.apply(&devices.zeroed(999, 1)?), length)?;
    equal(filter.apply(&x)?.download()?, vec![0; 1000])
}

fn fails<T>(result: slm::Result<T>, expected: impl Into<Error>) -> Result<(), Failed> {
    equal(result.err(), Some(expected.into()))
}
