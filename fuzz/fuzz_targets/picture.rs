//! PNG and JPEG files, as the examples read them.

#![no_main]

use image::ImageReader;
use libfuzzer_sys::fuzz_target;
use slm_fuzz::{floods, in_file};
use std::io::Cursor;

#[allow(dead_code, reason = "the examples use more of it")]
#[path = "../../examples/common"]
mod common {
    pub(crate) mod file;
    mod jpeg;
    pub(crate) mod picture;
    mod profile;
    mod program;
}

use common::picture::Picture;

fuzz_target!(|bytes: &[u8]| {
    // A small file may declare a picture of up to 4 GiB, which then takes as long as its size.
    let size = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map(ImageReader::into_dimensions);
    if let Ok(Ok((columns, rows))) = size
        && floods(&[rows as usize, columns as usize])
    {
        return;
    }
    match in_file("png", bytes, Picture::read) {
        Ok(picture) => {
            let samples = picture.rows * picture.columns * picture.channels();
            assert_eq!(picture.bytes.len(), samples * if picture.is_wide() { 2 } else { 1 });
            picture.on_white();
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
