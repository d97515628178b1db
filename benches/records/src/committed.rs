//! The figures of README and the committed charts are those of the committed records.

use crate::charts;
use crate::charts::axis::grouped;
use crate::folder::Folder;
use crate::history::History;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The machine of README.
const MACHINE: &str = "benches/record/nvidia-h200";

const FILTER: [&str; 2] = ["filter1d", "f32 n=67108864 taps=257"];
const TAPS: [&str; 2] = ["taps", "f32 n=1x67108864 axis=1 taps=257"];
const PICTURE: [&str; 2] = ["filter2d", "f32 n=67108864 Dense(7)"];
const GAUSSIAN: [&str; 2] = ["gaussians", "f32 n=8192x8192 channels=1 sigma=128 taps=1025"];
const BYTES: [&str; 2] = ["histogram", "bytes u8 n=134217728 bins=256 Uniform"];
const MATRIX: [&str; 2] = ["transpose", "1 x 16384 x 16384, 4 bytes"];

/// What README says, with the median's place, the benchmark with its case, and the peer.
const FIGURES: [(&str, [&str; 2], &str); 13] = [
    ("over 2^26 `f32` takes # µs;", FILTER, "slm register-tiled"),
    ("CUDA C++ with the same algorithm takes # µs,", FILTER, "CUDA C++ register-tiled"),
    ("PyTorch's `conv1d` # µs.", FILTER, "PyTorch conv1d (cuDNN)"),
    ("a weaker error bound it takes # µs,", TAPS, "slm auto"),
    ("PyTorch's transforms take # µs.", FILTER, "PyTorch FFT overlap-save, L=4096"),
    ("A 7 × 7 filter of 8192 × 8192 `f32` takes # µs.", PICTURE, "slm streaming"),
    ("A 7 × 7 filter of 8192 × 8192 `f32` takes 214 µs. A copy takes # µs.", PICTURE, "slm copy"),
    ("1,025 × 1,025 weights, takes # µs on such a picture;", GAUSSIAN, "slm bound per output"),
    ("on such a picture; CuPy takes # µs.", GAUSSIAN, "CuPy ndimage.gaussian_filter"),
    ("With the\n  weaker bound it takes # µs.", GAUSSIAN, "slm bound per segment"),
    ("A histogram of 2^27 uniform bytes takes # µs.", BYTES, "slm auto"),
    ("A transposition of 16384 × 16384 `f32` takes # µs.", MATRIX, "slm auto"),
    ("A transposition of 16384 × 16384 `f32` takes 524 µs. A copy takes # µs.", MATRIX, "slm copy"),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn histories() -> Vec<History> {
    Folder::new(repository().join("benches/record")).histories().unwrap()
}

#[test]
fn every_figure_of_readme_is_in_the_last_record_of_its_benchmark() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let histories = histories();
    let history = histories.iter().find(|history| history.folder() == repository().join(MACHINE)).unwrap();
    for (text, [benchmark, case], peer) in FIGURES {
        let saved = history.with(benchmark).next().unwrap_or_else(|| panic!("no record has {benchmark}"));
        let row = saved.record.rows.iter().find(|row| row.key() == [benchmark, case, peer]);
        let row = row.unwrap_or_else(|| panic!("{saved} has no row {benchmark}, {case}, {peer}"));
        assert!(row.is_right(), "{row:?}");
        let link = format!("]({MACHINE}/{})", saved.path.file_name().unwrap().display());
        assert!(readme.contains(&link), "README has no link to {saved}, which has {benchmark}");
        let text = text.replace('#', &grouped(row.median_us.round() as u64));
        assert!(readme.contains(&text), "README does not say: {text}");
    }
    assert_eq!(readme.matches(" µs").count(), FIGURES.len(), "README has figures that are not compared");
}

/// `cargo run -p slm-records -- charts` draws them.
#[test]
fn the_charts_are_those_of_the_records() {
    for history in histories() {
        let drawn: BTreeMap<_, _> = charts::draw(&history.newest()).unwrap().into_iter().collect();
        let committed = svg_files(history.folder());
        assert_eq!(committed.keys().collect::<Vec<_>>(), drawn.keys().collect::<Vec<_>>(), "{:?}", history.folder());
        for (name, svg) in drawn {
            assert!(committed[&name] == svg, "{name} in {:?} is not that of the records", history.folder());
        }
    }
}

/// Returns the names and the texts of the SVG files in a folder.
fn svg_files(folder: &Path) -> BTreeMap<String, String> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_svg = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "svg");
    let file = |path: PathBuf| (path.file_name().unwrap().display().to_string(), fs::read_to_string(path).unwrap());
    paths.filter(is_svg).map(file).collect()
}
