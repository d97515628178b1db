//! Whether arguments reach nothing but what a launch has borrowed.

use super::Windows;
use crate::device::Engine;
use crate::{Error, Result};
use cuda_std::host::Window;
use cuda_std::{Argument, Entry};

impl Windows<'_> {
    /// An error unless every window in `args` and `constants` is, or is part of one that has been handed out here, for
    /// the device that `is_device` knows. Then the memory behind each of them belongs to that device and is borrowed as
    /// long as this lives: exclusively, if the kernel can write it.
    pub(crate) fn check<E: Entry>(
        &self,
        is_device: impl FnOnce(&Engine) -> bool,
        args: &E::Args,
        constants: &E::Constants,
    ) -> Result<()> {
        let handed_out = self.for_device(is_device(self.device.engine()))?;
        let mut foreign = None;
        let mut visit = |argument, window: Window| {
            if foreign.is_none() && !is_within(&window, handed_out) {
                foreign = Some(argument);
            }
        };
        args.windows("args", &mut visit);
        constants.windows("constants", &mut visit);
        match foreign {
            Some(argument) => Err(Error::ForeignWindow { kernel: E::NAME, argument }),
            None => Ok(()),
        }
    }

    /// What has been handed out, if the launch is for the same device, or the error that there has been. Two launches under
    /// way at once could have exchanged theirs.
    fn for_device(&self, is_device: bool) -> Result<&[Window]> {
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(if is_device { &self.handed_out } else { &[] }),
        }
    }
}

/// Whether a window has nothing in it that is not in one of the others.
fn is_within(window: &Window, others: &[Window]) -> bool {
    window.bytes == 0 || others.iter().any(|whole| whole.contains(window))
}
