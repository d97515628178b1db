//! Line directives of PTX, which give the source lines of instructions.
//!
//! Every module is compiled with source lines, because the search for copied warp operations needs them
//! ([`convergence`](crate::convergence)). Committed modules do not have them: they contain paths, and change with every line
//! that is added above a kernel.

/// Returns `ptx` without source lines and their labels.
pub(crate) fn remove(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines().filter(|line| !is_directive(line)) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn is_directive(line: &str) -> bool {
    let directives =
        ["\t.loc\t", "\t.file\t", "\t.section\t.debug_macinfo", "$L__tmp", "$L__func_begin", "$L__func_end"];
    directives.iter().any(|directive| line.starts_with(directive))
}

#[cfg(test)]
mod tests {
    use super::remove;

    #[test]
    fn instructions_and_labels_of_blocks_stay() {
        let ptx = "{\n$L__func_begin0:\n\t.loc\t1 2 3\n\tmov.u32 \t%r1, %tid.x;\n$L__tmp0:\n$L__BB0_1:\n\tret;\n\
                   $L__func_end0:\n}\n\t.file\t1 \"/src/lib.rs\"\n\t.section\t.debug_macinfo\t{\t}\n";
        assert_eq!(remove(ptx), "{\n\tmov.u32 \t%r1, %tid.x;\n$L__BB0_1:\n\tret;\n}\n");
    }
}
