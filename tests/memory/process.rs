//! The process of a trial, and what its end means.

use crate::call::Attempt;
use crate::limits;
use libtest_mimic::Failed;
use std::ffi::OsStr;
use std::process::{Command, Output};
use std::{env, str};

/// The name of the case, set in the process of a trial.
const CASE: &str = "SLM_MEMORY_CASE";

/// The first limit of that process, in bytes.
const LEAST: &str = "SLM_MEMORY_LEAST";

/// Allocations below this number of bytes may end the process: their size is constant, and the standard library has no way to make them
/// fail.
const SMALL: usize = 4096;

/// Printed before each limit.
const LIMIT: &str = "limit ";

pub(crate) enum Role {
    Parent,
    Child { case: String, least: usize },
}

impl Role {
    pub(crate) fn of_this_process() -> Self {
        let Ok(case) = env::var(CASE) else { return Role::Parent };
        let least = env::var(LEAST).ok().and_then(|least| least.parse().ok()).expect("the first limit is set");
        Role::Child { case, least }
    }
}

/// Runs the attempt of a case with all limits from `least` on, in the process of a trial.
pub(crate) fn run(attempt: slm::Result<Attempt>, least: usize) {
    let mut attempt = attempt.unwrap_or_else(|error| panic!("without a limit: {error}"));
    limits::each(least, |limit| {
        println!("{LIMIT}{limit}");
        attempt(limit).unwrap_or_else(|error| panic!("with {limit} bytes: {}", text(&error)))
    });
}

/// Runs a case in processes of its own, with these environment variables: another one with higher limits if there was no memory for a
/// small allocation.
pub(crate) fn examine(case: &str, variables: &[(&str, &OsStr)]) -> Result<(), Failed> {
    let mut least = limits::LEAST;
    loop {
        let output = Command::new(env::current_exe()?)
            .env(CASE, case)
            .env(LEAST, least.to_string())
            // Its allocations would fail, too.
            .env("RUST_BACKTRACE", "0")
            // Few, so that their small allocations are few.
            .env("RAYON_NUM_THREADS", "2")
            .envs(variables.iter().copied())
            .output()?;
        if output.status.success() {
            return Ok(());
        }
        let (stdout, stderr) = (str::from_utf8(&output.stdout)?, str::from_utf8(&output.stderr)?);
        let limit = stdout.lines().rev().find_map(|line| line.strip_prefix(LIMIT)?.parse::<usize>().ok());
        match (limit, missing(stderr)) {
            (Some(limit), Some(bytes)) if bytes < SMALL => least = limits::above(limit),
            _ => return Err(failure(&output, limit, stderr)),
        }
    }
}

/// Returns the size of the allocation whose failure has ended a process.
fn missing(stderr: &str) -> Option<usize> {
    let (_, rest) = stderr.split_once("memory allocation of ")?;
    rest.split_once(" bytes failed")?.0.parse().ok()
}

fn failure(output: &Output, limit: Option<usize>, stderr: &str) -> Failed {
    let limit = limit.map_or("before the first limit".to_owned(), |limit| format!("with {limit} bytes"));
    format!("{limit}, {}: {stderr}", output.status).into()
}

fn text(error: &Failed) -> &str {
    error.message().unwrap_or("failed")
}
