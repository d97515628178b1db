//! Operations that fail: together they make all driver calls that can fail more than once in a process.

use slm::distributed::{Devices, DistributedError};
use slm::dlpack::ConsumerStream;
use slm::dlpark::versioned::Dlpack;
use slm::filter1d::{ErrorBound, Filter1dAlgorithm};
use slm::life::{Outcome, Pattern};
use slm::morphology2d::StructuringElement;
use slm::ndarray::{Array2, ArrayView2, array};
use slm::{
    Arithmetic, Boundary, Buffer, Buffer2, Channels, Convert, Device, Error, Filter1d, Filter2d, Filter2dAlgorithm,
    HandOverError, Histogram, Life, Lookup, Map, Morphology2d, Rank1d, Rank2d, RankWindow, Result, Transpose,
};
use std::io::{self, Cursor};

/// An operation that gets a device and uses it.
pub(super) type Operation = fn(&Device) -> Result<()>;

pub(super) const OPERATIONS: &[(&str, Operation)] = &[
    ("filter1d", filter1d),
    ("transforms", transforms),
    ("columns", columns),
    ("filter2d", filter2d),
    ("two_passes", two_passes),
    ("line_passes", line_passes),
    ("rank1d", rank1d),
    ("rank2d", rank2d),
    ("passes_of_ranks", passes_of_ranks),
    ("opening", opening),
    ("differences", differences),
    ("histogram", histogram),
    ("weights", weights),
    ("transpose", transpose),
    ("in_place", in_place),
    ("matrices", matrices),
    ("life", life),
    ("census", census),
    ("stable", stable),
    ("pointwise", pointwise),
    ("convert", convert),
    ("lookup", lookup),
    ("equalise", equalise),
    ("channels", channels),
    ("slices", slices),
    ("queues", queues),
    ("waits", waits),
    ("stream", stream),
    ("stream_of_rows", stream_of_rows),
    ("weighted_stream", weighted_stream),
    ("distributed", distributed),
    ("peers", peers),
    ("peers_pictures", peers_pictures),
    ("peers_transpose", peers_transpose),
    ("peers_life", peers_life),
    ("tensors", tensors),
    #[cfg(cust)]
    ("programs", programs::exchange),
];

fn filter1d(device: &Device) -> Result<()> {
    let filter = Filter1d::correlate(&[1, 2, 3]).boundary(Boundary::Nearest).prepare(device)?;
    let (x, mut y) = (device.upload(&[1; 100])?, device.zeroed(100)?);
    filter.apply_into(&x, &mut y)?;
    filter.apply_into(y.slice(1..99)?, &mut [0; 98])?;
    device.synchronize()?;
    y.download()?;
    filter.apply(&[1, 2, 3]).map(drop)
}

/// Filters by transforms, as requested and as chosen, of lines for which there are different kernels.
fn transforms(device: &Device) -> Result<()> {
    let filter = Filter1d::correlate(&[1.0f32; 300]);
    for filter in [filter.clone().algorithm(Filter1dAlgorithm::Fft), filter.error_bound(ErrorBound::PerSegment)] {
        let filter = filter.prepare(device)?;
        filter.apply(&[1.0; 400])?;
        filter.apply(&[1.0; 9000])?;
    }
    Ok(())
}

/// Lines down the columns of a picture.
fn columns(device: &Device) -> Result<()> {
    let filter = Filter1d::correlate(&[1, 2, 3]).prepare(device)?.along(0);
    filter.apply(&Array2::<i32>::zeros((40, 50))).map(drop)
}

fn filter2d(device: &Device) -> Result<()> {
    let picture = Array2::<f32>::zeros((40, 50));
    Filter2d::<f32, _>::gaussian(2.0).prepare(device)?.apply(&picture)?;
    Filter2d::<f32, _>::box_blur(5, 5).prepare(device)?.apply(&picture).map(drop)
}

/// An outer product in two launches, with sums between them.
fn two_passes(device: &Device) -> Result<()> {
    let filter = Filter2d::<u8, i32>::separable(&[1, 2, 1], &[1, 1, 1]).output::<i32>();
    let filter = filter.algorithm(Filter2dAlgorithm::Separable).prepare(device)?;
    filter.apply(&Array2::zeros((40, 50))).map(drop)
}

/// Large Gaussians, in two passes of lines: of floats, and of bytes that are converted before and after.
fn line_passes(device: &Device) -> Result<()> {
    // Not on the heap, which may be limited.
    let floats = ArrayView2::from_shape((40, 300), &[0.0; 40 * 300]).expect("the lengths agree");
    let bytes = ArrayView2::from_shape((40, 300), &[0; 40 * 300]).expect("the lengths agree");
    Filter2d::<f32, _>::gaussian(20.0).prepare(device)?.apply(floats)?;
    Filter2d::<u8, _>::gaussian(20.0).prepare(device)?.apply(bytes).map(drop)
}

fn rank1d(device: &Device) -> Result<()> {
    Rank1d::median(5).prepare(device)?.apply(&[1.0f32; 100])?;
    Rank1d::<u8>::minimum(3).prepare(device)?.along(0).apply(&Array2::zeros((40, 50))).map(drop)
}

/// A window that is uploaded, a network, and rows with gaps.
fn rank2d(device: &Device) -> Result<()> {
    let x = Buffer2::upload_pitched(device, &Array2::<u8>::zeros((40, 50)), 64)?;
    Rank2d::median(RankWindow::disc(2)).prepare(device)?.apply(&x)?;
    let mut y = Buffer2::zeroed_pitched(device, 40, 50, 52)?;
    Rank2d::median(3).prepare(device)?.apply_into(&x, &mut y)?;
    y.download().map(drop)
}

/// Extremes in two passes, with a picture between them.
fn passes_of_ranks(device: &Device) -> Result<()> {
    Rank2d::<u8>::maximum([17, 19]).prepare(device)?.apply(&Array2::zeros((40, 50))).map(drop)
}

/// An erosion and a dilation, of two passes each.
fn opening(device: &Device) -> Result<()> {
    Morphology2d::<u8>::opening([17, 19]).prepare(device)?.apply(&Array2::zeros((40, 50))).map(drop)
}

/// Differences of results and samples, and heights that are uploaded.
fn differences(device: &Device) -> Result<()> {
    let picture = Array2::<f32>::zeros((40, 50));
    Morphology2d::gradient(3).prepare(device)?.apply(&picture)?;
    let element = StructuringElement::with_heights(&Array2::zeros((3, 3)));
    Morphology2d::top_hat(element).prepare(device)?.apply(&picture).map(drop)
}

fn histogram(device: &Device) -> Result<()> {
    let bytes = Histogram::bytes().prepare(device)?;
    let mut counts = device.zeroed(bytes.counts_len())?;
    bytes.accumulate_into(&[1, 2, 3], &mut counts)?;
    bytes.counts(&counts)?;
    bytes.apply(&[1, 2, 3])?;
    Histogram::edges(&[0.0f32, 1.0, 7.0]).prepare(device)?.apply(&[1.0, 2.0]).map(drop)
}

fn weights(device: &Device) -> Result<()> {
    let weighted = Histogram::bytes().prepare(device)?.apply_weighted(&[1, 2, 3], &[1.0f32, 2.0, 3.0])?;
    weighted.sums.bins().map(drop)
}

fn transpose(device: &Device) -> Result<()> {
    Transpose::<f32>::new(30, 50).prepare(device)?.apply(&vec![0.0; 1500]).map(drop)
}

fn in_place(device: &Device) -> Result<()> {
    let transposition = Transpose::<u8>::new(30, 50).prepare_in_place(device)?;
    let mut matrix = device.upload(&[1u8; 1500])?;
    transposition.apply(&mut matrix)?;
    matrix.download().map(drop)
}

/// Copies of rows with gaps between them.
fn matrices(device: &Device) -> Result<()> {
    let (rows, mut copy) = (array![[1, 2], [3, 4]], Buffer2::zeroed_pitched(device, 2, 2, 3)?);
    copy.copy_from(&Buffer2::upload_pitched(device, &rows, 5)?)?;
    assert_eq!(copy.download()?, rows);
    Ok(())
}

/// After a step that fails, the board says which generation it is in, and the generations that are left can be computed.
fn life(device: &Device) -> Result<()> {
    let mut board = Life::new(100, 100).prepare(device)?;
    board.set(3, 4, true)?;
    if let Err(error) = board.step(100) {
        let left = 100 - board.generation();
        let rest = board.step(left);
        assert!(matches!(rest, Err(Error::DeviceLost { .. })) || rest == Ok(()) && board.generation() == 100);
        return Err(error);
    }
    board.population()?;
    board.cells().map(drop)
}

fn census(device: &Device) -> Result<()> {
    let mut board = Life::new(100, 100).prepare(device)?;
    board.census()?;
    board.record(20, 4)?;
    let mut copy = board.try_clone()?;
    copy.place(&".OO\nOO.".parse::<Pattern>()?, 3, 4)?;
    copy.step(1)
}

/// The cells of the driver's boards stay as they are.
fn stable(device: &Device) -> Result<()> {
    let mut board = Life::new(100, 100).prepare(device)?;
    assert_ne!(board.run_until_stable(100)?, Outcome::Unstable);
    Ok(())
}

fn pointwise(device: &Device) -> Result<()> {
    let (a, b) = (device.upload(&[1.0f32, 2.0])?, device.upload(&[3.0f32, 4.0])?);
    let sum = Arithmetic::<f32>::add().prepare(device)?.apply(&a, &b)?;
    Map::<f32>::sqrt().prepare(device)?.apply(&sum)?.download().map(drop)
}

fn convert(device: &Device) -> Result<()> {
    let convert = Convert::<u8, f32>::new().scale(2.0).prepare(device)?;
    convert.apply(&[1; 100])?;
    convert.apply(&Array2::zeros((4, 5))).map(drop)
}

/// Tables of values and of intervals.
fn lookup(device: &Device) -> Result<()> {
    Lookup::of(|sample: u8| f32::from(sample)).prepare(device)?.apply(&[1; 100])?;
    Lookup::between(&[0.0f32, 0.5, 1.0], &[1u8, 2]).prepare(device)?.apply(&[0.3; 100]).map(drop)
}

/// A table that is computed on the device.
fn equalise(device: &Device) -> Result<()> {
    let histogram = Histogram::bytes().prepare(device)?;
    let (samples, mut counts) = (device.upload(&[1u8; 100])?, device.zeroed(histogram.counts_len())?);
    histogram.apply_into(&samples, &mut counts)?;
    Lookup::<u8, u8>::equalise(&counts)?.apply(&samples)?.download().map(drop)
}

fn channels(device: &Device) -> Result<()> {
    let planes = Channels::split(3).prepare(device)?.apply(&device.upload(&[1u8; 300])?)?;
    Channels::merge(3).prepare(device)?.apply(&planes)?.download().map(drop)
}

/// Slices that are not aligned, which are copied.
fn slices(device: &Device) -> Result<()> {
    let square = Map::<u8>::square().prepare(device)?;
    let (x, mut y) = (device.upload(&[1u8; 100])?, device.zeroed::<u8>(100)?);
    square.apply_into(x.slice(1..50)?, &mut y.slice_mut(3..52)?)?;
    y.download().map(drop)
}

fn queues(device: &Device) -> Result<()> {
    let (other, mut pinned) = (device.queue()?, device.pinned::<i32>(100)?);
    let (x, mut y) = (device.upload(&[1; 100])?, other.zeroed(100)?);
    let begin = other.mark()?;
    Filter1d::correlate(&[1, 2, 3]).prepare(&other)?.apply_into(&x, &mut y)?;
    begin.elapsed_until(&other.mark()?)?;
    y.download_into(&mut pinned)?;
    x.download_into(&mut pinned)?;
    assert_eq!(*pinned, [1; 100]);
    device.release_unused_memory()
}

/// Operations in a queue that wait for another one, which has written what they read.
fn waits(device: &Device) -> Result<()> {
    let other = device.queue()?;
    let x = || Buffer2::upload(device, &Array2::<u8>::zeros((40, 50)));
    Filter2d::<u8, _>::gaussian(2.0).prepare(&other)?.apply(&x()?)?;
    Rank2d::median(3).prepare(&other)?.apply(&x()?)?;
    Morphology2d::opening([17, 19]).prepare(&other)?.apply(&x()?)?;
    Transpose::new(40, 50).prepare(&other)?.apply(x()?.buffer())?;
    Histogram::bytes().prepare(&other)?.apply(x()?.buffer())?;
    Histogram::bytes().prepare(&other)?.apply_weighted(x()?.buffer(), &device.zeroed::<f32>(2000)?).map(drop)
}

/// Streams in several parts.
fn stream(device: &Device) -> Result<()> {
    let sum = Filter1d::correlate(&[1u8, 1, 1].map(f32::from)).samples::<u8>().prepare(device)?;
    sum.stream(&[1; 16][..], io::sink()).memory(1).run()?;
    Histogram::bytes().prepare(device)?.stream(&[1; 8][..])?.memory(1).run().map(drop)
}

/// Streams of pictures, in several parts.
fn stream_of_rows(device: &Device) -> Result<()> {
    let filter = Filter2d::<u8, i32>::correlate(&Array2::<i32>::zeros((3, 3))).prepare(device)?;
    filter.stream(&[1; 160][..], io::sink(), 10)?.memory(1).run()?;
    filter.stream(Cursor::new([1; 160]), io::sink(), 10)?.memory(1).seekable().run().map(drop)
}

fn weighted_stream(device: &Device) -> Result<()> {
    let (samples, weights) = (Cursor::new([1; 20]), Cursor::new([0; 80]));
    Histogram::bytes().prepare(device)?.stream_weighted::<f32>(samples, weights)?.memory(200).run().map(drop)
}

fn distributed(device: &Device) -> Result<()> {
    let devices = Devices::new([device.clone(), Device::cpu()])?;
    let filter = Filter1d::correlate(&[1, 2, 3]).prepare_on(&devices)?;
    with_course(with_course(filter.apply(&with_course(devices.distribute(&[1; 300]))?))?.download())?;
    let samples: Vec<i32> = (0..300).collect();
    assert_eq!(with_course(with_course(devices.distribute(&samples))?.download())?, samples);
    let histogram = Histogram::bytes().prepare_on(&devices)?;
    let counts = with_course(histogram.apply(&with_course(devices.distribute(&[1u8; 300]))?))?;
    assert_eq!(counts.bins()?.len(), 256);
    let transpose = Transpose::<i32>::new(20, 30).prepare_on(&devices)?;
    with_course(transpose.apply(&with_course(devices.zeroed(20, 30))?))?;
    let mut board = Life::new(200, 100).prepare_on(&devices)?;
    with_course(board.step(100))?;
    with_course(board.population())?;
    with_course(devices.synchronize())
}

/// The GPU and another one.
fn two_gpus(device: &Device) -> Result<Devices> {
    Devices::new([device.clone(), Device::cuda(1)?])
}

/// Two GPUs: each reads samples of the other one.
fn peers(device: &Device) -> Result<()> {
    let devices = two_gpus(device)?;
    let filter = Filter1d::correlate(&[1, 2, 3]).prepare_on(&devices)?;
    filter.apply(&devices.distribute(&[1; 3000])?)?.download()?;
    devices.synchronize()
}

/// Two GPUs: each reads rows of the other one, and both count.
fn peers_pictures(device: &Device) -> Result<()> {
    let devices = two_gpus(device)?;
    let picture = devices.distribute(&Array2::<u8>::zeros((200, 50)))?;
    Filter2d::<u8, _>::gaussian(2.0).prepare_on(&devices)?.apply(&picture)?.download()?;
    Histogram::bytes().prepare_on(&devices)?.apply(&picture)?.bins().map(drop)
}

/// Two GPUs: each receives a block of the other one's rows.
fn peers_transpose(device: &Device) -> Result<()> {
    let devices = two_gpus(device)?;
    let transpose = Transpose::<i32>::new(20, 30).prepare_on(&devices)?;
    transpose.apply(&devices.zeroed(20, 30)?)?;
    devices.synchronize()
}

/// Two GPUs: each receives the rows of the board next to its own.
fn peers_life(device: &Device) -> Result<()> {
    let devices = two_gpus(device)?;
    let mut board = Life::new(200, 100).prepare_on(&devices)?;
    board.step(100)?;
    board.population().map(drop)
}

/// A tensor that is given and taken.
fn tensors(device: &Device) -> Result<()> {
    let tensor: Dlpack = device.upload(&[1, 2, 3])?.into_dlpack(ConsumerStream::UNORDERED).map_err(reason)?;
    let taken = Buffer::<i32>::from_dlpack(device, tensor).map_err(reason)?;
    assert_eq!(taken.download()?, [1, 2, 3]);
    Ok(())
}

fn reason<B>(failure: HandOverError<B>) -> Error {
    failure.error().clone()
}

/// Checks that an error says how far an operation came, and with which member.
fn with_course<V>(result: Result<V>) -> Result<V> {
    if let Err(error) = &result {
        let Error::Distributed(DistributedError::Incomplete { member: Some(_), done, total, .. }) = error else {
            panic!("{error:?}")
        };
        assert!(done <= total, "{error:?}");
    }
    result
}

/// Memory and a stream of a program that uses `cust`.
#[cfg(cust)]
mod programs {
    use super::*;
    use slm::cust::context::Context;
    use slm::cust::stream::{Stream, StreamFlags};
    use std::sync::Arc;

    thread_local! {
        /// The program's context and stream, made before a call fails: failures of the program's own calls are not this crate's.
        static PROGRAM: (Context, Arc<Stream>) = {
            let context = slm::cust::quick_init().expect("the driver has two GPUs");
            (context, Arc::new(Stream::new(StreamFlags::NON_BLOCKING, None).expect("there can be many")))
        };
    }

    /// Memory is copied for the program, and taken from it.
    pub(super) fn exchange(device: &Device) -> Result<()> {
        device.synchronize()?;
        PROGRAM.with(|(context, stream)| {
            let own = Device::from_cust(context, stream.clone())?;
            let buffer = own.upload(&[1, 2, 3])?.into_cust(context).map_err(reason)?;
            let taken = Buffer::from_cust(&own, buffer).map_err(reason)?;
            assert_eq!(taken.download()?, [1, 2, 3]);
            Ok(())
        })
    }
}
