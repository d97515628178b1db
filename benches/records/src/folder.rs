//! The folder of all records: `<machine>/<date>.json`.

use crate::error::{Error, Result};
use crate::history::History;
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

    /// Returns the records of each machine that has one. It is an error if none has.
    pub(crate) fn histories(&self) -> Result<Vec<History>> {
        let machines = sorted(&self.0)?.into_iter().filter(|path| path.is_dir());
        let paths = machines.map(|machine| records(&machine)).collect::<Result<Vec<_>>>()?;
        let split = paths.iter().filter_map(|paths| paths.split_last());
        let histories = split.map(|(last, earlier)| History::read(earlier, last)).collect::<Result<Vec<_>>>()?;
        if histories.is_empty() {
            return Err(Error::NoRecords { folder: self.0.clone() });
        }
        Ok(histories)
    }
}

/// Returns the paths of the records in a machine's folder, in the order of their dates.
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
    use std::collections::BTreeSet;
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
        Record {
            machine,
            date: date.to_owned(),
            commit: "abc".to_owned(),
            commands: Vec::new(),
            incomplete: BTreeSet::new(),
            rows: Vec::new(),
        }
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
        fs::create_dir(temporary.0.join("empty")).unwrap();
        let histories = folder.histories().unwrap();
        assert_eq!(histories.iter().map(History::folder).collect::<Vec<_>>(), [path("h100"), path("h200")]);
        let dates = ["2026-09-30", "2026-11-03", "2026-11-28"];
        assert_eq!(records(&path("h200")).unwrap(), dates.map(|date| path(&format!("h200/{date}.json"))));
        assert_eq!(histories[1].newest().date, "2026-11-28");
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
    fn records_of_two_machines_in_one_folder_are_refused() {
        let temporary = Temporary::new("mixed");
        let path = temporary.folder().save(&record("H200", "2026-11-28")).unwrap();
        fs::write(path.with_file_name("2026-11-29.json"), record("H100", "2026-11-29").to_text()).unwrap();
        let error = temporary.folder().histories().unwrap_err();
        assert_eq!(error.to_string(), "the records are of different machines: H200 and H100");
    }

    #[test]
    fn a_folder_without_records_is_an_error() {
        let temporary = Temporary::new("empty");
        assert!(matches!(temporary.folder().histories(), Err(Error::NoRecords { folder }) if folder == temporary.0));
    }
}
