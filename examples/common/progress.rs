//! Where a long run is, on stderr.

use super::program::say;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// Time between two lines, if stderr is not a terminal.
const INTERVAL: Duration = Duration::from_secs(10);

/// Where a run of generations is: a bar in a terminal, otherwise a line now and then.
pub(crate) struct Progress {
    bar: ProgressBar,
    end: u64,
    /// When the last line was written, or when the run began.
    last: Instant,
}

impl Progress {
    /// Returns the progress of a run that ends with a generation. A run that is watched has no bar.
    pub(crate) fn new(end: u64, is_watched: bool) -> Self {
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len}").expect("the template is right");
        // It is also invisible if stderr is not a terminal.
        let bar = if is_watched { ProgressBar::hidden() } else { ProgressBar::new(end) };
        Progress { bar: bar.with_style(style), end, last: Instant::now() }
    }

    /// Shows the current generation if that is due.
    pub(crate) fn show(&mut self, generation: u64) {
        self.bar.set_position(generation);
        if self.bar.is_hidden() && self.last.elapsed() >= INTERVAL {
            self.last = Instant::now();
            say(format!("generation {generation} of {}", self.end));
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
