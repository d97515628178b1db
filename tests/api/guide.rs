//! The snippets of the page about own kernels need more code around them than a reader does. So they are repeated here, and
//! compile.

// By the parts of the kernel that are comments.
#![allow(unused_variables)]

use cuda_std::image::Modules;
use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, shared, thread};
use slm::emulator::Profile;
use slm::{Device, LaunchShape, Result};

arguments! {
    pub struct Dilation<'l> {
        pub input: GlobalIn<'l, f32>,
        pub output: GlobalOut<'l, f32>,
        pub radius: u32,
    }
}

shared! {
    /// A block's shared memory, described once for the kernel and for its launch.
    pub struct Tile(radius: u64) {
        /// The block's samples, and `radius` on either side.
        pub samples: [f32; 256 + 2 * radius],
    }
}

kernel! {
    /// `output[i]` is the largest of `input[i - radius..=i + radius]`; blocks of 256 threads.
    pub fn dilate<'l>(arena, args: Dilation<'l>) {
        let t = thread::thread_idx_x();
        let (Tile { samples }, _) = Tile::split(arena, args.radius.into());
        /* all threads fill the tile */
        thread::sync_threads();
        /* each thread looks at its part of the tile and sets one element of args.output */
    }
}

// The program of the page has compiled kernels, this one has none.
static KERNELS: Modules = Modules::NONE;

/// The host function that the page tests.
mod my {
    use super::*;

    pub(super) fn dilate(device: &Device, samples: &[f32], radius: u32) -> Result<Vec<f32>> {
        use super::dilate;
        let (x, mut y) = (device.upload(samples)?, device.zeroed(samples.len())?);
        let blocks = (samples.len() as u64).div_ceil(256);
        let kernel = device.kernel::<dilate>(&KERNELS)?;
        let bytes = Tile::bytes(radius.into());
        let shape = LaunchShape::new([blocks, 1, 1], [256, 1, 1]).shared_bytes(bytes);
        kernel.launch(shape, |windows| Dilation {
            input: windows.input(&x),       // borrowed until the kernel is enqueued,
            output: windows.output(&mut y), // so nothing is both read and written
            radius,
        })?;
        let y = y.download()?;
        Ok(y)
    }
}

/// What the kernel without these parts leaves.
fn naive(samples: &[f32], _radius: u32) -> Vec<f32> {
    vec![0.0; samples.len()]
}

#[test]
fn a_kernel_is_tested_without_a_gpu() -> Result<()> {
    let samples = [1.0; 300];
    let device = Device::emulated(Profile::SM_90, 0);
    // A fault in the kernel is an error.
    assert_eq!(my::dilate(&device, &samples, 3)?, naive(&samples, 3));
    for report in device.emulation_reports() {
        assert_eq!(report.bank_conflicts(), 0, "{report}");
    }
    Ok(())
}

/// The lines, wherever they are indented to.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

/// Every snippet of the page is compiled here.
#[test]
fn the_snippets_are_the_same() {
    let (page, compiled) = (include_str!("../../host/guide/own_kernels.md"), lines(include_str!("guide.rs")));
    let snippets = page.split("```rust,ignore\n").skip(1).filter_map(|text| text.split("```").next());
    let snippets: Vec<_> = snippets.map(lines).collect();
    assert_eq!(snippets.len(), 3);
    for snippet in snippets {
        let stands_here = compiled.windows(snippet.len()).any(|lines| lines == snippet);
        assert!(stands_here, "not compiled: {snippet:#?}");
    }
}
