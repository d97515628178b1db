//! Register limits of kernels.
//!
//! rustc cannot write the directives of an entry point. `cuda_std::kernel!` stores the limit of entry point `f` in a
//! constant `f_registers`. It becomes the directive `.maxnreg` after the parameters.

/// Text before the name of a constant of one byte in PTX, and text after the name of the entry point.
const CONSTANT: &str = ".visible .global .align 1 .b8 ";
const SUFFIX: &str = "_registers[1] = {";

/// Returns `ptx` with each limit in its entry point instead of in a constant. Constants with other names are unchanged.
pub(crate) fn limit(ptx: &str) -> String {
    let limits: Vec<_> = ptx.lines().filter_map(constant).filter(|(entry, _)| ptx.contains(&head(entry))).collect();
    let (mut text, mut pending) = (String::with_capacity(ptx.len()), None);
    for line in ptx.lines() {
        if constant(line).is_some_and(|found| limits.contains(&found)) {
            continue;
        }
        if let Some((_, limit)) = limits.iter().find(|(entry, _)| line.starts_with(&head(entry))) {
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

/// Returns the beginning of the entry point with the given name.
fn head(entry: &str) -> String {
    format!(".visible .entry {entry}(")
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
