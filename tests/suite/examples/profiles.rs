//! Colour profiles of pictures that the examples write: those of the pictures that they read.

use super::{of_example, succeeds, succeeds_with_note};
use crate::common::{Folder, ensure, equal};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ColorType, ImageDecoder, ImageEncoder, ImageReader};
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Test = fn() -> Result<(), Failed>;

/// Chunks with their check sums. The gamma is 1, the chromaticities and the code points are those of ITU-R BT.2020 and 2100.
const GAMMA: &[u8] = b"\0\0\0\x04gAMA\0\x01\x86\xa0\x31\xe8\x96\x5f";
const SRGB: &[u8] = b"\0\0\0\x01sRGB\x01\xd9\xc9\x2c\x7f";
const CODE_POINTS: &[u8] = b"\0\0\0\x04cICP\x09\x10\0\x01\x4d\x23\x23\xfe";
const CHROMATICITIES: &[u8] =
    b"\0\0\0\x20cHRM\0\0\x7a\x26\0\0\x80\x84\0\x01\x09\xa0\0\0\x7d\0\0\0\x67\x84\0\x01\x0d\x88\
                                \0\0\x3a\x98\0\0\x17\x70\xf1\xf8\xca\x57";

/// Bytes of the signature of a PNG, and of its first chunk.
const HEADER: usize = 33;

pub(super) fn trials() -> Vec<Trial> {
    let of_examples = EXAMPLES.map(|(example, output, command)| {
        let test = move || keeps_profiles(command);
        of_example(example, vec![Trial::test(format!("examples::profiles::{output}_of_{example}"), test)])
    });
    let others: [(&str, Test); 5] = [
        ("chunks", chunks),
        ("chunks_for_jpeg", chunks_for_jpeg),
        ("no_profile", no_profile),
        ("profiles_for_other_channels", profiles_for_other_channels),
        ("turned_pictures", turned_pictures),
    ];
    let others = others.map(|(name, test)| Trial::test(format!("examples::profiles::{name}"), test));
    let sheets = vec![Trial::test("examples::profiles::sheets", sheets)];
    let others = [of_example("01_blur", others.into()), of_example("05_picture", sheets)];
    of_examples.into_iter().chain(others).flatten().collect()
}

/// The command that makes the output `out.EXTENSION` in a folder of an input.
type Make = fn(&Folder, &Path, &str) -> (Command, PathBuf);

/// The examples that write pictures, and the pictures that they write.
const EXAMPLES: [(&str, &str, Make); 5] = [
    ("01_blur", "picture", |folder, input, extension| to_output("01_blur", folder, input, extension)),
    ("03_transpose", "picture", |folder, input, extension| to_output("03_transpose", folder, input, extension)),
    ("05_picture", "result", |folder, input, _| {
        let mut command = super::command("05_picture");
        command.arg(input).args(["--edges", "--force", "--results"]).arg(folder.path(""));
        (command, folder.path("in-edges.png"))
    }),
    ("05_picture", "sheet", |folder, input, extension| {
        let output = folder.path(&format!("out.{extension}"));
        let mut command = super::command("05_picture");
        command.arg(input).args(["--gaussian", "1", "--edges", "--force", "--sheet"]).arg(&output);
        (command, output)
    }),
    ("06_equalise", "picture", |folder, input, extension| to_output("06_equalise", folder, input, extension)),
];

fn to_output(example: &str, folder: &Folder, input: &Path, extension: &str) -> (Command, PathBuf) {
    let output = folder.path(&format!("out.{extension}"));
    let mut command = super::command(example);
    command.args([input, &output]).arg("--force");
    (command, output)
}

/// Returns an ICC profile for this colour space: a header, and so much data that a JPEG needs several segments for it.
fn profile(space: &[u8; 4], seed: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..150_000u32).map(|i| ((i + seed).wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    bytes[16..20].copy_from_slice(space);
    bytes
}

/// Writes a picture of 20 x 10 pixels, with a profile if it is not empty.
fn put(folder: &Folder, name: &str, color: ColorType, icc: &[u8]) -> Result<PathBuf, Failed> {
    let mut file = Vec::new();
    match name.ends_with("png") {
        true => encode(PngEncoder::new(&mut file), color, icc)?,
        false => encode(JpegEncoder::new(&mut file), color, icc)?,
    }
    Ok(folder.put(name, &file)?)
}

fn encode(mut encoder: impl ImageEncoder, color: ColorType, icc: &[u8]) -> Result<(), Failed> {
    let pixels: Vec<u8> = (0..200 * usize::from(color.bytes_per_pixel())).map(|i| (i * 7919 % 251) as u8).collect();
    if !icc.is_empty() {
        encoder.set_icc_profile(icc.to_vec())?;
    }
    Ok(encoder.write_image(&pixels, 20, 10, color.into())?)
}

/// Returns the ICC profile of a file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Failed> {
    Ok(ImageReader::open(path)?.into_decoder()?.icc_profile()?)
}

/// From each format to each format.
fn keeps_profiles(make: Make) -> Result<(), Failed> {
    let (folder, icc) = (Folder::new()?, profile(b"RGB ", 0));
    for (input, extension) in [("in.png", "png"), ("in.png", "jpg"), ("in.jpeg", "png"), ("in.jpeg", "jpeg")] {
        let input = put(&folder, input, ColorType::Rgb8, &icc)?;
        let (mut command, output) = make(&folder, &input, extension);
        succeeds(&mut command)?;
        equal(read(&output)?.as_ref() == Some(&icc), true)
            .map_err(|_| format!("no profile in {}", output.display()))?;
    }
    Ok(())
}

/// Writes a PNG with chunks after its header.
fn put_chunks(folder: &Folder, chunks: &[&[u8]]) -> Result<PathBuf, Failed> {
    let mut png = fs::read(put(folder, "in.png", ColorType::Rgb8, &[])?)?;
    png.splice(HEADER..HEADER, chunks.concat());
    Ok(folder.put("in.png", &png)?)
}

/// Chunks that a PNG has instead of an ICC profile. Damaged ones are left out, and so are others.
fn chunks() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let damaged = [&GAMMA[..11], b"\x01", &GAMMA[12..]].concat();
    let resolution: &[u8] = b"\0\0\0\x09pHYs\0\0\x0b\x13\0\0\x0b\x13\x01\0\x9a\x9c\x18";
    for (chunks, expected) in [
        (&[GAMMA][..], GAMMA.to_vec()),
        (&[CHROMATICITIES, resolution, GAMMA], [GAMMA, CHROMATICITIES].concat()),
        (&[SRGB], SRGB.to_vec()),
        (&[CODE_POINTS, SRGB], [CODE_POINTS, SRGB].concat()),
        (&[&damaged], Vec::new()),
        (&[&damaged, SRGB, resolution], SRGB.to_vec()),
    ] {
        let input = put_chunks(&folder, chunks)?;
        let (mut command, output) = to_output("01_blur", &folder, &input, "png");
        succeeds(&mut command)?;
        let png = fs::read(output)?;
        let kept = &png[HEADER..][..expected.len()];
        equal(kept, &expected[..])?;
        equal(&png[HEADER + expected.len()..][4..8], b"IDAT")?;
    }
    Ok(())
}

/// A JPEG has no such chunks. There is a note, unless the colours are the same without them.
fn chunks_for_jpeg() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for chunks in [&[GAMMA][..], &[CHROMATICITIES], &[CODE_POINTS, SRGB]] {
        let (mut command, _) = to_output("01_blur", &folder, &put_chunks(&folder, chunks)?, "jpg");
        let note = succeeds_with_note(&mut command)?;
        ensure(note.contains("out.jpg: a JPEG cannot have the gamma or the colour space of the PNG"), || note)?;
    }
    let (mut command, _) = to_output("01_blur", &folder, &put_chunks(&folder, &[SRGB, GAMMA])?, "jpg");
    succeeds(&mut command)?;
    Ok(())
}

fn no_profile() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for (input, extension) in [("in.png", "png"), ("in.png", "jpg"), ("in.jpg", "png"), ("in.jpg", "jpg")] {
        let (mut command, output) =
            to_output("01_blur", &folder, &put(&folder, input, ColorType::Rgb8, &[])?, extension);
        succeeds(&mut command)?;
        equal(read(&output)?, None)?;
    }
    Ok(())
}

/// A profile for grey is right for grey pictures only, and one for CMYK is not for the RGB that a decoder makes of it.
fn profiles_for_other_channels() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let cases = [(ColorType::L8, b"GRAY"), (ColorType::La16, b"GRAY"), (ColorType::Rgba16, b"RGB ")];
    for (color, space) in cases {
        let icc = profile(space, 1);
        let (mut command, output) = to_output("01_blur", &folder, &put(&folder, "in.png", color, &icc)?, "png");
        succeeds(&mut command)?;
        equal(read(&output)? == Some(icc), true)?;
    }
    for (color, space) in [(ColorType::Rgb8, b"GRAY"), (ColorType::L8, b"RGB "), (ColorType::Rgb8, b"CMYK")] {
        for name in ["in.png", "in.jpg"] {
            let input = put(&folder, name, color, &profile(space, 2))?;
            let (mut command, output) = to_output("01_blur", &folder, &input, "png");
            let note = succeeds_with_note(&mut command)?;
            ensure(note.contains(&format!("{name}: the colour profile is for other channels")), || note)?;
            equal(read(&output)?, None)?;
        }
    }
    // Too short to be one.
    let input = put(&folder, "in.png", ColorType::L8, b"GRAY")?;
    succeeds_with_note(&mut to_output("01_blur", &folder, &input, "png").0)?;
    Ok(())
}

/// A picture that its camera held sideways has its profile too.
fn turned_pictures() -> Result<(), Failed> {
    let (folder, icc) = (Folder::new()?, profile(b"RGB ", 3));
    let mut file = Vec::new();
    let mut encoder = PngEncoder::new(&mut file);
    // An orientation of 6: a quarter to the right.
    encoder.set_exif_metadata(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec())?;
    encode(encoder, ColorType::Rgb8, &icc)?;
    let (mut command, output) = to_output("01_blur", &folder, &folder.put("in.png", &file)?, "png");
    succeeds(&mut command)?;
    equal((read(&output)? == Some(icc), image::image_dimensions(&output)?), (true, (10, 20)))
}

/// A sheet has the profile that all of its pictures have. Otherwise there is a note.
fn sheets() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let [first, second, grey] = [profile(b"RGB ", 4), profile(b"RGB ", 5), profile(b"GRAY", 6)];
    let picture = |name: &str, color, icc: &[u8]| put(&folder, name, color, icc);
    let (rgb, l8) = (ColorType::Rgb8, ColorType::L8);
    let same = [picture("a.png", rgb, &first)?, picture("b.jpg", rgb, &first)?];
    let other = [picture("c.png", rgb, &first)?, picture("d.png", rgb, &second)?];
    let some = [picture("e.png", rgb, &first)?, picture("f.png", rgb, &[])?];
    let greys = [picture("g.png", l8, &grey)?, picture("h.png", l8, &grey)?];
    let none = [picture("i.png", rgb, &[])?, picture("j.png", l8, &[])?];
    // Files without a profile have the colours of sRGB.
    let name: &[u8] = b"sRGB IEC61966-2.1";
    let wide: Vec<u8> = name.iter().flat_map(|&letter| [0, letter]).collect();
    let [narrow, wide] = [name, &wide].map(|name| [&first[..500], name, &first[500..]].concat());
    let srgb = [picture("k.png", rgb, &narrow)?, picture("l.png", l8, &[])?, picture("m.jpg", rgb, &wide)?];
    let sheet = folder.path("sheet.png");
    let of = |inputs: &[PathBuf]| {
        let mut command = super::command("05_picture");
        command.args(inputs).args(["--edges", "--force", "--sheet"]).arg(&sheet);
        command
    };
    succeeds(&mut of(&same))?;
    equal(read(&sheet)? == Some(first), true)?;
    for inputs in [other, some, greys] {
        let note = succeeds_with_note(&mut of(&inputs))?;
        ensure(note.contains("sheet.png: it has no colour profile"), || note)?;
        equal(read(&sheet)?, None)?;
    }
    for inputs in [&none[..], &srgb] {
        succeeds(&mut of(inputs))?;
        equal(read(&sheet)?, None)?;
    }
    Ok(())
}
