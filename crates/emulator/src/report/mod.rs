//! What a launch reports: findings, and counts by line.
//!
//! * `launch_report`: the report and its table; `counts`: the numbers in it
//! * `finding`: a fault of a kernel, and the list that has each fault once; `problem`: the kinds of faults, and their texts
//! * `details`: what a finding names: places, other accesses, splits, progress; `threads`: sets of threads
//! * `site`: lines, the kinds of access, and the numbers that stand for both while a launch runs

mod counts;
mod details;
mod finding;
mod launch_report;
mod problem;
mod site;
mod threads;

pub use counts::Counts;
pub use details::{Absence, BlockStates, Other, Place, Split};
pub use finding::Finding;
pub(crate) use finding::Findings;
pub use launch_report::{Report, SiteCounts};
pub use problem::Problem;
pub use site::{Action, Line};
pub(crate) use site::{Site, Sites};
pub use threads::Threads;
