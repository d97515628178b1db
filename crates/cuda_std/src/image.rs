//! Compiled kernel modules: PTX text under a header that says what it was compiled from.
//!
//! ```text
//! // slm kernel module: filter1d
//! // target: sm_90
//! // sources: 32 hexadecimal digits
//! // compiler: rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8
//! // flags: -Ctarget-cpu=sm_90 …
//! // digest: 32 hexadecimal digits
//! .version 7.8
//! …
//! ```
//!
//! `sources` is the digest of the kernel crate's sources and of this crate ([`build::kernel_crate`](crate::build));
//! `digest` covers the five lines above it and all that follows it. Who loads a module checks both, so host code
//! never launches kernels that were compiled from other sources than its own.
//!
//! The same sources can be compiled to different things, by `cfg`. So each entry point has a constant beside it, with a
//! digest of its place and its arguments: [`verify_kernel`].

use crate::Entry;
use crate::digest::Digest;
use std::fmt;

/// What a compiled module says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The module's name.
    pub module: String,
    /// The compute capability that it was compiled for, as in `sm_90`: 90.
    pub target: u32,
    /// The digest of its sources.
    pub sources: String,
    /// The compiler and its version.
    pub compiler: String,
    /// The flags that decide what the compiler makes of the sources.
    pub flags: String,
}

/// Why a text is not a compiled module that may be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// A line of the header is missing.
    NoHeader {
        /// The line's key.
        missing: &'static str,
    },
    /// The text is not the one that was written.
    Altered {
        /// The digest that the header names.
        expected: String,
        /// The digest of the text.
        actual: String,
    },
    /// The module has no texts.
    NoImages,
    /// The text was compiled from other sources.
    Stale {
        /// The digest of the sources that the host code was compiled from.
        expected: String,
        /// The digest that the header names.
        actual: String,
    },
    /// The text has another kernel than the host code, or one with other arguments.
    OtherKernel {
        /// The kernel's name.
        kernel: &'static str,
        /// The digest that the host code has for it.
        expected: String,
        /// The digest that the text has for it, if it has one.
        actual: Option<String>,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::NoHeader { missing } => write!(f, "its header has no line '{missing}'"),
            ImageError::Altered { expected, actual } => {
                write!(f, "its text has the digest {actual}, its header says {expected}")
            }
            ImageError::NoImages => {
                f.write_str("it has no images: the program was built with SLM_KERNELS=none, for emulated devices alone")
            }
            ImageError::Stale { expected, actual } => {
                write!(f, "it was compiled from sources with the digest {actual}, this program has {expected}")
            }
            ImageError::OtherKernel { kernel, expected, actual } => write!(
                f,
                "its kernel {kernel} is another one, or has other arguments: its digest is {}, this program has {expected}",
                actual.as_deref().unwrap_or("missing")
            ),
        }
    }
}

impl std::error::Error for ImageError {}

const KEYS: [&str; 5] = ["slm kernel module", "target", "sources", "compiler", "flags"];
const DIGEST: &str = "digest";

impl Header {
    /// The header with `ptx` below it.
    #[must_use]
    pub fn write(&self, ptx: &str) -> String {
        let target = format!("sm_{}", self.target);
        let values = [&self.module, &target, &self.sources, &self.compiler, &self.flags];
        let head: String = KEYS.iter().zip(values).map(|(key, value)| format!("// {key}: {value}\n")).collect();
        let digest = digest(&head, ptx);
        format!("{head}// {DIGEST}: {digest}\n{ptx}")
    }

    /// Reads the header of `image` and checks that the text below it is the one it was written for.
    ///
    /// # Errors
    ///
    /// [`ImageError::NoHeader`] and [`ImageError::Altered`].
    pub fn read(image: &str) -> Result<Header, ImageError> {
        let mut rest = image;
        let [module, target, sources, compiler, flags] = {
            let mut values = [""; 5];
            for (value, key) in values.iter_mut().zip(KEYS) {
                *value = line(&mut rest, key)?;
            }
            values
        };
        let head = &image[..image.len() - rest.len()];
        let expected = line(&mut rest, DIGEST)?;
        let actual = digest(head, rest);
        if actual != expected {
            return Err(ImageError::Altered { expected: expected.to_owned(), actual });
        }
        let target = target.strip_prefix("sm_").and_then(|t| t.parse().ok());
        Ok(Header {
            module: module.to_owned(),
            target: target.ok_or(ImageError::NoHeader { missing: KEYS[1] })?,
            sources: sources.to_owned(),
            compiler: compiler.to_owned(),
            flags: flags.to_owned(),
        })
    }

    /// Reads the header of `image` as [`read`](Header::read) does, and checks that it was compiled from the sources
    /// with the digest `sources`.
    ///
    /// # Errors
    ///
    /// Any [`ImageError`].
    pub fn verify(image: &str, sources: &str) -> Result<Header, ImageError> {
        let header = Header::read(image)?;
        if header.sources != sources {
            return Err(ImageError::Stale { expected: sources.to_owned(), actual: header.sources });
        }
        Ok(header)
    }
}

/// Checks that `image` has the very kernel `E`, compiled with the arguments that it has in this program.
///
/// # Errors
///
/// [`ImageError::OtherKernel`].
pub fn verify_kernel<E: Entry>(image: &str) -> Result<(), ImageError> {
    let actual = layout(image, E::NAME);
    if actual == Some(E::LAYOUT) {
        return Ok(());
    }
    let (expected, actual) = (E::LAYOUT.to_string(), actual.map(|digest| digest.to_string()));
    Err(ImageError::OtherKernel { kernel: E::NAME, expected, actual })
}

/// The digest beside the entry point `kernel`: bytes in decimal, of which zeros at the end may be left out.
fn layout(image: &str, kernel: &str) -> Option<Digest> {
    let (_, rest) = image.split_once(&format!(" {kernel}_layout[16] = {{"))?;
    let (list, _) = rest.split_once('}')?;
    let mut bytes = [0; 16];
    for (byte, number) in bytes.iter_mut().zip(list.split(',')) {
        *byte = number.trim().parse().ok()?;
    }
    Some(Digest::from_bytes(bytes))
}

/// Takes the line `// key: value` off the front of `rest`.
fn line<'a>(rest: &mut &'a str, key: &'static str) -> Result<&'a str, ImageError> {
    let missing = ImageError::NoHeader { missing: key };
    let (first, after) = rest.split_once('\n').ok_or(missing.clone())?;
    let value = first.strip_prefix("// ").and_then(|l| l.strip_prefix(key)).and_then(|l| l.strip_prefix(": "));
    *rest = after;
    value.ok_or(missing)
}

fn digest(head: &str, ptx: &str) -> String {
    Digest::new().add(head.as_bytes()).add(ptx.as_bytes()).to_string()
}

/// A kernel module compiled for several targets: what [`include_kernels!`](crate::include_kernels) makes.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    name: &'static str,
    images: &'static [&'static str],
}

impl Module {
    /// The module with these images.
    ///
    /// # Safety
    ///
    /// The images were written by `cuda_builder`.
    #[must_use]
    pub const unsafe fn new(name: &'static str, images: &'static [&'static str]) -> Self {
        Module { name, images }
    }

    /// A module without images: for kernels that run on emulated devices alone, as in tests.
    #[must_use]
    pub const fn without_images(name: &'static str) -> Self {
        Module { name, images: &[] }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The texts, one for each target.
    #[must_use]
    pub fn images(&self) -> &'static [&'static str] {
        self.images
    }
}

/// Where the modules of a program come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The files that the kernel package carries.
    Committed,
    /// Nowhere: they have no images.
    None,
    /// Compiled together with the program.
    Built {
        /// The compiler and its version.
        compiler: &'static str,
    },
}

/// Includes what `cuda_builder` made in the crate's build script: a `static` [`Module`] for each module, named in
/// capitals, and the `static ORIGIN`, an [`Origin`].
#[macro_export]
macro_rules! include_kernels {
    () => {
        $crate::expansion::include!($crate::expansion::concat!($crate::expansion::env!("OUT_DIR"), "/slm_kernels.rs"));
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            module: "blur".into(),
            target: 80,
            sources: "0123".into(),
            compiler: "rustc 1.0".into(),
            flags: "-O".into(),
        }
    }

    #[test]
    fn written_is_read() {
        let image = header().write(".version 7.0\n");
        assert_eq!(Header::verify(&image, "0123"), Ok(header()));
        assert!(image.ends_with("\n.version 7.0\n"));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let image = header().write(".version 7.0\n");
        for i in 0..image.len() {
            let mut bytes = image.clone().into_bytes();
            bytes[i] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(Header::read(&changed).is_err(), "byte {i} of {changed}");
        }
        assert!(Header::read(&image[..image.len() - 1]).is_err());
        assert!(Header::read("").is_err());
    }

    #[test]
    fn other_sources_are_refused() {
        let stale = ImageError::Stale { expected: "4567".into(), actual: "0123".into() };
        assert_eq!(Header::verify(&header().write("x"), "4567"), Err(stale));
    }

    #[test]
    fn errors_name_both_digests() {
        let altered = ImageError::Altered { expected: "aa".into(), actual: "bb".into() };
        assert_eq!(altered.to_string(), "its text has the digest bb, its header says aa");
        let stale = ImageError::Stale { expected: "aa".into(), actual: "bb".into() };
        assert_eq!(stale.to_string(), "it was compiled from sources with the digest bb, this program has aa");
        let missing = ImageError::NoHeader { missing: "target" };
        assert_eq!(missing.to_string(), "its header has no line 'target'");
        let none = "it has no images: the program was built with SLM_KERNELS=none, for emulated devices alone";
        assert_eq!(ImageError::NoImages.to_string(), none);
        let other = |actual| ImageError::OtherKernel { kernel: "blur", expected: "aa".into(), actual };
        let text = |digest| {
            format!(
                "its kernel blur is another one, or has other arguments: its digest is {digest}, this program has aa"
            )
        };
        assert_eq!(other(Some("bb".into())).to_string(), text("bb"));
        assert_eq!(other(None).to_string(), text("missing"));
    }
}
