//! Register limits of kernels.
//!
//! rustc cannot write the directives of an entry point. `cuda_std::kernel!` stores the limit of entry point `f` in a
//! constant `f_registers`. It becomes the directive `.maxnreg` after the parameters.

use std::collections::{HashMap, HashSet};

/// Text before the name of a constant of one byte in PTX, and text after the name of the entry point.
const CONSTANT: &str = ".visible .global .align 1 .b8 ";
const SUFFIX: &str = "_registers[1] = {";

/// Returns `ptx` with each limit in its entry point instead of in a constant. Constants with other names are unchanged.
pub(crate) fn limit(ptx: &str) -> String {
    let entries: HashSet<&str> = ptx.lines().filter_map(entry).collect();
    let limits = ptx.lines().filter_map(constant).filter(|(entry, _)| entries.contains(entry));
    let limits: HashMap<&str, &str> = limits.collect();
    let (mut text, mut pending) = (String::with_capacity(ptx.len()), None);
    for line in ptx.lines() {
        if constant(line).is_some_and(|(entry, _)| limits.contains_key(entry)) {
            continue;
        }
        if let Some(limit) = entry(line).and_then(|entry| limits.get(entry)) {
            pending = Some(limit);
        }
        if line == "{"
            && let Some(limit) = pending.take()
        {
            text.push_str(&format!(".maxnreg {limit}\n"));
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns the name of the entry point that the line begins.
fn entry(line: &str) -> Option<&str> {
    line.strip_prefix(".visible .entry ")?.split_once('(').map(|(name, _)| name)
}

/// Returns the entry point and its limit if the line is such a constant.
fn constant(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix(CONSTANT)?.strip_suffix("};")?.split_once(SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::{CONSTANT, limit};

    const ENTRIES: &str = "\
.visible .entry work(
\t.param .align 8 .b8 work_param_0[8]
)
{
\tret;
}

.visible .entry work_registers()
{
\tret;
}
";

    #[test]
    fn a_limit_is_in_its_entry_point() {
        let ptx = format!("{CONSTANT}work_registers[1] = {{32}};\n{ENTRIES}");
        assert_eq!(limit(&ptx), ENTRIES.replacen("{", ".maxnreg 32\n{", 1));
    }

    #[test]
    fn what_limits_no_entry_point_stays() {
        for line in ["other_registers[1] = {32};", "work[1] = {32};", "work_registers[2] = {32, 1};"] {
            let ptx = format!("{CONSTANT}{line}\n{ENTRIES}");
            assert_eq!(limit(&ptx), ptx);
        }
    }
}
