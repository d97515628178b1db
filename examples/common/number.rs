//! Numbers in messages and labels.

use std::fmt;

/// A number that is shown in few characters: with an exponent if it is very small or very large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short(pub(crate) f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_moderate = self.0 == 0.0 || (1e-5..1e16).contains(&self.0.abs());
        if is_moderate { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
    }
}
