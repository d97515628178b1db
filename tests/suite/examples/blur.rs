//! Runs the example `01_blur`: compares its picture with SciPy's (`camera_sigma3.png`, which the script `blur.py` in the
//! same folder made), and checks its errors.

use super::{
    begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds, succeeds_with_note,
};
use crate::common::{Folder, ensure, equal, on_every_backend};
use image::{ColorType, DynamicImage, ImageFormat};
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};

const EXAMPLE: &str = "01_blur";

const CAMERA: &[u8] = include_bytes!("../../../assets/camera.png");
const ASTRONAUT: &[u8] = include_bytes!("../../../assets/astronaut.png");
const CAMERA_SIGMA_3: &[u8] = include_bytes!("camera_sigma3.png");

/// A progressive JPEG of ten scans, made by Pillow 12: `Image.open("assets/astronaut.png").convert("RGB").crop((190, 60, 254, 108))
/// .save("progressive.jpg", quality=75, progressive=True, subsampling="4:2:0")`.
const PROGRESSIVE: &[u8] = include_bytes!("progressive.jpg");

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::blur", "camera_as_scipy", |device| camera_as_scipy(&name(device))));
    trials.extend(on_every_backend("examples::blur", "huge_sigma", |device| huge_sigma(&name(device))));
    trials
        .extend(on_every_backend("examples::blur", "colour_becomes_jpeg", |device| colour_becomes_jpeg(&name(device))));
    let others: [(&str, Test); 24] = [
        ("the_device_comes_first", the_device_comes_first),
        ("force", force),
        ("names_like_options", names_like_options),
        ("transparent_colours_do_not_show", transparent_colours_do_not_show),
        ("sixteen_bits_stay", sixteen_bits_stay),
        ("slm_device_decides", slm_device_decides),
        ("missing_file", missing_file),
        ("missing_folder", missing_folder),
        ("folder_as_output", folder_as_output),
        ("truncated_png", truncated_png),
        ("truncated_jpeg", truncated_jpeg),
        ("jpeg_without_its_end", jpeg_without_its_end),
        ("progressive_jpeg_without_scans", progressive_jpeg_without_scans),
        ("jpeg_of_many_components", jpeg_of_many_components),
        ("whole_jpegs", whole_jpegs),
        ("promises_of_a_header", promises_of_a_header),
        ("large_pictures_are_allowed", large_pictures_are_allowed),
        ("text_named_png", text_named_png),
        ("other_format", other_format),
        ("unsupported_extension", unsupported_extension),
        ("too_much_for_jpeg", too_much_for_jpeg),
        ("bad_sigma", bad_sigma),
        ("sigma_0_is_the_identity", sigma_0_is_the_identity),
        ("usage", usage),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(format!("examples::blur::{name}"), test)));
    of_example(EXAMPLE, trials)
}

fn camera_as_scipy(device: &str) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("camera.png", CAMERA)?;
    let output = folder.path("blurred.png");
    let said = succeeds(blur(&input, &output).args(["--sigma", "3", "--device", device]))?;
    for part in ["taps 25", "along the rows", "down the columns", "device time"] {
        ensure(said.contains(part), || format!("'{part}' is missing in: {said}"))?;
    }
    let (actual, expected) = (image::open(&output)?, image::load_from_memory(CAMERA_SIGMA_3)?);
    ensure(actual.color() == ColorType::L8, || format!("the result is {:?}", actual.color()))?;
    let pairs = actual.as_bytes().iter().zip(expected.as_bytes());
    let maximum = pairs.map(|(a, b)| a.abs_diff(*b)).max();
    ensure(maximum.is_some_and(|maximum| maximum <= 1), || format!("a pixel is {maximum:?} off"))?;
    ensure(actual.as_bytes().len() == expected.as_bytes().len(), || "the sizes differ".to_owned())?;
    folder.holds(&["blurred.png", "camera.png"])
}

/// A Gaussian much wider than the picture results in uniform grey. Emulated devices use a narrower one, which still is much
/// wider than the picture and needs several launches, but takes a tenth of the time.
fn huge_sigma(device: &str) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let pixels = (0..16 * 16).map(|i| if i % 2 == 0 { 40 } else { 80 }).collect();
    let input = folder.put_pixels("stripes.png", ColorType::L8, 16, pixels)?;
    let output = folder.path("grey.png");
    let sigma = if device.starts_with("emulated") { "1000" } else { "10000" };
    succeeds(blur(&input, &output).args(["--sigma", sigma, "--device", device]))?;
    let grey = image::open(&output)?;
    let even = grey.as_bytes().iter().all(|&pixel| pixel == 60);
    ensure(even, || format!("not even: {:?}", &grey.as_bytes()[..16]))
}

fn colour_becomes_jpeg(device: &str) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("astronaut.png", ASTRONAUT)?;
    let output = folder.path("blurred.JPG");
    succeeds(blur(&input, &output).args(["--device", device]))?;
    let result = image::open(&output)?;
    let is_same = (result.color(), result.width(), result.height()) == (ColorType::Rgb8, 512, 512);
    ensure(is_same, || "the result is another picture".to_owned())
}

/// The picture has red, and green that is fully transparent. No green may appear.
fn transparent_colours_do_not_show() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let pixel = |i: usize| if i % 16 < 8 { [200, 0, 0, 255] } else { [0, 200, 0, 0] };
    let input = folder.put_pixels("input.png", ColorType::Rgba8, 16, (0..256).flat_map(pixel).collect())?;
    let output = folder.path("output.png");
    succeeds(&mut blur(&input, &output))?;
    let result = image::open(&output)?.into_rgba8();
    let mut visible = result.pixels().filter(|pixel| pixel[3] > 0);
    ensure(visible.all(|pixel| pixel[0] == 200 && pixel[1] == 0), || "a colour changed".to_owned())?;
    let alpha = [0, 7, 8, 15].map(|x| result.get_pixel(x, 3)[3]);
    ensure(alpha.is_sorted_by(|a, b| a > b), || format!("the opacity does not fall: {alpha:?}"))
}

fn sixteen_bits_stay() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let pixels = (0..256u16).flat_map(|i| (60_000 + i % 2).to_ne_bytes()).collect();
    let input = folder.put_pixels("input.png", ColorType::L16, 16, pixels)?;
    succeeds(&mut blur(&input, &folder.path("output.png")))?;
    let result = image::open(folder.path("output.png"))?;
    let DynamicImage::ImageLuma16(pixels) = result else { return Err("not 16 bits".into()) };
    ensure(pixels.pixels().all(|p| (60_000..=60_001).contains(&p[0])), || "a pixel is wrong".to_owned())
}

fn slm_device_decides() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("grey.png", ColorType::L8, 16, vec![7; 16 * 16])?;
    let output = folder.path("blurred.png");
    for (device, name) in [("cpu", "CPU, "), ("CPU", "CPU, "), ("Emulated:SM_75:3", "emulated sm_75\n")] {
        let said = succeeds(blur(&input, &output).arg("--force").env("SLM_DEVICE", device))?;
        ensure(said.starts_with(name), || said)?;
    }
    fails(blur(&input, &output).arg("--force").env("SLM_DEVICE", "toaster"), 1, &["SLM_DEVICE", "'toaster'"])
}

fn the_device_comes_first() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("grey.png", ColorType::L8, 16, vec![7; 16 * 16])?;
    begins_with_the_device(&folder.path("output.png"), |output| blur(&input, output))
}

fn force() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("grey.png", ColorType::L8, 16, (0..=255).collect())?;
    overwrites_with_force_only(&folder.path("output.png"), |output| blur(&input, output))?;
    // The input is an existing file too.
    fails(&mut blur(&input, &input), 1, &["grey.png: the file exists"])?;
    folder.holds(&["grey.png", "output.png"])
}

/// The command of the tip works. There is no tip if it would not.
fn names_like_options() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let run = |arguments: &[&str]| {
        let mut command = super::command(EXAMPLE);
        command.current_dir(folder.path("")).args(arguments);
        command
    };
    for name in ["-x.png", "--x.png", "-1.png"] {
        folder.put_pixels(name, ColorType::L8, 16, vec![7; 16 * 16])?;
        let file = format!("./{name}");
        let parts =
            [format!("unexpected argument '{name}' found"), format!("  tip: if it is a file, write '{file}'\n")];
        fails(&mut run(&[name, "y.png", "--sigma", "1"]), 2, &parts.each_ref().map(|part| &**part))?;
        succeeds(&mut run(&[&file, "y.png", "--sigma", "1", "--force"]))?;
    }
    for surplus in ["-1", "-f", "--forcing", "z.png"] {
        let Output { stderr, .. } = run(&["./-x.png", "y.png", surplus]).output()?;
        let errors = String::from_utf8_lossy(&stderr).into_owned();
        let tip = errors.contains("tip: ") && !errors.contains("tip: a similar argument exists: '--force'");
        ensure(errors.contains(&format!("unexpected argument '{surplus}' found")) && !tip, || errors)?;
    }
    Ok(())
}

fn missing_file() -> Result<(), Failed> {
    let folder = Folder::new()?;
    fails(&mut blur(&folder.path("nothing.png"), &folder.path("output.png")), 1, &["nothing.png: "])?;
    folder.holds(&[])
}

fn missing_folder() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("camera.png", CAMERA)?;
    let output = folder.path("nowhere").join("output.png");
    fails(&mut blur(&input, &output), 1, &["output.png: the folder ", "nowhere does not exist"])
}

fn folder_as_output() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("camera.png", CAMERA)?;
    fs::create_dir(folder.path("output.png"))?;
    fails(blur(&input, &folder.path("output.png")).arg("--force"), 1, &["output.png: the path is a folder"])?;
    folder.holds(&["camera.png", "output.png"])
}

fn truncated_png() -> Result<(), Failed> {
    for length in [20, 60, 2000, CAMERA.len() / 2, CAMERA.len() - 2000] {
        fails_to_read("truncated.png", &CAMERA[..length], "truncated.png: ")?;
    }
    Ok(())
}

fn encoded_as_jpeg(picture: &[u8]) -> Result<Vec<u8>, Failed> {
    let mut jpeg = io::Cursor::new(Vec::new());
    image::load_from_memory(picture)?.write_to(&mut jpeg, ImageFormat::Jpeg)?;
    Ok(jpeg.into_inner())
}

/// Without its end marker, and more.
fn truncated_jpeg() -> Result<(), Failed> {
    for picture in [CAMERA, ASTRONAUT] {
        let jpeg = encoded_as_jpeg(picture)?;
        let ends = [3, 4, 5, 6, 7, 10, 100].map(|missing| jpeg.len() - missing);
        for length in [4, 20, 300, jpeg.len() / 2].into_iter().chain(ends) {
            fails_to_read("truncated.jpg", &jpeg[..length], "truncated.jpg: the JPEG data are truncated")?;
        }
    }
    Ok(())
}

/// All of its pixels are there, so the result is that of the whole file.
fn jpeg_without_its_end() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let blurred = |command: &mut Command, output: &str| -> Result<Vec<u8>, Failed> {
        let said = succeeds_with_note(command.args(["--sigma", "0.5"]))?;
        ensure(said.contains("short.jpg: the JPEG lacks its end marker"), || said)?;
        Ok(fs::read(folder.path(output))?)
    };
    for jpeg in [encoded_as_jpeg(CAMERA)?, encoded_as_jpeg(ASTRONAUT)?, PROGRESSIVE.to_vec()] {
        let (input, output) = (folder.put("whole.jpg", &jpeg)?, folder.path("whole.png"));
        succeeds(blur(&input, &output).args(["--sigma", "0.5", "--force"]))?;
        // The first half of the marker may be there.
        for missing in [1, 2] {
            let input = folder.put("short.jpg", &jpeg[..jpeg.len() - missing])?;
            let mut command = blur(&input, &folder.path("short.png"));
            equal(blurred(command.arg("--force"), "short.png")? == fs::read(&output)?, true)?;
        }
    }
    folder.holds(&["short.jpg", "short.png", "whole.jpg", "whole.png"])
}

/// Cut after each scan but the last one: the decoder would take the others' bits for zeros.
fn progressive_jpeg_without_scans() -> Result<(), Failed> {
    let is_table_or_scan = |pair: &[u8]| pair[0] == 0xff && matches!(pair[1], 0xc4 | 0xda);
    let places: Vec<_> = (0..PROGRESSIVE.len() - 1).filter(|&at| is_table_or_scan(&PROGRESSIVE[at..at + 2])).collect();
    equal(places.len(), 20)?;
    for at in places {
        fails_to_read("short.jpg", &PROGRESSIVE[..at], "short.jpg: the JPEG data are truncated")?;
    }
    for missing in [3, 4, 5, 10] {
        fails_to_read(
            "short.jpg",
            &PROGRESSIVE[..PROGRESSIVE.len() - missing],
            "short.jpg: the JPEG data are truncated",
        )?;
    }
    Ok(())
}

/// A header whose segment is as long as it can be, and very many scans: the time does not depend on the product.
fn jpeg_of_many_components() -> Result<(), Failed> {
    let frame = [&[0xff, 0xc2, 0xff, 0xff][..], &[1; 65_533]].concat();
    let scan = [0xff, 0xda, 0, 8, 1, 2, 0, 0, 63, 0];
    let jpeg = [&[0xff, 0xd8][..], &frame, &scan.repeat(1 << 17)].concat();
    fails_to_read("many.jpg", &jpeg, "many.jpg: the JPEG data are truncated")
}

/// The blocks of a JPEG preserve two halves of one colour each. Blurred, they are unchanged far from their border, and
/// symmetric around it.
fn whole_jpegs() -> Result<(), Failed> {
    halves_of_a_jpeg(ColorType::L8, [40; 3], [200; 3])?;
    halves_of_a_jpeg(ColorType::Rgb8, [200, 40, 90], [30, 160, 220])
}

fn halves_of_a_jpeg(color: ColorType, left: [u8; 3], right: [u8; 3]) -> Result<(), Failed> {
    const WIDTH: usize = 32;
    let (folder, channels) = (Folder::new()?, usize::from(color.channel_count()));
    let pixel = |i: usize| if i % WIDTH < WIDTH / 2 { left } else { right }.into_iter().take(channels);
    let input = folder.put_pixels("input.jpg", color, WIDTH as u32, (0..WIDTH * 16).flat_map(pixel).collect())?;
    let output = folder.path("output.png");
    succeeds(blur(&input, &output).args(["--sigma", "1"]))?;
    let result = image::open(&output)?;
    ensure(result.color() == color, || format!("the result is {:?}", result.color()))?;
    for (i, row) in result.as_bytes().chunks(WIDTH * channels).enumerate() {
        for c in 0..channels {
            let at = |column: usize| i32::from(row[column * channels + c]);
            let (left, right) = (i32::from(left[c]), i32::from(right[c]));
            let off = [at(4) - left, at(27) - right, (at(15) + at(16) - left - right) / 2];
            ensure(off.iter().all(|off| off.abs() <= 3), || format!("row {i}, channel {c}: {off:?} off"))?;
        }
    }
    Ok(())
}

/// A picture whose header has 2^20 rows and columns, without data.
fn promises_of_a_header() -> Result<(), Failed> {
    let header = b"\0\0\0\rIHDR\0\x10\0\0\0\x10\0\0\x08\0\0\0\0nC\xff\x19";
    let png = [b"\x89PNG\r\n\x1a\n", &header[..], b"\0\0\0\0IDAT5\xaf\x06\x1e"].concat();
    let message = "huge.png: the picture of 1048576 x 1048576 pixels needs 1099511627776 bytes of memory, and the limit is 4294967296: \
                   scale it down or divide it";
    fails_to_read("huge.png", &png, message)
}

/// A header of 20,000 x 20,000 pixels of RGB is no error, but that there are no data.
fn large_pictures_are_allowed() -> Result<(), Failed> {
    let header = b"\0\0\0\rIHDR\0\0N \0\0N \x08\x02\0\0\0l\x12\xd1n";
    let png = [b"\x89PNG\r\n\x1a\n", &header[..], b"\0\0\0\0IDAT5\xaf\x06\x1e"].concat();
    fails_to_read("large.png", &png, "large.png: unexpected end of file")
}

fn text_named_png() -> Result<(), Failed> {
    fails_to_read("text.png", b"This is not a picture.\n", "text.png: neither a PNG nor a JPEG picture")?;
    fails_to_read("empty.png", b"", "empty.png: the file is empty")
}

fn other_format() -> Result<(), Failed> {
    fails_to_read("picture.gif", b"GIF89a\x01\0\x01\0\0\0\0;", "picture.gif: neither a PNG nor a JPEG picture")
}

fn unsupported_extension() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("camera.png", CAMERA)?;
    for name in ["output.gif", "output.txt", "output", ".png"] {
        fails(&mut blur(&input, &folder.path(name)), 1, &[name, ".png or .jpg or .jpeg only"])?;
    }
    folder.holds(&["camera.png"])
}

fn too_much_for_jpeg() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for color in [ColorType::La8, ColorType::Rgba8, ColorType::L16, ColorType::Rgb16] {
        let pixels = vec![1; 4 * usize::from(color.bytes_per_pixel())];
        let input = folder.put_pixels("input.png", color, 2, pixels)?;
        fails(&mut blur(&input, &folder.path("output.jpg")), 1, &["output.jpg: JPEG", "write a .png"])?;
    }
    folder.holds(&["input.png"])
}

fn bad_sigma() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put("camera.png", CAMERA)?;
    let message = ": a standard deviation must be from 0, which does not blur, to 1048576 pixels";
    let numbers = [
        ("-1", "-1"),
        ("-1e-300", "-1e-300"),
        ("nan", "NaN"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("1048577", "1048577"),
        ("1e9", "1000000000"),
    ];
    for (sigma, text) in numbers {
        let argument = format!("--sigma={sigma}");
        fails(blur(&input, &folder.path("output.png")).arg(argument), 1, &[&format!("--sigma {text}{message}")])?;
    }
    for sigma in ["-3", "-inf", "-1e9"] {
        fails(blur(&input, &folder.path("output.png")).args(["--sigma", sigma]), 1, &["--sigma -", message])?;
    }
    for sigma in ["-x", "--force"] {
        let message = format!("invalid value '{sigma}' for '--sigma <SIGMA>'");
        fails(blur(&input, &folder.path("output.png")).args(["--sigma", sigma]), 2, &[&message])?;
    }
    fails(blur(&input, &folder.path("output.png")).args(["--device", "-1"]), 1, &["no device is called '-1'"])?;
    folder.holds(&["camera.png"])
}

fn sigma_0_is_the_identity() -> Result<(), Failed> {
    let folder = Folder::new()?;
    for color in [ColorType::L8, ColorType::Rgb8, ColorType::Rgb16] {
        let pixels: Vec<u8> = (0..60 * usize::from(color.bytes_per_pixel())).map(|i| (i * 7919 % 251) as u8).collect();
        let input = folder.put_pixels("input.png", color, 10, pixels.clone())?;
        for sigma in ["0", "-0.0"] {
            succeeds(blur(&input, &folder.path("output.png")).arg("--force").arg(format!("--sigma={sigma}")))?;
            equal(image::open(folder.path("output.png"))?.as_bytes(), &pixels[..])?;
        }
    }
    Ok(())
}

fn usage() -> Result<(), Failed> {
    let folder = Folder::new()?;
    fails(&mut super::command(EXAMPLE), 2, &["Usage"])?;
    let mut wide = blur(&folder.path("a.png"), &folder.path("b.png"));
    fails(wide.args(["--sigma", "wide"]), 2, &["invalid value 'wide'"])
}

/// Blurs a file with the given bytes. Checks the error's text, and that no other file is written.
fn fails_to_read(name: &str, bytes: &[u8], message: &str) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put(name, bytes)?;
    fails(&mut blur(&input, &folder.path("output.png")), 1, &[message])?;
    folder.holds(&[name])
}

fn blur(input: &Path, output: &Path) -> Command {
    let mut command = super::command(EXAMPLE);
    command.args([input, output]);
    command
}
