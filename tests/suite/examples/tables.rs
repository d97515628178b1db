//! Runs the example `04_banks`: its tables and its chart.

use super::{fails, name, of_example, succeeds};
use crate::common::{Folder, ensure, is_cuda, is_emulated, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::Device;
use std::fs;
use std::process::Command;

const EXAMPLE: &str = "04_banks";

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::tables", "tables_and_chart", tables_and_chart));
    trials.push(Trial::test("examples::tables::sixteen_banks", sixteen_banks));
    trials.push(Trial::test("examples::tables::bad_arguments", bad_arguments));
    of_example(EXAMPLE, trials)
}

fn banks(arguments: &[&str]) -> Command {
    let mut command = super::command(EXAMPLE);
    command.args(arguments);
    command
}

/// The lines of the table of strides.
fn strides(said: &str) -> Vec<Vec<&str>> {
    let lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.filter(|words| words.first().is_some_and(|word| word.parse::<u32>().is_ok()) && words.len() == 6).collect()
}

fn tables_and_chart(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let svg = folder.path("banks.svg");
    let said = succeeds(banks(&["--device", &name(device), "--iterations", "50", "--svg"]).arg(&svg))?;
    let measures = is_cuda(device) || is_emulated(device);
    for named in ["g ", "g + 1 ", "N - 1 - g ", "g & !1 ", "g * 2 ", "g * 16 ", "g * 17 "] {
        ensure(said.lines().any(|line| line.trim_start().starts_with(named)), || format!("no {named}in: {said}"))?;
    }
    let rows = strides(&said);
    ensure(rows.len() == 64, || format!("{} strides in: {said}", rows.len()))?;
    ensure(rows.iter().all(|row| (row[2] == "-" && row[5] == "-") != measures), || said.clone())?;
    ensure(said.contains("nothing is measured") != measures, || said.clone())?;
    ensure(said.contains("\n50 times s[stride * lane] += i * 3") == measures, || said.clone())?;
    let svg = fs::read_to_string(svg)?;
    // The background, and a bar for each stride with and without padding.
    let (bars, circles) = (svg.matches("<rect ").count(), svg.matches("<circle ").count());
    ensure(svg.starts_with("<svg ") && bars == 1 + 2 * 64, || format!("{bars} bars"))?;
    ensure(circles == if measures { 2 * 64 } else { 0 }, || format!("{circles} circles"))?;
    folder.holds(&["banks.svg"])
}

/// With 16 banks the strides 16 and 32 are equally bad, and what is counted is what was predicted. The device is that of the
/// environment.
fn sixteen_banks() -> Result<(), Failed> {
    let said = succeeds(banks(&["--iterations", "10"]).env("SLM_DEVICE", "emulated:small"))?;
    let row = |stride: usize| strides(&said)[stride - 1].clone();
    ensure(row(16) == ["16", "16", "16.00", "17", "1", "1.00"], || said.clone())?;
    ensure(row(32) == ["32", "16", "16.00", "33", "1", "1.00"], || said.clone())?;
    ensure(said.contains("stride 16:  64.00 passes each; padded to 17:   4.00"), || said.clone())
}

fn bad_arguments() -> Result<(), Failed> {
    fails(&mut banks(&["--device", "gpu"]), 1, &["no device is called 'gpu'"])?;
    fails(&mut banks(&["--iterations", "-1"]), 2, &["unexpected argument"])?;
    let folder = Folder::new()?;
    let nowhere = folder.path("nowhere").join("banks.svg");
    fails(banks(&["--device", "cpu", "--svg"]).arg(nowhere), 1, &["banks.svg: "])
}
