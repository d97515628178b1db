//! Runs the commands of README.md: the examples here, the others in `.ci/run`.

use super::{of_example, succeeds};
use crate::common::{Folder, ensure};
use libtest_mimic::{Failed, Trial};
use std::env;

const README: &str = include_str!("../../../README.md");
const CI: &str = include_str!("../../../.ci/run");

/// Prefix of the commands of examples.
const RUN: &str = "cargo run --release --example ";

pub(super) fn trials() -> Vec<Trial> {
    let examples = commands().filter_map(|command| command.strip_prefix(RUN)?.split_once(" -- "));
    let mut trials: Vec<_> =
        examples.flat_map(|(example, arguments)| of_example(example, vec![trial(example, arguments)])).collect();
    trials.push(Trial::test("examples::readme::other_commands", other_commands));
    trials
}

/// Returns the commands in the shell blocks of README.md, without comments.
fn commands() -> impl Iterator<Item = &'static str> {
    let blocks = README.split("```sh\n").skip(1).filter_map(|text| text.split("```").next());
    blocks.flat_map(str::lines).filter(|line| !line.starts_with('#') && !line.is_empty())
}

fn trial(example: &'static str, arguments: &'static str) -> Trial {
    Trial::test(format!("examples::readme::{example}"), move || runs(example, arguments.split(' ')))
}

/// Runs an example in a new folder. It must write the pictures and charts that its arguments name, and nothing else.
fn runs<'a>(example: &str, arguments: impl Iterator<Item = &'a str>) -> Result<(), Failed> {
    let (folder, root) = (Folder::new()?, env::current_dir()?);
    let mut command = super::command(example);
    command.current_dir(folder.path(""));
    let mut outputs = Vec::new();
    for argument in arguments {
        if argument.starts_with("assets/") {
            command.arg(root.join(argument));
            continue;
        }
        command.arg(argument);
        if argument.ends_with(".png") || argument.ends_with(".svg") {
            outputs.push(argument);
        }
    }
    succeeds(&mut command)?;
    folder.holds(&outputs)
}

fn other_commands() -> Result<(), Failed> {
    let (examples, others): (Vec<_>, Vec<_>) = commands().partition(|command| command.starts_with(RUN));
    ensure(!examples.is_empty() && !others.is_empty(), || format!("{examples:?}, {others:?}"))?;
    let unknown: Vec<_> = others.into_iter().filter(|command| !CI.contains(command)).collect();
    ensure(unknown.is_empty(), || format!(".ci/run does not run {unknown:?}"))
}
