//! Which tests run. A filter may have several parts, so that a program that runs some tests starts once: under a sanitizer that takes most
//! of the time.

use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeSet;

/// Panics if two trials have the same name, or if a name has a comma, because none of them could be selected alone then.
pub fn check_names(trials: &[Trial]) {
    let mut names = BTreeSet::new();
    for trial in trials {
        assert!(names.insert(trial.name()), "two tests have the name {}", trial.name());
        assert!(!trial.name().contains(','), "the name of a test has a comma: {}", trial.name());
    }
}

/// Removes the trials that no part of the filter selects, if commas separate several parts. Then there is no filter any more.
pub fn select(arguments: &mut Arguments, trials: &mut Vec<Trial>) {
    if let Some(filter) = arguments.filter.take_if(|filter| filter.contains(',')) {
        let is_exact = arguments.exact;
        let has = |name: &str, part: &str| if is_exact { name == part } else { name.contains(part) };
        trials.retain(|trial| filter.split(',').any(|part| has(trial.name(), part)));
    }
}
