//! Tests with example sources, and with the sources of this crate.

use super::{Accessors, Calls, library};
use crate::common::{ensure, equal};
use libtest_mimic::{Failed, Trial};

type Test = fn() -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 5] = [
        ("accessors_of_the_library", accessors_of_the_library),
        ("functions_named_by_macros", functions_named_by_macros),
        ("helpers_are_what_they_call", helpers_are_what_they_call),
        ("tokens_that_are_no_calls", tokens_that_are_no_calls),
        ("accessors_of_this_crate", accessors_of_this_crate),
    ];
    tests.map(|(name, test)| Trial::test(format!("sources::{name}"), test)).into()
}

const LIBRARY: &str = r"
impl<T: Value> Window<T> {
    /// A new accessor, and `fn not_this(` is none.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn get9(&self, i: u32) -> [T; 9] { self.access(i) }
    #[track_caller]
    pub fn get9_or(
        &self,
        i: u32,
        outside: T,
    ) -> [T; 9] {}
    #[track_caller]
    pub fn get9_masked(&self, i: u32) -> [T; 9] {}
    #[track_caller]
    pub fn set9_if(&self, condition: bool, i: u32, values: [T; 9]) {}
    #[track_caller]
    pub fn fetch_or(&self, i: u32, operand: T) -> T {}
    #[track_caller]
    pub(crate) fn access(&self, i: u32) {}
    #[track_caller]
    pub fn part(self, len: u32) -> (Window<'l, T>, Arena<'l>) {}
    #[track_caller]
    pub fn reuse(self) -> Arena {}
    pub fn len(&self) -> u32 {}
}
#[track_caller]
pub fn now() -> u64 {}
#[track_caller]
pub fn meet() {}
";

fn example() -> Accessors {
    let mut accessors = Accessors::default();
    accessors.add_library(LIBRARY);
    accessors
}

fn names(accessors: &Accessors, masked: bool) -> Vec<&str> {
    let all = accessors.methods.iter().chain(&accessors.functions);
    all.filter(|(_, is_masked)| **is_masked == masked).map(|((name, _), _)| name.as_str()).collect()
}

/// Accessors are recognised by their signatures.
fn accessors_of_the_library() -> Result<(), Failed> {
    let accessors = example();
    equal(names(&accessors, false), vec!["fetch_or", "get9", "reuse", "meet"])?;
    equal(names(&accessors, true), vec!["get9_masked", "get9_or", "set9_if"])
}

fn functions_named_by_macros() -> Result<(), Failed> {
    let mut accessors = Accessors::default();
    accessors.add_library(
        r"
        macro_rules! votes {
            ($($(#[$doc:meta])* $name:ident($argument:ident), $operation:ident;)*) => {$(
                #[track_caller]
                pub fn $name(mask: u32, $argument: u32) -> bool {}
            )*};
        }
        votes! {
            /// Documented, by $this.
            any(lane), Any;
            all(lane), All;
        }
        macro_rules! load {
            ($name:ident, $vector:ident, $(#[$doc:meta])* $method:ident) => {
                impl $name { #[track_caller] pub fn $method(&self, i: I, outside: T) -> T { self.$vector(i) } }
            };
        }
        macro_rules! loads { ($($name:ident)*) => {$(
            load! { $name, get2, /// Two.
                get2_or }
            load!($name, get4, get4_or);
        )*} }
        loads!(GlobalIn GlobalInOut);
        ",
    );
    equal(names(&accessors, false), vec!["all", "any"])?;
    equal(names(&accessors, true), vec!["get2_or", "get4_or"])
}

fn lines(calls: &Calls) -> [Vec<u32>; 2] {
    [&calls.all, &calls.masked].map(|lines| lines.iter().copied().collect())
}

/// Calls in helpers count at the callers' lines.
fn helpers_are_what_they_call() -> Result<(), Failed> {
    let kernels = r"
        #[track_caller]
        fn middle(window: &Window<u32>) -> [u32; 9] {
            window.get9_or(1, 2)
        }
        #[track_caller]
        fn outer<const N: usize>(self) {
            middle(self.window);
        }
        fn caller(w: &Window<u32>) {
            middle(w);
            Helper::outer::<7>(w);
            w.outer::<{ 7 }>();
            let x = 5;
        }
    ";
    let accessors = example().with_helpers(&[kernels.to_owned()]);
    equal(lines(&accessors.calls(kernels)), [vec![11, 13], vec![11, 13]])
}

fn tokens_that_are_no_calls() -> Result<(), Failed> {
    let calls = example().calls(
        r#"
        // window.get9(1)
        fn meet() { let meet = 'm'; let text = "window.get9(1)"; }
        fn calls<'a>(w: &'a Window, meeting: fn()) {
            let function = meet;
            thread::meet();
            w
                .get9(w.part(3)); let escaped = ['\\'', '"']; w.get9_masked(4);
            w.set9_if::<Vec<u8>>(true, 1, x);
            option.meet(); w.len(); meet(function); w.get9();
            #[cfg(any(meet(), all()))]
        }
        #[cfg(all(test, linux))]
        mod tests { fn test() { w.get9(1) } }
        fn last() { w.reuse(); }
        "#,
    );
    equal(lines(&calls), [vec![6, 8, 9, 15], vec![8, 9]])
}

/// Checks some of each kind. The coverage of emulated tests shows whether any are missing.
fn accessors_of_this_crate() -> Result<(), Failed> {
    let Ok(accessors) = library() else {
        // A package of these tests does not have the sources of `cuda_std`.
        return ensure(!std::path::Path::new("crates/cuda_std").exists(), || "sources cannot be read".to_owned());
    };
    let [others, masked] = [false, true].map(|masked| names(&accessors, masked));
    for name in [
        "get",
        "set_pack",
        "get4_strided",
        "fetch_add",
        "reuse",
        "sync_threads",
        "shuffle_xor",
        "reduce_or",
        "any",
        "pack",
    ] {
        ensure(others.contains(&name), || format!("{name} is not in {others:?}"))?;
    }
    for name in
        ["get_or", "get_if", "get_pack_masked", "get_pack_or", "set_if", "set_pack_if", "set_pack_masked", "add_if"]
    {
        ensure(masked.contains(&name), || format!("{name} is not in {masked:?}"))?;
    }
    let none = ["clock", "split", "split_off", "array", "machine", "len"];
    ensure(!none.iter().any(|name| others.contains(name) || masked.contains(name)), || format!("{others:?}"))
}
