//! Compiled kernel modules: PTX, and what it was compiled from.
//!
//! `cuda_builder` compiles a module and hands it to the program as a [`Module`]: its texts, one for each target, a digest
//! of each, the files that it was compiled from, and their digest. All modules of a program are in one table, [`Modules`], in
//! which a kernel finds its own by [`Entry::MODULE`]. Who loads a module checks both digests. The files are checked
//! against those that the host's code of the kernels was compiled with ([`Sources`]), so host code never launches
//! kernels that were compiled from other sources than its own; other files of a kernel crate do not count.
//!
//! The same sources can be compiled to different things, by `cfg`. So each entry point is accompanied by a constant, with a
//! digest of its place and its arguments: [`verify_kernel`].

mod sources;

pub use sources::Sources;

use crate::Entry;
use crate::digest::Digest;
use std::fmt;

/// Why a module may not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// The text is not the one that was compiled.
    Altered {
        /// The digest of the compiled text.
        expected: String,
        /// The digest of the text.
        actual: String,
    },
    /// The program has no compiled modules.
    NoImages,
    /// The program has compiled modules, and this is none of them.
    MissingModule {
        /// The names of the program's modules.
        included: Vec<&'static str>,
    },
    /// The module was compiled from other contents of its files.
    Stale {
        /// Digest of the files that the host code was compiled with.
        expected: String,
        /// The digest of the files that the module was compiled from.
        actual: String,
    },
    /// The module was compiled from a file that the host code was not compiled with.
    MissingSource {
        /// The file's package and path.
        file: String,
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
            ImageError::Altered { expected, actual } => {
                write!(f, "its text has the digest {actual}, the compiled one had {expected}")
            }
            ImageError::NoImages => f.write_str(
                "the program has no compiled modules: it was built for emulated devices alone (SLM_KERNELS=none)",
            ),
            ImageError::MissingModule { included } => {
                write!(f, "the program has no module of this name; it has: {}", included.join(", "))
            }
            ImageError::Stale { expected, actual } => {
                write!(f, "it was compiled from sources with the digest {actual}, this program has {expected}")
            }
            ImageError::MissingSource { file } => {
                write!(f, "it was compiled from {file}, which this program's kernels do not have")
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

/// Returns the digest of a compiled text, as an [`Image`] has it.
#[must_use]
pub fn digest(text: &str) -> String {
    Digest::new().add(text.as_bytes()).to_string()
}

/// Checks that `text` is the one with this digest.
///
/// # Errors
///
/// [`ImageError::Altered`].
pub fn verify_text(text: &str, expected: &str) -> Result<(), ImageError> {
    let actual = digest(text);
    if actual == expected {
        return Ok(());
    }
    Err(ImageError::Altered { expected: expected.to_owned(), actual })
}

/// Checks that `text` has the very kernel `E`, compiled with the arguments that it has in this program.
///
/// # Errors
///
/// [`ImageError::OtherKernel`].
pub fn verify_kernel<E: Entry>(text: &str) -> Result<(), ImageError> {
    let actual = layout(text, E::NAME);
    if actual == Some(E::LAYOUT) {
        return Ok(());
    }
    let (expected, actual) = (E::LAYOUT.to_string(), actual.map(|digest| digest.to_string()));
    Err(ImageError::OtherKernel { kernel: E::NAME, expected, actual })
}

/// Returns the digest of the entry point `kernel`: bytes in decimal, where trailing zeros may be left out.
fn layout(text: &str, kernel: &str) -> Option<Digest> {
    let (_, rest) = text.split_once(&format!(" {kernel}_layout[16] = {{"))?;
    let (list, _) = rest.split_once('}')?;
    let mut bytes = [0; 16];
    for (byte, number) in bytes.iter_mut().zip(list.split(',')) {
        *byte = number.trim().parse().ok()?;
    }
    Some(Digest::from_bytes(bytes))
}

/// A kernel module compiled for one target.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    target: u32,
    text: &'static str,
    digest: &'static str,
}

impl Image {
    /// The PTX `text` with this digest, for a compute capability without its dot.
    #[must_use]
    pub const fn new(target: u32, text: &'static str, digest: &'static str) -> Self {
        Image { target, text, digest }
    }

    /// The compute capability that it was compiled for, as in `sm_90`: 90.
    #[must_use]
    pub fn target(&self) -> u32 {
        self.target
    }

    /// The PTX.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Checks that the text is the one that was compiled.
    ///
    /// # Errors
    ///
    /// [`ImageError::Altered`].
    pub fn verify(&self) -> Result<(), ImageError> {
        verify_text(self.text, self.digest)
    }
}

/// A compiled kernel module: an entry of [`Modules`].
#[derive(Clone, Copy, Debug)]
pub struct Module {
    name: &'static str,
    files: &'static [&'static str],
    sources: &'static str,
    images: &'static [Image],
}

impl Module {
    /// The module with these images, compiled from `files` when [`Sources::digest`] of them was `sources`.
    ///
    /// # Safety
    ///
    /// `cuda_builder` wrote the images and compiled them from these files.
    #[must_use]
    pub const unsafe fn new(
        name: &'static str,
        files: &'static [&'static str],
        sources: &'static str,
        images: &'static [Image],
    ) -> Self {
        Module { name, files, sources, images }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The images, one for each target.
    #[must_use]
    pub fn images(&self) -> &'static [Image] {
        self.images
    }

    /// Compares the digest of the module's files in `sources`, an [`Entry::SOURCES`], with the one that it was compiled
    /// from.
    ///
    /// # Errors
    ///
    /// [`ImageError::Stale`] and [`ImageError::MissingSource`].
    pub fn verify(&self, sources: &str) -> Result<(), ImageError> {
        let missing = |file: &str| ImageError::MissingSource { file: file.to_owned() };
        let expected = Sources::new(sources).digest(self.files.iter().copied()).map_err(missing)?;
        if expected != self.sources {
            return Err(ImageError::Stale { expected, actual: self.sources.to_owned() });
        }
        Ok(())
    }
}

/// The compiled modules of a program: the table `KERNELS` that [`include_kernels!`](crate::include_kernels) makes.
#[derive(Clone, Copy, Debug)]
pub struct Modules(&'static [Module]);

impl Modules {
    /// No modules: for kernels that run on emulated devices alone, as in tests.
    pub const NONE: Modules = Modules::new(&[]);

    /// The table of these modules.
    #[must_use]
    pub const fn new(modules: &'static [Module]) -> Self {
        Modules(modules)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static Module> + use<> {
        self.0.iter()
    }

    /// The module of the kernel `E`.
    ///
    /// # Errors
    ///
    /// [`ImageError::NoImages`] and [`ImageError::MissingModule`].
    pub fn of<E: Entry>(&self) -> Result<&'static Module, ImageError> {
        if self.0.is_empty() {
            return Err(ImageError::NoImages);
        }
        let included = || self.iter().map(Module::name).collect();
        self.iter()
            .find(|module| module.name == E::MODULE)
            .ok_or_else(|| ImageError::MissingModule { included: included() })
    }
}

/// Where the modules of a program come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The files that the kernel package carries.
    Committed,
    /// Nowhere: there are none.
    None,
    /// Compiled together with the program.
    Built {
        /// The compiler and its version.
        compiler: &'static str,
    },
}

/// Includes what `cuda_builder` made in the crate's build script: the `static KERNELS`, the table of all modules ([`Modules`]),
/// and the `static ORIGIN`, an [`Origin`].
#[macro_export]
macro_rules! include_kernels {
    () => {
        $crate::expansion::include!($crate::expansion::concat!($crate::expansion::env!("OUT_DIR"), "/slm_kernels.rs"));
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "0123456789abcdef0123456789abcdef k/a.rs|fedcba9876543210fedcba9876543210 k/b.rs";

    const IMAGES: &[Image] = &[Image::new(75, ".version 6.5\n", "")];

    /// A module with the digest of `files` in [`LIST`].
    fn module(files: &'static [&'static str]) -> Module {
        let sources = Sources::new(LIST).digest(files.iter().copied()).unwrap().leak();
        // SAFETY: the text is never loaded.
        unsafe { Module::new("m", files, sources, IMAGES) }
    }

    #[test]
    fn a_changed_or_missing_file_is_noticed_by_the_modules_that_have_it() {
        let [both, one] = [module(&["k/a.rs", "k/b.rs"]), module(&["k/a.rs"])];
        assert_eq!((both.verify(LIST), one.verify(LIST)), (Ok(()), Ok(())));
        let edited = LIST.replace("fedc", "0000");
        assert!(matches!(both.verify(&edited), Err(ImageError::Stale { .. })));
        assert_eq!(one.verify(&edited), Ok(()));
        let removed = LIST.split_once('|').unwrap().0;
        assert_eq!(both.verify(removed), Err(ImageError::MissingSource { file: "k/b.rs".to_owned() }));
        assert_eq!(one.verify(removed), Ok(()));
        let added = format!("{LIST}|0123456789abcdef0123456789abcdef k/c.rs");
        assert_eq!((both.verify(&added), one.verify(&added)), (Ok(()), Ok(())));
    }

    // This crate has no modules.
    #[allow(unexpected_cfgs, unreachable_pub)]
    mod kernels {
        crate::kernel! {
            for<T: crate::Value> { "m" { u8 => u8; } "other" { u16 => u16; } }

            /// Does nothing.
            pub fn nothing(_arena, _args: T) {}
        }
    }
    use kernels::nothing;

    #[test]
    fn a_kernel_finds_its_module() {
        static MODULES: &[Module] = &[Module { name: "m", files: &[], sources: "", images: IMAGES }];
        let of = |modules: Modules| (modules.of::<nothing<u8>>().map(Module::name), modules.of::<nothing<u16>>().err());
        let missing = ImageError::MissingModule { included: vec!["m"] };
        assert_eq!(of(Modules::new(MODULES)), (Ok("m"), Some(missing)));
        assert_eq!(of(Modules::NONE), (Err(ImageError::NoImages), Some(ImageError::NoImages)));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let text = ".version 7.0\n";
        let verify = |text: String| Image::new(80, text.leak(), digest(".version 7.0\n").leak()).verify();
        assert_eq!(verify(text.to_owned()), Ok(()));
        for i in 0..text.len() {
            let mut bytes = text.to_owned().into_bytes();
            bytes[i] ^= 1;
            assert!(verify(String::from_utf8(bytes).unwrap()).is_err(), "byte {i}");
        }
        assert!(verify(text[..text.len() - 1].to_owned()).is_err());
        assert!(verify(String::new()).is_err());
    }

    #[test]
    fn errors_name_both_digests() {
        let altered = ImageError::Altered { expected: "aa".into(), actual: "bb".into() };
        assert_eq!(altered.to_string(), "its text has the digest bb, the compiled one had aa");
        let stale = ImageError::Stale { expected: "aa".into(), actual: "bb".into() };
        assert_eq!(stale.to_string(), "it was compiled from sources with the digest bb, this program has aa");
        let missing = ImageError::MissingSource { file: "k/b.rs".into() };
        assert_eq!(missing.to_string(), "it was compiled from k/b.rs, which this program's kernels do not have");
        let none = "the program has no compiled modules: it was built for emulated devices alone (SLM_KERNELS=none)";
        assert_eq!(ImageError::NoImages.to_string(), none);
        let module = ImageError::MissingModule { included: vec!["blur", "sum"] };
        assert_eq!(module.to_string(), "the program has no module of this name; it has: blur, sum");
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
