//! Outputs that a launch leaves unwritten.

use crate::memory::Memory;
use crate::region::Region;
use cuda_std::host::{Window, WindowKind};

/// Windows whose elements the kernel must all write.
#[derive(Debug, Default)]
pub(crate) struct Outputs(Vec<(&'static str, Window)>);

/// Unwritten elements of a window.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unwritten {
    pub(crate) window: &'static str,
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) len: u64,
    /// Site of the masked store that left out the first one.
    pub(crate) left_out: Option<u16>,
}

impl Outputs {
    /// Returns the outputs among the windows in a kernel's arguments, which have the names of their fields.
    pub(crate) fn among(mut windows: Vec<(&'static str, Window)>) -> Self {
        windows.retain(|(_, window)| window.kind == WindowKind::Out);
        Outputs(windows)
    }

    /// Begins a launch, and clears the record of elements that earlier launches left out.
    pub(crate) fn begin(&self, memory: &mut Memory) {
        for (_, window) in &self.0 {
            if let Some((region, first)) = memory.find_window(window) {
                region.forget_left_out(first, window.bytes as usize);
            }
        }
    }

    /// Returns the unwritten elements of each window, except windows that lie in an earlier one.
    pub(crate) fn unwritten(&self, memory: &mut Memory) -> Vec<Unwritten> {
        let is_first = |k: usize, window: &Window| !self.0[..k].iter().any(|(_, before)| before.contains(window));
        let windows = self.0.iter().enumerate().filter(|(k, (_, window))| is_first(*k, window));
        let unwritten = windows.filter_map(|(_, (name, window))| {
            let (region, first) = memory.find_window(window)?;
            unwritten_of(name, window, region, first)
        });
        unwritten.collect()
    }
}

/// Returns the unwritten elements of a window, which begins at byte `start` of the region.
fn unwritten_of(name: &'static str, window: &Window, region: &Region, start: usize) -> Option<Unwritten> {
    let size = window.element_bytes;
    let len = window.bytes / u64::from(size);
    if region.is_all_written(start, window.bytes as usize) {
        return None;
    }
    let is_unwritten = |element: &u64| !region.is_written(start + (element * u64::from(size)) as usize, size);
    let mut unwritten = (0..len).filter(is_unwritten);
    let first = unwritten.next()?;
    let left_out = region.left_out(start + (first * u64::from(size)) as usize, size);
    Some(Unwritten { window: name, first, count: 1 + unwritten.count() as u64, len, left_out })
}
