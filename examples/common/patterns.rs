//! Files with patterns of the Game of Life, compressed or not.

use flate2::read::MultiGzDecoder;
use slm::life::Pattern;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::{fs, io};

/// A file, and the reason why it has no pattern.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub(crate) struct PatternError {
    // Boxed, because errors are small.
    path: Box<Path>,
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the file cannot be decompressed: {0}")]
    Gzip(io::Error),
    #[error("the file has more than {} MiB when decompressed, which is the limit", MOST_BYTES >> 20)]
    TooLarge,
    #[error(transparent)]
    Pattern(#[from] slm::Error),
}

/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Maximum number of decompressed bytes: 256 MiB. A small file can have any number of them.
const MOST_BYTES: u64 = 256 << 20;

/// Reads a pattern. `.rle` and `.cells` are the formats of these names. Otherwise, and if the file is in Life 1.05 or 1.06, the
/// text decides. `.gz` may follow.
pub(crate) fn read(path: &Path) -> Result<Pattern, PatternError> {
    try_read(path).map_err(|cause| PatternError { path: path.into(), cause })
}

fn try_read(path: &Path) -> Result<Pattern, Cause> {
    let mut bytes = fs::read(path)?;
    if bytes.starts_with(&GZIP) {
        bytes = decompressed(&bytes)?;
    }
    let text = Pattern::text(&bytes)?;
    let pattern = match extension(path) {
        _ if text.trim_ascii_start().starts_with("#Life") => Pattern::from_life(&text),
        Some(extension) if extension.eq_ignore_ascii_case("rle") => Pattern::from_rle(&text),
        Some(extension) if extension.eq_ignore_ascii_case("cells") => Pattern::from_cells(&text),
        _ => text.parse(),
    };
    Ok(pattern?)
}

/// Returns the extension, or the one before `.gz`.
fn extension(path: &Path) -> Option<&OsStr> {
    let extension = path.extension()?;
    if extension.eq_ignore_ascii_case("gz") { Path::new(path.file_stem()?).extension() } else { Some(extension) }
}

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, Cause> {
    let mut all = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(MOST_BYTES + 1).read_to_end(&mut all).map_err(Cause::Gzip)?;
    if read as u64 > MOST_BYTES { Err(Cause::TooLarge) } else { Ok(all) }
}
