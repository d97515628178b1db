//! Compiled kernel modules: PTX, and the sources that it was compiled from.
//!
//! `cuda_builder` compiles a module and includes it in the program as a [`Module`]: its texts, one for each target, a digest
//! of each text, the files that it was compiled from, and their digest. All modules of a program are in one table,
//! [`Modules`], in which a kernel finds its module by [`Entry::MODULE`]. The loader of a module checks both digests. The
//! files are compared with those that the host code of the kernels was compiled from ([`Sources`]), so host code never
//! launches kernels that were compiled from other sources than its own. Other files of a kernel crate do not count.
//!
//! With `cfg`, the same sources can be compiled to different kernels. So each entry point has a constant with a digest of
//! its path and its arguments, which [`verify_kernel`] checks.

mod sources;

pub use sources::Sources;

use crate::Entry;
use crate::digest::Digest;
use std::fmt;

/// Reason why a module must not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleError {
    /// The text is not the one that was compiled.
    Altered {
        /// The digest of the compiled text.
        expected: String,
        /// The digest of the actual text.
        actual: String,
    },
    /// The program has no compiled modules.
    NoModules,
    /// The program has compiled modules, but not this one.
    MissingModule {
        /// The names of the program's modules.
        included: Vec<&'static str>,
    },
    /// The module was compiled from other versions of its files.
    Stale {
        /// The digest of the files that the host code was compiled from.
        expected: String,
        /// The digest of the files that the module was compiled from.
        actual: String,
    },
    /// The module was compiled from a file that the host code was not compiled from.
    MissingSource {
        /// The file's package and path.
        file: String,
    },
    /// The text has another kernel of this name than the host code, one with other arguments, or none.
    OtherKernel {
        /// The kernel's name.
        kernel: &'static str,
        /// The digest that the host code has for it.
        expected: String,
        /// The digest that the text has for it, if it has one.
        actual: Option<String>,
    },
}

impl fmt::Display for ModuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModuleError::Altered { expected, actual } => {
                write!(f, "its text has the digest {actual}, the compiled one had {expected}")
            }
            ModuleError::NoModules => f.write_str(
                "the program has no compiled modules: it was built for emulated devices alone (SLM_KERNELS=none)",
            ),
            ModuleError::MissingModule { included } => {
                write!(f, "the program has no module of this name; it has: {}", included.join(", "))
            }
            ModuleError::Stale { expected, actual } => {
                write!(f, "it was compiled from sources with the digest {actual}, this program has {expected}")
            }
            ModuleError::MissingSource { file } => {
                write!(f, "it was compiled from {file}, which this program's kernels do not have")
            }
            ModuleError::OtherKernel { kernel, expected, actual } => write!(
                f,
                "its kernel {kernel} is another one, or has other arguments: its digest is {}, this program has {expected}",
                actual.as_deref().unwrap_or("missing")
            ),
        }
    }
}

impl std::error::Error for ModuleError {}

/// Returns the digest of a compiled text, as an [`Image`] contains it.
#[must_use]
pub fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// Checks that `text` has this digest.
///
/// # Errors
///
/// Returns [`ModuleError::Altered`] if it does not.
pub fn verify_text(text: &str, expected: &str) -> Result<(), ModuleError> {
    let actual = digest(text);
    if actual == expected {
        return Ok(());
    }
    Err(ModuleError::Altered { expected: expected.to_owned(), actual })
}

/// Checks that `text` has exactly the kernel `E`, compiled with the same arguments as in this program.
///
/// # Errors
///
/// Returns [`ModuleError::OtherKernel`] if it does not.
pub fn verify_kernel<E: Entry>(text: &str) -> Result<(), ModuleError> {
    verify_layout(text, E::NAME, E::LAYOUT)
}

/// Checks that `text` has exactly this kernel. This is not generic, so that it is compiled once for all kernels.
fn verify_layout(text: &str, kernel: &'static str, expected: Digest) -> Result<(), ModuleError> {
    let actual = layout(text, kernel);
    if actual == Some(expected) {
        return Ok(());
    }
    let (expected, actual) = (expected.to_string(), actual.map(|digest| digest.to_string()));
    Err(ModuleError::OtherKernel { kernel, expected, actual })
}

/// Returns the digest of the entry point `kernel`, which `text` lists as decimal bytes; trailing zeros may be missing.
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
    /// Returns the image with this PTX text and its digest. `target` is the compute capability without the dot.
    #[must_use]
    pub const fn new(target: u32, text: &'static str, digest: &'static str) -> Self {
        Image { target, text, digest }
    }

    /// Returns the compute capability that it was compiled for: 90 for `sm_90`.
    #[must_use]
    pub fn target(&self) -> u32 {
        self.target
    }

    /// Returns the PTX.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Checks that the text is the one that was compiled.
    ///
    /// # Errors
    ///
    /// Returns [`ModuleError::Altered`] if it is not.
    pub fn verify(&self) -> Result<(), ModuleError> {
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
    /// Returns the module with these images, compiled from `files`, whose [`Sources::digest`] was `sources`.
    ///
    /// # Safety
    ///
    /// `cuda_builder` must have written the images, compiled from these files.
    #[must_use]
    pub const unsafe fn new(
        name: &'static str,
        files: &'static [&'static str],
        sources: &'static str,
        images: &'static [Image],
    ) -> Self {
        Module { name, files, sources, images }
    }

    /// Returns the module's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the images, one for each target.
    #[must_use]
    pub fn images(&self) -> &'static [Image] {
        self.images
    }

    /// Compares the digest of the files that the module was compiled from with `sources`, an [`Entry::SOURCES`].
    ///
    /// # Errors
    ///
    /// Returns [`ModuleError::Stale`] or [`ModuleError::MissingSource`] if it was not.
    pub fn verify(&self, sources: &str) -> Result<(), ModuleError> {
        let missing = |file: &str| ModuleError::MissingSource { file: file.to_owned() };
        let expected = Sources::new(sources).digest(self.files.iter().copied()).map_err(missing)?;
        if expected != self.sources {
            return Err(ModuleError::Stale { expected, actual: self.sources.to_owned() });
        }
        Ok(())
    }
}

/// The compiled modules of a program: the table `KERNELS` that [`include_kernels!`](crate::include_kernels) defines.
#[derive(Clone, Copy, Debug)]
pub struct Modules(&'static [Module]);

impl Modules {
    /// No modules: for kernels that run on emulated devices only, as in tests.
    pub const NONE: Modules = Modules::new(&[]);

    /// Returns the table of these modules.
    #[must_use]
    pub const fn new(modules: &'static [Module]) -> Self {
        Modules(modules)
    }

    /// Returns all modules.
    pub fn iter(&self) -> impl Iterator<Item = &'static Module> + use<> {
        self.0.iter()
    }

    /// Returns the module of the kernel `E`.
    ///
    /// # Errors
    ///
    /// Returns [`ModuleError::NoModules`] or [`ModuleError::MissingModule`] if there is none.
    pub fn of<E: Entry>(&self) -> Result<&'static Module, ModuleError> {
        self.named(E::MODULE)
    }

    /// Returns the module with this name. This is not generic, so that it is compiled once for all kernels.
    fn named(&self, name: &str) -> Result<&'static Module, ModuleError> {
        if self.0.is_empty() {
            return Err(ModuleError::NoModules);
        }
        let included = || self.iter().map(Module::name).collect();
        self.iter()
            .find(|module| module.name == name)
            .ok_or_else(|| ModuleError::MissingModule { included: included() })
    }
}

/// Origin of a program's modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The committed files of the kernel package.
    Committed,
    /// The program has no modules.
    None,
    /// Compiled together with the program, at least some of them; the others are committed files that the same compiler made.
    Built {
        /// The compiler and its version.
        compiler: &'static str,
    },
}

/// Includes the output of `cuda_builder` in the crate's build script: the `static KERNELS`, the table of all modules
/// ([`Modules`]), and the `static ORIGIN`, an [`Origin`].
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
        assert!(matches!(both.verify(&edited), Err(ModuleError::Stale { .. })));
        assert_eq!(one.verify(&edited), Ok(()));
        let removed = LIST.split_once('|').unwrap().0;
        assert_eq!(both.verify(removed), Err(ModuleError::MissingSource { file: "k/b.rs".to_owned() }));
        assert_eq!(one.verify(removed), Ok(()));
        let added = format!("{LIST}|0123456789abcdef0123456789abcdef k/c.rs");
        assert_eq!((both.verify(&added), one.verify(&added)), (Ok(()), Ok(())));
    }

    // Modules are features, and this crate has none.
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
        let missing = ModuleError::MissingModule { included: vec!["m"] };
        assert_eq!(of(Modules::new(MODULES)), (Ok("m"), Some(missing)));
        assert_eq!(of(Modules::NONE), (Err(ModuleError::NoModules), Some(ModuleError::NoModules)));
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
        let altered = ModuleError::Altered { expected: "aa".into(), actual: "bb".into() };
        assert_eq!(altered.to_string(), "its text has the digest bb, the compiled one had aa");
        let stale = ModuleError::Stale { expected: "aa".into(), actual: "bb".into() };
        assert_eq!(stale.to_string(), "it was compiled from sources with the digest bb, this program has aa");
        let missing = ModuleError::MissingSource { file: "k/b.rs".into() };
        assert_eq!(missing.to_string(), "it was compiled from k/b.rs, which this program's kernels do not have");
        let none = "the program has no compiled modules: it was built for emulated devices alone (SLM_KERNELS=none)";
        assert_eq!(ModuleError::NoModules.to_string(), none);
        let module = ModuleError::MissingModule { included: vec!["blur", "sum"] };
        assert_eq!(module.to_string(), "the program has no module of this name; it has: blur, sum");
        let other = |actual| ModuleError::OtherKernel { kernel: "blur", expected: "aa".into(), actual };
        let text = |digest| {
            format!(
                "its kernel blur is another one, or has other arguments: its digest is {digest}, this program has aa"
            )
        };
        assert_eq!(other(Some("bb".into())).to_string(), text("bb"));
        assert_eq!(other(None).to_string(), text("missing"));
    }
}
