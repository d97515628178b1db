//! The committed modules of a kernel crate, in its folder `ptx`: a file for each module and target, and the list of them
//! ([`index`](crate::index)).

use crate::Arch;
use crate::compilation::{Compilation, CompiledModule, file_name};
use crate::error::BuildError;
use crate::files::{remove_if_present, write_if_changed};
use crate::index::{Index, Record};
use crate::results::Committed;
use cuda_std::image;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns the file of a module for a target. The kernel crate is in `dir`.
pub(crate) fn file(dir: &Path, module: &str, arch: Arch) -> PathBuf {
    folder(dir).join(file_name(module, arch))
}

/// Returns the folder of the committed modules of the kernel crate in `dir`.
pub(crate) fn folder(dir: &Path) -> PathBuf {
    dir.join("ptx")
}

/// Returns the file that lists the committed modules of the kernel crate in `dir`.
pub(crate) fn index_file(dir: &Path) -> PathBuf {
    folder(dir).join("index.toml")
}

/// Reads the list of committed modules. It is empty if the file does not exist.
pub(crate) fn read_index(dir: &Path) -> Result<Index, BuildError> {
    let file = index_file(dir);
    match fs::read_to_string(&file) {
        Ok(text) => Index::parse(&text).map_err(|line| BuildError::BadIndex { file, line }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Index::default()),
        Err(error) => Err(BuildError::io(&file)(error)),
    }
}

/// Reads the modules with the given names, or all modules if there are no names. Checks the digest of each text.
pub(crate) fn read(dir: &Path, names: &[String]) -> Result<Compilation, BuildError> {
    let Index(mut records) = read_index(dir)?;
    let names = if names.is_empty() { records.keys().cloned().collect() } else { names.to_vec() };
    if names.is_empty() {
        return Err(BuildError::NotCommitted { dir: dir.to_owned(), module: None });
    }
    let modules = names.into_iter().map(|name| match records.remove(&name) {
        Some(record) => read_module(dir, name, record),
        None => Err(BuildError::NotCommitted { dir: dir.to_owned(), module: Some(name) }),
    });
    let modules = modules.collect::<Result<_, _>>()?;
    Ok(Compilation { modules, watched: BTreeSet::from([folder(dir)]), ..Compilation::default() })
}

/// Reads a module. The kernel crate is in `dir`.
pub(crate) fn read_module(dir: &Path, module: String, record: Record) -> Result<CompiledModule, BuildError> {
    let mut ptx = BTreeMap::new();
    for (arch, image) in &record.images {
        let file = file(dir, &module, *arch);
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BuildError::NotCommitted { dir: dir.to_owned(), module: Some(module) });
            }
            text => text.map_err(BuildError::io(&file))?,
        };
        image::verify_text(&text, &image.digest).map_err(|source| BuildError::BadImage { file, source })?;
        ptx.insert(*arch, text);
    }
    Ok(CompiledModule { module, record, ptx })
}

/// Writes compiled modules and the list. If they are `all` modules of the kernel crate, removes the files of other modules.
pub(crate) fn write(dir: &Path, done: Compilation, all: bool) -> Result<Committed, BuildError> {
    let folder = folder(dir);
    fs::create_dir_all(&folder).map_err(BuildError::io(&folder))?;
    let Index(old) = match read_index(dir) {
        Err(BuildError::BadIndex { .. }) if all => Index::default(),
        old => old?,
    };
    let mut new = if all { BTreeMap::new() } else { old.clone() };
    let mut files = Vec::new();
    for CompiledModule { module, record, ptx } in done.modules {
        for (arch, text) in ptx {
            files.push(file(dir, &module, arch));
            write_if_changed(&file(dir, &module, arch), &text)?;
        }
        new.insert(module, record);
    }
    let removed: Vec<_> =
        images(&old).difference(&images(&new)).map(|(module, arch)| file(dir, module, *arch)).collect();
    removed.iter().try_for_each(|file| remove_if_present(file))?;
    write_if_changed(&index_file(dir), &Index(new).render())?;
    files.push(index_file(dir));
    Ok(Committed { files, removed, warnings: done.warnings })
}

/// Returns the modules and targets that have a file in the folder.
fn images(records: &BTreeMap<String, Record>) -> BTreeSet<(&str, Arch)> {
    let images =
        records.iter().flat_map(|(module, record)| record.images.keys().map(move |arch| (module.as_str(), *arch)));
    images.collect()
}

#[cfg(test)]
#[path = "committed_tests.rs"]
mod tests;
