//! The folder of all records: `<machine>/<date>.json`.

use crate::error::{Error, Result};
use crate::record::Record;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Folder(path)
    }

    /// Writes a record that is not there yet, and returns its path.
    pub(crate) fn save(&self, record: &Record) -> Result<PathBuf> {
        let machine = self.0.join(name_of_folder(record.machine.name()));
        let path = machine.join(&record.date).with_extension("json");
        let write = || {
            fs::create_dir_all(&machine)?;
            let mut file = File::create_new(&path)?;
            // Half a record would keep the next call from writing the whole one.
            file.write_all(record.to_text().as_bytes()).inspect_err(|_| drop(fs::remove_file(&path)))
        };
        match write() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists { path }),
            Err(error) => Err(Error::Write { path, error }),
            Ok(()) => Ok(path),
        }
    }

    /// Returns the last record of each machine.
    pub(crate) fn last_of_each(&self) -> Result<Vec<PathBuf>> {
        Ok(self.last::<1>()?.into_iter().flatten().collect())
    }

    /// Returns the last two records of each machine that has two.
    pub(crate) fn last_pairs(&self) -> Result<Vec<[PathBuf; 2]>> {
        self.last()
    }

    /// Returns the last `N` records of each machine that has as many, the earliest first. It is an error if none has.
    fn last<const N: usize>(&self) -> Result<Vec<[PathBuf; N]>> {
        let machines = sorted(&self.0)?.into_iter().filter(|path| path.is_dir());
        let records = machines.map(|machine| records(&machine)).collect::<Result<Vec<_>>>()?;
        let last: Vec<_> = records.iter().filter_map(|records| records.last_chunk().cloned()).collect();
        let most = || records.iter().map(Vec::len).max().unwrap_or(0);
        if last.is_empty() {
            return Err(Error::TooFewRecords { folder: self.0.clone(), found: most(), needed: N });
        }
        Ok(last)
    }
}

/// Returns the records of a machine in the order of their dates.
fn records(machine: &Path) -> Result<Vec<PathBuf>> {
    let is_record = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    Ok(sorted(machine)?.into_iter().filter(is_record).collect())
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = list().map_err(|error| Error::Read { path: folder.to_owned(), error })?;
    paths.sort();
    Ok(paths)
}

/// Returns a machine's name in small letters and digits, with hyphens between words.
fn name_of_folder(machine: &str) -> String {
    let words = machine.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Machine;
    use std::env;

    /// An empty folder that ends with the test.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("slm-records-{}-{name}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Temporary(path)
        }

        fn folder(&self) -> Folder {
            Folder::new(self.0.clone())
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn record(gpu: &str, date: &str) -> Record {
        let machine = Machine { gpu: Some(gpu.to_owned()), driver: None, cpu: None };
        Record { machine, date: date.to_owned(), commit: "abc".to_owned(), commands: Vec::new(), rows: Vec::new() }
    }

    #[test]
    fn names_of_folders_are_plain() {
        assert_eq!(name_of_folder("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
        assert_eq!(name_of_folder("Intel(R) Xeon(R) @ 2.1"), "intel-r-xeon-r-2-1");
    }

    #[test]
    fn records_are_found_by_machine_and_date() {
        let temporary = Temporary::new("found");
        let folder = temporary.folder();
        for (gpu, date) in
            [("H200", "2026-11-28"), ("H200", "2026-09-30"), ("H200", "2026-11-03"), ("H100", "2026-12-01")]
        {
            folder.save(&record(gpu, date)).unwrap();
        }
        fs::write(temporary.0.join("README.md"), "").unwrap();
        fs::write(temporary.0.join("h200/taps-f32-light.svg"), "").unwrap();
        let path = |name: &str| temporary.0.join(name);
        assert_eq!(folder.last_of_each().unwrap(), [path("h100/2026-12-01.json"), path("h200/2026-11-28.json")]);
        assert_eq!(folder.last_pairs().unwrap(), [[path("h200/2026-11-03.json"), path("h200/2026-11-28.json")]]);
    }

    #[test]
    fn records_are_not_replaced() {
        let temporary = Temporary::new("replaced");
        let path = temporary.folder().save(&record("H200", "2026-11-28")).unwrap();
        let again = temporary.folder().save(&Record { commit: "def".to_owned(), ..record("H200", "2026-11-28") });
        assert!(matches!(again, Err(Error::Exists { path: existing }) if existing == path));
        assert!(fs::read_to_string(path).unwrap().contains("abc"));
    }

    #[test]
    fn one_record_is_no_pair() {
        let temporary = Temporary::new("pair");
        temporary.folder().save(&record("H200", "2026-11-28")).unwrap();
        let error = temporary.folder().last_pairs().unwrap_err();
        assert!(matches!(error, Error::TooFewRecords { found: 1, needed: 2, .. }));
    }
}
