//! A folder for the files of a test.

use super::ensure;
use image::ColorType;
use libtest_mimic::Failed;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, process};

/// A new folder, removed on drop.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("slm-test-{}-{number}", process::id()));
        fs::create_dir(&path)?;
        Ok(Folder(path))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        fs::write(self.path(name), bytes)?;
        Ok(self.path(name))
    }

    pub fn put_pixels(&self, name: &str, color: ColorType, width: u32, bytes: Vec<u8>) -> Result<PathBuf, Failed> {
        let height = bytes.len() as u32 / (width * u32::from(color.bytes_per_pixel()));
        image::save_buffer(self.path(name), &bytes, width, height, color)?;
        Ok(self.path(name))
    }

    /// Fails unless the folder has exactly the entries `expected`, which are sorted.
    pub fn holds(&self, expected: &[&str]) -> Result<(), Failed> {
        let mut names = fs::read_dir(&self.0)?.map(|e| Ok(e?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        let same = names.iter().map(|name| name.as_os_str()).eq(expected.iter().map(OsStr::new));
        ensure(same, || format!("the folder holds {names:?}, expected {expected:?}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If this fails, the rest stays in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
