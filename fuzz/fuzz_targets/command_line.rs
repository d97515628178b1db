//! Command lines of the examples. Nothing runs: the words are parsed.

#![no_main]

use clap::Parser;
use examples::{banks, blur, denoise, equalise, histogram, life, picture, stream, transpose};
use libfuzzer_sys::fuzz_target;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

#[path = "../../examples"]
#[allow(dead_code)]
mod examples {
    #[path = "04_banks.rs"]
    pub(crate) mod banks;
    #[path = "01_blur.rs"]
    pub(crate) mod blur;
    #[path = "09_denoise.rs"]
    pub(crate) mod denoise;
    #[path = "06_equalise.rs"]
    pub(crate) mod equalise;
    #[path = "02_histogram.rs"]
    pub(crate) mod histogram;
    #[path = "07_life.rs"]
    pub(crate) mod life;
    #[path = "05_picture.rs"]
    pub(crate) mod picture;
    #[path = "08_stream.rs"]
    pub(crate) mod stream;
    #[path = "03_transpose.rs"]
    pub(crate) mod transpose;
}

#[path = "../../examples/common"]
#[allow(dead_code)]
mod common {
    pub(crate) mod program;
}

fuzz_target!(|input: &[u8]| {
    // The first byte says which example it is. Each line is a word.
    let Some((first, lines)) = input.split_first() else { return };
    let lines = lines.split(|&byte| byte == b'\n').map(<[u8]>::to_vec);
    let words = [b"example".to_vec()].into_iter().chain(lines).map(OsString::from_vec).collect();
    match first % 9 {
        0 => parse::<blur::Arguments>(words),
        1 => parse::<histogram::Arguments>(words),
        2 => parse::<transpose::Arguments>(words),
        3 => parse::<banks::Arguments>(words),
        4 => parse::<picture::Arguments>(words),
        5 => parse::<equalise::Arguments>(words),
        6 => parse::<life::Arguments>(words),
        7 => parse::<stream::Arguments>(words),
        _ => parse::<denoise::Arguments>(words),
    }
});

fn parse<A: Parser>(words: Vec<OsString>) {
    if let Err(error) = common::program::parse::<A>(words) {
        assert!(!error.to_string().is_empty());
        assert!([0, 2].contains(&error.exit_code()), "{error:?}");
    }
}
