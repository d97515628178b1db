//! What a build leaves behind.

use crate::Arch;
use crate::error::BuildError;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Where modules come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The files that the kernel crate carries.
    Committed,
    /// Nowhere: they have no images ([`Mode::None`](crate::Mode::None)).
    None,
    /// Compiled now.
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
    /// What it was compiled for.
    pub arch: Arch,
    /// The header and the PTX.
    pub text: String,
    /// The file that it was written to.
    pub file: PathBuf,
}

/// What [`CudaBuilder::build`](crate::CudaBuilder::build) made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Built {
    /// Every module for every target, modules in the order in which they were named, targets ascending.
    pub images: Vec<Image>,
    /// Where they come from.
    pub origin: Origin,
    /// The file that `cuda_std::include_kernels!` includes.
    pub include: PathBuf,
}

/// What [`CudaBuilder::commit`](crate::CudaBuilder::commit) wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The compiled modules.
    pub files: Vec<PathBuf>,
    /// The kernels' warnings.
    pub warnings: Vec<String>,
}

/// The name of the file that holds a module for a target.
pub(crate) fn file_name(module: &str, arch: Arch) -> String {
    format!("{module}.{arch}.ptx")
}

/// The Rust code that `cuda_std::include_kernels!` includes.
pub(crate) fn render(modules: &[String], archs: &[Arch], origin: &Origin) -> String {
    let mut code = String::new();
    for module in modules {
        match origin {
            Origin::None => render_empty_module(&mut code, module),
            _ => render_module(&mut code, module, archs),
        }
    }
    let origin = match origin {
        Origin::Committed => "Committed".to_owned(),
        Origin::None => "None".to_owned(),
        Origin::Built { compiler } => format!("Built {{ compiler: {compiler:?} }}"),
    };
    code + &format!(
        "/// Where the kernel modules come from.\n\
         #[allow(dead_code)]\n\
         pub(crate) static ORIGIN: ::cuda_std::image::Origin = ::cuda_std::image::Origin::{origin};\n"
    )
}

fn render_module(code: &mut String, module: &str, archs: &[Arch]) {
    let names: Vec<_> = archs.iter().map(Arch::to_string).collect();
    let files: String = archs.iter().fold(String::new(), |mut files, arch| {
        let _ = write!(files, "\n            ::cuda_std::expansion::include_str!({:?}),", file_name(module, *arch));
        files
    });
    let _ = write!(
        code,
        "/// The kernel module `{module}` for {}.\n\
         #[allow(unsafe_code)]\n\
         pub(crate) static {}: ::cuda_std::image::Module =\n    \
             // SAFETY: `cuda_builder` wrote the files.\n    \
             unsafe {{\n        \
                 ::cuda_std::image::Module::new({module:?}, &[{files}\n        ])\n    \
             }};\n\n",
        names.join(", "),
        module.to_uppercase(),
    );
}

fn render_empty_module(code: &mut String, module: &str) {
    let _ = write!(
        code,
        "/// The kernel module `{module}`, without images.\n\
         pub(crate) static {}: ::cuda_std::image::Module = ::cuda_std::image::Module::without_images({module:?});\n\n",
        module.to_uppercase(),
    );
}

/// Writes a file, unless it has these contents: a new date would have its users compiled again.
pub(crate) fn write_if_changed(path: &Path, contents: &str) -> Result<(), BuildError> {
    if fs::read(path).is_ok_and(|old| old == contents.as_bytes()) {
        return Ok(());
    }
    fs::write(path, contents).map_err(BuildError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_included_code() {
        let code = render(&["blur".to_owned()], &[Arch::SM_75, Arch::SM_90], &Origin::Committed);
        let expected = r#"/// The kernel module `blur` for sm_75, sm_90.
#[allow(unsafe_code)]
pub(crate) static BLUR: ::cuda_std::image::Module =
    // SAFETY: `cuda_builder` wrote the files.
    unsafe {
        ::cuda_std::image::Module::new("blur", &[
            ::cuda_std::expansion::include_str!("blur.sm_75.ptx"),
            ::cuda_std::expansion::include_str!("blur.sm_90.ptx"),
        ])
    };

/// Where the kernel modules come from.
#[allow(dead_code)]
pub(crate) static ORIGIN: ::cuda_std::image::Origin = ::cuda_std::image::Origin::Committed;
"#;
        assert_eq!(code, expected);
    }

    #[test]
    fn modules_without_images() {
        let code = render(&["blur".to_owned()], &[Arch::SM_75], &Origin::None);
        let expected = r#"/// The kernel module `blur`, without images.
pub(crate) static BLUR: ::cuda_std::image::Module = ::cuda_std::image::Module::without_images("blur");

/// Where the kernel modules come from.
#[allow(dead_code)]
pub(crate) static ORIGIN: ::cuda_std::image::Origin = ::cuda_std::image::Origin::None;
"#;
        assert_eq!(code, expected);
    }

    #[test]
    fn the_compiler_is_named() {
        let origin = Origin::Built { compiler: "rustc 1.96.0 (\"x\")".into() };
        let code = render(&[], &[], &origin);
        assert!(code.contains(r#"Origin::Built { compiler: "rustc 1.96.0 (\"x\")" };"#), "{code}");
    }
}
