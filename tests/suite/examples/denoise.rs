//! Runs the example `09_denoise`: its sheet and report on every backend, and its errors.

use super::{begins_with_the_device, fails, name, of_example, overwrites_with_force_only, succeeds};
use crate::common::{Folder, ensure, equal, on_every_backend};
use image::ColorType;
use libtest_mimic::{Failed, Trial};
use slm::Device;
use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = "09_denoise";

type Test = fn() -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(on_every_backend("examples::denoise", "grey_noise_is_removed", grey_noise_is_removed));
    trials.extend(on_every_backend("examples::denoise", "ranks_of_sixteen_bits", ranks_of_sixteen_bits));
    let others: [(&str, Test); 4] = [
        ("every_kind_of_picture", every_kind_of_picture),
        ("the_device_comes_first", the_device_comes_first),
        ("force", force),
        ("bad_arguments", bad_arguments),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(format!("examples::denoise::{name}"), test)));
    of_example(EXAMPLE, trials)
}

fn denoise(input: &Path, output: &Path) -> Command {
    let mut command = super::command(EXAMPLE);
    command.args([input, output]);
    command
}

/// A grey picture of one colour becomes itself again, for a few noisy pixels.
fn grey_noise_is_removed(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let (input, output) = (folder.put_pixels("grey.png", ColorType::L8, 40, vec![100; 800])?, folder.path("sheet.png"));
    let said =
        succeeds(denoise(&input, &output).args(["--noise", "0.05", "--window", "5", "--device", &name(device)]))?;
    ensure(said.contains("\n40 x 20, L8\ndevice time "), || said.clone())?;
    ensure(said.contains(" with noise, 0.00 filtered\n"), || said.clone())?;
    ensure(!said.contains("difference 0.00 with noise"), || said)?;
    let sheet = image::open(&output)?;
    equal((sheet.color(), sheet.width()), (ColorType::Rgb8, 12 + 3 * (256 + 12)))?;
    // All pixels of the filtered picture, which is not enlarged, and of its input have this grey.
    equal(sheet.to_rgb8().pixels().filter(|pixel| pixel.0 == [100; 3]).count() >= 2 * 800, true)
}

/// The seed and the percentile matter: a minimum of noise is black.
fn ranks_of_sixteen_bits(device: &Device) -> Result<(), Failed> {
    let folder = Folder::new()?;
    let pixels = [20_000u16; 64].iter().flat_map(|sample| sample.to_ne_bytes()).collect();
    let input = folder.put_pixels("grey.png", ColorType::L16, 8, pixels)?;
    let output = folder.path("sheet.png");
    let said = |seed: &str| {
        let options = ["--noise", "0.5", "--percentile", "0", "--seed", seed, "--force", "--device", &name(device)];
        succeeds(denoise(&input, &output).args(options)).map(|said| said.lines().nth(3).unwrap_or("").to_owned())
    };
    let [first, second] = [said("1")?, said("2")?];
    ensure(first != second && first.starts_with("mean difference "), || format!("{first}, {second}"))?;
    equal(said("1")?, first)
}

fn every_kind_of_picture() -> Result<(), Failed> {
    use ColorType::{L8, La8, Rgb8, Rgb16, Rgba8, Rgba16};
    let folder = Folder::new()?;
    let output = folder.path("sheet.png");
    for color in [L8, La8, Rgb8, Rgba8, Rgb16, Rgba16] {
        for [width, height] in [[1, 1], [9, 1], [5, 3]] {
            let bytes = width * height * u32::from(color.bytes_per_pixel());
            let pixels = (0..bytes).map(|i| (i * 7919 % 251) as u8).collect();
            let input = folder.put_pixels("input.png", color, width, pixels)?;
            succeeds(denoise(&input, &output).args(["--window", "4", "--percentile", "70", "--force"]))?;
        }
    }
    Ok(())
}

fn the_device_comes_first() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 3, vec![1; 6])?;
    begins_with_the_device(&folder.path("output.png"), |output| denoise(&input, output))
}

fn force() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 16, (0..=255).collect())?;
    overwrites_with_force_only(&folder.path("output.png"), |output| denoise(&input, output))
}

fn bad_arguments() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let input = folder.put_pixels("input.png", ColorType::L8, 1, vec![1])?;
    let output = folder.path("output.png");
    let bad = |option: [&str; 2], error: &str| fails(denoise(&input, &output).args(option), 1, &[error]);
    for (noise, shown) in [("-1", "-1"), ("nan", "NaN"), ("1.5", "1.5")] {
        bad(["--noise", noise], &format!("--noise {shown}: a probability must be from 0 to 1"))?;
    }
    bad(["--window", "0"], "the window of 0 x 0 has no samples")?;
    bad(["--percentile", "101"], "the percentile must be from 0 to 100, not 101")?;
    fails(denoise(&input, &output).args(["--window", "wide"]), 2, &["invalid value 'wide' for '--window"])?;
    fails(&mut denoise(&folder.path("nothing.png"), &output), 1, &["nothing.png: "])?;
    fails(&mut super::command(EXAMPLE), 2, &["Usage"])?;
    folder.holds(&["input.png"])
}
