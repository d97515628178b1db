//! Parts of a signal that is read from its beginning to its end.

use super::error::StreamCause;
use super::pipeline::{Job, Outputs, Samples};
use crate::cpu::allocation;
use crate::element::raw::Raw;
use crate::filter::part::{Divided, Part, Placement};
use crate::{Element, Pinned};
use slm_kernels::signal::Border;
use std::io::{self, Read, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};

type Result<T> = std::result::Result<T, StreamCause>;

/// What samples are read from.
pub(super) trait Source: Read + Send {
    /// Moves to another position. `None` if the source cannot.
    fn seek(&mut self, to: SeekFrom) -> Option<io::Result<u64>>;
}

/// The input of a stream.
pub(super) struct Feed<'a, S: Raw, O: Element> {
    divided: &'a dyn Divided<S, O>,
    placement: Placement,
    input: Input<'a>,
    /// Approximate number of outputs of a part.
    size: usize,
    /// Number of outputs of the whole signal, when it is known.
    outputs: Option<usize>,
    /// The next output.
    next: usize,
    /// Samples that have been read and are needed again. They end where the input goes on.
    held: Vec<S>,
    /// Position of the first sample that is held.
    first_held: i64,
    /// Samples behind the end of a wrapped signal: those at its beginning.
    head: Vec<S>,
    /// How many of them have been used.
    head_used: usize,
    /// Length of a wrapped signal.
    wrapped: Option<usize>,
}

/// Bytes that are read.
pub(super) struct Input<'a> {
    source: &'a mut dyn Source,
    read: &'a AtomicU64,
}

impl<'a> Input<'a> {
    pub(super) fn new(source: &'a mut dyn Source, read: &'a AtomicU64) -> Self {
        Input { source, read }
    }

    /// Moves to another position, and returns it.
    pub(super) fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.source
            .seek(to)
            .unwrap_or(Err(io::ErrorKind::NotSeekable.into()))
            .map_err(|error| StreamCause::read(&error))
    }

    /// Returns the number of bytes from here to the end, or `None` if the source cannot seek.
    pub(super) fn len(&mut self) -> Result<Option<u64>> {
        let Some(here) = self.source.seek(SeekFrom::Current(0)) else { return Ok(None) };
        let here = here.map_err(|error| StreamCause::read(&error))?;
        let end = self.seek(SeekFrom::End(0))?;
        self.seek(SeekFrom::Start(here))?;
        Ok(Some(end.saturating_sub(here)))
    }

    /// Fills memory with elements. At first the input had `expected` bytes.
    pub(super) fn read_all<S: Raw>(&mut self, elements: &mut [S], width: usize, expected: u64) -> Result<()> {
        match self.read(elements, width)? {
            count if count < elements.len() => Err(StreamCause::Shortened { expected }),
            _ => Ok(()),
        }
    }

    /// Reads elements. Returns how many of them there are before the end of the input, a multiple of `width`.
    fn read<S: Raw>(&mut self, elements: &mut [S], width: usize) -> Result<usize> {
        let bytes = S::bytes_mut(elements);
        let mut filled = 0;
        while filled < bytes.len() {
            match self.source.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => {
                    filled += count;
                    self.read.fetch_add(count as u64, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StreamCause::read(&error)),
            }
        }
        let size = width * size_of::<S>();
        if !filled.is_multiple_of(size) {
            return Err(StreamCause::Incomplete { bytes: (filled % size) as u64, size: size as u64 });
        }
        let count = filled / size_of::<S>();
        S::swap_if_big_endian(&mut elements[..count]);
        Ok(count)
    }
}

impl<'a, S: Raw, O: Element> Feed<'a, S, O> {
    pub(super) fn new(divided: &'a dyn Divided<S, O>, input: Input<'a>, size: usize) -> Self {
        Feed {
            divided,
            placement: divided.placement(),
            input,
            size: divided.placement().size(size),
            outputs: None,
            next: 0,
            held: Vec::new(),
            first_held: 0,
            head: Vec::new(),
            head_used: 0,
            wrapped: None,
        }
    }

    /// Prepares for a wrapped signal of `bytes` bytes, which the input has before its end: reads the samples that come before its
    /// beginning.
    pub(super) fn wrap(&mut self, bytes: u64) -> Result<()> {
        let (width, placement) = (self.width(), self.placement);
        let per_place = width * size_of::<S>();
        let samples = places(bytes, per_place)?;
        let outputs = self.divided.outputs(samples)?;
        if !placement.is_divided(outputs, samples, self.size) {
            return Ok(());
        }
        let before = (-placement.part(0..self.size, None).samples.start) as usize;
        let behind = placement.part(outputs - 1..outputs, None).samples.end - samples as i64;
        self.held = allocation::filled(S::default(), before * width)?;
        self.head = allocation::filled(S::default(), behind.max(0) as usize * width)?;
        let here = self.input.seek(SeekFrom::Current(0))?;
        self.input.seek(SeekFrom::Start(here + bytes - (before * per_place) as u64))?;
        self.input.read_all(&mut self.held, width, bytes)?;
        self.input.seek(SeekFrom::Start(here))?;
        (self.first_held, self.outputs, self.wrapped) = (-(before as i64), Some(outputs), Some(samples));
        Ok(())
    }

    fn width(&self) -> usize {
        self.divided.widths()[0]
    }

    /// Returns the next part, whose samples are read to memory that `free` returns; `None` after the last part, or if the stream ends
    /// early.
    pub(super) fn next(&mut self, free: &mut dyn FnMut() -> Option<Pinned<S>>) -> Result<Option<Job<'static, S, O>>> {
        if self.outputs == Some(self.next) {
            return Ok(None);
        }
        let Some(mut memory) = free() else { return Ok(None) };
        let count = self.fill(&mut memory)?;
        let part = match self.outputs {
            Some(outputs) if outputs - self.next < self.size + self.placement.least() => self.last(outputs, count),
            _ => self.placement.part(self.next..self.next + self.size, None),
        };
        if part.outputs.is_empty() {
            return Ok(None);
        }
        self.next = part.outputs.end;
        if self.outputs != Some(self.next) {
            self.hold(&memory[..count * self.width()])?;
        }
        Ok(Some(Job { part, samples: Samples::Staged(memory), outputs: Outputs::Staged }))
    }

    /// Returns the last part of this number of outputs, whose memory has `count` samples.
    fn last(&self, outputs: usize, count: usize) -> Part {
        match self.next {
            0 if self.wrapped.is_none() => self.placement.whole(outputs, count),
            next if self.wrapped.is_some() => self.placement.part(next..outputs, None),
            next => self.placement.part(next..outputs, Some((self.first_held + count as i64) as usize)),
        }
    }

    /// Fills memory with the samples that are held and those that follow. Returns the number of samples. If the input ends, the number
    /// of outputs is known then.
    fn fill(&mut self, memory: &mut [S]) -> Result<usize> {
        let (width, held) = (self.width(), self.held.len());
        // So many that the outputs behind this part are enough for another one, if the signal goes on.
        let outputs = self.next..self.next + self.size + self.placement.least();
        let wanted = (self.placement.part(outputs, None).samples.end - self.first_held) as usize * width;
        memory[..held].copy_from_slice(&self.held);
        let read = match self.wrapped {
            Some(samples) => self.read_wrapped(samples, &mut memory[held..wanted])?,
            // Behind its end, an input may go on: a terminal, or a file that grows.
            None if self.outputs.is_some() => 0,
            None => self.input.read(&mut memory[held..wanted], width)?,
        };
        let count = (held + read) / width;
        if held + read < wanted && self.wrapped.is_none() && self.outputs.is_none() {
            self.outputs = Some(self.divided.outputs((self.first_held + count as i64) as usize)?);
        }
        Ok(count)
    }

    /// Reads samples of a wrapped signal, as far as windows reach.
    fn read_wrapped(&mut self, samples: usize, memory: &mut [S]) -> Result<usize> {
        let width = self.width();
        let position = self.first_held + (self.held.len() / width) as i64;
        let left = (samples as i64 - position).max(0) as usize * width;
        let inside = memory.len().min(left);
        self.input.read_all(&mut memory[..inside], width, (samples * width * size_of::<S>()) as u64)?;
        if position == 0 {
            let head = self.head.len();
            self.head.copy_from_slice(&memory[..head]);
        }
        let behind = (memory.len() - inside).min(self.head.len() - self.head_used);
        memory[inside..inside + behind].copy_from_slice(&self.head[self.head_used..][..behind]);
        self.head_used += behind;
        Ok(inside + behind)
    }

    /// Keeps those of the samples in memory that the next part needs.
    fn hold(&mut self, memory: &[S]) -> Result<()> {
        let next = self.placement.part(self.next..self.next + self.size, None).samples.start.max(self.first_held);
        let skipped = (next - self.first_held) as usize * self.width();
        self.held.clear();
        allocation::append(&mut self.held, &memory[skipped.min(memory.len())..])?;
        self.first_held = next;
        Ok(())
    }
}

/// Returns the number of places of `size` bytes in this number of bytes.
pub(super) fn places(bytes: u64, size: usize) -> Result<usize> {
    match bytes % size as u64 {
        // A signal of more places is larger than any file.
        0 => Ok(usize::try_from(bytes / size as u64).unwrap_or(usize::MAX)),
        rest => Err(StreamCause::Incomplete { bytes: rest, size: size as u64 }),
    }
}

/// Returns whether a signal continues with its other end.
pub(super) fn is_wrapped(placement: &Placement) -> bool {
    placement.border == Border::Wrap && placement.span > 0
}
