//! The figures of README are those of records.

use crate::charts::axis::grouped;
use crate::record::Record;
use std::fs;
use std::path::Path;

const RECORDS: [&str; 2] = ["benches/record/nvidia-h200/2026-11-28.json", "benches/record/nvidia-h200/2026-11-29.json"];

const FILTER: [&str; 2] = ["filter1d", "f32 n=67108864 taps=257"];
const TAPS: [&str; 2] = ["taps", "f32 n=1x67108864 axis=1 taps=257"];
const PICTURE: [&str; 2] = ["filter2d", "f32 n=67108864 Dense(7)"];
const GAUSSIAN: [&str; 2] = ["gaussians", "f32 n=8192x8192 channels=1 sigma=128 taps=1025"];
const BYTES: [&str; 2] = ["histogram", "bytes u8 n=134217728 bins=256 Uniform"];
const MATRIX: [&str; 2] = ["transpose", "1 x 16384 x 16384, 4 bytes"];

/// What README says, with the median's place, the benchmark with its case, and the peer.
const FIGURES: [(&str, [&str; 2], &str); 12] = [
    ("over 2^26 `f32` takes # µs;", FILTER, "slm register-tiled"),
    ("CUDA C++ with the same algorithm takes # µs,", FILTER, "CUDA C++ register-tiled"),
    ("PyTorch's `conv1d` # µs.", FILTER, "PyTorch conv1d (cuDNN)"),
    ("a weaker error bound it takes # µs,", TAPS, "slm auto"),
    ("PyTorch's transforms take # µs.", FILTER, "PyTorch FFT overlap-save, L=4096"),
    ("A 7 × 7 filter of 8192 × 8192 `f32` takes # µs.", PICTURE, "slm streaming"),
    ("A 7 × 7 filter of 8192 × 8192 `f32` takes 217 µs. A copy takes # µs.", PICTURE, "slm copy"),
    ("1,025 × 1,025 weights, takes # µs on such a picture.", GAUSSIAN, "slm bound per output"),
    ("With the weaker bound it takes\n  # µs.", GAUSSIAN, "slm bound per segment"),
    ("A histogram of 2^27 uniform bytes takes # µs.", BYTES, "slm auto"),
    ("A transposition of 16384 × 16384 `f32` takes # µs.", MATRIX, "slm auto"),
    ("A transposition of 16384 × 16384 `f32` takes 524 µs. A copy takes # µs.", MATRIX, "slm copy"),
];

fn text_of(path: &str) -> String {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(repository.join(path)).expect("the file is in the repository")
}

#[test]
fn every_figure_is_in_the_record() {
    let readme = text_of("README.md");
    let records = RECORDS.map(|path| {
        assert!(readme.contains(&format!("]({path})")));
        Record::from_text(&text_of(path)).unwrap()
    });
    for (text, [benchmark, case], peer) in FIGURES {
        // Of the first record that has it.
        let row = records.iter().flat_map(|record| &record.rows).find(|row| row.key() == [benchmark, case, peer]);
        let row = row.unwrap_or_else(|| panic!("no record has a row {benchmark}, {case}, {peer}"));
        assert!(row.is_right(), "{row:?}");
        let text = text.replace('#', &grouped(row.median_us.round() as u64));
        assert!(readme.contains(&text), "README does not say: {text}");
    }
    assert_eq!(readme.matches(" µs").count(), FIGURES.len(), "README has figures that are not compared");
}
