//! Runs the example `05_picture`: compares its pictures with SciPy's (`face_filtered.png`, which the script `picture.py` in the
//! same folder made), and checks its contact sheet and its errors.

use super::{begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds};
use crate::common::{Folder, ensure, equal, on_every_backend};
use image::{ColorType, DynamicImage, RgbImage};
use libtest_mimic::{Failed, Trial};
use slm::Device;
use std::fs;
use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = "05_picture";

pub(super) const ASTRONAUT: &[u8] = include_bytes!("../../../assets/astronaut.png");
pub(super) const FACE_FILTERED: &[u8] = include_bytes!("face_filtered.png");

/// Left and upper border, width and height of the part in [`FACE_FILTERED`].
pub(super) const FACE: [u32; 4] = [190, 60, 64, 48];

/// All operations, and the ends of the names of their results in the order of [`FACE_FILTERED`].
const ALL: [&str; 7] = ["--gaussian", "1.5", "--unsharp", "1,1.5", "--edges", "--dog", "1,2"];
const NAMES: [&str; 4] = ["gaussian", "unsharp", "edges", "dog"];

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::picture", "face_as_scipy", face_as_scipy));
    trials.extend(on_every_backend("examples::picture", "sixteen_bits_stay", sixteen_bits_stay));
    let others: [(&str, Test); 11] = [
        ("several_pictures", several_pictures),
        ("sheet", sheet),
        ("labels", labels),
        ("transparency_becomes_white", transparency_becomes_white),
        ("one_pixel", one_pixel),
        ("sigma_0_is_the_identity", sigma_0_is_the_identity),
        ("the_device_comes_first", the_device_comes_first),
        ("force", force),
        ("bad_files", bad_files),
        ("same_names", same_names),
        ("bad_arguments", bad_arguments),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(format!("examples::picture::{name}"), test)));
    of_example(EXAMPLE, trials)
}

/// Returns the command for some pictures with these options.
fn filter(inputs: &[&Path], options: &[&str]) -> Command {
    let mut command = super::command(EXAMPLE);
    command.args(inputs).args(options);
    command
}

/// Returns the command that writes results.
fn filter_into(inputs: &[&Path], options: &[&str], results: &Path) -> Command {
    let mut command = filter(inputs, options);
    command.arg("--results").arg(results);
    command
}

/// Returns the command that writes a contact sheet.
fn sheet_of(inputs: &[&Path], options: &[&str], sheet: &Path) -> Command {
    let mut command = filter(inputs, options);
    command.arg("--sheet").arg(sheet);
    command
}

fn face_as_scipy(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.path("face.png");
    let [x, y, width, height] = FACE;
    image::load_from_memory(ASTRONAUT)?.crop_imm(x, y, width, height).save(&input)?;
    let said = succeeds(filter_into(&[&input], &ALL, &folder.path("")).args(["--device", &name(device)]))?;
    for part in
        ["\nface.png, 64 x 48, Rgb8\n", "\n  gaussian 1.5  ", "\n  unsharp 1,1.5  ", "\n  edges  ", "\n  dog 1,2  "]
    {
        ensure(said.contains(part), || format!("'{part}' is missing in: {said}"))?;
    }
    let expected = image::load_from_memory(FACE_FILTERED)?;
    for (name, top) in NAMES.into_iter().zip((0..).step_by(height as usize)) {
        let actual = image::open(folder.path(&format!("face-{name}.png")))?;
        let expected = expected.crop_imm(0, top, width, height);
        equal((actual.color(), actual.width(), actual.height()), (ColorType::Rgb8, width, height))?;
        // Sums next to a half may be rounded either way.
        let pairs = actual.as_bytes().iter().zip(expected.as_bytes());
        let off = pairs.map(|(a, b)| a.abs_diff(*b)).max();
        ensure(off.is_some_and(|off| off <= 1), || format!("{name}: a pixel is {off:?} off"))?;
    }
    folder.holds(&["face-dog.png", "face-edges.png", "face-gaussian.png", "face-unsharp.png", "face.png"])
}

/// A step from one half of a picture to the other one.
fn sixteen_bits_stay(device: &Device) -> Result<(), Failed> {
    const WIDTH: usize = 12;
    let folder = Folder::new()?;
    let pixel = |i: usize| if i % WIDTH < WIDTH / 2 { 20_000u16 } else { 40_000 };
    let pixels = (0..WIDTH * 6).flat_map(|i| pixel(i).to_ne_bytes()).collect();
    let input = folder.put_pixels("step.png", ColorType::L16, WIDTH as u32, pixels)?;
    let options = ["--edges", "--unsharp", "0.6,4", "--dog", "0.3,0.5", "--device", &name(device)];
    succeeds(&mut filter_into(&[&input], &options, &folder.path("")))?;
    let rows = |name: &str| -> Result<Vec<Vec<u16>>, Failed> {
        let DynamicImage::ImageLuma16(picture) = image::open(folder.path(name))? else { return Err("not L16".into()) };
        Ok(picture.as_raw().chunks(WIDTH).map(<[u16]>::to_vec).collect())
    };
    for row in rows("step-edges.png")? {
        // On both sides of the step, 4 times the difference, divided by 4.
        equal(row, [vec![0; 5], vec![20_000; 2], vec![0; 5]].concat())?;
    }
    for row in rows("step-unsharp.png")? {
        ensure(row[..3] == [20_000; 3] && row[9..] == [40_000; 3], || format!("{row:?}"))?;
        ensure(row[5] < 10_000 && row[6] > 50_000, || format!("the step is not sharper: {row:?}"))?;
    }
    for row in rows("step-dog.png")? {
        let is_grey = |&pixel: &u16| pixel.abs_diff(32_768) <= 1;
        ensure(row[..3].iter().chain(&row[9..]).all(is_grey), || format!("{row:?}"))?;
        ensure(row[5] < 32_700 && row[6] > 32_800, || format!("the step is not visible: {row:?}"))?;
    }
    Ok(())
}

fn several_pictures() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let grey = folder.put_pixels("grey.png", ColorType::L8, 5, vec![90; 5 * 4])?;
    let color = folder.put_pixels("color.jpg", ColorType::Rgb8, 16, [60, 120, 180].repeat(16 * 16))?;
    fs::create_dir(folder.path("results"))?;
    let mut command = filter_into(&[&grey, &color], &["--gaussian", "2", "--edges"], &folder.path("results"));
    let said = succeeds(&mut command)?;
    let written = ["grey-gaussian.png", "grey-edges.png", "color-gaussian.png", "color-edges.png"];
    let lines = written.map(|name| format!("wrote {}\n", folder.path("results").join(name).display()));
    ensure(said.ends_with(&lines.concat()), || said)?;
    let results = written.map(|name| image::open(folder.path("results").join(name)));
    for (result, (color, [width, height])) in results
        .into_iter()
        .zip([(ColorType::L8, [5, 4]), (ColorType::Rgb8, [16, 16])].into_iter().flat_map(|of| [of; 2]))
    {
        let result = result?;
        equal((result.color(), [result.width(), result.height()]), (color, [width, height]))?;
    }
    // Even colours remain, and have no edges.
    let bytes = |name: &str| Ok::<_, Failed>(image::open(folder.path("results").join(name))?.into_bytes());
    equal(bytes("grey-gaussian.png")?, vec![90; 20])?;
    equal(bytes("grey-edges.png")?, vec![0; 20])?;
    folder.holds(&["color.jpg", "grey.png", "results"])
}

/// Three columns for the picture and two results, and a row for each picture. The larger one is reduced to 256 columns.
fn sheet() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let red = folder.put_pixels("red.png", ColorType::Rgb8, 10, [200, 30, 40].repeat(10 * 10))?;
    let halves = (0..1024 * 100).map(|i| if i % 1024 < 512 { 0 } else { 255 }).collect();
    let halves = folder.put_pixels("halves.png", ColorType::L8, 1024, halves)?;
    let output = folder.path("sheet.png");
    succeeds(&mut sheet_of(&[&red, &halves], &["--gaussian", "1", "--edges"], &output))?;
    let sheet = image::open(&output)?.into_rgb8();
    // Two lines of text with space below, the copies, and space below.
    let heights = [10, 25].map(|copy| 2 * (16 + 6) + copy + 24);
    equal(sheet.dimensions(), (12 + 3 * (256 + 12), 12 + heights.iter().sum::<u32>()))?;
    let at = |column: u32, row: usize, [x, y]: [u32; 2]| {
        let top = 12 + heights[..row].iter().sum::<u32>() + 44;
        sheet.get_pixel(12 + column * 268 + x, top + y).0
    };
    for (column, expected) in [[200, 30, 40], [200, 30, 40], [0; 3]].into_iter().enumerate() {
        equal([[0, 0], [9, 9]].map(|place| at(column as u32, 0, place)), [expected; 2])?;
        equal(at(column as u32, 0, [10, 9]), [224; 3])?;
    }
    equal([[0, 0], [127, 24], [128, 24], [255, 0]].map(|place| at(0, 1, place)[0]), [0, 0, 255, 255])?;
    // The edge is two columns of the picture wide, of four on each side that become one.
    equal([0, 126, 129, 255].map(|x| at(2, 1, [x, 12])[0]), [0; 4])?;
    let edge = [127, 128].map(|x| at(2, 1, [x, 12])[0]);
    ensure(edge.iter().all(|edge| (60..=68).contains(edge)), || format!("{edge:?}"))?;
    folder.holds(&["halves.png", "red.png", "sheet.png"])
}

/// Different names of files and operations give different text, which stays in its column.
fn labels() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let draw = |name: &str, sigma: &str| -> Result<RgbImage, Failed> {
        let input = folder.put_pixels(name, ColorType::L8, 8, vec![255; 64])?;
        let output = folder.path("sheet.png");
        succeeds(sheet_of(&[&input], &["--gaussian", sigma, "--edges"], &output).arg("--force"))?;
        Ok(image::open(&output)?.into_rgb8())
    };
    let dark = |sheet: &RgbImage, [left, top, right, bottom]: [u32; 4]| -> Vec<[u32; 2]> {
        let dark = sheet.enumerate_pixels().filter(|(.., pixel)| pixel.0 == [0; 3]);
        let places = dark.map(|(x, y, _)| [x, y]);
        places.filter(|&[x, y]| (left..right).contains(&x) && (top..bottom).contains(&y)).collect()
    };
    let (titles, original) = ([12, 12, 804, 28], [12, 34, 268, 50]);
    let (gaussian, edges) = ([280, 34, 536, 50], [548, 34, 804, 50]);
    let first = draw("first.png", "1")?;
    let second = draw("second-\u{e9}.png", "1.000000000000001")?;
    for label in [titles, original, gaussian, edges] {
        ensure(dark(&first, label).len() > 100, || format!("{} dark pixels in {label:?}", dark(&first, label).len()))?;
    }
    equal(dark(&first, original), dark(&second, original))?;
    equal(dark(&first, edges), dark(&second, edges))?;
    ensure(dark(&first, titles) != dark(&second, titles), || "equal titles".to_owned())?;
    ensure(dark(&first, gaussian) != dark(&second, gaussian), || "equal labels".to_owned())?;
    // The long number is cut off before the next column.
    equal(dark(&second, [536, 34, 548, 50]), vec![])
}

fn transparency_becomes_white() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let pixel = |i: usize| if i % 16 < 8 { [200, 0, 0, 255] } else { [0, 200, 0, 0] };
    let color = folder.put_pixels("color.png", ColorType::Rgba8, 16, (0..256).flat_map(pixel).collect())?;
    let half = folder.put_pixels("half.png", ColorType::La8, 4, [100, 102].repeat(16))?;
    succeeds(&mut filter_into(&[&color, &half], &["--gaussian", "1"], &folder.path("")))?;
    let color = image::open(folder.path("color-gaussian.png"))?;
    equal(color.color(), ColorType::Rgb8)?;
    let color = color.into_rgb8();
    equal([2, 13].map(|x| color.get_pixel(x, 5).0), [[200, 0, 0], [255; 3]])?;
    let half = image::open(folder.path("half-gaussian.png"))?;
    equal(half.color(), ColorType::L8)?;
    // 100 * 0.4 + 255 * 0.6
    equal(half.into_bytes(), vec![193; 16])
}

/// With a filter that is wider than the picture.
fn one_pixel() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("dot.png", ColorType::L8, 1, vec![77])?;
    succeeds(&mut filter_into(&[&input], &ALL, &folder.path("")))?;
    let dot = |name: &str| Ok::<_, Failed>(image::open(folder.path(&format!("dot-{name}.png")))?.into_bytes());
    equal([dot("gaussian")?, dot("unsharp")?, dot("edges")?].concat(), vec![77, 77, 0])?;
    // The middle of 0 and 255, but for the rounding errors of the sums.
    let dog = dot("dog")?;
    ensure(dog == [127] || dog == [128], || format!("{dog:?}"))
}

/// A Gaussian of 0 is the picture itself, also as a part of a difference.
fn sigma_0_is_the_identity() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let pixels: Vec<u8> = (0..60).map(|i| (i * 7919 % 251) as u8).collect();
    let input = folder.put_pixels("a.png", ColorType::L8, 10, pixels.clone())?;
    succeeds(&mut filter_into(&[&input], &["--gaussian", "0", "--unsharp", "0,1", "--dog", "0,1"], &folder.path("")))?;
    for name in ["a-gaussian.png", "a-unsharp.png"] {
        equal(image::open(folder.path(name))?.as_bytes(), &pixels[..])?;
    }
    folder.holds(&["a-dog.png", "a-gaussian.png", "a-unsharp.png", "a.png"])
}

fn the_device_comes_first() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("grey.png", ColorType::L8, 16, vec![7; 16 * 16])?;
    begins_with_the_device(&folder.path("sheet.png"), |output| sheet_of(&[&input], &["--edges"], output))
}

fn force() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("grey.png", ColorType::L8, 16, (0..=255).collect())?;
    overwrites_with_force_only(&folder.path("sheet.png"), |output| sheet_of(&[&input], &["--edges"], output))?;
    let result = folder.path("grey-edges.png");
    overwrites_with_force_only(&result, |_| filter_into(&[&input], &["--edges"], &folder.path("")))
}

fn bad_files() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("grey.png", ColorType::L8, 4, vec![7; 16])?;
    let text = folder.put("text.png", b"This is not a picture.\n")?;
    let missing = folder.path("missing.png");
    let sheet = folder.path("sheet.png");
    fails(&mut sheet_of(&[&missing], &ALL, &sheet), 1, &["missing.png: "])?;
    fails(&mut sheet_of(&[&input, &text], &ALL, &sheet), 1, &["text.png: neither a PNG nor a JPEG picture"])?;
    let nowhere = folder.path("nowhere");
    fails(
        &mut filter_into(&[&input], &ALL, &nowhere),
        1,
        &["grey-gaussian.png: the folder ", "nowhere does not exist"],
    )?;
    fails(&mut sheet_of(&[&input], &ALL, &folder.path("sheet.gif")), 1, &["sheet.gif: a picture can be written as"])?;
    folder.holds(&["grey.png", "text.png"])
}

/// Two inputs in different folders, and a sheet with the name of a result.
fn same_names() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let results = folder.path("");
    let input = folder.put_pixels("a.png", ColorType::L8, 4, vec![7; 16])?;
    fs::create_dir(folder.path("other"))?;
    let other = folder.put_pixels("other/a.jpg", ColorType::L8, 4, vec![7; 16])?;
    let same = ["a-edges.png: two outputs would have this name"];
    for force in [&[][..], &["--force"]] {
        fails(filter_into(&[&input, &other], &["--edges"], &results).args(force), 1, &same)?;
        let mut both = filter_into(&[&input], &["--edges"], &results);
        fails(both.arg("--sheet").arg(folder.path("a-edges.png")).args(force), 1, &same)?;
    }
    folder.holds(&["a.png", "other"])
}

fn bad_arguments() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("grey.png", ColorType::L8, 4, vec![7; 16])?;
    let output = folder.path("sheet.png");
    let range = "a standard deviation must be from 0, which does not blur, to 1048576 pixels";
    let options: [(&[&str], i32, &[&str]); 13] = [
        (&["--gaussian", "-1"], 1, &["--gaussian -1: ", range]),
        (&["--gaussian", "nan"], 1, &["--gaussian NaN: ", range]),
        (&["--gaussian", "1048577"], 1, &["--gaussian 1048577: ", range]),
        (&["--unsharp", "-1,1"], 1, &["--unsharp -1: ", range]),
        (&["--gaussian", "wide"], 2, &["invalid value 'wide' for '--gaussian <SIGMA>'"]),
        (&["--unsharp", "200,1"], 1, &["200", "128"]),
        (&["--unsharp", "2"], 2, &["invalid value '2'", "two numbers with a comma"]),
        (&["--dog", "2,1"], 1, &["--dog 2,1: the second standard deviation must be more than the first"]),
        (
            &["--dog", "1e-300,1e-310"],
            1,
            &["--dog 1e-300,1e-310: the second standard deviation must be more than the first"],
        ),
        (&["--unsharp", "1e-300,inf"], 1, &["inf"]),
        (&["--dog", "nan,1"], 1, &["--dog NaN: ", range]),
        (&["--dog", "1,2,3"], 2, &["two numbers with a comma"]),
        (&[], 2, &["--gaussian", "--edges", "--unsharp", "--dog"]),
    ];
    for (options, code, parts) in options {
        fails(&mut sheet_of(&[&input], options, &output), code, parts)?;
    }
    fails(&mut filter(&[&input], &["--edges"]), 2, &["--sheet", "--results"])?;
    fails(&mut sheet_of(&[], &["--edges"], &output), 2, &["<INPUTS>"])?;
    folder.holds(&["grey.png"])
}
