//! The macros' expansions keep their meaning where names have other meanings.

use cuda_std::digest::{Digest, Hasher};
use cuda_std::{Argument, Entry};

/// A module that gives other meanings to names in the expansions.
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    non_camel_case_types,
    clippy::builtin_type_shadow,
    clippy::wrong_self_convention
)]
mod hostile {
    macro_rules! forged {
        ($($any:tt)*) => {
            "forged"
        };
    }
    macro_rules! forged_variable {
        ($($any:tt)*) => {
            ::core::option::Option::Some("forged")
        };
    }
    macro_rules! forged_number {
        ($($any:tt)*) => {
            7
        };
    }
    use forged as stringify;
    use forged as concat;
    use forged as module_path;
    use forged_number as offset_of;
    use forged_variable as option_env;

    struct Infallible;
    struct PhantomData;
    struct Option;
    struct u64;
    struct u8;
    struct str;
    trait Copy {}
    trait Clone {}
    trait Debug {}
    trait FnMut {}
    mod core {}

    /// For all types, methods with the names of those that digests are computed with.
    trait Forged: Sized {
        fn as_bytes(self) {}
        fn add<T>(self, _: T) -> Self {
            self
        }
        fn add_number<T>(self, _: T) -> Self {
            self
        }
        fn add_digest<T>(self, _: T) -> Self {
            self
        }
        fn finish(self) {}
        fn to_bytes(self) {}
    }
    impl<T> Forged for T {}

    cuda_std::arguments! {
        /// Two numbers.
        pub struct Pair {
            /// The first one.
            pub first: f32,
            /// The second one.
            pub second: f64
        }
    }

    cuda_std::kernel! {
        /// Does nothing.
        pub fn honest(_arena, args: Pair) {
            let _ = args.first;
        }
    }

    cuda_std::kernel! {
        /// Does nothing with constants.
        pub fn constant(_arena, args: Pair, table: Constants<f32, 4>) {
            let _ = (args.second, table.pack::<4>(0));
        }
    }

    // The parameter's name means the instance's type in the kernel's code, and nothing in the macro's own code.
    cuda_std::kernel! {
        for<u8: cuda_std::Value> {
            "singles" { f32 => f32; }
            "wholes" { u32 => 4; i32 => 4_by_1; }
        }

        /// Does nothing, for several types.
        pub fn generic<'l>(_arena, args: cuda_std::GlobalIn<'l, u8>, table: Constants<u8, 8>) where registers <= 32 {
            let _ = (args.get(0), table.pack::<4>(0));
        }
    }
}

#[test]
fn kernels_have_their_own_names_and_digests() {
    assert_eq!([hostile::honest::NAME, hostile::constant::NAME], ["honest", "constant"]);
    assert_eq!(hostile::honest::SOURCES, option_env!("SLM_KERNEL_SOURCES"));
    let path = concat!(module_path!(), "::hostile::honest");
    let expected =
        Hasher::new().add(path.as_bytes()).add_digest(hostile::Pair::LAYOUT).add_digest(<()>::LAYOUT).finish();
    assert_eq!(hostile::honest::LAYOUT, expected);
}

#[test]
fn instances_have_their_own_names_modules_and_digests() {
    fn of<E: Entry>() -> ([&'static str; 2], Digest) {
        ([E::NAME, E::MODULE], E::LAYOUT)
    }
    fn digest<T: cuda_std::Value>(name: &str) -> Digest {
        let path = format!("{}::hostile::{name}", module_path!());
        let hasher = Hasher::new().add(path.as_bytes()).add_digest(cuda_std::GlobalIn::<T>::LAYOUT);
        hasher.add_digest(cuda_std::Table::<T, 8>::LAYOUT).finish()
    }
    assert_eq!(of::<hostile::generic<f32>>(), (["generic_f32", "singles"], digest::<f32>("generic_f32")));
    assert_eq!(of::<hostile::generic<u32>>(), (["generic_4", "wholes"], digest::<u32>("generic_4")));
    assert_eq!(of::<hostile::generic<i32>>(), (["generic_4_by_1", "wholes"], digest::<i32>("generic_4_by_1")));
}

#[test]
fn arguments_have_the_digest_of_their_fields() {
    let expected = cuda_std::layout_of::<hostile::Pair>("struct")
        .add(b"first")
        .add_number(std::mem::offset_of!(hostile::Pair, first) as u64)
        .add_digest(f32::LAYOUT)
        .add(b"second")
        .add_number(std::mem::offset_of!(hostile::Pair, second) as u64)
        .add_digest(f64::LAYOUT)
        .finish();
    assert_eq!(hostile::Pair::LAYOUT, expected);
}
