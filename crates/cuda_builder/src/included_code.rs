//! The Rust code that `cuda_std::include_kernels!` includes: the modules with their images and sources.

use crate::compilation::{CompiledModule, file_name};
use crate::index::ImageRecord;
use crate::results::Origin;
use std::fmt::Write;

/// Returns the Rust code that `cuda_std::include_kernels!` includes.
pub(crate) fn render(modules: &[CompiledModule], origin: &Origin) -> String {
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

fn render_module(CompiledModule { module, record, .. }: &CompiledModule) -> String {
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
    use crate::Arch;
    use crate::index::Record;

    fn blur() -> CompiledModule {
        let image = |digest: &str| ImageRecord { digest: digest.into(), ..ImageRecord::default() };
        let record = Record {
            files: vec!["k/a.rs".into(), "k/b.rs".into()],
            sources: "0123".into(),
            images: [(Arch::SM_75, image("4567")), (Arch::SM_90, image("89ab"))].into(),
            ..Record::default()
        };
        CompiledModule { module: "blur".into(), record, ..CompiledModule::default() }
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
