//! Operations on data of any size: from anything that can be read, to anything that can be written.
//!
//! `stream` of a prepared operation returns a [`Stream`], whose [`run`](Stream::run) reads samples, computes and writes at the same
//! time, part by part. So a file of any size goes through memory of a limited size. On a GPU, a part is uploaded while an earlier one is
//! downloaded, but after the kernels before it: those of most operations take far less time than the copies.
//!
//! Samples and outputs are raw: little-endian numbers one after another, without a header.
//!
//! ```
//! use slm::{Device, Filter1d};
//!
//! # fn main() -> slm::Result<()> {
//! let sum = Filter1d::correlate(&[1u8, 1, 1].map(f32::from)).samples::<u8>().prepare(&Device::open()?)?;
//! let (samples, mut outputs) = ([1u8, 2, 3, 4], Vec::new());
//! let written = sum.stream(&samples[..], &mut outputs).run()?;
//! assert_eq!((written, outputs), (4, vec![3, 6, 9, 7]));
//! # Ok(())
//! # }
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `pipeline.rs` | parts on their way through a device |
//! | `feed.rs` | parts of a signal that is read |
//! | `operation.rs` | operations whose types a stream does not know |
//! | `twice.rs` | pairs from two inputs that are read twice |
//! | `in_memory.rs` | host memory to host memory |
//! | `error.rs` | why streams end early |

mod error;
mod feed;
pub(crate) mod in_memory;
mod operation;
mod pipeline;
pub(crate) mod twice;

pub use error::{StreamCause, StreamError};

use crate::Result;
use crate::element::raw::Raw;
use crate::filter::part::Divided;
use feed::Source;
use operation::{Operation, Typed};
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twice::{Twice, TwoPasses};

/// Bytes of memory for parts, if nothing else is said.
const MEMORY: usize = 256 << 20;

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// About the bytes of input whose outputs have been written. If all input is read twice, the first time counts as half.
    pub done: u64,
    /// Bytes of input, if it is [seekable](Stream::seekable). All inputs are counted.
    pub total: Option<u64>,
}

type Told<'a> = Box<dyn FnMut(Progress) -> ControlFlow<()> + 'a>;
type SeekIn<R> = fn(&mut R, SeekFrom) -> io::Result<u64>;

/// An operation on samples from `R`, with outputs to `W` and a result of type `T`. It does nothing before [`run`](Self::run).
///
/// `stream` of a prepared operation returns it, such as [`PreparedFilter1d::stream`](crate::filter1d::PreparedFilter1d::stream).
#[must_use = "a stream does nothing before it is run"]
pub struct Stream<'a, R, W, T = u64> {
    operation: Box<dyn Operation + 'a>,
    /// Returns the result, for the number of outputs.
    finish: Box<dyn FnOnce(u64) -> Result<T> + 'a>,
    input: R,
    output: W,
    memory: usize,
    seek: Option<SeekIn<R>>,
    told: Option<Told<'a>>,
}

impl<'a, R: Read + Send, W: Write, T> Stream<'a, R, W, T> {
    pub(crate) fn new<S: Raw + 'a, O: Raw + 'a>(
        divided: impl Divided<S, O> + 'a,
        input: R,
        output: W,
        finish: impl FnOnce(u64) -> Result<T> + 'a,
    ) -> Self {
        let (operation, finish) = (Box::new(Typed::<_, S, O>::new(divided)), Box::new(finish));
        Stream { operation, finish, input, output, memory: MEMORY, seek: None, told: None }
    }

    /// Returns a stream of pairs of elements, which are read twice.
    pub(crate) fn twice<S: Raw + 'a, U: Raw + 'a>(
        passes: &Arc<impl TwoPasses<S, U> + 'a>,
        inputs: (R, impl Read + Seek + Send + 'a),
        output: W,
        finish: impl FnOnce(u64) -> Result<T> + 'a,
    ) -> Self
    where
        R: Seek,
    {
        let operation = Box::new(Twice::<_, S, U, _>::new(passes.clone(), inputs.1));
        let (seek, finish) = (Some(R::seek as SeekIn<R>), Box::new(finish));
        Stream { operation, finish, input: inputs.0, output, memory: MEMORY, seek, told: None }
    }

    /// Sets the number of bytes for samples and outputs in memory, of host and device together. The default is 256 MiB.
    ///
    /// The stream takes more memory if that is too little: a part has a few windows of samples, and whole segments if a filter adds up
    /// segments. Sums between two passes of a filter come on top.
    pub fn memory(self, bytes: usize) -> Self {
        Stream { memory: bytes, ..self }
    }

    /// Declares that the input can seek. The stream then knows its length, from where it is up to its end, and boundaries that wrap can
    /// be computed.
    pub fn seekable(self) -> Self
    where
        R: Seek,
    {
        Stream { seek: Some(R::seek), ..self }
    }

    /// Calls a function after each part, on the thread that runs the stream. If it breaks, the stream ends with
    /// [`StreamCause::Cancelled`], when a read that has begun returns.
    ///
    /// ```
    /// use slm::stream::StreamCause;
    /// use slm::{Device, Error, Filter1d};
    /// use std::ops::ControlFlow;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let sum = Filter1d::correlate(&[1.0f32, 1.0, 1.0]).prepare(&Device::open()?)?;
    /// let stream = sum.stream(&[0u8; 4000][..], std::io::sink()).progress(|progress| {
    ///     println!("{} bytes", progress.done);
    ///     ControlFlow::Break(())
    /// });
    /// let Error::Stream(ended) = stream.run().unwrap_err() else { panic!() };
    /// assert_eq!((ended.written, ended.cause), (4000, StreamCause::Cancelled));
    /// # Ok(())
    /// # }
    /// ```
    pub fn progress(self, told: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        Stream { told: Some(Box::new(told)), ..self }
    }

    /// Reads samples up to the end of the input, and writes all outputs. Returns the number of outputs, or the counts of a histogram.
    ///
    /// # Errors
    ///
    /// [`Error::Stream`](crate::Error::Stream), with the reason and how far the stream came. The operation and its device stay usable,
    /// unless the device is lost.
    pub fn run(mut self) -> Result<T> {
        let counters = Counters::default();
        let result = self.run_counted(&counters);
        let [read, written] = [&counters.read, &counters.written].map(|count| count.load(Ordering::Relaxed));
        let finished = result.and_then(|()| Ok((self.finish)(written / self.operation.output_bytes() as u64)?));
        finished.map_err(|cause| StreamError { read, written, cause }.into())
    }

    fn run_counted(&mut self, counters: &Counters) -> std::result::Result<(), StreamCause> {
        let Stream { operation, input, output, memory, seek, told, .. } = self;
        let mut source = SeekableIn { input, seek: *seek };
        operation.run(&mut source, *memory, &counters.read, &mut |bytes, progress| {
            write_all(output, bytes, &counters.written)?;
            match told.as_mut().map_or(ControlFlow::Continue(()), |told| told(progress)) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(StreamCause::Cancelled),
            }
        })?;
        output.flush().map_err(|error| StreamCause::write(&error))
    }
}

/// Bytes that have passed.
#[derive(Default)]
struct Counters {
    read: AtomicU64,
    written: AtomicU64,
}

/// An input, and how it seeks.
struct SeekableIn<'a, R> {
    input: &'a mut R,
    seek: Option<SeekIn<R>>,
}

impl<R: Read> Read for SeekableIn<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.input.read(bytes)
    }
}

impl<R: Read + Send> Source for SeekableIn<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> Option<io::Result<u64>> {
        self.seek.map(|seek| seek(self.input, to))
    }
}

/// Writes bytes, and counts them.
fn write_all(output: &mut impl Write, mut bytes: &[u8], written: &AtomicU64) -> std::result::Result<(), StreamCause> {
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(0) => return Err(StreamCause::write(&io::ErrorKind::WriteZero.into())),
            Ok(count) => {
                written.fetch_add(count as u64, Ordering::Relaxed);
                bytes = &bytes[count..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StreamCause::write(&error)),
        }
    }
    Ok(())
}

impl<R, W, T> fmt::Debug for Stream<'_, R, W, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("memory", &self.memory).finish_non_exhaustive()
    }
}
