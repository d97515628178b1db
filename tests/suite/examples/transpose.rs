//! Runs the example `03_transpose`: compares its pictures with those that the crate `image` rotates and flips, and checks
//! its errors.

use super::{begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds};
use crate::common::{Folder, ensure, equal, on_every_backend};
use image::{ColorType, DynamicImage};
use libtest_mimic::{Failed, Trial};
use slm::Device;
use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = "03_transpose";
const OPERATIONS: [&str; 6] = ["transpose", "rotate90", "rotate180", "rotate270", "flip-horizontal", "flip-vertical"];

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::transpose", "as_turned_naively", as_turned_naively));
    let others: [(&str, Test); 6] = [
        ("pixels_of_every_size", pixels_of_every_size),
        ("several_operations", several_operations),
        ("the_device_comes_first", the_device_comes_first),
        ("force", force),
        ("bad_files", bad_files),
        ("bad_arguments", bad_arguments),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(format!("examples::transpose::{name}"), test)));
    of_example(EXAMPLE, trials)
}

fn transpose(input: &Path, output: &Path) -> Command {
    let mut command = super::command(EXAMPLE);
    command.args([input, output]);
    command
}

/// Applies an operation by definition. The crate `image` has no transposition.
fn turned(picture: &DynamicImage, operation: &str) -> DynamicImage {
    match operation {
        "transpose" => picture.rotate90().fliph(),
        "rotate90" => picture.rotate90(),
        "rotate180" => picture.rotate180(),
        "rotate270" => picture.rotate270(),
        "flip-horizontal" => picture.fliph(),
        _ => picture.flipv(),
    }
}

/// Returns pixels that mostly differ from each other.
fn pixels(color: ColorType, width: u32, height: u32) -> Vec<u8> {
    let bytes = width * height * u32::from(color.bytes_per_pixel());
    (0..bytes).map(|i| (i * 7919 % 251) as u8).collect()
}

/// Applies the operations to a picture, and compares every byte. Returns the output.
fn check(input: &Path, operations: &[&str], options: &[&str]) -> Result<String, Failed> {
    let output = input.with_file_name("output.png");
    let said = succeeds(transpose(input, &output).args(operations).args(options).arg("--force"))?;
    let picture = image::open(input)?;
    let expected = operations.iter().fold(picture, |picture, operation| turned(&picture, operation));
    let actual = image::open(&output)?;
    let shape = |picture: &DynamicImage| (picture.width(), picture.height(), picture.color());
    equal(shape(&actual), shape(&expected))?;
    ensure(actual.as_bytes() == expected.as_bytes(), || format!("{operations:?} of {:?}", shape(&expected)))?;
    Ok(said)
}

fn as_turned_naively(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::Rgb8, 37, pixels(ColorType::Rgb8, 37, 70))?;
    for operation in OPERATIONS {
        let said = check(&input, &[operation], &["--device", &name(device)])?;
        ensure(said.lines().next() == Some(&*device.to_string()), || said.clone())?;
        let transpositions = said.matches("\noutputs    ").count();
        let expected = match operation {
            "flip-vertical" => 0,
            "rotate180" | "flip-horizontal" => 2,
            _ => 1,
        };
        ensure(transpositions == expected, || said)?;
    }
    folder.holds(&["input.png", "output.png"])
}

fn pixels_of_every_size() -> Result<(), Failed> {
    use ColorType::{L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16};
    for color in [L8, La8, Rgb8, Rgba8, L16, La16, Rgb16, Rgba16] {
        for [width, height] in [[1, 1], [1, 9], [9, 1], [5, 3]] {
            let folder = Folder::new()?;
            let input = folder.put_pixels("input.png", color, width, pixels(color, width, height))?;
            check(&input, &["rotate90"], &[])?;
            check(&input, &["rotate180"], &[])?;
        }
    }
    Ok(())
}

/// Every pair of operations, lists that are simplified, and no operation, which is a transposition.
fn several_operations() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::Rgb8, 5, pixels(ColorType::Rgb8, 5, 3))?;
    for first in OPERATIONS {
        for second in OPERATIONS {
            check(&input, &[first, second], &[])?;
        }
    }
    let said = check(&input, &["rotate90", "flip-horizontal"], &[])?;
    ensure(said.contains("steps [Transpose]\n"), || said)?;
    let said = check(&input, &["rotate270", "rotate90", "transpose", "transpose"], &[])?;
    ensure(said.contains("steps []\n"), || said)?;
    succeeds(transpose(&input, &folder.path("output.png")).arg("--force"))?;
    let (actual, expected) = (image::open(folder.path("output.png"))?, turned(&image::open(&input)?, "transpose"));
    ensure(actual == expected, || "not transposed".to_owned())
}

fn the_device_comes_first() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 3, vec![1; 6])?;
    begins_with_the_device(&folder.path("output.png"), |output| transpose(&input, output))
}

fn force() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 3, vec![1, 2, 3, 4, 5, 6])?;
    overwrites_with_force_only(&folder.path("output.png"), |output| transpose(&input, output))?;
    // With `--force`, the output can replace the input.
    succeeds(transpose(&input, &input).arg("--force"))?;
    equal(image::open(&input)?.into_bytes(), vec![1, 4, 2, 5, 3, 6])?;
    folder.holds(&["input.png", "output.png"])
}

fn bad_files() -> Result<(), Failed> {
    let folder = Folder::new()?;
    fails(&mut transpose(&folder.path("nothing.png"), &folder.path("output.png")), 1, &["nothing.png: "])?;
    let input = folder.put("text.png", b"text")?;
    fails(&mut transpose(&input, &folder.path("output.png")), 1, &["text.png: neither a PNG nor a JPEG picture"])?;
    let input = folder.put_pixels("input.png", ColorType::Rgba8, 1, vec![1; 4])?;
    fails(&mut transpose(&input, &folder.path("output.jpg")), 1, &["output.jpg: JPEG", "write a .png"])?;
    fails(&mut transpose(&input, &folder.path("output.svg")), 1, &["output.svg: a picture can be written as .png or"])?;
    folder.holds(&["input.png", "text.png"])
}

fn bad_arguments() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 1, vec![1])?;
    let output = folder.path("output.png");
    let values = "possible values: transpose, rotate90, rotate180, rotate270, flip-horizontal, flip-vertical";
    fails(transpose(&input, &output).arg("rotate"), 2, &["invalid value 'rotate'", values])?;
    fails(transpose(&input, &output).arg("-90"), 2, &["unexpected argument '-90' found"])?;
    fails(&mut super::command(EXAMPLE), 2, &["Usage"])?;
    folder.holds(&["input.png"])
}
