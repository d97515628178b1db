//! The global memory that a launch may access: what the windows in its arguments contain.

use cuda_std::host::{Access, Space, Window, WindowKind};

/// The windows in the arguments of a launch.
#[derive(Debug)]
pub(crate) struct Reach {
    windows: Vec<Window>,
    /// The window of the last access, which most likely contains the next one.
    last: usize,
}

impl Reach {
    /// Returns the reach of a kernel with these windows in its arguments.
    pub(crate) fn new(windows: &[(&'static str, Window)]) -> Self {
        let windows = windows.iter().map(|(_, window)| *window).filter(|window| window.bytes > 0).collect();
        Reach { windows, last: 0 }
    }

    /// Returns whether one of the windows contains the access, which is in the range of its own window.
    #[inline]
    pub(crate) fn contains(&mut self, access: &Access) -> bool {
        self.windows.get(self.last).is_some_and(|window| allows(window, access)) || self.find(access)
    }

    fn find(&mut self, access: &Access) -> bool {
        let found = self.windows.iter().position(|window| allows(window, access));
        self.last = found.unwrap_or(self.last);
        found.is_some()
    }
}

#[inline]
fn allows(window: &Window, access: &Access) -> bool {
    let is_of_kind = (window.kind == WindowKind::In) == (access.space == Space::GlobalConstant);
    let bytes = u64::from(access.elements) * u64::from(access.element_bytes);
    // A place before the window is a large number here.
    let first = access.address().wrapping_sub(window.address);
    is_of_kind && bytes <= window.bytes && first <= window.bytes - bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    /// Returns an access to four elements of four bytes from this address on.
    fn access(space: Space, address: u64) -> Access {
        Access { space, base: address, index: 0, len: 4, elements: 4, element_bytes: 4, at: Location::caller() }
    }

    #[test]
    fn accesses_lie_inside_one_window_of_their_kind() {
        let window = |kind, address, bytes| ("", Window { kind, address, bytes, element_bytes: 4 });
        let windows = [
            window(WindowKind::In, 1000, 32),
            window(WindowKind::Out, 1032, 32),
            window(WindowKind::InOut, 2000, 16),
            window(WindowKind::In, 3000, 0),
        ];
        let mut reach = Reach::new(&windows);
        let mut first_to_last =
            |space, addresses: [u64; 4]| addresses.map(|address| reach.contains(&access(space, address)));
        assert_eq!(first_to_last(Space::GlobalConstant, [999, 1000, 1016, 1017]), [false, true, true, false]);
        assert_eq!(first_to_last(Space::Global, [1031, 1032, 1048, 1049]), [false, true, true, false]);
        assert_eq!(first_to_last(Space::Global, [1000, 1999, 2000, 2001]), [false, false, true, false]);
        assert_eq!(first_to_last(Space::GlobalConstant, [1032, 2000, 3000, u64::MAX]), [false; 4]);
        assert!(!Reach::new(&[]).contains(&access(Space::Global, 0)));
    }
}
