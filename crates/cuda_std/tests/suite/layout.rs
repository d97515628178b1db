//! The digests by which host and device detect that their kernels or arguments differ.

use cuda_std::digest::Digest;
use cuda_std::image::{ModuleError, verify_kernel};
use cuda_std::{Argument, Entry, GlobalIn, GlobalOut, Table, arguments, kernel};

/// Defines structs of the same name, each in a module of its own.
macro_rules! variants {
    ($($module:ident { $($field:ident: $type:ty),+ })*) => {
        $(mod $module {
            use super::*;

            arguments! {
                /// Arguments of `work`.
                pub struct Work<'l> {
                    $(/// A field.
                    pub $field: $type,)+
                }
            }

            kernel! {
                /// Does nothing.
                pub fn work<'l>(_arena, _args: Work<'l>) {}
            }
        })*

        /// The name of each module, and the digests of its struct and its kernel.
        const VARIANTS: &[(&str, Digest, Digest)] =
            &[$((stringify!($module), <$module::Work as Argument>::LAYOUT, $module::work::LAYOUT)),*];
    };
}
variants! {
    first { input: GlobalIn<'l, f32>, n: u32, factor: f32 }
    equal { input: GlobalIn<'l, f32>, n: u32, factor: f32 }
    another_order { input: GlobalIn<'l, f32>, factor: f32, n: u32 }
    another_name { input: GlobalIn<'l, f32>, n: u32, scale: f32 }
    another_number { input: GlobalIn<'l, f32>, n: i32, factor: f32 }
    another_size { input: GlobalIn<'l, f32>, n: u32, factor: f64 }
    another_window { input: GlobalOut<'l, f32>, n: u32, factor: f32 }
    another_element { input: GlobalIn<'l, f64>, n: u32, factor: f32 }
    fewer { input: GlobalIn<'l, f32>, n: u32 }
    nested { input: GlobalIn<'l, f32>, rest: fewer::Work<'l> }
    nested_otherwise { input: GlobalIn<'l, f32>, rest: another_element::Work<'l> }
    a_table { input: GlobalIn<'l, f32>, rest: Table<u16, 2> }
    a_longer_table { input: GlobalIn<'l, f32>, rest: Table<u16, 3> }
}

#[test]
fn every_difference_of_arguments_is_noticed() {
    let [(_, first, _), (_, equal, _), others @ ..] = VARIANTS else { panic!() };
    assert_eq!(first, equal);
    for (i, (name, layout, _)) in others.iter().enumerate() {
        assert_ne!(layout, first, "{name}");
        assert!(others[..i].iter().all(|(_, other, _)| other != layout), "{name}");
    }
}

#[test]
fn kernels_of_one_name_are_distinguished() {
    let [(_, _, first), (_, _, equal), ..] = VARIANTS else { panic!() };
    assert_ne!(first, equal);
}

kernel! {
    /// Like `first::work`, with constants.
    pub fn weigh<'l>(_arena, _args: first::Work<'l>, _weights: Constants<f32, 8>) {}
}

#[test]
fn constants_belong_to_the_layout() {
    let path = concat!(module_path!(), "::weigh");
    assert_eq!(weigh::LAYOUT, cuda_std::layout::<first::Work, Table<f32, 8>>(path));
    assert_ne!(weigh::LAYOUT, cuda_std::layout::<first::Work, Table<f32, 16>>(path));
    assert_ne!(weigh::LAYOUT, cuda_std::layout::<first::Work, ()>(path));
}

/// Returns the text that the compiler writes for a digest.
fn text(kernel: &str, digest: Digest) -> String {
    let bytes = digest.to_bytes().map(|byte| byte.to_string()).join(", ");
    format!(".visible .global .align 1 .b8 {kernel}_layout[16] = {{{bytes}}};\n")
}

#[test]
fn a_kernel_is_launched_from_its_own_module_alone() {
    type Kernel = first::work;
    let right = text("homework", Digest::of(b"")) + &text("work", Kernel::LAYOUT);
    assert_eq!(verify_kernel::<Kernel>(&right), Ok(()));
    let refused = |text: &str, actual: Option<Digest>| {
        let (expected, actual) = (Kernel::LAYOUT.to_string(), actual.map(|digest| digest.to_string()));
        assert_eq!(verify_kernel::<Kernel>(text), Err(ModuleError::OtherKernel { kernel: "work", expected, actual }));
    };
    refused(&text("work", equal::work::LAYOUT), Some(equal::work::LAYOUT));
    refused(&text("homework", Kernel::LAYOUT), None);
    refused("", None);
    refused(&right[..right.len() - 4], None);
}

#[test]
fn zeros_at_the_end_may_be_missing() {
    let error = verify_kernel::<first::work>(".global .b8 work_layout[16] = {1, 255, 3};").unwrap_err();
    let ModuleError::OtherKernel { actual, .. } = error else { panic!("{error}") };
    assert_eq!(actual.as_deref(), Some("0000000000000000000000000003ff01"));
}
