//! The calls by which threads come to a barrier.
//!
//! A helper or a macro that has a barrier gives it one line, whoever calls it. So the first thread that comes to it by some
//! calls is unwound, which tells their return addresses and where on the stack they are. For later threads at the same
//! depth it is enough to compare these words: equal ones are the same calls. Compilers copy calls, so different return
//! addresses mean little; they are two places only if debugging information gives them different lines.

// Return addresses are read from the stack.
#![allow(unsafe_code)]

use crate::fibres::STACK_BYTES;
use crate::site::Line;
use std::collections::HashMap;
use std::ffi::c_void;
use std::panic::Location;
use std::ptr;

/// The most bytes of calls that are read from the stack: fewer than there are on the thread's own, whose first frame is near
/// its end. A kernel may have stacks of its own, whose distances from each other mean nothing.
const MAX_BYTES: usize = STACK_BYTES / 2;

/// A call on the way to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    /// How far below the thread's first frame the return address is.
    depth: usize,
    /// The return address.
    address: usize,
}

/// The calls from a barrier outwards.
#[derive(Debug)]
struct Path {
    at: &'static Location<'static>,
    calls: Vec<Call>,
    /// The calls are where `depth` says: so on x86-64.
    is_exact: bool,
}

/// The lines of two different ways to a barrier, from inside outwards.
pub(crate) type Lines = [Vec<Line>; 2];

/// All paths of a launch so far, numbered.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    paths: Vec<Path>,
    /// What is known of pairs.
    compared: HashMap<[u32; 2], Option<Lines>>,
}

impl Paths {
    /// The number of the calls between here and `top`, an address in the first frame of the running thread, by which it has
    /// come to the barrier `at`.
    #[inline(never)]
    pub(crate) fn number(&mut self, at: &'static Location<'static>, top: usize) -> u32 {
        let here = 0u8;
        let bottom = &raw const here as usize;
        let is_own = bottom < top && top - bottom <= MAX_BYTES;
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

    /// The lines of two paths to a barrier, if they are known to be different.
    pub(crate) fn different(&mut self, first: u32, second: u32) -> Option<&Lines> {
        let paths = &self.paths;
        let compare = || lines_of_two(&paths[first as usize], &paths[second as usize]);
        self.compared.entry([first, second]).or_insert_with(compare).as_ref()
    }
}

impl Path {
    /// Whether these are the calls of the running thread, whose frames are between `bottom` and `top`, on its own stack.
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
    let (mut calls, mut is_exact) = (Vec::new(), cfg!(target_arch = "x86_64") && is_own);
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

/// The lines of two paths that part, from the barrier to where they do, if all of them are known and they are not the same.
fn lines_of_two(first: &Path, second: &Path) -> Option<Lines> {
    let outer = first.calls.iter().rev().zip(second.calls.iter().rev());
    let common = outer.take_while(|(first, second)| first.address == second.address).count();
    let lines = |path: &Path| lines(path.at, &path.calls[..path.calls.len() - common]);
    let both = [lines(first)?, lines(second)?];
    (both[0] != both[1]).then_some(both)
}

/// The lines of calls, from the barrier's own outwards; in a macro, whose lines are not the barrier's, from the innermost one
/// that is known. What is inside of that is `cuda_std` and the emulator.
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

/// The lines that debugging information gives a return address: several if functions were inlined.
fn lines_of(address: usize) -> Vec<Option<Line>> {
    let mut lines = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let place = symbol.filename().zip(symbol.lineno());
        let column = symbol.colno().unwrap_or(0);
        lines.push(place.map(|(file, line)| Line { file: file.display().to_string(), line, column }));
    });
    lines
}
