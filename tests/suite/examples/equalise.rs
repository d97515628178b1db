//! Runs the example `06_equalise`: compares its pictures with the definition and with SciPy's blur, and checks its errors.

use super::picture::{ASTRONAUT, FACE, FACE_FILTERED};
use super::{begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds};
use crate::common::{Folder, ensure, equal, on_every_backend};
use image::{ColorType, DynamicImage};
use libtest_mimic::{Failed, Trial};
use slm::Device;
use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = "06_equalise";

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::equalise", "face_as_scipy", face_as_scipy));
    trials.extend(on_every_backend("examples::equalise", "sixteen_bits_stay", sixteen_bits_stay));
    let others: [(&str, Test); 5] = [
        ("every_kind_of_picture", every_kind_of_picture),
        ("the_device_comes_first", the_device_comes_first),
        ("force", force),
        ("bad_files", bad_files),
        ("bad_arguments", bad_arguments),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(format!("examples::equalise::{name}"), test)));
    of_example(EXAMPLE, trials)
}

fn equalise(input: &Path, output: &Path) -> Command {
    let mut command = super::command(EXAMPLE);
    command.args([input, output]);
    command
}

/// The equalised value for each value.
fn table(samples: &[u8]) -> [u8; 256] {
    let not_larger = |value: u8| samples.iter().filter(|&&sample| sample <= value).count();
    let smallest = samples.iter().copied().min().unwrap_or(0);
    let (first, all) = (not_larger(smallest), samples.len());
    std::array::from_fn(|value| {
        let above = not_larger(value as u8).saturating_sub(first);
        (above as f64 * 255.0 / (all - first) as f64).round_ties_even() as u8
    })
}

/// SciPy's blur, equalised and transposed. Its samples may be off by 1 where they are next to a half.
fn face_as_scipy(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let (input, output) = (folder.path("face.png"), folder.path("equal.png"));
    let [x, y, width, height] = FACE;
    image::load_from_memory(ASTRONAUT)?.crop_imm(x, y, width, height).save(&input)?;
    let said = succeeds(equalise(&input, &output).args(["--sigma", "1.5", "--device", &name(device)]))?;
    ensure(said.contains("\n64 x 48, Rgb8\ndevice time "), || said)?;
    let actual = image::open(&output)?;
    equal((actual.color(), actual.width(), actual.height()), (ColorType::Rgb8, height, width))?;
    let blurred = image::load_from_memory(FACE_FILTERED)?.crop_imm(0, 0, width, height).rotate90().fliph();
    let (actual, blurred) = (actual.as_bytes(), blurred.as_bytes());
    let table = table(blurred);
    let entry = |sample: i32| i32::from(table[sample.clamp(0, 255) as usize]);
    let mut different = 0;
    for (i, (&actual, &sample)) in actual.iter().zip(blurred).enumerate() {
        let (actual, sample) = (i32::from(actual), i32::from(sample));
        let near = entry(sample - 1) - 1..=entry(sample + 1) + 1;
        ensure(near.contains(&actual), || format!("sample {i} is {actual}, expected {near:?}"))?;
        different += usize::from(actual != entry(sample));
    }
    ensure(different < actual.len() / 50, || format!("{different} samples differ"))?;
    equal([actual.iter().min(), actual.iter().max()], [Some(&0), Some(&255)])
}

/// Without a blur, four levels: 2, 3, 6 and 1 of 12 samples; tenths of 65,535 are ties.
fn sixteen_bits_stay(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let samples = [700u16, 700, 9000, 9000, 9000, 9001, 9001, 9001, 9001, 9001, 9001, 60_000];
    let pixels = samples.iter().flat_map(|sample| sample.to_ne_bytes()).collect();
    let input = folder.put_pixels("levels.png", ColorType::L16, 6, pixels)?;
    let output = folder.path("equal.png");
    succeeds(equalise(&input, &output).args(["--sigma", "0", "--device", &name(device)]))?;
    let DynamicImage::ImageLuma16(picture) = image::open(&output)? else { return Err("not L16".into()) };
    equal(picture.dimensions(), (2, 6))?;
    let (a, b) = (19_660, 58_982);
    equal(picture.into_raw(), vec![0, b, 0, b, a, b, a, b, a, b, b, 65_535])
}

fn every_kind_of_picture() -> Result<(), Failed> {
    use ColorType::{L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16};
    let folder = Folder::new()?;
    let output = folder.path("equal.png");
    for (color, expected) in [(L8, L8), (La8, L8), (Rgba8, Rgb8), (Rgb16, Rgb16), (La16, L16), (Rgba16, Rgb16)] {
        for [width, height] in [[1, 1], [9, 1], [5, 3]] {
            let bytes = width * height * u32::from(color.bytes_per_pixel());
            let pixels = (0..bytes).map(|i| (i * 7919 % 251) as u8).collect();
            let input = folder.put_pixels("input.png", color, width, pixels)?;
            succeeds(equalise(&input, &output).args(["--sigma", "0.7", "--force"]))?;
            let result = image::open(&output)?;
            equal((result.color(), result.width(), result.height()), (expected, height, width))?;
        }
    }
    // All samples are the same.
    let input = folder.put_pixels("input.png", L8, 4, vec![77; 16])?;
    succeeds(equalise(&input, &output).arg("--force"))?;
    equal(image::open(&output)?.into_bytes(), vec![77; 16])
}

fn the_device_comes_first() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 3, vec![1; 6])?;
    begins_with_the_device(&folder.path("output.png"), |output| equalise(&input, output))
}

fn force() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 16, (0..=255).collect())?;
    overwrites_with_force_only(&folder.path("output.png"), |output| equalise(&input, output))
}

fn bad_files() -> Result<(), Failed> {
    let folder = Folder::new()?;
    fails(&mut equalise(&folder.path("nothing.png"), &folder.path("output.png")), 1, &["nothing.png: "])?;
    let input = folder.put("text.png", b"text")?;
    fails(&mut equalise(&input, &folder.path("output.png")), 1, &["text.png: neither a PNG nor a JPEG picture"])?;
    let input = folder.put_pixels("input.png", ColorType::L16, 1, vec![1; 4])?;
    fails(&mut equalise(&input, &folder.path("output.jpg")), 1, &["output.jpg: JPEG", "write a .png"])?;
    fails(&mut equalise(&input, &folder.path("output.svg")), 1, &["output.svg: a picture can be written as .png or"])?;
    folder.holds(&["input.png", "text.png"])
}

fn bad_arguments() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 1, vec![1])?;
    let output = folder.path("output.png");
    let range = ": a standard deviation must be from 0, which does not blur, to 1048576 pixels";
    for (sigma, shown) in [("-1", "-1"), ("nan", "NaN"), ("1048577", "1048577")] {
        fails(equalise(&input, &output).args(["--sigma", sigma]), 1, &[&format!("--sigma {shown}{range}")])?;
    }
    fails(equalise(&input, &output).args(["--sigma", "wide"]), 2, &["invalid value 'wide' for '--sigma"])?;
    fails(&mut super::command(EXAMPLE), 2, &["Usage"])?;
    folder.holds(&["input.png"])
}
