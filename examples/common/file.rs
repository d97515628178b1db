//! Output files: written completely or not at all, and never overwritten by accident.

use image::{ColorType, ImageError};
use std::ffi::OsString;
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
        let output = Output { path: path.to_owned(), force };
        kind.check(path).and_then(|()| output.check_place()).map_err(|cause| cause.at(path))?;
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
            Ok(_) if !self.force => Err(Cause::Exists),
            _ => Ok(()),
        }
    }

    /// Writes a temporary file and renames it, so that the output file is always complete. Returns the line that reports it.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<String, FileError> {
        self.try_write(bytes).map_err(|cause| cause.at(&self.path))?;
        Ok(format!("wrote {}\n", self.path.display()))
    }

    fn try_write(&self, bytes: &[u8]) -> Result<(), Cause> {
        let partial = Partial::in_same_folder(&self.path);
        fs::write(&partial.0, bytes)?;
        // Another program may have created it in the meantime.
        self.check_place()?;
        Ok(fs::rename(&partial.0, &self.path)?)
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
