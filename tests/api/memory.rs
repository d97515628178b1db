//! If the host has too little memory, a call fails and the program continues.
//!
//! Each test runs in a process of its own with a gigabyte of address space, which only Linux can be asked for.

use ndarray::{Array2, array};
use slm::{Buffer2, Device, Error, Filter1d, Histogram, Life, Result};
use slm_test_support::memory::{LARGE, filled};
use std::process::Command;
use std::{env, fmt};

/// Set in the process of its own.
const SHORT: &str = "SLM_SHORT_OF_MEMORY";

/// Runs `work`, which is what `test` does, where memory is short.
#[track_caller]
fn short_of_memory(test: &str, work: fn(&Device)) {
    if env::var_os(SHORT).is_some() {
        return work(&Device::cpu());
    }
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -v 1048576 && exec "$0" "$@""#]).arg(env::current_exe().unwrap());
    let output = command
        .args(["--exact", &format!("memory::{test}")])
        .env(SHORT, "1")
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = output.status.success() && stdout.contains("1 passed");
    assert!(passed, "{}\n{stdout}{stderr}", output.status);
}

/// Checks that this number of bytes could not be allocated.
#[track_caller]
fn lacks<T: fmt::Debug>(bytes: usize, result: Result<T>) {
    let error = result.map(|_| "a result").expect_err("there is no memory for it");
    assert_eq!(error, Error::OutOfHostMemory { requested: bytes as u64 });
}

#[test]
fn copies_of_buffers() {
    short_of_memory("copies_of_buffers", |device| {
        let mut data = vec![7u8; LARGE];
        let buffer = device.upload(&data).unwrap();
        let taken = filled(device);
        lacks(LARGE, device.upload(&data));
        lacks(LARGE, buffer.download());
        data.fill(0);
        buffer.download_into(&mut data).unwrap();
        drop(taken);
        assert!(data == vec![7; LARGE]);
        assert!(buffer.download().unwrap() == data);
    });
}

/// A matrix with gaps between its rows is copied without them.
#[test]
fn a_matrix_with_gaps() {
    const ROWS: usize = LARGE / 64;
    short_of_memory("a_matrix_with_gaps", |device| {
        let mut elements = vec![1u8; LARGE];
        elements.chunks_mut(64).for_each(|row| row[63] = 0);
        let matrix = Buffer2::from_buffer(device.upload(&elements).unwrap(), ROWS, 63, 64).unwrap();
        let taken = filled(device);
        lacks(ROWS * 63, matrix.download());
        drop(taken);
        let result = matrix.download().unwrap();
        assert_eq!(result.dim(), (ROWS, 63));
        assert!(result.as_slice() == Some(&vec![1; ROWS * 63][..]));
    });
}

#[test]
fn views_that_are_not_row_after_row() {
    short_of_memory("views_that_are_not_row_after_row", |device| {
        let filter = Filter1d::correlate(&[1.0]).prepare(device).unwrap();
        let data = Array2::<f64>::ones((1024, LARGE / 8192));
        let taken = filled(device);
        lacks(LARGE, Buffer2::upload(device, data.t()));
        lacks(LARGE, filter.along(0).apply(data.t()));
        lacks(LARGE, filter.along(0).apply(data.view()));
        lacks(LARGE, filter.apply(data.as_slice().unwrap()));
        drop(taken);
        assert!(filter.along(0).apply(data.t()).unwrap() == data.t());
    });
}

/// The CPU works on pieces.
#[test]
fn pieces() {
    short_of_memory("pieces", |device| {
        let mut taps = vec![0.0f64; LARGE / 8];
        taps[LARGE / 16] = 3.0;
        let long = Filter1d::correlate(&taps);
        drop(taps);
        let samples = Buffer2::upload(device, array![[2.0]].view()).unwrap();
        let mut outputs = Buffer2::upload(device, array![[5.0]].view()).unwrap();

        let taken = filled(device);
        let filter = long.prepare(device).expect("the taps are not copied again");
        drop(long);
        assert_eq!(outputs.download().unwrap(), array![[5.0]]);
        // Taps outside of the signal are added up, and need no memory.
        for axis in [0, 1] {
            filter.along(axis).apply_into(&samples, &mut outputs).unwrap();
            assert_eq!(outputs.download().unwrap(), array![[6.0]]);
            outputs.upload_into(array![[5.0]].view()).unwrap();
        }
        drop((filter, taken));

        // Down the columns a row stands for what is above and below.
        let short = Filter1d::correlate(&[1.0f64, 1.0, 1.0]).prepare(device).unwrap();
        let row = Buffer2::zeroed(device, 1, LARGE / 8).unwrap();
        let mut outputs = Buffer2::zeroed(device, 1, LARGE / 8).unwrap();
        let taken = filled(device);
        lacks(LARGE, short.along(0).apply_into(&row, &mut outputs));
        drop(taken);
        short.along(0).apply_into(&row, &mut outputs).unwrap();
    });
}

/// The CPU counts in tables, which are as large as there are bins.
#[test]
fn tables_of_a_histogram() {
    const BINS: usize = LARGE / 4;
    short_of_memory("tables_of_a_histogram", |device| {
        let histogram = Histogram::even(BINS, 0..BINS as u32).prepare(device).unwrap();
        let (samples, weights) = (device.upload(&[3, 5, 5]).unwrap(), device.upload(&[1.0; 3]).unwrap());
        let mut counts = device.zeroed(histogram.counts_len()).unwrap();
        let taken = filled(device);
        let counters = BINS + 3;
        lacks(8 * counters, histogram.apply(&[3]));
        lacks(4 * counters, histogram.apply_into(&samples, &mut counts));
        lacks(16 * counters, histogram.apply_weighted(&samples, &weights));
        lacks(8 * counters, histogram.counts(&counts));
        drop(taken);
        histogram.apply_into(&samples, &mut counts).unwrap();
        assert_eq!(histogram.counts(&counts).unwrap().bins().unwrap()[..7], [0, 0, 0, 1, 0, 2, 0]);
    });
}

/// The CPU needs memory for a row. A board is as it was if there is none.
#[test]
fn generations_of_a_board() {
    short_of_memory("generations_of_a_board", |device| {
        let mut board = Life::new(1, 8 * LARGE).prepare(device).unwrap();
        board.set(0, 70, true).unwrap();
        let taken = filled(device);
        assert!(matches!(board.step(1), Err(Error::OutOfHostMemory { .. })));
        lacks(LARGE, board.words());
        lacks(LARGE, board.try_clone());
        lacks(LARGE, board.run_until_stable(9));
        assert_eq!((board.generation(), board.get(0, 70)), (0, Ok(true)));
        drop(taken);
        board.step(1).unwrap();
        // On a torus of one row, a cell is its own neighbour above and below.
        assert_eq!((board.generation(), board.population()), (1, Ok(3)));
    });
}
