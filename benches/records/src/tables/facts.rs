//! What comments say about the machine and the run.

use crate::error::{Error, Result};
use crate::record::Machine;

/// Facts that are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    pub(crate) gpu: Option<String>,
    pub(crate) driver: Option<String>,
    pub(crate) cpu: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) commit: Option<String>,
}

impl Facts {
    /// Returns what a comment says.
    pub(crate) fn of(comment: &str) -> Self {
        let (date, commit) = run(comment).unzip();
        Facts {
            gpu: gpu(comment).map(str::to_owned),
            driver: comment.strip_prefix("driver: ").filter(is_known).map(version),
            cpu: comment.strip_prefix("CPU: ").map(without_cores).filter(is_known).map(str::to_owned),
            date: date.map(str::to_owned),
            commit: commit.filter(is_known).map(str::to_owned),
        }
    }

    /// Adds facts. Returns an error if they are not those that are known already, unless they are given.
    pub(crate) fn add(&mut self, facts: Facts, given: &Facts) -> Result<()> {
        add("gpu", &mut self.gpu, facts.gpu, &given.gpu)?;
        add("driver", &mut self.driver, facts.driver, &given.driver)?;
        add("cpu", &mut self.cpu, facts.cpu, &given.cpu)?;
        add("date", &mut self.date, facts.date, &given.date)?;
        add("commit", &mut self.commit, facts.commit, &given.commit)
    }

    /// Returns these facts, and others where these are unknown.
    pub(crate) fn or(self, other: Facts) -> Facts {
        Facts {
            gpu: self.gpu.or(other.gpu),
            driver: self.driver.or(other.driver),
            cpu: self.cpu.or(other.cpu),
            date: self.date.or(other.date),
            commit: self.commit.or(other.commit),
        }
    }

    /// Returns the machine, the date and the commit of a record.
    pub(crate) fn complete(self) -> Result<(Machine, String, String)> {
        let Facts { gpu, driver, cpu, date, commit } = self;
        if gpu.is_none() && cpu.is_none() {
            return Err(Error::Missing { what: "gpu" });
        }
        let date = date.ok_or(Error::Missing { what: "date" })?;
        if !is_date(&date) {
            return Err(Error::Date(date));
        }
        Ok((Machine { gpu, driver, cpu }, date, commit.ok_or(Error::Missing { what: "commit" })?))
    }
}

fn add(what: &'static str, known: &mut Option<String>, found: Option<String>, given: &Option<String>) -> Result<()> {
    match (known.as_deref(), found) {
        (Some(first), Some(second)) if first != second && given.is_none() => {
            Err(Error::Conflict { what, first: first.to_owned(), second })
        }
        (None, found) => {
            *known = found;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the date and the commit in the first line of `run.sh`, such as `2026-11-28T10:00:00Z, commit f9790374`.
fn run(comment: &str) -> Option<(&str, &str)> {
    let (time, commit) = comment.split_once(", commit ")?;
    let (date, _) = time.split_once('T')?;
    is_date(date).then_some((date, commit))
}

/// Returns the GPU in a line of a peer, such as `GPU: NVIDIA H200, 132 multiprocessors`, or of the crate, such as
/// `slm 0.1.0 on cuda:0, NVIDIA H200; 67108864 samples`.
fn gpu(comment: &str) -> Option<&str> {
    if let Some(name) = comment.strip_prefix("GPU: ") {
        return name.split([',', ';']).next();
    }
    let (_, device) = comment.strip_prefix("slm ")?.split_once(" on cuda")?;
    device.split(';').next()?.split_once(", ").map(|(_, name)| name)
}

/// Returns the version in the driver's description, or all of it.
fn version(driver: &str) -> String {
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c == '.' || c.is_ascii_digit());
    driver.split_whitespace().find(is_version).unwrap_or(driver).to_owned()
}

fn without_cores(cpu: &str) -> &str {
    cpu.rsplit_once(", ").map_or(cpu, |(name, _)| name)
}

fn is_known(text: &&str) -> bool {
    *text != "unknown"
}

fn is_date(text: &str) -> bool {
    let is_place_right = |(c, pattern): (u8, u8)| if pattern == b'-' { c == b'-' } else { c.is_ascii_digit() };
    text.len() == 10 && text.bytes().zip(*b"0000-00-00").all(is_place_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_have_facts() {
        let gpu = |comment| Facts::of(comment).gpu;
        assert_eq!(
            gpu("slm 0.1.0 on cuda:0, NVIDIA H100 80GB HBM3; median of 15 runs").unwrap(),
            "NVIDIA H100 80GB HBM3"
        );
        assert_eq!(gpu("slm 0.1.0 on cuda, NVIDIA H200").unwrap(), "NVIDIA H200");
        assert_eq!(gpu("GPU: NVIDIA H200; PyTorch 2.9").unwrap(), "NVIDIA H200");
        assert_eq!(gpu("slm 0.1.0 on CPU, 8 threads (no driver); 16777216 samples"), None);
        let driver = |comment| Facts::of(comment).driver;
        assert_eq!(
            driver("driver: NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue").unwrap(),
            "550.54.15"
        );
        assert_eq!(driver("driver: 13").unwrap(), "13");
        assert_eq!(driver("driver: unknown"), None);
        let cpu = Facts::of("CPU: Intel(R) Xeon(R), 2.1 GHz, 8 cores available to this process").cpu;
        assert_eq!(cpu.unwrap(), "Intel(R) Xeon(R), 2.1 GHz");
        let run = Facts::of("2026-11-28T10:00:00Z, commit f9790374-dirty");
        assert_eq!((run.date.as_deref(), run.commit.as_deref()), (Some("2026-11-28"), Some("f9790374-dirty")));
        let run = Facts::of("2026-11-28T10:00:00Z, commit unknown");
        assert_eq!((run.date.as_deref(), run.commit), (Some("2026-11-28"), None));
        assert_eq!(Facts::of("register-tiled, 4 outputs per thread"), Facts::default());
    }

    #[test]
    fn a_record_needs_a_machine_a_date_and_a_commit() {
        let all = || {
            let fact = |text: &str| Some(text.to_owned());
            Facts { cpu: fact("EPYC"), date: fact("2026-11-28"), commit: fact("abc"), ..Facts::default() }
        };
        let message = |facts: Facts| facts.complete().unwrap_err().to_string();
        assert_eq!(all().complete().unwrap().0.name(), "EPYC");
        assert_eq!(message(Facts { cpu: None, ..all() }), "no table names the gpu; give --gpu");
        assert_eq!(message(Facts { date: None, ..all() }), "no table names the date; give --date");
        assert_eq!(message(Facts { commit: None, ..all() }), "no table names the commit; give --commit");
        let date = Some("28.11.2026".to_owned());
        assert_eq!(message(Facts { date, ..all() }), "the date is \"28.11.2026\", but must be like 2026-11-28");
    }

    #[test]
    fn facts_may_be_repeated_but_not_differ() {
        let date = |text: &str| Facts { date: Some(text.to_owned()), ..Facts::default() };
        let (mut known, given) = (Facts::default(), Facts::default());
        known.add(date("2026-11-28"), &given).unwrap();
        known.add(Facts::default(), &given).unwrap();
        known.add(date("2026-11-28"), &given).unwrap();
        assert!(matches!(known.add(date("2026-11-29"), &given), Err(Error::Conflict { what: "date", .. })));
        known.add(date("2026-11-29"), &date("2026-11-30")).unwrap();
        assert_eq!(known, date("2026-11-28"));
    }
}
