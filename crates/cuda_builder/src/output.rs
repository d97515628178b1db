//! Results of a build.

use crate::Arch;
use crate::compilation::Text;
use crate::index::ImageRecord;
use std::fmt::Write;
use std::path::PathBuf;

/// Origin of modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The committed files of the kernel crate.
    Committed,
    /// There are no modules ([`Mode::None`](crate::Mode::None)).
    None,
    /// Compiled now, at least some of them; the others are committed files that the same compiler made.
    Built {
        /// The compiler and its version.
        compiler: String,
    },
}

/// A module, compiled for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// The module's name.
    pub module: String,
    /// Target that it was compiled for.
    pub arch: Arch,
    /// The PTX.
    pub text: String,
    /// File with the PTX.
    pub file: PathBuf,
}

/// Result of [`CudaBuilder::build`](crate::CudaBuilder::build).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Built {
    /// Images of all modules. Modules are in the order in which they were added, or sorted by name if none was added. The
    /// targets of each are in ascending order.
    pub images: Vec<Image>,
    /// Origin of the modules.
    pub origin: Origin,
    /// The file that `cuda_std::include_kernels!` includes.
    pub include: PathBuf,
}

/// Result of [`CudaBuilder::commit`](crate::CudaBuilder::commit).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The compiled modules, and the list of them.
    pub files: Vec<PathBuf>,
    /// Removed files of modules and targets that no longer exist.
    pub removed: Vec<PathBuf>,
    /// Warnings of the kernels.
    pub warnings: Vec<String>,
}

/// Returns the name of the file with a module for a target.
pub(crate) fn file_name(module: &str, arch: Arch) -> String {
    format!("{module}.{arch}.ptx")
}

/// Returns the Rust code that `cuda_std::include_kernels!` includes.
pub(crate) fn render(modules: &[Text], origin: &Origin) -> String {
    let origin = match origin {
        Origin::Committed => "Committed".to_owned(),
        Origin::None => "None".to_owned(),
        Origin::Built { compiler } => format!("Built {{ compiler: {compiler:?} }}"),
    };
    let modules: String = modules.iter().map(render_module).collect();
    format!(
        "/// All kernel modules.\n\
         #[allow(dead_code, unsafe_code)]\n\
         pub(crate) static KERNELS: ::cuda_std::image::Modules = ::cuda_std::image::Modules::new(&[{modules}]);\n\n\
         /// Where the kernel modules come from.\n\
         #[allow(dead_code)]\n\
         pub(crate) static ORIGIN: ::cuda_std::image::Origin = ::cuda_std::image::Origin::{origin};\n"
    )
}

fn render_module(Text { module, record, .. }: &Text) -> String {
    let images = record.images.iter().fold(String::new(), |mut images, (arch, ImageRecord { digest, .. })| {
        let (target, file) = (arch.number(), file_name(module, *arch));
        let text = format!("::cuda_std::expansion::include_str!({file:?})");
        let _ = write!(images, "\n            ::cuda_std::image::Image::new({target}, {text}, {digest:?}),");
        images
    });
    let (files, sources) = (&record.files, &record.sources);
    format!(
        "\n    // SAFETY: `cuda_builder` compiled the images from these files.\n    \
             unsafe {{\n        \
                 ::cuda_std::image::Module::new({module:?}, &{files:?}, {sources:?}, &[{images}\n        ])\n    \
             }},\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Record;

    fn blur() -> Text {
        let image = |digest: &str| ImageRecord { digest: digest.into(), ..ImageRecord::default() };
        let record = Record {
            files: vec!["k/a.rs".into(), "k/b.rs".into()],
            sources: "0123".into(),
            images: [(Arch::SM_75, image("4567")), (Arch::SM_90, image("89ab"))].into(),
            ..Record::default()
        };
        Text { module: "blur".into(), record, ..Text::default() }
    }

    #[test]
    fn the_included_code() {
        let code = render(&[blur()], &Origin::Committed);
        let expected = r#"/// All kernel modules.
#[allow(dead_code, unsafe_code)]
pub(crate) static KERNELS: ::cuda_std::image::Modules = ::cuda_std::image::Modules::new(&[
    // SAFETY: `cuda_builder` compiled the images from these files.
    unsafe {
        ::cuda_std::image::Module::new("blur", &["k/a.rs", "k/b.rs"], "0123", &[
            ::cuda_std::image::Image::new(75, ::cuda_std::expansion::include_str!("blur.sm_75.ptx"), "4567"),
            ::cuda_std::image::Image::new(90, ::cuda_std::expansion::include_str!("blur.sm_90.ptx"), "89ab"),
        ])
    },
]);

/// Where the kernel modules come from.
#[allow(dead_code)]
pub(crate) static ORIGIN: ::cuda_std::image::Origin = ::cuda_std::image::Origin::Committed;
"#;
        assert_eq!(code, expected);
    }

    #[test]
    fn no_modules() {
        let code = render(&[], &Origin::None);
        assert!(code.contains("KERNELS: ::cuda_std::image::Modules = ::cuda_std::image::Modules::new(&[]);"), "{code}");
        assert!(code.ends_with("::cuda_std::image::Origin::None;\n"), "{code}");
    }

    #[test]
    fn the_compiler_is_named() {
        let origin = Origin::Built { compiler: "rustc 1.96.0 (\"x\")".into() };
        let code = render(&[], &origin);
        assert!(code.contains(r#"Origin::Built { compiler: "rustc 1.96.0 (\"x\")" };"#), "{code}");
    }
}
