//! Assembles the text of both architectures and looks at the symbols.

use std::collections::BTreeMap;
use std::io::{Error, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs, process};

use super::*;

const X86_64: &str = for_each_function!(text_x86_64);
const AARCH64: &str = for_each_function!(text_aarch64);

#[test]
fn x86_64_defines_hidden_functions() {
    check_symbols("x86_64", &["x86_64-linux-gnu-as"], X86_64);
}

#[test]
fn aarch64_defines_hidden_functions() {
    check_symbols("aarch64", &["aarch64-linux-gnu-as"], AARCH64);
}

/// LLVM's assembler is the one that the compiler uses.
#[test]
fn llvm_assembles_aarch64() {
    let command = ["llvm-mc", "--triple=aarch64-linux-gnu", "--filetype=obj"];
    check_symbols("aarch64_llvm", &command, AARCH64);
}

fn check_symbols(name: &str, assembler: &[&str], text: &str) {
    for program in [assembler[0], "readelf"] {
        if Command::new(program).arg("--version").output().is_err() {
            println!("skipped: there is no {program}");
            return;
        }
    }
    let object = env::temp_dir().join(format!("cuda_driver_{name}_{}.o", process::id()));
    assemble(assembler, text, &object).expect("the text assembles");
    let symbols = symbols(&object);
    fs::remove_file(&object).expect("the object file was written");
    for name in FUNCTIONS.iter().chain(&["slm_cuda_driver_table"]) {
        assert_eq!(symbols.get(*name).map(String::as_str), Some("HIDDEN"), "{name}");
    }
    assert_eq!(symbols.len(), FUNCTIONS.len() + 1);
}

fn assemble(assembler: &[&str], text: &str, object: &PathBuf) -> Result<(), Error> {
    let text = text.replace("{not_initialized}", "not_initialized").replace("{load_and_init}", "load_and_init");
    let mut command = Command::new(assembler[0]);
    command.args(&assembler[1..]).arg("-o").arg(object).arg("-");
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    child.stdin.take().expect("a pipe was asked for").write_all(text.as_bytes())?;
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(Error::other(format!("{command:?}: {status}"))) }
}

/// The visibility of every global symbol that the object file defines.
fn symbols(object: &PathBuf) -> BTreeMap<String, String> {
    let output = Command::new("readelf").arg("-sW").arg(object).output().expect("readelf runs");
    let text = String::from_utf8(output.stdout).expect("names are ASCII");
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter_map(|row| match row[..] {
        [_, _, _, _, "GLOBAL", visibility, section, name] if section != "UND" => {
            Some((name.to_owned(), visibility.to_owned()))
        }
        _ => None,
    })
    .collect()
}
