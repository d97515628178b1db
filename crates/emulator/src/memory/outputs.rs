//! Outputs that a launch leaves unwritten.

use super::global::Allocations;
use super::region::Region;
use crate::launch::{Launch, LaunchError};
use cuda_std::host::{Window, WindowKind};
use std::collections::HashMap;

/// A window whose elements must all be written.
#[derive(Debug)]
struct Output {
    /// Field of the arguments.
    field: &'static str,
    window: Window,
    /// Whether this launch must write all elements. Otherwise they may have been written before.
    whole: bool,
}

/// Windows whose elements the kernel must all write.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    windows: Vec<Output>,
    /// By address, the last masked store that left out an element of a window that this launch must write whole.
    left_out: HashMap<u64, u16>,
}

/// Unwritten elements of a window.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unwritten {
    pub(crate) window: &'static str,
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) len: u64,
    pub(crate) whole: bool,
    /// Site of the masked store that left out the first one.
    pub(crate) left_out: Option<u16>,
}

impl Output {
    /// Returns whether the check of this output includes the one of `other`.
    fn includes(&self, other: &Output) -> bool {
        self.whole >= other.whole && self.window.contains(&other.window)
    }
}

impl Outputs {
    /// Returns the outputs that the launch must write, among the windows in a kernel's arguments, which have the names of their
    /// fields. Returns an error if a field that it must write whole is not an output.
    pub(crate) fn among(mut windows: Vec<(&'static str, Window)>, launch: &Launch) -> Result<Self, LaunchError> {
        windows.retain(|(_, window)| window.kind != WindowKind::In);
        let is_missing = |field: &&&str| windows.iter().all(|(name, _)| name != *field);
        if let Some(field) = launch.whole_outputs.iter().find(is_missing) {
            return Err(LaunchError::NotAnOutput { field });
        }
        let output = |(field, window): (&'static str, Window)| {
            let whole = launch.whole_outputs.contains(&field);
            let must = whole || window.kind == WindowKind::Out && !launch.partial_outputs;
            must.then_some(Output { field, window, whole })
        };
        Ok(Outputs { windows: windows.into_iter().filter_map(output).collect(), left_out: HashMap::new() })
    }

    /// Begins a launch, and clears the record of elements that earlier launches left out.
    pub(crate) fn begin(&self, memory: &mut Allocations) {
        for Output { window, .. } in &self.windows {
            if let Some((region, first)) = memory.find_window(window) {
                region.forget_left_out(first, window.bytes as usize);
            }
        }
    }

    /// Records the `site` of a masked store that leaves out the element at `address`, if this launch must write it.
    pub(crate) fn leave_out(&mut self, address: u64, site: u16) {
        let is_inside = |window: &Window| address.wrapping_sub(window.address) < window.bytes;
        if self.windows.iter().any(|output| output.whole && is_inside(&output.window)) {
            self.left_out.insert(address, site);
        }
    }

    /// Returns the unwritten elements of each window, except windows that lie in an earlier one. `launch_first` is the first
    /// interval of the launch.
    pub(crate) fn unwritten(&self, memory: &mut Allocations, launch_first: u32) -> Vec<Unwritten> {
        let is_first = |k: usize, output: &Output| !self.windows[..k].iter().any(|before| before.includes(output));
        let windows = self.windows.iter().enumerate().filter(|(k, output)| is_first(*k, output));
        let unwritten = windows.filter_map(|(_, output)| {
            let (region, start) = memory.find_window(&output.window)?;
            match output.whole {
                true => self.unwritten_by_launch(output, region, start, launch_first),
                false => never_written(output, region, start),
            }
        });
        unwritten.collect()
    }

    /// Returns the elements of a window, which begins at byte `start` of the region, that the launch has not written.
    fn unwritten_by_launch(
        &self,
        output: &Output,
        region: &Region,
        start: usize,
        launch_first: u32,
    ) -> Option<Unwritten> {
        let is_written = |byte, size| region.shadow.is_written_since(launch_first, byte, size);
        let left_out = |byte, _| self.left_out.get(&(output.window.address + (byte - start) as u64)).copied();
        unwritten_of(output, start, is_written, left_out)
    }
}

/// Returns the elements of a window, which begins at byte `start` of the region, that nobody has written.
fn never_written(output: &Output, region: &Region, start: usize) -> Option<Unwritten> {
    if region.is_all_written(start, output.window.bytes as usize) {
        return None;
    }
    let is_written = |byte, size| region.is_written(byte, size);
    unwritten_of(output, start, is_written, |byte, size| region.left_out(byte, size))
}

/// Returns the elements of a window that are not written. The functions are called with the first byte of an element in the
/// region, and its size.
fn unwritten_of(
    output: &Output,
    start: usize,
    is_written: impl Fn(usize, u32) -> bool,
    left_out: impl Fn(usize, u32) -> Option<u16>,
) -> Option<Unwritten> {
    let Output { field, window, whole } = *output;
    let size = window.element_bytes;
    let len = window.bytes / u64::from(size);
    let byte = |element: u64| start + (element * u64::from(size)) as usize;
    let mut unwritten = (0..len).filter(|element| !is_written(byte(*element), size));
    let first = unwritten.next()?;
    let (count, left_out) = (1 + unwritten.count() as u64, left_out(byte(first), size));
    Some(Unwritten { window: field, first, count, len, whole, left_out })
}
