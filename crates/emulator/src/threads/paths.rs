//! The calls by which threads reach a barrier or a warp operation.
//!
//! A barrier or warp operation in a helper or macro has one line for all callers. So the stack of the first thread with some
//! calls is unwound, which yields the return addresses and their positions on the stack. For later threads at the same depth it
//! is enough to compare these words: equal words are the same calls. Compilers copy calls, so different return addresses alone
//! mean little. They count as two places only if debugging information has different lines for them.

// Return addresses are read from the stack.
#![allow(unsafe_code)]

use super::hosting::STACK_BYTES;
use crate::report::{Line, Threads};
use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::panic::Location;
use std::ptr;

/// Maximum number of bytes of the stack that are searched for calls: fewer than the thread's own stack has, whose first
/// frame is near its end. A kernel may have stacks of its own, and distances between stacks mean nothing.
const MOST_BYTES: usize = STACK_BYTES / 2;

/// Whether it is cheap to number a path that is known already: without an unwinding.
pub(crate) const PATHS_ARE_FAST: bool = cfg!(target_arch = "x86_64");

/// A call on the way to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    /// Distance of the return address below the thread's first frame.
    depth: usize,
    /// Return address.
    address: usize,
}

/// Calls from a barrier outwards.
#[derive(Debug)]
struct Path {
    at: &'static Location<'static>,
    calls: Vec<Call>,
    /// Whether the return addresses are where `depth` says, as on x86-64.
    is_exact: bool,
}

/// Lines of two different paths to a barrier, from the inside outwards.
type Lines = [Vec<Line>; 2];

/// Threads that have met at one line, by different paths.
#[derive(Debug)]
pub(crate) struct TwoPlaces {
    /// The calls of the first thread, and the threads with these calls.
    pub(crate) calls: Vec<Line>,
    pub(crate) threads: Threads,
    /// The calls of another thread, and the threads with other calls.
    pub(crate) other_calls: Vec<Line>,
    pub(crate) others: Threads,
}

/// All paths of a launch so far, numbered.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    paths: Vec<Path>,
    /// Results of earlier comparisons.
    compared: HashMap<[u32; 2], Option<Lines>>,
}

impl Paths {
    /// Returns the number of the running thread's path to the barrier `at`:
    /// the calls between here and `top`, an address in its first frame.
    #[inline(never)]
    pub(crate) fn number(&mut self, at: &'static Location<'static>, top: usize) -> u32 {
        let here = 0u8;
        let bottom = &raw const here as usize;
        let is_own = bottom < top && top - bottom <= MOST_BYTES;
        let is_here = |path: &Path| is_own && ptr::eq(path.at, at) && path.is_here(bottom, top);
        match self.paths.iter().position(is_here) {
            Some(number) => number as u32,
            None => self.add(unwind(at, bottom, top, is_own)),
        }
    }

    #[cold]
    fn add(&mut self, path: Path) -> u32 {
        let same = |other: &Path| ptr::eq(other.at, path.at) && other.calls == path.calls;
        let number = self.paths.iter().position(same).unwrap_or(self.paths.len());
        if number == self.paths.len() {
            self.paths.push(path);
        }
        number as u32
    }

    /// Returns how threads that have met came from two places, if they did. Each has the number of its path.
    pub(crate) fn two_places(&mut self, met: impl Iterator<Item = (u32, u32)> + Clone) -> Option<TwoPlaces> {
        let (_, first) = met.clone().next()?;
        let others: BTreeSet<u32> = met.clone().map(|(_, path)| path).filter(|path| *path != first).collect();
        let [calls, other_calls] = others.into_iter().find_map(|other| self.different(first, other).cloned())?;
        let (mut same, mut differ) = (Vec::new(), Vec::new());
        for (thread, path) in met {
            let is_same = path == first || self.different(first, path).is_none();
            if is_same { same.push(thread) } else { differ.push(thread) }
        }
        let [threads, others] = [same, differ].map(|mut threads: Vec<u32>| {
            threads.sort_unstable();
            Threads::new(threads)
        });
        Some(TwoPlaces { calls, threads, other_calls, others })
    }

    /// Returns the lines of two paths to a barrier, if they are known to differ.
    fn different(&mut self, first: u32, second: u32) -> Option<&Lines> {
        let paths = &self.paths;
        let compare = || lines_of_two(&paths[first as usize], &paths[second as usize]);
        self.compared.entry([first, second]).or_insert_with(compare).as_ref()
    }
}

impl Path {
    /// Returns whether the running thread, whose frames are between `bottom` and `top` on its own stack, has these calls.
    fn is_here(&self, bottom: usize, top: usize) -> bool {
        self.is_exact
            && self.calls.iter().all(|call| {
                let place = top.wrapping_sub(call.depth);
                // SAFETY: the word is on the running thread's stack, between the running frame and the first one (`is_own`).
                place > bottom && unsafe { (place as *const usize).read_unaligned() } == call.address
            })
    }
}

fn unwind(at: &'static Location<'static>, bottom: usize, top: usize, is_own: bool) -> Path {
    let (mut calls, mut is_exact) = (Vec::new(), PATHS_ARE_FAST && is_own);
    let mut visit = |frame: &backtrace::Frame| {
        let (place, address) = ((frame.sp() as usize).wrapping_sub(size_of::<usize>()), frame.ip() as usize);
        if place >= top {
            return false;
        }
        if place > bottom {
            // SAFETY: the word is on the running thread's stack, between the running frame and the first one (`is_own`).
            is_exact = is_exact && unsafe { (place as *const usize).read_unaligned() } == address;
            calls.push(Call { depth: top - place, address });
        }
        true
    };
    backtrace::trace(&mut visit);
    Path { at, calls, is_exact }
}

/// Returns the lines of two paths, from the barrier to the point where they differ, if all lines are known and not the same.
fn lines_of_two(first: &Path, second: &Path) -> Option<Lines> {
    let outer = first.calls.iter().rev().zip(second.calls.iter().rev());
    let common = outer.take_while(|(first, second)| first.address == second.address).count();
    let lines = |path: &Path| lines(path.at, &path.calls[..path.calls.len() - common]);
    let both = [lines(first)?, lines(second)?];
    (both[0] != both[1]).then_some(both)
}

/// Returns the lines of calls, from the barrier's own outwards; in a macro, whose lines are not the barrier's, from the
/// innermost known one. The calls inside of that are `cuda_std` and the emulator.
fn lines(at: &Location<'_>, calls: &[Call]) -> Option<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    for call in calls {
        let inlined = lines_of(call.address);
        let is_known = !inlined.is_empty() && inlined.iter().all(Option::is_some);
        if !lines.is_empty() && !is_known {
            return None;
        }
        lines.extend(inlined.into_iter().flatten());
    }
    let is_barrier = |line: &Line| line.line == at.line() && line.file.ends_with(at.file());
    lines.drain(..lines.iter().position(is_barrier).unwrap_or(0));
    (!lines.is_empty()).then_some(lines)
}

/// Returns the lines that debugging information has for a return address: several if functions were inlined.
fn lines_of(address: usize) -> Vec<Option<Line>> {
    let mut lines = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let place = symbol.filename().zip(symbol.lineno());
        let column = symbol.colno().unwrap_or(0);
        lines.push(place.map(|(file, line)| Line { file: file.display().to_string(), line, column }));
    });
    lines
}
