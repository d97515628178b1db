//! Output files: written completely or not at all, and never overwritten by accident.

use image::{ColorType, ImageError};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io, process};

/// A file and the reason why it cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub(crate) struct FileError {
    pub(crate) path: PathBuf,
    pub(crate) cause: Cause,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error("the file is empty")]
    Empty,
    #[error("neither a PNG nor a JPEG picture")]
    NoPicture,
    #[error(
        "the picture of {columns} x {rows} pixels needs {bytes} bytes of memory, and the limit is {limit}: scale it down or divide it"
    )]
    TooLarge { columns: u32, rows: u32, bytes: u64, limit: u64 },
    #[error("could not allocate {bytes} bytes of memory for the picture of {columns} x {rows} pixels")]
    NoMemory { columns: u32, rows: u32, bytes: u64 },
    #[error("the JPEG data are truncated")]
    EndsEarly,
    #[error("JPEG supports 8 bits per channel without transparency, but the picture is {0:?}: write a .png")]
    NotForJpeg(ColorType),
    #[error("the encoded picture differs from the original when decoded")]
    ReadsDifferently,
    #[error("{} can be written as .{} only", .0.what, .0.extensions.join(" or ."))]
    Extension(&'static Kind),
    #[error("the folder {} does not exist", .0.display())]
    NoFolder(PathBuf),
    #[error("the path is a folder")]
    IsFolder,
    #[error("the path is not that of a file, but of a device or a pipe")]
    NotRegular,
    #[error("the file exists; --force overwrites it")]
    Exists,
}

impl Cause {
    pub(crate) fn at(self, path: &Path) -> FileError {
        FileError { path: path.to_owned(), cause: self }
    }
}

/// A kind of output, and its extensions.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) what: &'static str,
    pub(crate) extensions: &'static [&'static str],
}

/// An output file.
pub(crate) struct Output {
    path: PathBuf,
    force: bool,
}

impl Output {
    /// Returns the output file. Checks everything that can be checked in advance, so that an invalid path fails before the
    /// computation. `force` allows overwriting a file.
    pub(crate) fn new(path: &Path, kind: &'static Kind, force: bool) -> Result<Self, FileError> {
        kind.check(path).map_err(|cause| cause.at(path))?;
        Self::of_any_kind(path, force)
    }

    /// Returns the output file, whatever its extension.
    pub(crate) fn of_any_kind(path: &Path, force: bool) -> Result<Self, FileError> {
        let output = Output { path: path.to_owned(), force };
        output.check_place().map_err(|cause| cause.at(path))?;
        Ok(output)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn check_place(&self) -> Result<(), Cause> {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
                return Err(Cause::NoFolder(folder.to_owned()));
            }
            _ => {}
        }
        match fs::symlink_metadata(&self.path) {
            Ok(_) if self.path.is_dir() => Err(Cause::IsFolder),
            // It would be replaced by a file: a pipe, or a device such as /dev/null.
            Ok(_) if self.path.exists() && !self.path.is_file() => Err(Cause::NotRegular),
            Ok(_) if !self.force => Err(Cause::Exists),
            _ => Ok(()),
        }
    }

    /// Writes bytes. Returns the line that reports it.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<String, FileError> {
        self.write_with(|mut file| file.write_all(bytes).map_err(|error| Cause::from(error).at(&self.path)))?;
        Ok(self.report())
    }

    /// Creates a temporary file, which a function writes, and renames it, so that the output file is always complete.
    pub(crate) fn write_with<T, E: From<FileError>>(&self, write: impl FnOnce(File) -> Result<T, E>) -> Result<T, E> {
        let partial = Partial::in_same_folder(&self.path);
        let result = write(File::create(&partial.0).map_err(|error| Cause::from(error).at(&self.path))?)?;
        self.rename(&partial).map_err(|cause| cause.at(&self.path))?;
        Ok(result)
    }

    fn rename(&self, partial: &Partial) -> Result<(), Cause> {
        // Another program may have created it in the meantime.
        self.check_place()?;
        Ok(fs::rename(&partial.0, &self.path)?)
    }

    /// Returns the line that says what was written.
    pub(crate) fn report(&self) -> String {
        format!("wrote {}\n", self.path.display())
    }
}

impl Kind {
    fn check(&'static self, path: &Path) -> Result<(), Cause> {
        let extension = path.extension().unwrap_or_default();
        let is_one = self.extensions.iter().any(|known| extension.eq_ignore_ascii_case(known));
        if is_one { Ok(()) } else { Err(Cause::Extension(self)) }
    }
}

/// A temporary file in the folder of the output. Dropping it removes it unless it was renamed.
struct Partial(PathBuf);

impl Partial {
    fn in_same_folder(path: &Path) -> Self {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.partial", process::id()));
        Partial(path.with_file_name(name))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Usually it has been renamed.
        let _ = fs::remove_file(&self.0);
    }
}
