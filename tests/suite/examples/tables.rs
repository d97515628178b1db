//! Runs the example `04_banks`: checks its tables and its chart.

use super::svg::Svg;
use super::{begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds};
use crate::common::{Folder, ensure, equal, is_cuda, is_emulated, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::Device;
use std::fs;
use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = "04_banks";

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::tables", "tables_and_chart", tables_and_chart));
    trials.push(Trial::test("examples::tables::sixteen_banks", sixteen_banks));
    trials.push(Trial::test("examples::tables::the_chart_is_a_file", the_chart_is_a_file));
    trials.push(Trial::test("examples::tables::bad_arguments", bad_arguments));
    of_example(EXAMPLE, trials)
}

fn banks(arguments: &[&str]) -> Command {
    let mut command = super::command(EXAMPLE);
    command.args(arguments);
    command
}

/// Returns the lines of the table of strides.
fn strides(said: &str) -> Vec<Vec<&str>> {
    let lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.filter(|words| words.first().is_some_and(|word| word.parse::<u32>().is_ok()) && words.len() == 6).collect()
}

fn tables_and_chart(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let svg = folder.path("banks.svg");
    let said = succeeds(banks(&["--device", &name(device), "--iterations", "50", "--svg"]).arg(&svg))?;
    ensure(said.lines().next() == Some(&*device.to_string()), || said.clone())?;
    for named in ["g ", "g + 1 ", "N - 1 - g ", "g & !1 ", "g * 2 ", "g * 16 ", "g * 17 "] {
        ensure(said.lines().any(|line| line.trim_start().starts_with(named)), || format!("no {named}in: {said}"))?;
    }
    let rows = strides(&said);
    ensure(rows.len() == 64, || format!("{} strides in: {said}", rows.len()))?;
    ensure(rows.iter().all(|row| row[2] != "-" && row[5] != "-"), || said.clone())?;
    // For the CPU, an emulated device measures. Its numbers equal the predictions.
    let (is_cpu, exact) = (!is_cuda(device) && !is_emulated(device), !is_cuda(device));
    ensure(said.contains("\nThe CPU has no shared memory: emulated sm_90 (32 banks)") == is_cpu, || said.clone())?;
    let is_exact = |row: &Vec<&str>| row[2] == format!("{}.00", row[1]) && row[5] == "1.00";
    ensure(!exact || rows.iter().all(is_exact), || said.clone())?;
    ensure(said.contains("\n50 times s[stride * lane] += i * 3"), || said.clone())?;
    let svg = Svg::new(fs::read_to_string(svg)?)?;
    svg.says(&["degree", "stride between lanes, in words of 4 bytes", "predicted, without padding", "measured"])?;
    let bars = [1, 3].map(|color| svg.outlines(color).map(|outlines| outlines.len()));
    equal(bars.into_iter().collect::<Result<Vec<_>, _>>()?, vec![64; 2])?;
    // Each of the two panels has one more in its legend.
    equal(svg.circles(), 2 * 65)?;
    folder.holds(&["banks.svg"])
}

/// With 16 banks, the strides 16 and 32 are equally bad, and the counts equal the predictions. The environment selects the
/// device.
fn sixteen_banks() -> Result<(), Failed> {
    let said = succeeds(banks(&["--iterations", "10"]).env("SLM_DEVICE", "emulated:small"))?;
    let row = |stride: usize| strides(&said)[stride - 1].clone();
    ensure(row(16) == ["16", "16", "16.00", "17", "1", "1.00"], || said.clone())?;
    ensure(row(32) == ["32", "16", "16.00", "33", "1", "1.00"], || said.clone())?;
    ensure(said.contains("stride 16:  64.00 passes each; padded to 17:   4.00"), || said.clone())
}

fn the_chart_is_a_file() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let draw = |output: &Path| {
        let mut command = banks(&["--iterations", "1", "--log", "--svg"]);
        command.arg(output);
        command
    };
    // A GPU does not measure the same times twice.
    let draw_on_cpu = |output: &Path| {
        let mut command = draw(output);
        command.args(["--device", "cpu"]);
        command
    };
    overwrites_with_force_only(&folder.path("banks.svg"), draw_on_cpu)?;
    let svg = Svg::new(fs::read_to_string(folder.path("banks.svg"))?)?;
    svg.says(&["degree, logarithmic"])?;
    equal(svg.ticks()?, vec![1, 2, 4, 8, 16, 32])?;
    begins_with_the_device(&folder.path("again.svg"), draw)?;
    fails(&mut draw(&folder.path("banks.png")), 1, &["banks.png: a chart can be written as .svg only"])
}

fn bad_arguments() -> Result<(), Failed> {
    fails(&mut banks(&["--device", "gpu"]), 1, &["no device is called 'gpu'"])?;
    fails(&mut banks(&["--iterations", "-1"]), 2, &["invalid value '-1' for '--iterations <ITERATIONS>'"])?;
    fails(&mut banks(&["-1"]), 2, &["unexpected argument '-1' found"])?;
    let folder = Folder::new()?;
    let nowhere = folder.path("nowhere").join("banks.svg");
    fails(banks(&["--device", "cpu", "--svg"]).arg(nowhere), 1, &["banks.svg: "])
}
